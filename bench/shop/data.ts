/** A generated shop: the same rows on every machine. */
export interface Shop {
  readonly users: readonly User[]
  readonly products: readonly Product[]
  readonly reviews: readonly Review[]
}

export interface User {
  readonly id: string
  readonly name: string
  readonly username: string
}

export interface Product {
  readonly upc: string
  readonly name: string
  readonly price: number
  readonly weight: number
  readonly inStock: boolean
}

export interface Review {
  readonly id: string
  readonly body: string
  readonly authorId: string
  readonly upc: string
}

const syllables = ['ar', 'bel', 'cor', 'den', 'el', 'fan', 'gor', 'hil', 'is', 'jun', 'kar', 'lum', 'mer', 'nor', 'ost', 'pel', 'qui', 'ros', 'sil', 'tam']

/** Generates the shop: 6 users, 9 products, 20 reviews of seven products. */
export function makeShop(seed = 20_260_101): Shop {
  const random = generator(seed)
  const below = (most: number) => Math.floor(random() * most)
  const word = () => Array.from({ length: 2 + below(2) }, () => syllables[below(syllables.length)]).join('')
  const words = (count: number) => Array.from({ length: count }, word).join(' ')
  const users = Array.from({ length: 6 }, (_, index) => ({ id: String(index + 1), name: `${words(2)}`, username: `${word()}_${index + 1}` }))
  const products = Array.from({ length: 9 }, (_, index) => ({
    upc: String(index + 1),
    name: words(2),
    price: 100 + below(1900),
    weight: 50 + below(1500),
    inStock: random() < 0.7,
  }))
  const reviews = Array.from({ length: 20 }, (_, index) => ({
    id: String(index + 1),
    body: `${words(13)}.`,
    authorId: users[index % users.length]!.id,
    upc: products[below(7)]!.upc,
  }))
  return { users, products, reviews }
}

/** Returns the shipping cost: heavy products pay, expensive ones do not. */
export const shippingEstimate = (price: number, weight: number) => (price > 1500 ? 0 : Math.round(weight / 2))

/** A linear congruential generator (Numerical Recipes' constants): good enough for names, equal everywhere. */
function generator(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
}
