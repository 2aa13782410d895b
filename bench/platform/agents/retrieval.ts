import { readFileSync } from 'node:fs'
import { newId } from '../../../platform/ids.ts'
import { chunksOf } from '../../../subgraphs/agents/engines/knowledge/chunks.ts'
import { hashOf } from '../../../subgraphs/agents/engines/knowledge/indexing.ts'
import { searchKnowledge } from '../../../subgraphs/agents/engines/knowledge/search.ts'
import { inTransaction } from '../../../subgraphs/store/write.ts'
import { type Supergraph, supergraph } from '../../../test/kit/supergraph.ts'

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

/** Measures how often the passage that answers a question is among the first that a search finds, with full text and similarity alone. */
export async function measureRetrieval(): Promise<string> {
  const { default: setUp } = await import('../../../test/kit/run/global-setup.ts')
  const stop = await setUp()
  try {
    return await measured()
  } finally {
    await stop()
  }
}

async function measured(): Promise<string> {
  await using graph = await supergraph()
  const organizationId = (await graph.seed.owner()).owner.organizationId!
  const fables = JSON.parse(readFileSync(new URL('fables.json', import.meta.url), 'utf8')) as readonly Fable[]
  const ranks: number[] = []
  const missed: string[] = []
  const asked: (readonly [string, string])[] = []
  for (const fable of fables) {
    const id = await write(graph, organizationId, fable)
    asked.push(...fable.questions.map(question => [question, id] as const))
  }
  const began = performance.now()
  for (const [query, id] of asked) {
    // Each search has loaders of its own, as each request has.
    const found = await searchKnowledge(graph.platform.agents.job('bench'), { organizationId, query, first: 10 })
    const rank = found.findIndex(({ document }) => document.id === id) + 1
    ranks.push(rank)
    if (rank === 0 || rank > 5) missed.push(`- ${query} (${rank === 0 ? 'not found' : `place ${rank}`})`)
  }
  const ms = (performance.now() - began) / asked.length
  const recall = (place: number) => ranks.filter(rank => rank > 0 && rank <= place).length / ranks.length
  const mean = ranks.reduce((sum, rank) => sum + (rank > 0 ? 1 / rank : 0), 0) / ranks.length
  return `${asked.length} questions about ${fables.length} passages; full text and similar words, no embeddings. ${ms.toFixed(1)} ms a search.

| ${places.map(place => `recall@${place}`).join(' | ')} | mean reciprocal rank |
| ${places.map(() => '---').join(' | ')} | --- |
| ${places.map(place => recall(place).toFixed(3)).join(' | ')} | ${mean.toFixed(3)} |

recall@5 is to be ${leastRecall} at least: **${recall(5) >= leastRecall ? 'it is' : 'it is not'}**. Not among the first five:

${missed.join('\n')}`
}
