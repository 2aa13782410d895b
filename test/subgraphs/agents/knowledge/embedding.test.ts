import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { newId } from '../../../../platform/ids.ts'
import { maxVectors } from '../../../../subgraphs/agents/engines/embed/embedding.ts'
import { searchKnowledge } from '../../../../subgraphs/agents/engines/knowledge/search.ts'
import type { Viewer } from '../../../../subgraphs/viewer.ts'
import { supergraph } from '../../../kit/supergraph.ts'
import { type AiWorld, aiWorld } from '../../providers/ai/world.ts'

const model = 'openai/text-embedding-3-small'
const create = 'mutation($input: CreateKnowledgeSourceInput!) { createKnowledgeSource(input: $input) { id } }'
const update = 'mutation($input: UpdateKnowledgeSourceInput!) { updateKnowledgeSource(input: $input) { id } }'
const del = 'mutation($input: DeleteKnowledgeSourceInput!) { deleteKnowledgeSource(input: $input) { id } }'
const search = 'query($query: String!) { searchKnowledge(query: $query) { quote score } }'

/** A language whose word forms searches by words do not know; words of three letters are not compared by similarity either. */
const language = 'et'
const cats = 'Cats chase rats.'

let world: AiWorld
let owner: Viewer

beforeAll(async () => {
  world = await aiWorld({ embeddingModel: model })
  ;({ owner } = world)
})
beforeEach(async () => {
  for (const network of ['openai', 'anthropic']) await world.arm(network)
  await world.graph.rows('delete from providers.spend_limits')
  for (const table of [
    'knowledge_sources',
    'knowledge_texts',
    'documents',
    'document_texts',
    'knowledge_chunks',
    'knowledge_vectors',
    'knowledge_dimensions',
    'embedded_documents',
  ])
    await world.graph.rows(`delete from agents.${table}`)
})
afterAll(() => world[Symbol.asyncDispose]())

const ask = async (document: string, variables: object, as: Viewer = owner) => (await world.graph.execute(document, { ...variables }, { as })).data()
const find = async (query: string, as: Viewer = owner): Promise<string[]> =>
  (await ask(search, { query }, as)).searchKnowledge.map(({ quote }: { quote: string }) => quote)
const add = async (input: object, as: Viewer = owner): Promise<string> =>
  (await ask(create, { input: { title: 'A source', kind: 'TEXT', language, ...input } }, as)).createKnowledgeSource.id
const count = async (table: string): Promise<number> =>
  (await world.graph.rows<{ count: number }>(`select count(*)::int as count from agents.${table}`))[0]!.count
const waiting = async () =>
  (await world.graph.rows<{ at: Date }>(`select due_at as at from agents.embedded_documents where due_at is not null`)).map(({ at }) => at.getTime())
/** Waits until as many passages have vectors, and no document waits for some. */
const embedded = (vectors: number) => world.until(async () => [await count('knowledge_vectors'), await waiting()], [vectors, []])
const calls = () =>
  world.graph.rows<{ user: string | null; status: string }>(
    `select user_id as "user", status from providers.calls where operation = 'embeddings' and app_id = 'app_agents' order by created_at, id`,
  )
const armFailure = (times: number) => world.arm('openai', { fault: 'status', status: 503, times })

describe('vectors of knowledge', () => {
  it('find passages that share no word with the question, for their organization alone, and are paid for by who asks', async () => {
    const before = (await calls()).length
    await add({ text: cats })
    await embedded(1)
    expect(await find('cat rat')).toEqual([cats])
    expect((await calls()).slice(before)).toEqual([
      { user: null, status: 'SUCCEEDED' },
      { user: owner.userId, status: 'SUCCEEDED' },
    ])
    // The same question is not embedded again.
    expect(await find('cat rat')).toEqual([cats])
    expect(await find('whale')).toEqual([])
    expect((await calls()).length - before).toBe(3)
    const { owner: other } = await world.graph.seed.owner()
    expect(await find('cat rat', other)).toEqual([])
    expect((await calls()).length - before).toBe(3)
  })

  it('put what is found by words and by meaning first', async () => {
    const texts = [cats, 'A dog barks at night.', 'The cat of a king ate a rat.']
    for (const text of texts) await add({ text })
    await embedded(3)
    // Both are near to the question, and one has all of its words.
    expect(await find('cat rat king')).toEqual([texts[2], cats])
  })

  it('are made in several calls for a long text, and anew for a changed one, and go with the source', async () => {
    const before = (await calls()).length
    const id = await add({ text: Array.from({ length: 70 }, (_, at) => `Number ${at} of the cats. ${'It sits. '.repeat(80)}`).join('\n\n') })
    await world.until(
      async () => [(await count('knowledge_chunks')) > 64, (await count('knowledge_vectors')) === (await count('knowledge_chunks'))],
      [true, true],
    )
    await embedded(await count('knowledge_chunks'))
    expect((await calls()).length - before).toBe(3)
    await ask(update, { input: { id, text: cats } })
    await embedded(1)
    expect(await find('cat rat')).toEqual([cats])
    await ask(del, { input: { id } })
    for (const table of ['knowledge_vectors', 'knowledge_dimensions', 'embedded_documents']) expect(await count(table)).toBe(0)
    expect(await find('cat rat')).toEqual([])
  })

  it('follow the visibility and the sources that are searched', async () => {
    const id = await add({ text: cats, url: 'https://page.test/' })
    await embedded(1)
    const job = world.graph.platform.agents.job('chat')
    const found = async (more: object) =>
      (await searchKnowledge(world.graph.platform.agents.job('chat'), { organizationId: owner.organizationId!, query: 'cat rat', first: 5, ...more })).length
    expect(job.embedder).not.toBeNull()
    expect([
      await found({}),
      await found({ visibility: 'PUBLIC' }),
      await found({ sourceIds: [id] }),
      await found({ sourceIds: [owner.organizationId!] }),
    ]).toEqual([1, 0, 1, 0])
    await ask(update, { input: { id, visibility: 'PUBLIC' } })
    expect([await found({ visibility: 'PUBLIC' }), await found({ visibility: 'PUBLIC', mayEmbed: false })]).toEqual([1, 0])
  })

  it('are tried again while the vendor fails, and searches find words meanwhile', async () => {
    await armFailure(2)
    await add({ text: `${cats} A giraffe waits.` })
    await world.until(waiting, expect.arrayContaining([expect.any(Number)]))
    expect(await find('giraffe')).toHaveLength(1)
    await world.graph.clock.run(5_000)
    await world.graph.clock.run(35_000)
    await embedded(1)
  })

  it('do not hold a search up: a question without a vector in time is answered by words, and the next ones do not wait', async () => {
    // Its questions rest for a while afterwards.
    const { owner: other } = await world.graph.seed.owner()
    await add({ text: `${cats} A giraffe waits.` }, other)
    await embedded(1)
    await world.arm('openai', { fault: 'slow', delayMs: 20_000, times: 1 })
    const began = performance.now()
    expect(await find('giraffe of a slow day', other)).toHaveLength(1)
    expect(performance.now() - began).toBeLessThan(15_000)
    const before = (await calls()).length
    expect(await find('another giraffe', other)).toHaveLength(1)
    expect((await calls()).length).toBe(before)
  })
})

describe('vectors that cannot be read', () => {
  it('leave a search to its words', async () => {
    const { owner: other } = await world.graph.seed.owner()
    await add({ text: `${cats} A giraffe waits.` }, other)
    await embedded(1)
    await world.graph.rows('alter table agents.knowledge_dimensions rename to elsewhere')
    try {
      expect(await find('giraffe of some cat', other)).toHaveLength(1)
    } finally {
      await world.graph.rows('alter table agents.elsewhere rename to knowledge_dimensions')
    }
  })
})

describe('vectors of knowledge beyond what may be spent', () => {
  it('are not made: nothing is spent, all documents of the organization wait for an hour, and searches find words', async () => {
    await world.limit(0)
    await add({ text: `${cats} A giraffe waits.` })
    await add({ text: 'Another text.' })
    const inAnHour = async () => {
      const soonest = Math.min(...(await waiting()))
      return (await waiting()).length === 2 && soonest >= world.graph.clock.now().getTime() + 3_000_000
    }
    await world.until(inAnHour, true)
    expect(await find('giraffe')).toHaveLength(1)
    expect([await count('knowledge_vectors'), (await world.spent()).spent]).toEqual([0, 0])
    await world.graph.rows('delete from providers.spend_limits')
    await world.graph.clock.advance(3_600_000)
    await world.graph.clock.run(10_000)
    await embedded(2)
  })
})

describe('an organization with as many vectors as it may have', () => {
  it('gets no further ones, and its further passages are found by their words', { timeout: 120_000 }, async () => {
    for (let part = 0; part < 10; part += 1)
      await world.graph.rows(
        `insert into agents.knowledge_vectors (document_id, number, organization_id, source_id, visibility, version, model, signs)
         select $1, $2 + n, $3, $1, 'ORGANIZATION', 1, $4, B'1' from generate_series(1, $5::int) n`,
        [newId(), part * 100_000, owner.organizationId, model, maxVectors / 10],
      )
    const before = (await calls()).length
    await add({ text: 'A giraffe waits.' })
    const isPutOff = async () => (await waiting()).some(at => at > world.graph.clock.now().getTime() + 23 * 3_600_000)
    await world.until(isPutOff, true)
    expect((await calls()).length).toBe(before)
    expect(await find('giraffe')).toHaveLength(1)
  })
})

describe('another model of vectors', () => {
  it('makes all of them anew in the background, and compares none of the former model', async () => {
    await add({ text: cats })
    await embedded(1)
    for (const table of ['knowledge_vectors', 'embedded_documents']) await world.graph.rows(`update agents.${table} set model = 'openai/former'`)
    expect(await find('rat or cat')).toEqual([])
    await world.graph.clock.advance(600_000)
    await world.graph.clock.run(10_000)
    await embedded(1)
    expect(await world.graph.rows('select model from agents.knowledge_vectors')).toEqual([{ model }])
    expect(await find('rat of some cat')).toEqual([cats])
  })

  it('finds what was indexed while none was set, and drops what a program without vectors left of a deleted source', async () => {
    await add({ text: cats })
    const id = await add({ text: 'Dogs chase cats.' })
    await embedded(2)
    for (const table of ['documents', 'knowledge_chunks']) await world.graph.rows(`delete from agents.${table} where source_id = $1`, [id])
    for (const table of ['embedded_documents', 'knowledge_vectors', 'knowledge_dimensions'])
      await world.graph.rows(`delete from agents.${table} where source_id <> $1`, [id])
    await world.graph.clock.advance(600_000)
    await world.graph.clock.run(10_000)
    await embedded(1)
    for (const table of ['embedded_documents', 'knowledge_dimensions']) expect(await count(table)).toBe(1)
    expect(await find('cat rat')).toEqual([cats])
  })
})

it('makes no vectors and calls nobody while no model is set', async () => {
  await using graph = await supergraph({ sandbox: true })
  const { owner: person } = await graph.seed.owner()
  const asked = async (document: string, variables: object) => (await graph.execute(document, { ...variables }, { as: person })).data()
  await asked(create, { input: { title: 'A source', kind: 'TEXT', language, text: cats } })
  await graph.clock.run(1)
  const chunks = () => graph.rows('select 1 as one from agents.knowledge_chunks')
  await expect.poll(chunks, { timeout: 10_000 }).toHaveLength(1)
  await graph.clock.advance(600_000)
  await graph.clock.run(10_000)
  expect((await asked(search, { query: 'cat rat' })).searchKnowledge).toEqual([])
  expect(await graph.rows('select 1 from agents.embedded_documents')).toEqual([])
  expect(await graph.rows('select 1 from providers.calls')).toEqual([])
})
