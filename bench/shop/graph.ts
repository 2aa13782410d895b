import { makeShop, type Product, type Review, shippingEstimate, type User } from './data.ts'

const shop = makeShop()
const userById = new Map(shop.users.map(user => [user.id, user]))
const productByUpc = new Map(shop.products.map(product => [product.upc, product]))
const reviewsByUser = Map.groupBy(shop.reviews, review => review.authorId)
const reviewsByProduct = Map.groupBy(shop.reviews, review => review.upc)

type Key = { readonly id: string }
type Upc = { readonly upc: string }
type Measured = { readonly price: number; readonly weight: number }

/** SDL and resolvers of every subgraph, in the form for `buildSubgraphSchema`. */
export const parts = {
  people: {
    sdl: `
      type Query { me: User users: [User] }
      type User @key(fields: "id") { id: ID! name: String username: String }`,
    resolvers: {
      Query: { me: () => shop.users[0], users: () => shop.users },
      User: { __resolveReference: ({ id }: Key) => userById.get(id) ?? null },
    },
  },
  catalogue: {
    sdl: `
      type Query { topProducts(first: Int = 5): [Product] }
      type Product @key(fields: "upc") { upc: String! name: String price: Int weight: Int }`,
    resolvers: {
      Query: { topProducts: (_: unknown, { first }: { first: number }) => shop.products.slice(0, first) },
      Product: { __resolveReference: ({ upc }: Upc) => productByUpc.get(upc) ?? null },
    },
  },
  stock: {
    sdl: `
      type Product @key(fields: "upc") {
        upc: String! price: Int @external weight: Int @external inStock: Boolean shippingEstimate: Int @requires(fields: "price weight")
      }`,
    resolvers: {
      Product: {
        __resolveReference: (reference: Upc) => ({ ...reference, inStock: productByUpc.get(reference.upc)?.inStock ?? null }),
        shippingEstimate: ({ price, weight }: Measured) => shippingEstimate(price, weight),
      },
    },
  },
  reviews: {
    sdl: `
      type Review @key(fields: "id") { id: ID! body: String author: User product: Product }
      type User @key(fields: "id") { id: ID! reviews: [Review] }
      type Product @key(fields: "upc") { upc: String! reviews: [Review] }
      type Subscription { reviewAdded: Review }`,
    resolvers: {
      Review: { author: ({ authorId }: Review) => ({ id: authorId }), product: ({ upc }: Review) => ({ upc }) },
      User: { __resolveReference: ({ id }: Key) => ({ id }), reviews: ({ id }: Key) => reviewsByUser.get(id) ?? [] },
      Product: { __resolveReference: ({ upc }: Upc) => ({ upc }), reviews: ({ upc }: Upc) => reviewsByProduct.get(upc) ?? [] },
    },
  },
}

/** The link that turns SDL into a federation 2 subgraph. */
export const federationLink = 'extend schema @link(url: "https://specs.apollo.dev/federation/v2.9", import: ["@key", "@requires", "@external", "@shareable"])\n'

/** One schema with everything, like a monolith. */
export const monolith = {
  sdl: `
    type Query { me: User users: [User] topProducts(first: Int = 5): [Product] }
    type User { id: ID! name: String username: String reviews: [Review] }
    type Review { id: ID! body: String author: User product: Product }
    type Product { upc: String! name: String price: Int weight: Int inStock: Boolean shippingEstimate: Int reviews: [Review] }`,
  resolvers: {
    Query: { ...parts.people.resolvers.Query, ...parts.catalogue.resolvers.Query },
    User: { reviews: ({ id }: User) => reviewsByUser.get(id) ?? [] },
    Review: { author: ({ authorId }: Review) => userById.get(authorId), product: ({ upc }: Review) => productByUpc.get(upc) },
    Product: {
      shippingEstimate: ({ price, weight }: Product) => shippingEstimate(price, weight),
      reviews: ({ upc }: Product) => reviewsByProduct.get(upc) ?? [],
    },
  },
}

/** The operation of workload 1: down from users to products and back twice, and once more from the best products. */
export const query = `query Shop {
  users { ...User reviews { ...Review product { ...Product reviews { ...Review author { ...User reviews { ...Review product { ...Product } } } } } } }
  topProducts { ...Product reviews { ...Review author { ...User reviews { ...Review product { ...Product } } } } }
}
fragment User on User { id username name }
fragment Review on Review { id body }
fragment Product on Product { inStock name price shippingEstimate upc weight }`

/** Subscription to reviews: each event needs three entity fetches. */
export const subscription = 'subscription { reviewAdded { id body author { id name } product { upc name inStock } } }'
