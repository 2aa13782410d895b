import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, it } from 'vitest'
import { searchKnowledge } from '../../../../subgraphs/agents/engines/knowledge/search.ts'
import type { Viewer } from '../../../../subgraphs/viewer.ts'
import { type Supergraph, supergraph } from '../../../kit/supergraph.ts'

const fields = `id title kind url visibility language status failure { code message } actions { kind label url iosUrl androidUrl } chunks indexedAt checkedAt stale version
  documents { totalCount nodes { id title url text contentHash indexedAt source { id } } }`
const create = `mutation($input: CreateKnowledgeSourceInput!) { createKnowledgeSource(input: $input) { ${fields} } }`
const update = `mutation($input: UpdateKnowledgeSourceInput!) { updateKnowledgeSource(input: $input) { ${fields} } }`
const reindex = `mutation($input: ReindexKnowledgeSourceInput!) { reindexKnowledgeSource(input: $input) { ${fields} } }`
const del = `mutation($input: DeleteKnowledgeSourceInput!) { deleteKnowledgeSource(input: $input) { id } }`
const read = `query($id: ID!) { knowledgeSource(id: $id) { ${fields} } }`
const search = `query($query: String!, $first: Int! = 10) { searchKnowledge(query: $query, first: $first) { start end quote score document { id text source { id } } } }`

/** An owner, and what it does with knowledge. */
async function library(graph: Supergraph) {
  const { owner, outsider } = await graph.seed.owner().outsider()
  const ask = async (document: string, variables: object = {}, as: Viewer = owner) => (await graph.execute(document, { ...variables }, { as })).data()
  const add = async (input: object) => (await ask(create, { input: { title: 'A source', kind: 'TEXT', ...input } })).createKnowledgeSource
  return {
    ...{ owner, outsider, ask, add },
    refuse: async (document: string, input: object, code = 'BAD_USER_INPUT') =>
      (await graph.execute(document, { input }, { as: owner })).refused(code as never).extensions,
    /** Waits until a source stands so. */
    async until(id: string, expected: object) {
      await graph.clock.run(1)
      await expect.poll(async () => (await ask(read, { id })).knowledgeSource, { timeout: 10_000 }).toMatchObject(expected)
      return (await ask(read, { id })).knowledgeSource
    },
    find: async (query: string, as: Viewer = owner) => (await ask(search, { query }, as)).searchKnowledge,
  }
}

/** A site on this machine. */
async function site(answer: RequestListener) {
  const server = createServer(answer)
  await new Promise<void>(done => server.listen(0, '127.0.0.1', done))
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    [Symbol.asyncDispose]: () => {
      server.closeAllConnections()
      return new Promise<void>(done => server.close(() => done()))
    },
  }
}

describe('a knowledge source', () => {
  it('is indexed after it was created, and found with its place in the text, by its organization only', async () => {
    await using graph = await supergraph()
    const { add, until, find, outsider } = await library(graph)
    const text = 'Ünïcode 🎈 first. The zebra rule says: measure twice.\n\nNothing else matters here.'
    const made = await add({ text, language: 'en', actions: [{ kind: 'DEEP_LINK', label: 'Open', url: 'https://page.test/open', iosUrl: 'zoo://zebra' }] })
    expect(made).toMatchObject({ status: 'PENDING', chunks: 0, indexedAt: null })
    const ready = await until(made.id, { status: 'READY' })
    expect(ready).toMatchObject({ chunks: 1, stale: false, failure: null, actions: [{ kind: 'DEEP_LINK', iosUrl: 'zoo://zebra', androidUrl: null }] })
    expect(ready.documents).toMatchObject({ totalCount: 1, nodes: [{ text, source: { id: made.id } }] })
    const [hit] = await find('which rules for zebras?')
    expect(hit.quote).toContain('zebra rule')
    expect(hit.document.text.slice(hit.start, hit.end)).toBe(hit.quote)
    expect(hit.document.source.id).toBe(made.id)
    expect(await find('zebra', outsider)).toEqual([])
    expect(await find('giraffe')).toEqual([])
    // A misspelled word is found by similarity.
    expect((await find('zeebra')).map((each: { quote: string }) => each.quote)).toEqual([hit.quote])
  })

  it('ranks the passage that has the rarer words first', async () => {
    await using graph = await supergraph()
    const { add, until, find } = await library(graph)
    const common = Array.from(
      { length: 20 },
      (_, at) => `The station number ${at} opens in the morning, and the station closes at night. ${'It has rails. '.repeat(50)}`,
    )
    const { id } = await add({ text: [...common, `The station of the harbour opens at noon. ${'Ships wait. '.repeat(60)}`].join('\n\n') })
    await until(id, { status: 'READY' })
    const [best] = await find('When does the harbour station open?')
    expect(best.quote).toContain('harbour')
  })

  it('is found by the new text and no longer by the old one when it was changed, and not indexed again for the same text', async () => {
    await using graph = await supergraph()
    const { add, until, find, ask } = await library(graph)
    const { id } = await add({ text: 'A walrus swims.' })
    const first = await until(id, { status: 'READY' })
    await graph.clock.run(1_000)
    await ask(update, { input: { id, text: 'A walrus swims.' } })
    const same = await until(id, { status: 'READY', version: first.version + 1 })
    await ask(reindex, { input: { id } })
    await graph.clock.run(5_000)
    expect((await until(id, { status: 'READY' })).indexedAt).toBe(first.indexedAt)
    expect(same.documents.nodes[0].indexedAt).toBe(first.documents.nodes[0].indexedAt)
    await ask(update, { input: { id, text: 'A penguin dives.', title: 'Another' } })
    await until(id, { documents: { nodes: [{ text: 'A penguin dives.', title: 'Another' }] } })
    expect(await find('walrus')).toEqual([])
    expect(await find('penguin')).toHaveLength(1)
  })

  it('is gone from searches, tables and texts once it was deleted', async () => {
    await using graph = await supergraph()
    const { add, until, find, ask, refuse } = await library(graph)
    const { id } = await add({ text: 'A narwhal sings.' })
    await until(id, { status: 'READY' })
    await ask(del, { input: { id } })
    expect(await find('narwhal')).toEqual([])
    await refuse(del, { id }, 'NOT_FOUND')
    for (const table of ['knowledge_sources', 'knowledge_texts', 'documents', 'document_texts', 'knowledge_chunks'])
      expect(await graph.rows(`select 1 from agents.${table}`)).toEqual([])
  })

  it('is one for one idempotency key, and of the version that the client has seen', async () => {
    await using graph = await supergraph()
    const { add, refuse } = await library(graph)
    const input = { text: 'Once.', idempotencyKey: 'key-1' }
    const made = await Promise.all([1, 2, 3, 4, 5].map(async () => (await add(input)).id))
    expect(new Set(made).size).toBe(1)
    expect(await refuse(update, { id: made[0], title: 'Late', expectedVersion: 99 }, 'CONFLICT')).toMatchObject({ reason: 'STALE_VERSION' })
  })

  it.each([
    ['a text without words', { text: '  ' }, 'text'],
    ['no text', {}, 'text'],
    ['a text beside an address that is read', { kind: 'URL', url: 'https://page.test/', text: 'x' }, 'text'],
    ['no address', { kind: 'URL' }, 'url'],
    ['a private address', { kind: 'URL', url: 'http://169.254.169.254/latest' }, 'url'],
    ['a name of this machine', { kind: 'URL', url: 'http://localhost:1/' }, 'url'],
    ['another scheme', { kind: 'URL', url: 'file:///etc/passwd' }, 'url'],
    ['a public text that nobody can open', { text: 'x', visibility: 'PUBLIC' }, 'url'],
    ['an upload', { kind: 'UPLOAD', text: 'x' }, 'kind'],
    ['a language that is none', { text: 'x', language: '?' }, 'language'],
    ['an action that runs code', { text: 'x', actions: [{ kind: 'LINK', label: 'x', url: 'javascript:alert(1)' }] }, 'actions[0].url'],
    [
      'a link into an app that runs code',
      { text: 'x', actions: [{ kind: 'DEEP_LINK', label: 'x', url: 'https://a.test/', iosUrl: 'javascript:x' }] },
      'actions[0].iosUrl',
    ],
  ])('is refused with the field for %s', async (_, input, field) => {
    await using graph = await supergraph()
    const { refuse } = await library(graph)
    expect(await refuse(create, { title: 'A source', kind: 'TEXT', ...input })).toMatchObject({ field })
  })
})

describe('the address of a knowledge source', () => {
  it('is read again after a day; its text stays while it cannot be read, and is stale after a week', async () => {
    let [status, words, asked] = [200, 'A heron stands.', 0]
    await using page = await site((_, response) => {
      asked += 1
      response.writeHead(status, { 'content-type': 'text/plain' }).end(words)
    })
    await using graph = await supergraph({ trusts: [page.origin] })
    const { add, until, find } = await library(graph)
    const { id } = await add({ kind: 'URL', url: `${page.origin}/page` })
    await until(id, { status: 'READY', stale: false })
    expect(await find('heron')).toHaveLength(1)
    const [kept] = await graph.rows<{ index_at: Date }>('select index_at from agents.knowledge_sources')
    expect(kept!.index_at.getTime() - graph.clock.now().getTime()).toBeCloseTo(24 * 3_600_000, -4)
    const dayPasses = () => graph.rows('update agents.knowledge_sources set index_at = $1', [graph.clock.now()])
    words = 'A stork stands.'
    await dayPasses()
    await graph.clock.run(11_000)
    await until(id, { status: 'READY', documents: { nodes: [{ text: 'A stork stands.' }] } })
    expect(asked).toBe(2)
    status = 404
    await dayPasses()
    await graph.clock.run(11_000)
    await until(id, { status: 'READY', failure: { code: 'UPSTREAM_FAILED' }, stale: false })
    await graph.rows(`update agents.knowledge_sources set checked_at = checked_at - interval '8 days'`)
    await until(id, { status: 'READY', stale: true })
    expect(await find('stork')).toHaveLength(1)
  })

  it('leads to FAILED with ADDRESS_REFUSED when it redirects into a network', async () => {
    await using page = await site((_, response) => response.writeHead(302, { location: 'http://169.254.169.254/latest' }).end())
    await using graph = await supergraph({ trusts: [page.origin] })
    const { add, until } = await library(graph)
    const { id } = await add({ kind: 'URL', url: `${page.origin}/page` })
    await until(id, { status: 'FAILED', failure: { code: 'ADDRESS_REFUSED', message: expect.any(String) }, chunks: 0 })
  })
})

describe('searchKnowledge', () => {
  it('keeps to the given sources and visibility, and to what sources are now', async () => {
    await using graph = await supergraph()
    const { add, until, ask, owner } = await library(graph)
    const inside = await add({ text: 'The otter rule is secret.' })
    const outside = await add({ text: 'The otter rule is public.', url: 'https://page.test/', visibility: 'PUBLIC' })
    for (const { id } of [inside, outside]) await until(id, { status: 'READY' })
    const job = graph.platform.agents.job('chat')
    const where = { organizationId: owner.organizationId!, query: 'otter rule', first: 10 }
    const found = async (more: object) => (await searchKnowledge(job, { ...where, ...more })).map(({ source }) => source.id)
    expect(new Set(await found({}))).toEqual(new Set([inside.id, outside.id]))
    expect(await found({ visibility: 'PUBLIC' })).toEqual([outside.id])
    expect(await found({ sourceIds: [inside.id] })).toEqual([inside.id])
    expect(await found({ sourceIds: [] })).toEqual([])
    await ask(update, { input: { id: outside.id, visibility: 'ORGANIZATION' } })
    expect(await found({ visibility: 'PUBLIC' })).toEqual([])
  })
})
