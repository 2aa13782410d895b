import { readFileSync } from 'node:fs'
import { newId } from '../../../platform/ids.ts'
import { chunksOf } from '../../../subgraphs/agents/engines/knowledge/chunks.ts'
import { hashOf } from '../../../subgraphs/agents/engines/knowledge/indexing.ts'
import { searchKnowledge } from '../../../subgraphs/agents/engines/knowledge/search.ts'
import { inTransaction } from '../../../subgraphs/store/write.ts'
import { type Supergraph, supergraph } from '../../../test/kit/supergraph.ts'
import { seedCredential } from '../../../test/subgraphs/providers/credential/seed.ts'

/** A passage with questions that it answers. Fables of Aesop, told anew; the questions use other words where they can. */
interface Fable {
  readonly title: string
  readonly text: string
  readonly questions: readonly string[]
}

/** Share of the questions whose passage has to be among the first five. */
const leastRecall = 0.85
const places = [1, 3, 5, 10] as const

async function write({ clock, platform }: Supergraph, organizationId: string, { title, text }: Fable): Promise<string> {
  const now = clock.now()
  const [sourceId, id] = [newId(now), newId(now)]
  const job = platform.agents.job('user:bench')
  const stamps = { createdAt: now, updatedAt: now, createdBy: 'user:bench' }
  await inTransaction(job, async ({ transaction }) => {
    const source = { id: sourceId, organizationId, title, kind: 'TEXT', visibility: 'ORGANIZATION', status: 'READY', indexedAt: now } as const
    await job.knowledgeSources.insert({ ...source, ...stamps }, transaction)
    const document = { id, organizationId, sourceId, title, searchConfig: 'english' } as const
    await job.documents.insert({ ...document, contentHash: hashOf(text), chunks: 1, indexedAt: now, ...stamps }, transaction)
    await job.documents.writeText(id, text, transaction)
    await job.chunks.replace({ ...document, visibility: 'ORGANIZATION', version: 1 }, chunksOf(text), transaction)
  })
  return id
}

/** The model that makes vectors: the sandbox plays it. */
const model = 'openai/text-embedding-3-small'

/** Has all passages get their vectors. */
async function embed({ clock, platform, rows }: Supergraph): Promise<void> {
  await platform.agents.job('bench').embedding!.catchUp.run()
  for (;;) {
    await clock.run(100)
    const [left] = await rows<{ documents: number }>('select count(*)::int as documents from agents.embedded_documents where due_at is not null')
    if (left!.documents === 0) return
  }
}

/** What a measure of all questions found: places from 1, 0 for a passage that was not among the first ten. */
interface Ranked {
  readonly ranks: readonly number[]
  readonly missed: readonly string[]
  readonly ms: number
}

async function askAll(
  { platform }: Supergraph,
  organizationId: string,
  asked: readonly (readonly [question: string, id: string])[],
  mayEmbed: boolean,
): Promise<Ranked> {
  const ranks: number[] = []
  const missed: string[] = []
  const began = performance.now()
  for (const [query, id] of asked) {
    // Each search has loaders of its own, as each request has.
    const found = await searchKnowledge(platform.agents.job('bench'), { organizationId, query, first: 10, mayEmbed })
    const rank = found.findIndex(({ document }) => document.id === id) + 1
    ranks.push(rank)
    if (rank === 0 || rank > 5) missed.push(`- ${query} (${rank === 0 ? 'not found' : `place ${rank}`})`)
  }
  return { ranks, missed, ms: (performance.now() - began) / asked.length }
}

/** Measures how often the passage that answers a question is among the first that a search finds: by words alone, and by vectors too. */
export async function measureRetrieval(): Promise<string> {
  const { default: setUp } = await import('../../../test/kit/run/global-setup.ts')
  const stop = await setUp()
  try {
    return await measured()
  } finally {
    await stop()
  }
}

const recallAt = ({ ranks }: Ranked, place: number): number => ranks.filter(rank => rank > 0 && rank <= place).length / ranks.length
const meanOf = ({ ranks }: Ranked): number => ranks.reduce((sum, rank) => sum + (rank > 0 ? 1 / rank : 0), 0) / ranks.length

async function measured(): Promise<string> {
  await using graph = await supergraph({ sandbox: true, embeddingModel: model })
  await seedCredential(graph, { organizationId: null, provider: 'openai', secret: 'sk-sandbox-openai-of-a-bench' })
  const organizationId = (await graph.seed.owner()).owner.organizationId!
  const fables = JSON.parse(readFileSync(new URL('fables.json', import.meta.url), 'utf8')) as readonly Fable[]
  const asked: (readonly [string, string])[] = []
  for (const fable of fables) {
    const id = await write(graph, organizationId, fable)
    asked.push(...fable.questions.map(question => [question, id] as const))
  }
  await embed(graph)
  const words = await askAll(graph, organizationId, asked, false)
  const both = await askAll(graph, organizationId, asked, true)
  const row = (title: string, ranked: Ranked) =>
    `| ${title} | ${places.map(place => recallAt(ranked, place).toFixed(3)).join(' | ')} | ${meanOf(ranked).toFixed(3)} | ${ranked.ms.toFixed(1)} |`
  return `${asked.length} questions about ${fables.length} passages. The sandbox plays the model of the vectors: they say which words texts share, in
any form, and nothing of their meaning, so the second line shows what a second order costs and that it does no harm, not what a real model adds.

| found by | ${places.map(place => `recall@${place}`).join(' | ')} | mean reciprocal rank | ms a search |
| --- | ${places.map(() => '---').join(' | ')} | --- | --- |
${row('full text and similar words', words)}
${row('the same, and vectors of the sandbox', both)}

recall@5 by words alone is to be ${leastRecall} at least: **${recallAt(words, 5) >= leastRecall ? 'it is' : 'it is not'}**. Not among the first five:

${words.missed.join('\n')}

With vectors:

${both.missed.join('\n')}`
}
