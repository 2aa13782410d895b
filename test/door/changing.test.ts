import { buildSchema, type DocumentNode } from 'graphql'
import { expect, test } from 'vitest'
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

test('S-12 an operation that was read before a change is run by what it was read against, and the same text afterwards by what is there', async () => {
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

test('S-12 what is asked most is planned before a change, so far as the next graph has it', async () => {
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

test('S-12 trusted documents are read again when the graph has changed', async () => {
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

test('S-12 a stream that was asked before a change is begun by what it was read against', async () => {
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

test('S-12 what was asked of a graph before the last is not planned any more', async () => {
  const engine = createChanging(named('first').engine)
  const documents = documentsOf(engine, { introspection: true })
  documents.read('query Former { name }')
  await engine.change(named('second').engine)
  documents.read('query Present { name }')
  const third = named('third')
  await engine.change(third.engine)
  expect(third.warmed).toEqual([documentIn(documents.read('query Present { name }'))])
})
