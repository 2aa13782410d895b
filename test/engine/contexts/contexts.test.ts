import { describe, expect, it } from 'vitest'
import { readSupergraph } from '../../../router/engine/supergraph.ts'
import { compose, type Part, testGraph } from '../supergraph-fixture.ts'

const accounts = [
  { __typename: 'Business', id: 'a1', currency: { code: 'EUR', decimals: 2 }, owner: 'p1', posts: ['s1', 's2'] },
  { __typename: 'Private', id: 'a2', currency: { code: 'JPY', decimals: 0 }, owner: 'p1', posts: ['s2', 's3'] },
  { __typename: 'Business', id: 'a3', currency: null, owner: 'p2', posts: ['s2'] },
]
const accountOf = (id: string) => accounts.find(each => each.id === id) ?? null
const account = {
  __resolveReference: ({ id }: { id: string }) => accountOf(id),
  owner: ({ owner }: { owner: string }) => ({ id: owner }),
  posts: ({ posts }: { posts: string[] }) => posts.map(id => ({ id })),
}

/** Prices of posts and greetings of people depend on the account that leads to them. */
const parts: Record<string, Part> = {
  accounts: {
    sdl: `type Query { accounts: [Account!]! account(id: ID!): Account }
      interface Account @context(name: "account") { id: ID! currency: Currency owner: Person! posts: [Post!]! }
      type Business implements Account @key(fields: "id") @context(name: "account") { id: ID! currency: Currency owner: Person! posts: [Post!]! }
      type Private implements Account @key(fields: "id") @context(name: "account") { id: ID! currency: Currency owner: Person! posts: [Post!]! }
      type Currency { code: String! decimals: Int }
      type Person @key(fields: "id") {
        id: ID!
        greeting(code: String @fromContext(field: "$account { currency { code } }"), word: String = "Hello"): String
        best: Post!
      }
      type Post @key(fields: "id") {
        id: ID!
        price(code: String @fromContext(field: "$account { currency { code } }"), times: Int = 1): String
        failing(code: String @fromContext(field: "$account { currency { code } }")): String
      }`,
    resolvers: {
      Query: { accounts: () => accounts, account: (_: unknown, { id }: { id: string }) => accountOf(id) },
      Account: { __resolveType: ({ __typename }: { __typename: string }) => __typename },
      Business: account,
      Private: account,
      Person: {
        __resolveReference: (reference: object) => reference,
        greeting: ({ id }: { id: string }, { code, word }: { code?: string; word: string }) => `${word} ${id} in ${code}`,
        best: () => ({ id: 's2' }),
      },
      Post: {
        __resolveReference: (reference: object) => reference,
        price: ({ id }: { id: string }, { code, times }: { code?: string | null; times: number }) => `${id} ${times} ${code}`,
        failing: ({ id }: { id: string }, { code }: { code?: string | null }) => {
          if (code === 'JPY') throw new Error(`no ${code}`)
          return `${id} ${code}`
        },
      },
    },
  },
  posts: {
    sdl: 'type Query { count: Int } type Post @key(fields: "id") { id: ID! body: String reviews: [Review!]! } type Review @key(fields: "id") { id: ID! stars: Int }',
    resolvers: {
      Post: {
        __resolveReference: (reference: object) => reference,
        body: ({ id }: { id: string }) => `body of ${id}`,
        reviews: ({ id }: { id: string }) => [{ id: `r-${id}` }],
      },
      Review: { __resolveReference: (reference: object) => reference, stars: () => 5 },
    },
  },
}

describe('@context and @fromContext', () => {
  it('finds the fields that take values from contexts', () => {
    expect([...readSupergraph(compose(parts)).contextual].sort()).toEqual(['Person.greeting', 'Post.failing', 'Post.price'])
  })

  it('hides the argument from clients', () => {
    const { schema } = testGraph(parts)
    const post = schema.getType('Post')
    expect(post && 'getFields' in post && 'price' in post.getFields() && JSON.stringify(post.toConfig())).not.toContain('code')
  })

  it('gives an entity the value of the object that leads to it, also where one entity stands at several places', async () => {
    const graph = testGraph(parts)
    const { data, errors } = await graph.run('{ accounts { id posts { id body price reviews { stars } } } }')
    expect(errors).toBeUndefined()
    const post = (id: string, code: string | null) => ({ id, body: `body of ${id}`, price: `${id} 1 ${code}`, reviews: [{ stars: 5 }] })
    expect(data).toEqual({
      accounts: [
        { id: 'a1', posts: [post('s1', 'EUR'), post('s2', 'EUR')] },
        { id: 'a2', posts: [post('s2', 'JPY'), post('s3', 'JPY')] },
        { id: 'a3', posts: [post('s2', null)] },
      ],
    })
  })

  it('asks once for entities with the same value, and sends several values in one request', async () => {
    const graph = testGraph(parts)
    await graph.run('{ accounts { posts { price } } }')
    const asked = graph.sent.filter(({ text }) => text.includes('price'))
    expect(asked.map(({ variables }) => variables)).toEqual([
      {
        representations_0: ['s1', 's2'].map(id => ({ __typename: 'Post', id })),
        representations_1: ['s2', 's3'].map(id => ({ __typename: 'Post', id })),
        contextualArgument_1_2_0: 'EUR',
        contextualArgument_1_2_1: 'JPY',
      },
      { representations: [{ __typename: 'Post', id: 's2' }], contextualArgument_1_2: null },
    ])
  })

  it('keeps values apart from aliases, arguments and variables of clients', async () => {
    const graph = testGraph(parts)
    const { data, errors } = await graph.run(
      `query($contextualArgument_1_2: Int, $id: ID!) { account(id: $id) { currency: owner { id } code: posts { a: price(times: $contextualArgument_1_2) b: price(times: 3) price } } }`,
      { contextualArgument_1_2: 7, id: 'a2' },
    )
    expect(errors).toBeUndefined()
    const post = (id: string) => ({ a: `${id} 7 JPY`, b: `${id} 3 JPY`, price: `${id} 1 JPY` })
    expect(data).toEqual({ account: { currency: { id: 'p1' }, code: [post('s2'), post('s3')] } })
  })

  it('finds the value several fields above the entity, for each way that leads to it', async () => {
    const graph = testGraph(parts)
    const { data, errors } = await graph.run(
      '{ accounts { ... on Business { owner { greeting best { price body } } } ... on Private { owner { greeting(word: "Hi") } } } }',
    )
    expect(errors).toBeUndefined()
    expect(data).toEqual({
      accounts: [
        { owner: { greeting: 'Hello p1 in EUR', best: { price: 's2 1 EUR', body: 'body of s2' } } },
        { owner: { greeting: 'Hi p1 in JPY' } },
        { owner: { greeting: 'Hello p2 in null', best: { price: 's2 1 null', body: 'body of s2' } } },
      ],
    })
  })

  it('reports an error at the entities with the value for which it came', async () => {
    const { data, errors } = await testGraph(parts).run('{ accounts { posts { failing } } }')
    expect(data.accounts[0].posts).toEqual([{ failing: 's1 EUR' }, { failing: 's2 EUR' }])
    expect(data.accounts[1].posts).toEqual([{ failing: null }, { failing: null }])
    expect(errors?.map(({ path }) => path?.join('.')).sort()).toEqual(['accounts.1.posts.0.failing', 'accounts.1.posts.1.failing'])
  })

  it('reports a failure of the subgraph at all entities', async () => {
    const graph = testGraph(parts, {
      intercept: (fetch, _call, next) => (fetch.text.includes('price') ? Promise.reject(new Error('away')) : next()),
    })
    const { errors } = await graph.run('{ accounts { posts { price } } }')
    expect(errors?.map(({ path }) => path?.join('.')).sort()).toEqual(
      ['0.posts.0', '0.posts.1', '1.posts.0', '1.posts.1', '2.posts.0'].map(at => `accounts.${at}.price`),
    )
  })

  it.each([1, 2, 3, 5, 16, 17, 40])('sends %i different values in few requests', async count => {
    const many = Array.from({ length: count }, (_, at) => ({
      __typename: 'Private',
      id: `m${at}`,
      currency: { code: `C${at}` },
      owner: 'p1',
      posts: ['s1', `t${at}`],
    }))
    const { resolvers } = parts.accounts!
    const accounts: Part = { ...parts.accounts!, resolvers: { ...resolvers, Query: { accounts: () => many } } as NonNullable<Part['resolvers']> }
    const graph = testGraph({ ...parts, accounts })
    const { data, errors } = await graph.run('{ accounts { posts { price } } }')
    expect(errors).toBeUndefined()
    expect(data).toEqual({ accounts: many.map((_, at) => ({ posts: [{ price: `s1 1 C${at}` }, { price: `t${at} 1 C${at}` }] })) })
    const bits = (count % 16).toString(2).replaceAll('0', '').length
    expect(graph.sent.filter(({ text }) => text.includes('price'))).toHaveLength(Math.floor(count / 16) + bits)
  })
})
