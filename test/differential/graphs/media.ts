import { joined, type PurposeGraph } from './graph.ts'

interface Ref {
  readonly __typename: string
  readonly id: string
}

const ref = (id: string): Ref => ({ __typename: { f: 'Film', s: 'Song', p: 'Person' }[id[0]!]!, id })
const titles: Record<string, string | null> = { f1: 'One', f2: null, s1: 'Tune' }
const makers: Record<string, string | null> = { f1: 'p1', f2: 'p2', s1: null }
const people: Record<string, { name: string; works: string[] }> = { p1: { name: 'Ada', works: ['f1', 's1'] }, p2: { name: 'Bob', works: ['f2'] } }
const stars: Record<string, [number, string] | null> = { f1: [5, 'p2'], f2: null, s1: [1, 'p1'] }

const Query = {
  media: () => ['f1', 's1', 'f2'].map(ref),
  hits: () => [ref('p1'), ref('f1'), null, ref('s1'), ref('p2')],
  top: (_: unknown, { of }: { of: string }) => (Object.hasOwn(titles, of) ? ref(of) : null),
  people: () => [ref('p1'), ref('p2')],
  grid: () => [[ref('f1'), null], null, [ref('s1'), ref('f2')]],
}
const work = {
  title: ({ id }: Ref) => titles[id],
  maker: ({ id }: Ref) => (makers[id] ? ref(makers[id]) : null),
}
const Film = { ...work, length: ({ id }: Ref, { in: unit }: { in: string }) => (unit === 'HOURS' ? 2 : 120) + Number(id[1]) }
const Song = { ...work, key: () => 'c', lines: () => [['la'], [], ['la', null]] }
const Person = { name: ({ id }: Ref) => people[id]!.name, works: ({ id }: Ref) => people[id]!.works.map(ref) }
const Rated = { rating: ({ id }: Ref) => stars[id] && { stars: stars[id][0], by: ref(stars[id][1]) } }
const Priced = { price: ({ id }: Ref, { tax }: { tax?: number }) => 100 * Number(id[1]) + (tax ?? 0) }
const typeOf = { __resolveType: ({ __typename }: Ref) => __typename }
const same = { __resolveReference: ({ id }: Ref) => ref(id) }

/** Interfaces and unions whose members have their fields in other subgraphs, and fields of one name on several of them. */
export const media: PurposeGraph = {
  parts: {
    works: {
      sdl: `type Query { media: [Media] hits: [Hit] top(of: ID!): Media grid: [[Hit]] }
        interface Media { id: ID! title: String maker: Person }
        union Hit = Film | Song | Person
        enum WriteTransaction { MINUTES HOURS }
        type Film implements Media @key(fields: "id") { id: ID! title: String maker: Person length(in: WriteTransaction = MINUTES): Int! }
        type Song implements Media @key(fields: "id") { id: ID! title: String maker: Person key: String lines: [[String]] }
        type Person @key(fields: "id") { id: ID! }`,
      resolvers: {
        Query: { media: Query.media, hits: Query.hits, top: Query.top, grid: Query.grid },
        Media: typeOf,
        Hit: typeOf,
        Film: { ...Film, ...same },
        Song: { ...Song, ...same },
        Person: same,
      },
    },
    people: {
      sdl: `type Query { people: [Person!]! }
        interface Media { id: ID! }
        type Film implements Media @key(fields: "id") { id: ID! }
        type Song implements Media @key(fields: "id") { id: ID! }
        type Person @key(fields: "id") { id: ID! name: String! works: [Media!] }`,
      resolvers: { Query: { people: Query.people }, Media: typeOf, Person: { ...Person, ...same }, Film: same, Song: same },
    },
    ratings: {
      sdl: `type Rating { stars: Int! by: Person }
        type Film @key(fields: "id") { id: ID! rating: Rating }
        type Song @key(fields: "id") { id: ID! rating: Rating }
        type Person @key(fields: "id") { id: ID! }`,
      resolvers: { Film: { ...Rated, ...same }, Song: { ...Rated, ...same } },
    },
    prices: {
      sdl: `interface Priced { price(tax: Int): Int }
        type Film implements Priced @key(fields: "id") { id: ID! price(tax: Int): Int }
        type Song implements Priced @key(fields: "id") { id: ID! price(tax: Int): Int }`,
      resolvers: { Film: { ...Priced, ...same }, Song: { ...Priced, ...same } },
    },
  },
  whole: joined({ Query, Film, Song, Person, Media: typeOf, Hit: typeOf, Priced: typeOf }, { Film: Rated, Song: Rated }, { Film: Priced, Song: Priced }),
  values: { of: ['f1', 'f2', 's1', 'none'], in: ['HOURS', 'MINUTES'], tax: [null, 1, 20] },
}
