import { createHash } from 'node:crypto'
import type { Logger } from 'pino'
import type { Clock } from '../../../../platform/clock.ts'
import { newId } from '../../../../platform/ids.ts'
import type { Outbound } from '../../../../platform/outbound/outbound.ts'
import type { WriteTransaction, Writing } from '../../../store/books.ts'
import { inTransaction, type Outcome, step } from '../../../store/write.ts'
import type { chunkStore } from '../../stores/knowledge/chunk.ts'
import type { DocumentRow, documentStore } from '../../stores/knowledge/document.ts'
import type { KnowledgeSourceRow, knowledgeSourceStore, knowledgeSources } from '../../stores/knowledge/knowledge-source.ts'
import type { vectorStore } from '../../stores/knowledge/vector.ts'
import { type Fetched, fetchText, later } from '../page/fetch.ts'
import { openRounds, type Rounds } from '../page/rounds.ts'
import { chunksOf } from './chunks.ts'
import { searchConfigOf } from './language.ts'

type Opened<S extends { open(...given: never[]): unknown }> = ReturnType<S['open']>

/** What sources are indexed with. */
export interface IndexingWork extends Writing {
  readonly chunks: Opened<typeof chunkStore>
  readonly documents: Opened<typeof documentStore>
  readonly knowledgeSources: Opened<typeof knowledgeSourceStore>
  readonly vectors: Opened<typeof vectorStore>
  readonly clock: Clock
  readonly log: Logger
  readonly outbound: Outbound
}

/** Maximum characters of one text, in UTF-16 code units. */
export const maxText = 1_048_576
/** How long a process has for one source before another one follows it, in ms. */
const heldMs = 60_000
/** How long after each failed attempt an address is tried again, in ms. */
const pausesMs = [2_000, 15_000] as const
const maxAttempts = pausesMs.length + 1
/** How often the addresses of sources are read again, in ms. */
export const againMs = 24 * 3_600_000
/** Age from which a source whose address was not read again is stale, in ms. */
export const staleMs = 7 * 24 * 3_600_000

/** `sha256:` and the hash of a text as UTF-8. */
export const hashOf = (text: string): string => `sha256:${createHash('sha256').update(text, 'utf8').digest('hex')}`

/** What makes vectors of the passages, and the model that does; null: none is made. */
export type Embeds = { readonly model: string; readonly rounds: Pick<Rounds, 'soon'> } | null

/** Claims the source that is due next. */
const hold = (job: IndexingWork, without: readonly string[]): Promise<KnowledgeSourceRow | null> =>
  inTransaction(job, async ({ transaction, now }) => {
    const due = await job.knowledgeSources.lockDue(now, without, transaction)
    if (!due) return null
    const status = due.status === 'READY' ? 'READY' : 'INDEXING'
    const indexAt = new Date(now.getTime() + heldMs)
    return job.knowledgeSources.update(due, { status, indexAt, attempts: due.attempts + 1 }, transaction)
  })

/** Reads the text of a source: one that waits, else that at its address, else that of its document. */
async function find(job: IndexingWork, held: KnowledgeSourceRow): Promise<Fetched> {
  // A source at which several processes died is not tried again.
  if (held.attempts > maxAttempts) return later('The source could not be read.')
  const pending = await job.knowledgeSources.pendingOf(held.id)
  if (pending !== null) return { text: pending }
  if (held.kind !== 'URL') {
    const text = await job.documents.textOf(held.id)
    return text === null ? { failure: { code: 'EMPTY', message: 'The source has no text: give it one.' } } : { text }
  }
  return fetchText(job.outbound, held.url!, maxText)
}

/** Writes the document of a source and its chunks, unless text and language are those that are indexed already. */
async function index(job: IndexingWork, embeds: Embeds, source: KnowledgeSourceRow, text: string, unit: WriteTransaction): Promise<boolean> {
  const { transaction, now } = unit
  const [known] = await job.documents.ofSource(source.id, transaction)
  const [contentHash, searchConfig] = [hashOf(text), searchConfigOf(source.language)]
  const { title, url } = source
  const isKnown = known?.contentHash === contentHash && known.searchConfig === searchConfig && known.title === title && known.url === url
  if (isKnown) return false
  const chunks = chunksOf(text)
  const facts = { title, url, contentHash, searchConfig, chunks: chunks.length, indexedAt: now, updatedAt: now }
  const { id: sourceId, organizationId, createdBy, visibility } = source
  const document: DocumentRow = known
    ? await job.documents.update(known, { ...facts, version: known.version + 1 }, transaction)
    : await job.documents.insert({ id: newId(now), organizationId, sourceId, ...facts, createdAt: now, createdBy }, transaction)
  if (known?.contentHash !== contentHash) await job.documents.writeText(document.id, text, transaction)
  const version = document.version ?? 1
  await job.chunks.replace({ id: document.id, organizationId, sourceId, title, visibility, searchConfig, version }, chunks, transaction)
  if (embeds) await job.vectors.enqueue({ documentId: document.id, organizationId, sourceId, version }, embeds.model, now, transaction)
  return true
}

/** Writes the result of reading a source. @returns ms until it is tried again; undefined: it has ended */
async function conclude(job: IndexingWork, embeds: Embeds, held: KnowledgeSourceRow, found: Fetched): Promise<number | undefined> {
  const { knowledgeSources: sources } = job
  const pause = 'again' in found ? pausesMs[held.attempts - 1] : undefined
  await step(job, {
    of: sources,
    hold: held.id,
    async decide(source, unit): Promise<Outcome<typeof knowledgeSources, void> | null> {
      if (source.attempts !== held.attempts || source.indexAt === null) return null
      const { now, transaction } = unit
      const next = source.kind === 'URL' ? new Date(now.getTime() + againMs) : null
      if (pause !== undefined) return { changes: { indexAt: new Date(now.getTime() + pause) } }
      if ('text' in found) {
        const isNew = await index(job, embeds, source, found.text, unit)
        await sources.dropPending(source.id, transaction)
        const current = { status: 'READY', failure: null, indexAt: next, attempts: 0, checkedAt: now } as const
        const isNews = isNew || source.status !== 'READY' || source.failure !== null
        return { changes: { ...current, ...(isNew && { indexedAt: now }) }, isNews }
      }
      const failure = 'failure' in found ? found.failure : found.again
      // What was indexed before stays, until it is stale.
      const status = source.indexedAt === null ? 'FAILED' : 'READY'
      return { changes: { status, failure, indexAt: next, attempts: 0 }, isNews: true }
    },
  })
  if ('text' in found) embeds?.rounds.soon()
  return pause
}

/** Opens the indexing of sources in this process. @param job what it works with, created for each piece of work */
export const openIndexing = (job: () => IndexingWork, embeds: Embeds): Rounds =>
  openRounds<KnowledgeSourceRow, Fetched>({
    name: 'index-knowledge',
    everyMs: 10_000,
    maxAtOnce: 8,
    maxOfOne: 4,
    partyOf: ({ organizationId }) => organizationId,
    hold: without => hold(job(), without),
    find: held => find(job(), held),
    conclude: (held, found) => conclude(job(), embeds, held, found),
    report: (error, held) => job().log.error({ err: error, source: held.id }, 'indexing a source failed; it will be retried in a minute'),
  })
