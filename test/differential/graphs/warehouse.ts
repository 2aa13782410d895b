import { joined, type PurposeGraph } from './graph.ts'

interface Maker {
  readonly id: string
}
interface Product {
  readonly id: string
}
interface Shelf {
  readonly code: string
  readonly level: number
}

const products: Record<string, { sku: string; maker: string; name: string | null; rating: number | null; similar: string[]; count: number }> = {
  p1: { sku: 's1', maker: 'm1', name: 'Saw', rating: 4.5, similar: ['p2', 'p3'], count: 3 },
  p2: { sku: 's2', maker: 'm1', name: null, rating: null, similar: [], count: 0 },
  p3: { sku: 's1', maker: 'm2', name: 'Other saw', rating: 1, similar: ['p1', 'gone'], count: 7 },
}
const makers: Record<string, { name: string; country: string; since: number | null }> = {
  m1: { name: 'Ada', country: 'AT', since: 1990 },
  m2: { name: 'Bob', country: 'BE', since: null },
}
const shelves: Record<string, { holds: string[]; room: string | null; keeper: string }> = {
  'A 1': { holds: ['p1', 'p3'], room: 'north', keeper: 'm1' },
  'A 2': { holds: ['p2'], room: null, keeper: 'm2' },
}

const product = (id: string) => ({ __typename: 'Product', id })
const maker = (id: string) => ({ __typename: 'Maker', id })
const shelf = (key: string) => ({ __typename: 'Shelf', code: key.split(' ')[0]!, level: Number(key.split(' ')[1]) })
const find = (sku: string, makerId: string) => Object.keys(products).find(id => products[id]!.sku === sku && products[id]!.maker === makerId)

const Query = {
  products: () => ['p1', 'p2', 'p3'].map(product),
  product: (_: unknown, { id }: { id: string }) => (Object.hasOwn(products, id) ? product(id) : null),
  shelf: (_: unknown, { code, level }: Shelf) => (Object.hasOwn(shelves, `${code} ${level}`) ? shelf(`${code} ${level}`) : null),
  makers: () => [maker('m2'), null, maker('m1')],
}
const Product = {
  sku: ({ id }: Product) => products[id]?.sku,
  maker: ({ id }: Product) => (products[id] ? maker(products[id].maker) : null),
  name: ({ id }: Product) => products[id]?.name,
}
const Stocked = {
  inStock: ({ id }: Product) => products[id]?.count,
  shelves: ({ id }: Product) =>
    products[id] &&
    Object.keys(shelves)
      .filter(key => shelves[key]!.holds.includes(id))
      .map(shelf),
}
const Reviewed = { rating: ({ id }: Product) => products[id]?.rating, similar: ({ id }: Product) => products[id]?.similar.map(product) }
const Maker = {
  name: ({ id }: Maker) => makers[id]!.name,
  country: ({ id }: Maker) => makers[id]!.country,
  since: ({ id }: Maker) => makers[id]!.since,
}
const Held = { holds: ({ code, level }: Shelf) => shelves[`${code} ${level}`]!.holds.map(product) }
const Kept = {
  room: ({ code, level }: Shelf) => shelves[`${code} ${level}`]!.room,
  keeper: ({ code, level }: Shelf) => maker(shelves[`${code} ${level}`]!.keeper),
}

const byPair = ({ sku, maker: given }: { sku: string; maker: Maker }) => {
  const id = find(sku, given.id)
  return id === undefined ? null : product(id)
}
const byMaker = (reference: Partial<Record<'id' | 'name' | 'country', string>>) => {
  const id = Object.keys(makers).find(key => key === reference.id || (makers[key]!.name === reference.name && makers[key]!.country === reference.country))
  return id === undefined ? null : maker(id)
}

/** Several keys, compound keys, keys within keys; a subgraph knows an entity by another key than the next. */
export const warehouse: PurposeGraph = {
  parts: {
    catalog: {
      sdl: `type Query { products: [Product] product(id: ID!): Product }
        type Product @key(fields: "id") @key(fields: "sku maker { id }") { id: ID! sku: String! maker: Maker! name: String }
        type Maker @key(fields: "id") { id: ID! }`,
      resolvers: {
        Query: { products: Query.products, product: Query.product },
        Product: {
          ...Product,
          __resolveReference: (given: { id?: string; sku: string; maker: Maker }) =>
            given.id === undefined ? byPair(given) : Object.hasOwn(products, given.id) ? product(given.id) : null,
        },
        Maker: { __resolveReference: ({ id }: Maker) => maker(id) },
      },
    },
    stock: {
      sdl: `type Query { shelf(code: String!, level: Int!): Shelf }
        type Product @key(fields: "sku maker { id }") { sku: String! maker: Maker! inStock: Int shelves: [Shelf!] }
        type Maker @key(fields: "id") { id: ID! }
        type Shelf @key(fields: "code level") { code: String! level: Int! holds: [Product!]! }`,
      resolvers: {
        Query: { shelf: Query.shelf },
        Product: { sku: Product.sku, maker: Product.maker, ...Stocked, __resolveReference: byPair },
        Shelf: Held,
      },
    },
    floor: {
      sdl: `type Shelf @key(fields: "level code") { code: String! level: Int! room: String keeper: Maker }
        type Maker @key(fields: "name country") { name: String! country: String! }`,
      resolvers: { Shelf: Kept, Maker: { name: Maker.name, country: Maker.country, __resolveReference: byMaker } },
    },
    makers: {
      sdl: `type Query { makers: [Maker] } type Maker @key(fields: "id") @key(fields: "country name") { id: ID! name: String! country: String! since: Int }`,
      resolvers: { Query: { makers: Query.makers }, Maker: { ...Maker, __resolveReference: byMaker } },
    },
    reviews: {
      sdl: 'type Product @key(fields: "id") { id: ID! rating: Float similar: [Product] }',
      resolvers: { Product: Reviewed },
    },
  },
  whole: joined({ Query, Product, Maker, Shelf: { ...Held, ...Kept } }, { Product: { ...Stocked, ...Reviewed } }),
  values: { id: ['p1', 'p2', 'p3', 'none'], code: ['A', 'B'], level: [1, 2, 3] },
}
