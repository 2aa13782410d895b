import type { Part } from '../supergraph-fixture.ts'

const accounts = [
  { __typename: 'Business', id: 'a1', currency: { code: 'EUR', decimals: 2 }, owner: 'p1', posts: ['s1', 's2'] },
  { __typename: 'Private', id: 'a2', currency: { code: 'JPY', decimals: 0 }, owner: 'p1', posts: ['s2', 's3'] },
  { __typename: 'Business', id: 'a3', currency: null, owner: 'p2', posts: ['s2'] },
]
const accountOf = (id: string) => accounts.find(each => each.id === id) ?? null

/** A post or person, as the subgraphs without contexts carry the account's currency along. */
interface Carrying {
  readonly id: string
  readonly code?: string | null
}

interface Given {
  readonly code?: string | null
  readonly word?: string
  readonly times?: number
}

/** Where the value comes from: an argument, or what the object carries. */
type CodeOf = (object: Carrying, given: Given) => string | null | undefined

const refer = (reference: object) => reference
const types = { Account: { __resolveType: ({ __typename }: { __typename: string }) => __typename } }

function resolversWith(codeOf: CodeOf) {
  const account = {
    __resolveReference: ({ id }: { id: string }) => accountOf(id),
    owner: ({ owner, currency }: (typeof accounts)[number]) => ({ id: owner, code: currency?.code ?? null }),
    posts: ({ posts, currency }: (typeof accounts)[number]) => posts.map(id => ({ id, code: currency?.code ?? null })),
  }
  return {
    ...types,
    Query: { accounts: () => accounts, account: (_: unknown, { id }: { id: string }) => accountOf(id) },
    Business: account,
    Private: account,
    Person: {
      __resolveReference: refer,
      greeting: (person: Carrying, given: Given) => `${given.word} ${person.id} in ${codeOf(person, given)}`,
      best: ({ code = null }: Carrying) => ({ id: 's2', code }),
    },
    Post: {
      __resolveReference: refer,
      price: (post: Carrying, given: Given) => `${post.id} ${given.times} ${codeOf(post, given)}`,
      failing: (post: Carrying, given: Given) => {
        const code = codeOf(post, given)
        if (code === 'JPY') throw new Error(`no ${code}`)
        return `${post.id} ${code}`
      },
    },
  }
}

const fromContext = '@fromContext(field: "$account { currency { code } }")'

function sdlWith(context: string, code: string, more = '') {
  return `type Query { accounts: [Account!]! account(id: ID!): Account ${more ? 'count: Int latest: Business' : ''} }
    interface Account ${context} { id: ID! currency: Currency owner: Person! posts: [Post!]! }
    type Business implements Account @key(fields: "id") ${context} { id: ID! currency: Currency owner: Person! posts: [Post!]! }
    type Private implements Account @key(fields: "id") ${context} { id: ID! currency: Currency owner: Person! posts: [Post!]! }
    type Currency { code: String! decimals: Int }
    type Person @key(fields: "id") { id: ID! greeting(${code} word: String = "Hello"): String best: Post! }
    type Post @key(fields: "id") { id: ID! price(${code} times: Int = 1): String failing${code && `(${code})`}: String ${more} }`
}

const reading = {
  body: ({ id }: { id: string }) => `body of ${id}`,
  reviews: ({ id }: { id: string }) => [{ id: `r-${id}` }],
}

/** Two subgraphs: prices of posts and greetings of people depend on the account that leads to them. */
export const contextParts: Record<string, Part> = {
  accounts: { sdl: sdlWith('@context(name: "account")', `code: String ${fromContext},`), resolvers: resolversWith((_, { code }) => code) },
  posts: {
    sdl: 'type Query { count: Int latest: Business } type Business @key(fields: "id", resolvable: false) { id: ID! } type Post @key(fields: "id") { id: ID! body: String reviews: [Review!]! } type Review @key(fields: "id") { id: ID! stars: Int }',
    resolvers: {
      Query: { latest: () => ({ id: 'a1' }) },
      Post: { __resolveReference: refer, ...reading },
      Review: { __resolveReference: refer, stars: () => 5 },
    },
  },
}

const whole = resolversWith(({ code }) => code)

/** The same graph as one subgraph without contexts, whose objects carry the value along. */
export const carryingParts: Record<string, Part> = {
  all: {
    sdl: `${sdlWith('', '', 'body: String reviews: [Review!]!')} type Review @key(fields: "id") { id: ID! stars: Int }`,
    resolvers: {
      ...whole,
      Query: { ...whole.Query, latest: () => accountOf('a1') },
      Post: { ...whole.Post, ...reading },
      Review: { __resolveReference: refer, stars: () => 5 },
    },
  },
}
