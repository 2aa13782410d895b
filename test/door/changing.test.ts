import { buildSchema, type DocumentNode } from 'graphql'
import { describe, expect, test } from 'vitest'
import { documentsOf, hashOf } from '../../router/door/documents/documents.ts'
import type { Engine } from '../../router/engine/engine.ts'
import { createChanging } from '../../router/engine/native/changing.ts'
import { anonymous } from '../../subgraphs/viewer.ts'
import { openRouter, schemaEngine } from './platform.ts'

/** An engine that answers its own name, and remembers what it planned beforehand. */
function named(name: string, more = '') {
  const schema = buildSchema(`type Query { name: String ${more} }`)
  const warmed: DocumentNode[] = []
  const engine: Engine = {
    ...schemaEngine(schema),
    execute: async () => ({ data: { name } }),
    async warm(operations) {
      warmed.push(...operations)
    },
  }
  return { engine, warmed }
}
const documentIn = (read: ReturnType<ReturnType<typeof documentsOf>['read']>) => ('document' in read ? read.document : null)

test('S-12 an operation that was read before a graph change runs on the former graph, and the same text afterwards on the new one', async () => {
  const engine = createChanging(named('former', 'gone: String').engine)
  const documents = documentsOf(engine, { introspection: true })
  const [kept, gone] = ['{ name }', '{ gone }'].map(text => documentIn(documents.read(text))!)
  const run = async (document: DocumentNode) => (await engine.execute({ document, viewer: anonymous, requestId: 'request-1' })).data
  await engine.change(named('present').engine)
  expect([await run(kept!), await run(gone!)]).toEqual([{ name: 'former' }, { name: 'former' }])
  expect(await run(documentIn(documents.read('{ name }'))!)).toEqual({ name: 'present' })
  expect(documents.read('{ gone }')).toHaveProperty('errors')
  // Apollo Server's document, which then need not be parsed.
  expect(documents.known(hashOf('{ name }'))).toBe(documentIn(documents.read('{ name }')))
})

test('S-12 plans the most frequent operations before a graph change, if the next graph supports them', async () => {
  const engine = createChanging(named('former', 'gone: String').engine)
  const documents = documentsOf(engine, { introspection: true })
  const texts = Array.from({ length: 300 }, (_, number) => `query N${number} { name }`)
  const often = 'query Often { name }'
  for (const text of [often, often, often, '{ gone }', '{ gone }', ...texts, ...texts.slice(0, 150)]) documents.read(text)
  const next = named('present')
  let warmedBefore = -1
  engine.onChange!(() => {
    warmedBefore = next.warmed.length
  })
  await engine.change(next.engine)
  // Two hundred of the known documents, without the removed one.
  expect(warmedBefore).toBe(199)
  const names = next.warmed.map(({ definitions: [first] }) => (first && 'name' in first && first.name?.value) || '')
  expect(names[0]).toBe('Often')
  expect(texts.slice(0, 150).every((_, number) => names.includes(`N${number}`))).toBe(true)
})

test('S-12 validates trusted documents again when the graph has changed', async () => {
  const engine = createChanging(named('former').engine)
  const body = 'query New { added }'
  const manifest = { format: 'apollo-persisted-query-manifest', version: 1, operations: [{ id: 'new', name: 'New', type: 'query', body }] } as const
  await using door = await openRouter(engine, { trust: 'only', manifest })
  const ask = () => door.ask('/graphql?documentId=new')
  expect((await ask()).json.errors[0].extensions.code).toBe('GRAPHQL_VALIDATION_FAILED')
  const next = named('present', 'added: String')
  await engine.change(next.engine)
  expect((await ask()).json).toEqual({ data: { name: 'present' } })
  expect(next.warmed).toHaveLength(1)
})

test('S-12 a subscription that was read before a graph change starts on the former graph', async () => {
  const withKey = (name: string) => ({
    ...named(name).engine,
    prepareStream: async () => ({ key: name, operationName: null, start: async () => ({ data: null }) }),
  })
  const engine = createChanging(withKey('former'))
  const documents = documentsOf(engine, { introspection: true })
  const document = documentIn(documents.read('{ name }'))!
  await engine.change(withKey('present'))
  const keyOf = async (of: DocumentNode) => engine.prepareStream({ document: of, viewer: anonymous, requestId: 'request-1' })
  expect(await keyOf(document)).toMatchObject({ key: 'former' })
  expect(await keyOf(documentIn(documents.read('{ name }'))!)).toMatchObject({ key: 'present' })
})

describe('streams of a former graph', () => {
  /** An engine whose streams depend on a text. */
  const based = (basis: string | undefined, more = '') => ({
    ...named('any', more).engine,
    prepareStream: async () => ({ key: 'key', operationName: null, ...(basis !== undefined && { basis: () => basis }), start: async () => ({ data: null }) }),
  })
  /** Opens a stream on the engine, and returns what a change says of it. */
  async function opened(engine: ReturnType<typeof createChanging>, text = '{ name }') {
    const request = { document: documentIn(documentsOf(engine, { introspection: true }).read(text))!, viewer: anonymous, requestId: 'request-1' }
    const prepared = await engine.prepareStream(request)
    if (!('start' in prepared)) throw new Error('It does not start.')
    const ending = new AbortController()
    await prepared.start(ending.signal)
    const remains: boolean[] = []
    let judged = Promise.resolve()
    engine.onChange!(ask => {
      judged = judged.then(async () => void remains.push(await ask({ request, basis: prepared.basis?.() ?? '' })))
    })
    return { end: () => ending.abort(), remains: async () => judged.then(() => remains) }
  }

  test.each([
    ['go on where they depend on the same', based('one'), '{ name }', true],
    ['end where they depend on something else', based('other'), '{ name }', false],
    ['end where the engine cannot tell', based(undefined), '{ name }', false],
    ['end where their operation is not valid any more', based('one'), '{ gone }', false],
  ])('%s', async (_, next, text, goesOn) => {
    const engine = createChanging(based('one', 'gone: String'))
    const { remains } = await opened(engine, text)
    await engine.change(next)
    expect(await remains()).toEqual([goesOn])
  })

  test('keep the engine that they began on until the last of them ends', async () => {
    const first = based('one')
    const engine = createChanging(first)
    const [one, other] = [await opened(engine), await opened(engine)]
    await engine.change(based('one'))
    let isIdle = false
    const idle = engine.idle(first).then(() => {
      isIdle = true
    })
    one.end()
    await Promise.resolve()
    expect(isIdle).toBe(false)
    other.end()
    await idle
    await engine.idle(first)
  })

  test('end when four later graphs have streams too', async () => {
    const engine = createChanging(based('one'))
    const { remains } = await opened(engine)
    for (let at = 0; at < 5; at += 1) {
      await engine.change(based('one'))
      await opened(engine)
    }
    expect(await remains()).toEqual([true, true, true, true, false])
  })
})

test('S-12 does not plan operations of a graph before the last one any more', async () => {
  const engine = createChanging(named('first').engine)
  const documents = documentsOf(engine, { introspection: true })
  documents.read('query Former { name }')
  await engine.change(named('second').engine)
  documents.read('query Present { name }')
  const third = named('third')
  await engine.change(third.engine)
  expect(third.warmed).toEqual([documentIn(documents.read('query Present { name }'))])
})
