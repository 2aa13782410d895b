import { joined, type PurposeGraph } from './graph.ts'

interface Ref {
  readonly id: string
}
interface Parcel {
  readonly weight: string
  readonly price: string
  readonly sizes?: readonly (readonly ({ readonly width: number; readonly height: number } | null)[] | null)[]
  readonly sender?: { readonly name?: string; readonly model?: string; readonly maker?: Ref }
}

const parcel = (id: string) => ({ __typename: 'Parcel', id })
const Query = { parcels: () => ['1', '2'].map(parcel), parcel: (_: unknown, { id }: Ref) => (id === '1' || id === '2' ? parcel(id) : null) }
const weight = ({ id }: Ref, { unit }: { unit?: string | null }) => `${id} ${unit ?? 'g'}`
const price = ({ id }: Ref, { currency }: { currency?: string | null }) => `${id} ${currency ?? '-'}`
const sizes = ({ id }: Ref) => (id === '1' ? [[{ width: 1, height: 2 }, null], null, []] : [[{ width: 3, height: 4 }]])
const maker = { __typename: 'Person', id: 'm', name: 'maker' }
const sender = ({ id }: Ref) => (id === '1' ? { __typename: 'Robot', id: 'r', model: 'R2', maker } : { __typename: 'Person', id: 'p', name: 'Ada' })
const contains = ({ id }: Ref) => (id === '1' ? parcel('2') : null)

const home = (given: Parcel) => `home ${given.weight} for ${given.price}`
const abroad = (given: Parcel) => `abroad ${given.weight} for ${given.price}`
const inland = (given: Parcel) => `inland ${given.weight} for ${given.price}`
const volume = ({ sizes: given }: Parcel) => given?.flat().reduce((sum, size) => sum + (size ? size.width * size.height : 1), 0) ?? null
const greeting = ({ sender: given }: Parcel) => `from ${given?.name ?? `${given?.model} by ${given?.maker?.id}`}`
const parcelOf = (source: Ref, unit: string, currency: string): Parcel => ({
  weight: weight(source, { unit }),
  price: price(source, { currency }),
  sizes: sizes(source),
  sender: sender(source),
})
const typeOf = { __resolveType: ({ __typename }: { __typename: string }) => __typename }

/** Requirements of one subgraph that ask the same fields of two others with different arguments; of lists of lists and of unions. */
export const tariffs: PurposeGraph = {
  parts: {
    parcels: {
      sdl: `type Query { parcels: [Parcel] parcel(id: ID!): Parcel }
        type Size { width: Int! height: Int! }
        union Sender = Person | Robot
        type Person @key(fields: "id") { id: ID! name: String }
        type Robot @key(fields: "id") { id: ID! model: String maker: Person }
        type Parcel @key(fields: "id") { id: ID! weight(unit: String): String sizes: [[Size]] sender: Sender }`,
      resolvers: { Query, Parcel: { weight, sizes, sender }, Sender: typeOf },
    },
    prices: {
      sdl: 'type Parcel @key(fields: "id") { id: ID! price(currency: String): String contains: Parcel }',
      resolvers: { Parcel: { price, contains } },
    },
    tariffs: {
      sdl: `type Size { width: Int! @external height: Int! @external }
        union Sender = Person | Robot
        type Person @key(fields: "id") { id: ID! name: String @external }
        type Robot @key(fields: "id") { id: ID! model: String @external maker: Person @external }
        type Parcel @key(fields: "id") {
          id: ID! weight(unit: String): String @external price(currency: String): String @external sizes: [[Size]] @external sender: Sender @external
          home: String @requires(fields: "weight(unit: \\"kg\\") price(currency: \\"EUR\\")")
          abroad: String @requires(fields: "price(currency: \\"USD\\") weight(unit: \\"lb\\")")
          inland: String @requires(fields: "weight price")
          volume: Int @requires(fields: "sizes { height width }")
          greeting: String @requires(fields: "sender { ... on Robot { model maker { id } } ... on Person { name } }")
        }`,
      resolvers: { Parcel: { home, abroad, inland, volume, greeting }, Sender: typeOf },
    },
  },
  whole: joined({
    Query,
    Sender: typeOf,
    Parcel: {
      weight,
      price,
      sizes,
      sender,
      contains,
      home: (source: Ref) => home(parcelOf(source, 'kg', 'EUR')),
      abroad: (source: Ref) => abroad(parcelOf(source, 'lb', 'USD')),
      inland: (source: Ref) => inland({ weight: weight(source, {}), price: price(source, {}) }),
      volume: (source: Ref) => volume(parcelOf(source, '', '')),
      greeting: (source: Ref) => greeting(parcelOf(source, '', '')),
    },
  }),
  // It keeps a required field under its plain name, whatever the arguments.
  stock: false,
  values: { id: ['1', '2', 'none'], unit: [null, 'kg', 't'], currency: [null, 'EUR', 'JPY'] },
}
