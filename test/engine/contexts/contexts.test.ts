import { describe, expect, it } from 'vitest'
import { readSupergraph } from '../../../router/engine/supergraph.ts'
import { payloadsOf } from '../incremental/payloads-of.ts'
import { compose, type Part, testGraph } from '../supergraph-fixture.ts'
import { contextParts as parts } from './graph.ts'

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

  it('fetches a value with the payload that needs it, where a client takes it later', async () => {
    const source = '{ latest { id posts { price } ... @defer { currency { code } } } }'
    const [first, ...later] = await payloadsOf(testGraph(parts), source)
    expect(first).toMatchObject({ data: { latest: { id: 'a1', posts: [{ price: 's1 1 EUR' }, { price: 's2 1 EUR' }] } } })
    expect(JSON.stringify(later)).toContain('"currency":{"code":"EUR"}')
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
