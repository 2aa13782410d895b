import type { Logger } from 'pino'
import type { Sequelize } from 'sequelize'
import type { Clock } from '../../../../platform/clock.ts'
import { crash } from '../../../../platform/crash.ts'
import type { WriteTransaction, Writing } from '../../../store/books.ts'
import { writeFacts } from '../../../store/books.ts'
import type { NewFact } from '../../../store/fact-kinds.ts'
import { inTransaction } from '../../../store/write.ts'
import type { CallRow } from '../../stores/call.ts'
import { books, type Place } from '../../stores/spend/books.ts'
import { doubts } from '../../stores/spend/doubts.ts'
import type { SpendLimitRow } from '../../stores/spend/limit.ts'
import { createAlone, type LoneEntry } from './alone.ts'
import { createBatchWriter } from './batch-writer.ts'
import { monotonicNow } from './booking.ts'
import { decide, type Entry, isLater, keyOf, type Outcome, placesOfEnd, placesOfEntry } from './decide.ts'

/** Dependencies of the ledger. */
export interface LedgerGround {
  readonly sequelize: Sequelize
  readonly clock: Clock
  readonly log: Pick<Logger, 'error' | 'warn'>
  /** The job context, created anew for each piece of work. */
  job(): Writing
  /** Returns the facts of a limit's change. */
  factsOf(before: SpendLimitRow, after: SpendLimitRow, at: Date): readonly NewFact[]
  /** Publishes, after the commit, changes of these limits, or of this organization's calls. */
  announce(limits: readonly string[], organizationId: string | null): void
  /** Origin of the pages on which people act. */
  readonly publicUrl: string
}

/** Time in ms for which it is remembered that an organization has limits, and of how many it is at most. */
const rememberedMs = 10_000
const mostRemembered = 20_000

/** Writes entries to the ledger. */
export type LedgerWriter = ReturnType<typeof createLedgerWriter>

/** Creates the writer of the ledger: entries of busy organizations go in batches, a single one goes alone. */
export function createLedgerWriter({ sequelize, clock, log, job, factsOf, announce, publicUrl }: LedgerGround) {
  /** Organizations in which a limit applied lately, until when: they skip the attempt without limits. */
  const limited = new Map<string, number>()
  const wasLimited = (organizationId: string) => (limited.get(organizationId) ?? 0) > clock.now().getTime()
  function remember(organizationId: string, isSo: boolean): void {
    limited.delete(organizationId)
    if (!isSo) return
    limited.set(organizationId, clock.now().getTime() + rememberedMs)
    if (limited.size > mostRemembered) limited.delete(limited.keys().next().value!)
  }

  const batchWriter = createBatchWriter<Entry, Outcome>(async entries => {
    const { outcomes, changed } = await inTransaction(job(), unit => keepBooks(entries, unit))
    for (const entry of entries) announce(changed, keyOf(entry).organizationId)
    return outcomes
  })

  const lone = createAlone({ sequelize, clock, isNews: (before, after, at) => factsOf(before, after, at).length > 0 })

  /** Locks the limits of entries, applies the rules in order, and writes all results. */
  async function keepBooks(entries: readonly Entry[], unit: WriteTransaction): Promise<{ outcomes: readonly Outcome[]; changed: readonly string[] }> {
    const { transaction } = unit
    const begunBefore = entries.filter(isLater).map(keyOf)
    const running = begunBefore.length > 0 ? await books.lockCalls(sequelize, begunBefore, transaction) : []
    const placesOfAll = entries.flatMap(entry => {
      if (!isLater(entry)) return placesOfEntry(entry)
      return entry.kind === 'end' ? running.filter(({ id }) => id === entry.ended.id).flatMap(call => placesOfEnd(call, entry)) : []
    })
    const held = running.flatMap(call => [...call.held, ...call.pending].map(({ limitId }) => limitId))
    const before = await books.lockLimits(sequelize, held, distinct(placesOfAll), transaction)
    // The lock may have been held for a while, so the time is read again.
    const now = monotonicNow(clock.now(), before)
    const { outcomes, changes, begun, ended, refusedCharges, isLimited } = decide(entries, before, running, now)
    for (const [organizationId, isSo] of isLimited) remember(organizationId, isSo)
    for (const entry of refusedCharges) recordRefused(entry)
    if (changes.length > 0 || begun.length > 0 || ended.length > 0)
      await books.write(sequelize, { limits: changes.map(({ after }) => after), begun, ended }, transaction)
    const doubtful = entries.flatMap(entry =>
      entry.kind === 'end' && entry.ended.doubtful && ended.some(({ id }) => id === entry.ended.id) ? [entry.ended] : [],
    )
    const facts = [
      ...changes.flatMap(change => factsOf(change.before, change.after, now)),
      ...(await doubts.open(sequelize, doubtful, publicUrl, { transaction, now })),
    ]
    if (facts.length > 0) await writeFacts(job(), facts, { transaction, now })
    lone.forget(changes.map(({ after }) => after.id))
    crash('books-written')
    return { outcomes, changed: changes.map(({ after }) => after.id) }
  }

  /** Rejected charges that are being stored separately. */
  const writing = new Set<Promise<void>>()
  function recordRefused(entry: Extract<Entry, { kind: 'refused' }>): void {
    const written = batchWriter
      .do(entry.call.organizationId, entry)
      .then(
        () => {},
        error => log.error({ err: error, call: entry.call.id }, 'refused call could not be stored'),
      )
      .finally(() => writing.delete(written))
    writing.add(written)
  }

  /** Organizations with a single entry being written. */
  const alone = new Set<string>()

  /** Writes a single entry alone while the organization has no other, and else in a batch. */
  async function keepSoon(organizationId: string, entry: LoneEntry, running: readonly CallRow[]): Promise<Outcome> {
    if (alone.has(organizationId) || batchWriter.isBusy(organizationId)) return batchWriter.do(organizationId, entry)
    alone.add(organizationId)
    try {
      return (await keepAlone(organizationId, entry, running)) ?? (await batchWriter.do(organizationId, entry))
    } finally {
      alone.delete(organizationId)
    }
  }

  async function keepAlone(organizationId: string, entry: LoneEntry, running: readonly CallRow[]): Promise<Outcome | null> {
    const kept = await lone.keep(organizationId, entry, running)
    if (!kept) return null
    for (const [id, isSo] of kept.isLimited) remember(id, isSo)
    announce(kept.changed, organizationId)
    return kept.outcome
  }

  return {
    /** Whether a limit applied lately in an organization. */
    wasLimited,
    keepBooks,
    keepSoon,
    /** Writes an entry in the next batch of its organization. */
    write: batchWriter.do,
    /** Resolves once the rejected charges are stored that are being stored now. */
    settled: () => Promise.all(writing),
  }
}

const distinct = (places: readonly Place[]): readonly Place[] => [
  ...new Map(places.map(place => [`${place.organizationId} ${place.type} ${place.value}`, place])).values(),
]
