import type { Logger } from 'pino'
import type { Clock } from '../../../../platform/clock.ts'
import type { Sweep } from '../../../../platform/jobs/queue.ts'
import type { Writing } from '../../../store/books.ts'
import { inTransaction } from '../../../store/write.ts'
import type { knowledgeSourceStore } from '../../stores/knowledge/knowledge-source.ts'
import type { BarePassage, EmbeddedDocument, PassageVector, vectorStore } from '../../stores/knowledge/vector.ts'
import type { Embedder } from '../knowledge/embedder.ts'
import { quantize } from '../knowledge/vectors.ts'
import { failureOf } from '../model/failure.ts'
import { openRounds, type Rounds } from '../page/rounds.ts'
import { maxTexts } from './embedder.ts'

type Opened<S extends { open(...given: never[]): unknown }> = ReturnType<S['open']>

/** What passages get their vectors with. */
export interface EmbeddingWork extends Writing {
  readonly knowledgeSources: Opened<typeof knowledgeSourceStore>
  readonly vectors: Opened<typeof vectorStore>
  readonly clock: Clock
  readonly log: Logger
}

/** Maximum passages of an organization that have vectors; further ones are found by their words alone. */
export const maxVectors = 200_000
/** How long a process has for some passages of a document before another one follows it, in ms. */
const claimedMs = 60_000
/** How long one call may take, in ms. */
const callMs = 30_000
/** How long after each failed attempt a document is tried again, in ms; the last one stands for all further ones. */
const pausesMs = [5_000, 30_000, 300_000, 1_800_000] as const
/** How long an organization waits after a refusal that another attempt does not change, such as a spent budget, in ms. */
const refusedMs = 3_600_000
/** How long documents of an organization wait that has as many vectors as it may, in ms. */
const fullMs = 24 * 3_600_000
/** How often documents without vectors of the model are looked for, in ms, and how many at once. */
const missing = { everyMs: 600_000, most: 500 } as const

/** What some passages of a document got. */
type Found =
  | { readonly vectors: readonly PassageVector[]; readonly version: number; readonly isAll: boolean }
  | { readonly isFull: true }
  | { readonly refused: boolean; readonly afterMs: number }

const textOf = ({ title, text }: BarePassage): string => `${title}\n\n${text}`

/** Has the model make vectors of a document's next passages. */
async function find({ vectors, log }: EmbeddingWork, embedder: Embedder, held: EmbeddedDocument): Promise<Found> {
  const { documentId, organizationId, version, attempts } = held
  if ((await vectors.countOf(organizationId, maxVectors)) >= maxVectors) return { isFull: true }
  const passages = await vectors.bare(documentId, embedder.model, maxTexts)
  if (passages.length === 0) return { vectors: [], version, isAll: true }
  try {
    const made = await embedder.embed({ organizationId, forUser: null, texts: passages.map(textOf), timeoutMs: callMs })
    const stored = passages.map(({ number }, at) => {
      const vector = quantize(made[at]!)
      if (!vector) throw new Error('The model made a vector without a direction, or of too many dimensions.')
      return { number, ...vector }
    })
    return { vectors: stored, version: passages[0]!.version, isAll: passages.length < maxTexts }
  } catch (error) {
    const { code, message, isFinal = false, retryAfterMs = 0 } = failureOf(error, false)
    log.warn({ organizationId, documentId, attempts, code, reason: message }, 'passages got no vectors; they will be tried again')
    const pauseMs = isFinal ? refusedMs : pausesMs[Math.min(attempts, pausesMs.length) - 1]!
    return { refused: isFinal, afterMs: Math.max(pauseMs, retryAfterMs) }
  }
}

/** Writes what passages got. @returns ms until the document is tried again; undefined: it has ended */
const conclude = (job: EmbeddingWork, { model }: Embedder, held: EmbeddedDocument, found: Found): Promise<number | undefined> =>
  inTransaction(job, async ({ transaction, now }) => {
    const later = (ms: number) => new Date(now.getTime() + ms)
    // While it is locked, nobody indexes the source anew, deletes it, or changes who may find it.
    if (!(await job.knowledgeSources.lock(held.sourceId, transaction))) return undefined
    if ('isFull' in found) {
      await job.vectors.reschedule(held, later(fullMs), 0, transaction)
      return undefined
    }
    if ('refused' in found) {
      await job.vectors.reschedule(held, later(found.afterMs), held.attempts, transaction)
      if (found.refused) await job.vectors.postpone(held.organizationId, later(found.afterMs), transaction)
      return found.afterMs
    }
    await job.vectors.write(held.documentId, found.version, model, found.vectors, transaction)
    await job.vectors.reschedule(held, found.isAll ? null : now, 0, transaction)
    return found.isAll ? undefined : 0
  })

/** Vectors of passages, made beside requests. */
export interface EmbeddingRounds extends Rounds {
  /** Finds documents that have no vectors of the model. */
  readonly catchUp: Sweep
}

/** Opens the making of vectors in this process. @param job what it works with, created for each piece of work */
export function openEmbedding(job: () => EmbeddingWork, embedder: Embedder): EmbeddingRounds {
  const rounds = openRounds<EmbeddedDocument, Found>({
    name: 'embed-knowledge',
    everyMs: 10_000,
    maxAtOnce: 4,
    maxOfOne: 1,
    partyOf: ({ organizationId }) => organizationId,
    hold(without) {
      const work = job()
      return inTransaction(work, ({ transaction, now }) => work.vectors.claim(embedder.model, now, new Date(now.getTime() + claimedMs), without, transaction))
    },
    find: held => find(job(), embedder, held),
    conclude: (held, found) => conclude(job(), embedder, held, found),
    report: (error, held) => job().log.error({ err: error, document: held.documentId }, 'making vectors failed; it will be retried in a minute'),
  })
  return {
    ...rounds,
    catchUp: {
      name: 'find-knowledge-without-vectors',
      everyMs: missing.everyMs,
      async run() {
        const { vectors, clock } = job()
        while ((await vectors.enqueueMissing(embedder.model, clock.now(), missing.most)) === missing.most);
        rounds.soon()
      },
    },
  }
}
