import { joined, type PurposeGraph } from './graph.ts'

interface Ref {
  readonly id: string
}

const items: Record<string, { name: string; grams: number | null; size: [number, number] | null; carrier: string | null }> = {
  i1: { name: 'Lamp', grams: 2000, size: [3, 4], carrier: 'c1' },
  i2: { name: 'Sofa', grams: null, size: [30, 40], carrier: 'c2' },
  i3: { name: 'Idea', grams: 0, size: null, carrier: null },
}
const carriers: Record<string, { name: string; phone: string | null }> = { c1: { name: 'Fast', phone: '1' }, c2: { name: 'Slow', phone: null } }

const item = (id: string) => ({ __typename: 'Item', id })
const carrier = (id: string) => ({ __typename: 'Carrier', id })
const weightOf = ({ id }: Ref, { unit }: { unit?: string | null }) => {
  const grams = items[id]?.grams ?? null
  return grams === null ? null : unit === 'KILO' ? Math.round(grams / 1000) : grams
}
const sizeOf = ({ id }: Ref) => {
  const size = items[id]?.size
  return size ? { width: size[0], height: size[1] } : null
}
const postage = (kilos: number | null, width: number | null) => (kilos === null ? null : kilos * 10 + (width ?? 1000))
const fits = (size: { width: number; height: number } | null, box: number) => (size ? size.width <= box && size.height <= box : null)
const tax = (paid: number | null, rate: number) => (paid === null ? null : paid * rate)

const Query = {
  items: () => ['i1', 'i2', 'i3'].map(item),
  item: (_: unknown, { id }: Ref) => (Object.hasOwn(items, id) ? item(id) : null),
  carriers: () => [carrier('c2'), carrier('c1')],
}
const Item = { name: ({ id }: Ref) => items[id]!.name, weight: weightOf, size: sizeOf }
const Carrier = { name: ({ id }: Ref) => carriers[id]!.name, phone: ({ id }: Ref) => carriers[id]!.phone }
const carrierOf = ({ id }: Ref) => (items[id]?.carrier ? carrier(items[id].carrier) : null)

/** Required fields with arguments, of objects, and of fields that require others themselves; provided fields. */
export const shipping: PurposeGraph = {
  parts: {
    catalog: {
      sdl: `type Query { items: [Item!] item(id: ID!): Item }
        enum WriteTransaction { GRAM KILO }
        type Size @shareable { width: Int height: Int }
        type Item @key(fields: "id") { id: ID! name: String! weight(unit: WriteTransaction): Int size: Size }`,
      resolvers: { Query: { items: Query.items, item: Query.item }, Item: { ...Item, __resolveReference: ({ id }: Ref) => item(id) } },
    },
    shipping: {
      sdl: `enum WriteTransaction { GRAM KILO }
        type Size @shareable { width: Int height: Int }
        type Item @key(fields: "id") {
          id: ID! weight(unit: WriteTransaction): Int @external size: Size @external
          postage: Int @requires(fields: "weight(unit: KILO) size { width }")
          fits(box: Int = 10): Boolean @requires(fields: "size { height width }")
          carrier: Carrier @provides(fields: "name")
        }
        type Carrier @key(fields: "id") { id: ID! name: String! @external }`,
      resolvers: {
        Item: {
          postage: ({ weight, size }: { weight: number | null; size: { width: number } | null }) => postage(weight, size?.width ?? null),
          fits: ({ size }: { size: { width: number; height: number } | null }, { box }: { box: number }) => fits(size, box),
          carrier: carrierOf,
        },
        Carrier: { name: Carrier.name },
      },
    },
    carriers: {
      sdl: 'type Query { carriers: [Carrier] } type Carrier @key(fields: "id") { id: ID! name: String! @shareable phone: String }',
      resolvers: { Query: { carriers: Query.carriers }, Carrier: { ...Carrier, __resolveReference: ({ id }: Ref) => carrier(id) } },
    },
    duty: {
      sdl: 'type Item @key(fields: "id") { id: ID! postage: Int @external tax(rate: Int!): Int @requires(fields: "postage") }',
      resolvers: { Item: { tax: ({ postage: paid }: { postage: number | null }, { rate }: { rate: number }) => tax(paid, rate) } },
    },
  },
  whole: joined(
    { Query, Item, Carrier },
    {
      Item: {
        postage: (source: Ref) => postage(weightOf(source, { unit: 'KILO' }), sizeOf(source)?.width ?? null),
        fits: (source: Ref, { box }: { box: number }) => fits(sizeOf(source), box),
        tax: (source: Ref, { rate }: { rate: number }) => tax(postage(weightOf(source, { unit: 'KILO' }), sizeOf(source)?.width ?? null), rate),
        carrier: carrierOf,
      },
    },
  ),
  values: { id: ['i1', 'i2', 'i3', 'none'], unit: [null, 'GRAM', 'KILO'], box: [1, 5, 50], rate: [1, 2] },
}
