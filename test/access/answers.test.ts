import { type ExecutionResult, parse } from 'graphql'
import { describe, expect, test } from 'vitest'
import { createAccessFilter } from '../../router/access/filter.ts'
import { readSupergraph } from '../../router/engine/supergraph.ts'
import { openEngine } from '../../router/start/engine.ts'
import type { Viewer } from '../../subgraphs/viewer.ts'
import { answerOf, compose, type Part, pathsOf, testGraph } from '../engine/supergraph-fixture.ts'
import { subscribeAlone } from '../kit/stream.ts'
import { anonymous, keyed, signedIn } from './supergraph.ts'

const parts: Record<string, Part> = {
  stock: {
    sdl: `type Query { item: Item items: [Item!]! shop: Shop }
      type Subscription { sold: Item open: String }
      type Shop { items: [Item!] best: Item! named: Named }
      type Item implements Named @key(fields: "id") { id: ID! @authenticated  name: String  weight: Int @authenticated  worth: Int! @requiresScopes(scopes: [["a:1"]]) }
      interface Named { name: String }`,
    resolvers: {
      Query: { item: () => ({ id: 'secret' }), items: () => [{ id: 'secret' }, { id: 'hidden' }], shop: () => ({}) },
      Shop: { items: () => [{ id: 'secret' }], best: () => ({ id: 'secret' }), named: () => ({ __typename: 'Item', id: 'secret' }) },
      Item: { __resolveReference: (item: object) => item, name: () => 'Lamp', weight: () => 7, worth: () => 9 },
      Subscription: { sold: { subscribe: once }, open: { subscribe: once } },
    },
  },
  mail: {
    // Composition requires postage to have the requirements of weight.
    sdl: `type Item @key(fields: "id") { id: ID! weight: Int @external  postage: String @requires(fields: "weight") @authenticated  stars: Int }`,
    resolvers: { Item: { postage: ({ weight }: { weight?: number }) => `for ${weight}`, stars: () => 5 } },
  },
}

async function* once() {
  yield { sold: { id: 'secret' }, open: 'open' }
}

/** What composition of former versions let pass: a field that everybody may have out of one that not everybody may. */
const former = (supergraphSdl: string) => supergraphSdl.replace(/(postage: .*) @authenticated/, '$1')

async function open(kind: 'native' | 'apollo', change = (supergraphSdl: string) => supergraphSdl) {
  const supergraph = readSupergraph(change(compose(parts)))
  const graph = testGraph(parts)
  const log = { error() {}, warn() {} }
  const engine = await openEngine(kind, { supergraphSdl: supergraph, transport: graph.transport, access: createAccessFilter(supergraph.access), log })
  const requestOf = (source: string, viewer: Viewer) => ({ document: parse(source), viewer, requestId: 'request-1' })
  return {
    sent: graph.sent,
    ask: async (source: string, viewer: Viewer = anonymous, variables?: Record<string, unknown>) =>
      answerOf(await engine.execute({ ...requestOf(source, viewer), variables })),
    subscribe: (source: string, viewer: Viewer) => subscribeAlone(engine, requestOf(source, viewer)),
  }
}

describe.each(['native', 'apollo'] as const)('ROUTER_ENGINE=%s', kind => {
  test('a key field that its viewer may not read is fetched for the plan, and not shown', async () => {
    const { ask, sent } = await open(kind)
    const answer = await ask('{ item { name stars } }')
    expect(answer).toEqual({ data: { item: { name: 'Lamp', stars: 5 } }, text: expect.any(String) })
    expect(sent.some(({ variables }) => JSON.stringify(variables).includes('secret'))).toBe(true)
    expect((await ask('{ item { id stars } }')).text).toBe('{"item":null}')
  })

  test('a field’s requirements are fetched for viewers of the field, and are null for those who may not read them', async () => {
    const { ask } = await open(kind)
    expect((await ask('{ item { name postage weight } }')).data).toEqual({ item: { name: 'Lamp', postage: null, weight: null } })
    expect((await ask('{ item { name postage } }', keyed([]))).data).toEqual({ item: { name: 'Lamp', postage: 'for 7' } })
    const { ask: askFormer } = await open(kind, former)
    const answer = await askFormer('{ item { weight postage } }')
    expect(answer.data).toEqual({ item: { weight: null, postage: 'for 7' } })
    expect(pathsOf(answer)).toEqual(['item.weight'])
  })

  test('a rejected non-null field nulls its parent, and is reported once, without indexes', async () => {
    const { ask } = await open(kind)
    for (const [source, text, path] of [
      ['{ item { name worth } }', '{"item":null}', 'item.worth'],
      ['{ shop { items { worth } } }', '{"shop":{"items":null}}', 'shop.items.worth'],
      ['{ shop { best { price: worth } } }', '{"shop":null}', 'shop.best.price'],
      ['{ items { worth } }', 'null', 'items.worth'],
      ['{ shop { named { name ... on Item { worth } } } }', '{"shop":{"named":null}}', 'shop.named.worth'],
    ]) {
      const answer = await ask(source!)
      expect(answer.text, source).toBe(text)
      expect(pathsOf(answer), source).toEqual([path])
    }
    expect((await ask('{ items { worth } }', signedIn(['a:1']))).text).toBe('{"items":[{"worth":9},{"worth":9}]}')
  })

  test('a field excluded by a condition is not rejected; an included one is, wherever the value comes from', async () => {
    const { ask } = await open(kind)
    const field = 'item { name weight @include(if: $with) }'
    const spread = '{ item { name ...Heavy @skip(if: $without) } } fragment Heavy on Item { weight }'
    const [shown, kept] = [{ item: { name: 'Lamp' } }, { item: { name: 'Lamp', weight: null } }]
    for (const [source, variables, data] of [
      [`query ($with: Boolean!) { ${field} }`, { with: false }, shown],
      [`query ($with: Boolean!) { ${field} }`, { with: true }, kept],
      [`query ($with: Boolean! = true) { ${field} }`, {}, kept],
      [`query ($with: Boolean = true) { ${field} }`, {}, kept],
      [`query ($without: Boolean! = true) ${spread}`, {}, shown],
      [`query ($without: Boolean! = true) ${spread}`, { without: false }, kept],
      [`query ($without: Boolean!) ${spread}`, { without: false }, kept],
    ] as const) {
      const about = `${source} ${JSON.stringify(variables)}`
      const answer = await ask(source, anonymous, variables)
      expect(answer.data, about).toEqual(data)
      expect(pathsOf(answer), about).toEqual(data === kept ? ['item.weight'] : [])
    }
    // A null where none is allowed must not replace a default.
    for (const source of [`query ($with: Boolean = true) { ${field} }`, `query ($without: Boolean = true) ${spread}`])
      expect((await ask(source, anonymous, { with: null, without: null })).data?.item?.weight ?? null, source).toBe(null)
  })

  test('a field that an interface has not is null for the objects that have it, when the rest of the interface stays', async () => {
    const { ask } = await open(kind)
    expect((await ask('{ shop { named { name ... on Item { weight } } } }')).text).toBe('{"shop":{"named":{"name":"Lamp","weight":null}}}')
  })
})

describe.each(['native', 'apollo'] as const)('of interface objects, ROUTER_ENGINE=%s', kind => {
  const media: Record<string, Part> = {
    shelf: {
      sdl: `type Query { media: [Media] book: Book found: [Found] }
        interface Media @key(fields: "id") { id: ID! name: String }
        type Book implements Media @key(fields: "id") { id: ID! name: String }
        type Film implements Media @key(fields: "id") { id: ID! name: String @policy(policies: [["person"]]) }
        union Found = Book | Film`,
      resolvers: {
        Query: {
          media: () => [
            { __typename: 'Book', id: 'b' },
            { __typename: 'Film', id: 'f' },
          ],
          book: () => ({ id: 'b' }),
          found: () => [{ __typename: 'Film', id: 'f' }],
        },
        Book: { name: () => 'Book' },
        Film: { name: () => 'Film' },
        Media: { __resolveReference: ({ id }: { id: string }) => ({ __typename: id === 'b' ? 'Book' : 'Film', id }) },
      },
    },
    ratings: {
      sdl: `type Query { rated: Media }
        type Media @key(fields: "id") @interfaceObject { id: ID! stars: Int @requiresScopes(scopes: [["a:1"]]) votes: Int }`,
      resolvers: { Query: { rated: () => ({ id: 'f' }) }, Media: { stars: () => 5, votes: () => 3 } },
    },
  }
  const ask = async (source: string, viewer: Viewer) => {
    const supergraph = readSupergraph(compose(media))
    const access = createAccessFilter(supergraph.access)
    const engine = await openEngine(kind, { supergraphSdl: supergraph, transport: testGraph(media).transport, access, log: { error() {}, warn() {} } })
    return answerOf(await engine.execute({ document: parse(source), viewer, requestId: 'request-1' }))
  }

  test('a rule on their fields holds for every implementation, however it is reached', async () => {
    for (const [source, data, paths] of [
      [
        '{ media { stars votes } }',
        {
          media: [
            { stars: null, votes: 3 },
            { stars: null, votes: 3 },
          ],
        },
        ['media.stars'],
      ],
      ['{ media { ... on Book { stars } votes } }', { media: [{ stars: null, votes: 3 }, { votes: 3 }] }, ['media.stars']],
      ['{ book { stars votes } }', { book: { stars: null, votes: 3 } }, ['book.stars']],
      ['{ found { ... on Media { stars votes } ... on Film { name } } }', { found: [{ stars: null, votes: 3, name: null }] }, ['found.name', 'found.stars']],
      ['{ rated { stars votes name } }', { rated: { stars: null, votes: 3, name: null } }, ['rated.name', 'rated.stars']],
    ] as const) {
      const answer = await ask(source, keyed([]))
      expect(answer.data, source).toEqual(data)
      expect(pathsOf(answer), source).toEqual(paths)
    }
    expect((await ask('{ rated { stars name } book { stars } }', signedIn(['a:1']))).data).toEqual({ rated: { stars: 5, name: 'Film' }, book: { stars: 5 } })
  })
})

test('a key that its viewer may not see is no answer to an alias of its name', async () => {
  const { ask } = await open('native')
  expect((await ask('{ item { id: name stars } }')).text).toBe('{"item":{"id":"Lamp","stars":5}}')
  expect((await ask('{ item { __typename: id weight: name } }')).text).toBe('{"item":null}')
})

test('a subscription is refused whole, and nothing is subscribed to for it', async () => {
  const { subscribe, sent } = await open('native')
  const refused = (await subscribe('subscription { sold { name shown: weight } }', anonymous)) as ExecutionResult
  expect(refused.data).toBe(null)
  expect(pathsOf(answerOf(refused))).toEqual(['sold.shown'])
  expect(refused.errors![0]!.message).toBe('Sign in to subscribe to Item.weight.')
  expect(sent).toEqual([])
  const events: unknown[] = []
  const stream = await subscribe('subscription { sold { name weight postage } }', keyed([]))
  for await (const event of stream as AsyncIterable<ExecutionResult>) events.push(JSON.parse(JSON.stringify(event.data)))
  expect(events).toEqual([{ sold: { name: 'Lamp', weight: 7, postage: 'for 7' } }])
})

test('under a guarded root everything is rejected except introspection', async () => {
  const supergraph = readSupergraph(compose({ one: { sdl: 'type Query @authenticated { a: Int b: Int } type Mutation @authenticated { c: Int }' } }))
  const filter = createAccessFilter(supergraph.access)
  const paths = (source: string) => filter.filter(parse(source), undefined, anonymous).errors.map(error => error.path!.join('.'))
  expect(paths('{ __typename __schema { types { name } } }')).toEqual([])
  expect(paths('{ x: a b ...More } fragment More on Query { __typename b a }')).toEqual(['x', 'b', 'a'])
  expect(filter.filter(parse('mutation { c }'), undefined, anonymous)).toMatchObject({ refusedWhole: true, errors: [{ path: ['c'] }] })
})
