/**
 * Program for the theoretical limit: this one operation written by hand, with the planner's requests, and the HTTP
 * client and server of our engine's process. Arguments: the subgraphs' origin.
 */
import { openOrigin } from '../../router/engine/transport/exchange.ts'
import { serve } from './serve.ts'

interface ProductRow {
  readonly upc: string
  readonly name: string
  readonly price: number
  readonly weight: number
  inStock: boolean
  shippingEstimate: number
}
interface UserRow {
  readonly id: string
  readonly name: string
  readonly username: string
}
interface ReviewRow {
  readonly id: string
  readonly body: string
  readonly author: { readonly id: string; readonly reviews: readonly ReviewRow[] }
  readonly product: { readonly upc: string; readonly reviews: readonly ReviewRow[] }
}

const origin = openOrigin(process.argv[2]!, { connections: 64, mostWaiting: 10_000, mostBytes: 32 * 1024 * 1024 })
const headers = ['content-type', 'application/json', 'accept', 'application/json']
const ask = async (subgraph: string, query: string, variables?: object) => {
  const { status, text } = await origin.ask({ path: `/${subgraph}`, headers, body: JSON.stringify({ query, variables }) }).answer
  if (status !== 200) throw new Error(`${subgraph} answered ${status}`)
  return JSON.parse(text).data
}

const topProducts = '{topProducts{upc name price weight}}'
const users = '{users{id username name}}'
const ofProducts = '{reviews{id body author{id reviews{id body product{upc}}}}}'
const ofUsers = `{reviews{id body product{upc ...on Product${ofProducts}}}}`
const entities = (selection: string) => `query($r:[_Any!]!){_entities(representations:$r){${selection}}}`
const reviewsQuery = `query($p:[_Any!]!,$u:[_Any!]!){p:_entities(representations:$p){...on Product${ofProducts}} u:_entities(representations:$u){...on User${ofUsers}}}`
const stockQuery = entities('...on Product{inStock shippingEstimate}')
const productQuery = entities('...on Product{name price weight}')
const userQuery = entities('...on User{username name}')

const stockOf = async (products: readonly ProductRow[]) => {
  const r = products.map(({ upc, price, weight }) => ({ __typename: 'Product', upc, price, weight }))
  const rows = (await ask('stock', stockQuery, { r }))._entities
  products.forEach((product, index) => {
    product.inStock = rows[index].inStock
    product.shippingEstimate = rows[index].shippingEstimate
  })
}

async function answer(): Promise<string> {
  const [{ topProducts: best }, { users: people }] = await Promise.all([ask('catalogue', topProducts), ask('people', users)])
  const [, { p: bestReviews, u: peopleReviews }] = await Promise.all([
    stockOf(best),
    ask('reviews', reviewsQuery, {
      p: best.map(({ upc }: ProductRow) => ({ __typename: 'Product', upc })),
      u: people.map(({ id }: UserRow) => ({ __typename: 'User', id })),
    }),
  ])

  const upcs = new Set<string>()
  const ids = new Set<string>()
  const seen = (reviews: readonly ReviewRow[]) => {
    for (const { author } of reviews) {
      ids.add(author.id)
      for (const { product } of author.reviews) upcs.add(product.upc)
    }
  }
  for (const { reviews } of bestReviews) seen(reviews)
  for (const { reviews } of peopleReviews) {
    for (const { product } of reviews) {
      upcs.add(product.upc)
      seen(product.reviews)
    }
  }

  const upcList = [...upcs]
  const idList = [...ids]
  const [{ _entities: productRows }, { _entities: userRows }] = await Promise.all([
    ask('catalogue', productQuery, { r: upcList.map(upc => ({ __typename: 'Product', upc })) }),
    ask('people', userQuery, { r: idList.map(id => ({ __typename: 'User', id })) }),
  ])
  const productByUpc = new Map<string, ProductRow>()
  const userById = new Map<string, UserRow>()
  upcList.forEach((upc, index) => {
    const { name, price, weight } = productRows[index]
    productByUpc.set(upc, { upc, name, price, weight, inStock: false, shippingEstimate: 0 })
  })
  idList.forEach((id, index) => {
    const { name, username } = userRows[index]
    userById.set(id, { id, name, username })
  })
  await stockOf([...productByUpc.values()])

  const reviewsBelow = (reviews: readonly ReviewRow[]) =>
    reviews.map(({ id, body, author }) => {
      const { username, name } = userById.get(author.id)!
      const below = author.reviews.map(review => {
        const { inStock, name, price, shippingEstimate, upc, weight } = productByUpc.get(review.product.upc)!
        return { id: review.id, body: review.body, product: { inStock, name, price, shippingEstimate, upc, weight } }
      })
      return { id, body, author: { id: author.id, username, name, reviews: below } }
    })
  return JSON.stringify({
    data: {
      users: people.map(({ id, username, name }: UserRow, index: number) => ({
        id,
        username,
        name,
        reviews: peopleReviews[index].reviews.map(({ id, body, product }: ReviewRow) => {
          const { inStock, name, price, shippingEstimate, upc, weight } = productByUpc.get(product.upc)!
          return { id, body, product: { inStock, name, price, shippingEstimate, upc, weight, reviews: reviewsBelow(product.reviews) } }
        }),
      })),
      topProducts: best.map(({ inStock, name, price, shippingEstimate, upc, weight }: ProductRow, index: number) => ({
        inStock,
        name,
        price,
        shippingEstimate,
        upc,
        weight,
        reviews: reviewsBelow(bestReviews[index].reviews),
      })),
    },
  })
}

serve(answer)
