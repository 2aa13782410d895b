import type { Logger } from 'pino'
import type { Sequelize } from 'sequelize'
import type { Clock } from '../../../../platform/clock.ts'
import { crash } from '../../../../platform/crash.ts'
import { newId } from '../../../../platform/ids.ts'
import type { Unit, Writing } from '../../../store/books.ts'
import { tell } from '../../../store/books.ts'
import type { NewFact } from '../../../store/fact-kinds.ts'
import { inTransaction } from '../../../store/write.ts'
import type { CallRow } from '../../stores/call.ts'
import { books, type CallChange, counts, type Place, placesOf } from '../../stores/spend/books.ts'
import { doubts } from '../../stores/spend/doubts.ts'
import type { SpendLimitRow } from '../../stores/spend/limit.ts'
import { createAlone, type LoneEntry } from './alone.ts'
import { alerted, asOf, heldForMs, monotonicNow, overdrawn } from './booking.ts'
import {
  type Admitted,
  type CallKey,
  type Covered,
  decide,
  type EndEntry,
  type Entry,
  isLater,
  keyOf,
  type Outcome,
  placesOfEnd,
  placesOfEntry,
} from './decide.ts'
import type { DefaultLimits } from './default-limits.ts'
import { createLater } from './later.ts'
import { type CallCaller, type CallEnd, type CallOrder, type Calls, type Charge, inWords, type OpenCall, type Prices } from './order.ts'
import { createTeller } from './teller.ts'
import { createUnderWay } from './under-way.ts'

/** What calls work with. */
export interface CallsGround {
  readonly sequelize: Sequelize
  readonly clock: Clock
  readonly prices: Prices
  readonly log: Pick<Logger, 'error' | 'warn'>
  /** The job context, created anew for each piece of work. */
  job(): Writing
  /** The facts of a limit's change from one state to another. */
  factsOf(before: SpendLimitRow, after: SpendLimitRow, at: Date): readonly NewFact[]
  /** Tells screens, after the commit, that these limits have changed, or calls of this organization. */
  announce(limits: readonly string[], organizationId: string | null): void
  /** Where people are sent to see to something. */
  readonly publicUrl: string
  readonly defaults: Pick<DefaultLimits, 'ensure'>
}

/** How many calls that nobody ended are looked at in one round, and for how long it is remembered that an organization has limits, in ms. */
const mostExpired = 200
const mostForgotten = 5_000
const rememberedMs = 10_000
const mostRemembered = 20_000

/** For how long a stop waits for calls whose askers it has just cut off, in ms: each is to be told what became of it, and then is. */
const lastWordsMs = 1_000

/** Opens the record of calls. */
export function createCalls({ sequelize, clock, prices, log, job, factsOf, announce, publicUrl, defaults }: CallsGround) {
  /** Organizations in which a limit applied lately, until when: it spares them an attempt without one. */
  const limited = new Map<string, number>()
  const wasLimited = (organizationId: string) => (limited.get(organizationId) ?? 0) > clock.now().getTime()
  function remember(organizationId: string, isSo: boolean): void {
    limited.delete(organizationId)
    if (!isSo) return
    limited.set(organizationId, clock.now().getTime() + rememberedMs)
    if (limited.size > mostRemembered) limited.delete(limited.keys().next().value!)
  }

  const teller = createTeller<Entry, Outcome>(async entries => {
    const { outcomes, changed } = await inTransaction(job(), unit => keepBooks(entries, unit))
    for (const entry of entries) announce(changed, keyOf(entry).organizationId)
    return outcomes
  })

  const lone = createAlone({ sequelize, clock, isNews: (before, after, at) => factsOf(before, after, at).length > 0 })

  /** Locks what the entries touch, lets the rules speak in their order, and writes what has become of everything. */
  async function keepBooks(entries: readonly Entry[], unit: Unit): Promise<{ outcomes: readonly Outcome[]; changed: readonly string[] }> {
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
    if (facts.length > 0) await tell(job(), facts, { transaction, now })
    lone.forget(changes.map(({ after }) => after.id))
    crash('books-written')
    return { outcomes, changed: changes.map(({ after }) => after.id) }
  }

  const underWay = createUnderWay()

  /** Ends of calls that the database could not write. */
  const later = createLater(log)

  /** Refused charges that are being written down by themselves. */
  const writing = new Set<Promise<void>>()
  function recordRefused(entry: Extract<Entry, { kind: 'refused' }>): void {
    const written = teller
      .do(entry.call.organizationId, entry)
      .then(
        () => {},
        error => log.error({ err: error, call: entry.call.id }, 'refused call could not be stored'),
      )
      .finally(() => writing.delete(written))
    writing.add(written)
  }

  async function begin(caller: CallCaller, { family, operation, requestedModel, candidates, prompt, promptUntil }: CallOrder): Promise<OpenCall> {
    const isOnPlatform = candidates.some(candidate => candidate.isOnPlatform)
    if (isOnPlatform) await defaults.ensure(caller.organizationId)
    const now = clock.now()
    const call: CallRow = {
      ...newCall(caller, { family, operation }, now),
      requestedModel: clean(requestedModel, 500),
      prompt: clean(inWords(prompt), 100_000),
      promptUntil: prompt ? (promptUntil ?? null) : null,
      expiresAt: new Date(now.getTime() + heldForMs),
    }
    const models = candidates.map(({ model }) => model)
    crash('before-call-begins')
    const isFree = !wasLimited(caller.organizationId) && (await books.insertFree(sequelize, call, placesOf(call, models, isOnPlatform)))
    if (isFree) announce([], caller.organizationId)
    const free: Admitted = { allowed: candidates, isLimited: false, call }
    const admission = isFree ? free : await admitted({ kind: 'begin', call, candidates })
    const { allowed, isLimited } = admission
    let open = admission.call
    /** Whether the reserved amount is known in this process: not after an attempt to raise it whose result was lost. */
    let isKnown = true
    crash('call-begun')
    const over = underWay.begun()
    let settled: Promise<void> | null = null
    return {
      id: call.id,
      allowed: allowed.flatMap(({ model }) => model ?? []),
      isLimited,
      async cover(micros) {
        if (isFree) return true
        isKnown = false
        const { covered } = (await teller.do(call.organizationId, { kind: 'cover', call, micros })) as Covered
        isKnown = true
        if (covered) open = { ...open, held: covered }
        return covered !== null
      },
      settle(end) {
        settled ??= settle(open, end, isFree ? 'free' : isKnown ? 'held' : 'unknown').finally(over)
        return settled
      },
    }
  }

  /** Organizations for which one entry is being written by itself. */
  const alone = new Set<string>()

  /** Does an entry by itself where nobody else of the organization is at it, and in turn with others where somebody is. */
  async function keepSoon(organizationId: string, entry: LoneEntry, running: readonly CallRow[]): Promise<Outcome> {
    if (alone.has(organizationId) || teller.isBusy(organizationId)) return teller.do(organizationId, entry)
    alone.add(organizationId)
    try {
      return (await keepAlone(organizationId, entry, running)) ?? (await teller.do(organizationId, entry))
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

  async function admitted(entry: Extract<Entry, { kind: 'begin' }>): Promise<Admitted> {
    const outcome = await keepSoon(entry.call.organizationId, entry, [])
    if ('refused' in outcome) throw outcome.refused
    return outcome as Admitted
  }

  async function settle(call: CallRow, end: CallEnd, holds: Holds): Promise<void> {
    const entry: EndEntry = { kind: 'end', ended: endedRow(call, end, clock.now()), unclear: end.unclear ?? [] }
    crash('before-call-is-settled')
    const write = () => writeEnd(call, entry, holds)
    await write().catch(cause => later.keep(call.id, cause, write))
    crash('call-settled')
  }

  /** If it was already stored, although the answer was lost, nothing changes. */
  async function writeEnd(call: CallRow, entry: EndEntry, holds: Holds): Promise<void> {
    if (holds === 'free' && !entry.ended.doubtful && (await books.endFree(sequelize, entry.ended, placesOfEnd(call, entry)))) announce([], call.organizationId)
    else if (holds === 'held' && !entry.ended.doubtful) await keepSoon(call.organizationId, entry, [call])
    else await teller.do(call.organizationId, entry)
  }

  async function charge(caller: CallCaller, { family, operation, provider, units, micros }: Charge, unit: Unit): Promise<string> {
    const { transaction } = unit
    const status = 'SUCCEEDED'
    const call: CallRow = { ...newCall(caller, { family, operation }, unit.now), status, provider, units: units ?? null, costMicros: micros, endedAt: unit.now }
    await books.share(sequelize, caller.organizationId, transaction)
    if (await books.insertFree(sequelize, call, placesOf(call, [], false), transaction)) {
      transaction.afterCommit(() => announce([], caller.organizationId))
      return call.id
    }
    const { outcomes, changed } = await keepBooks([{ kind: 'charge', call, candidates: [{ model: null, upperMicros: micros }] }], unit)
    transaction.afterCommit(() => announce(changed, caller.organizationId))
    const [outcome] = outcomes
    if (outcome && 'refused' in outcome) throw outcome.refused
    return call.id
  }

  return {
    calls: { begin, charge, priceOf: prices } satisfies Calls,

    /**
     * Releases reservations of calls that did not end in time, and of those whose provider can hardly charge any more. Any number of
     * processes may do so at the same time.
     */
    async expire(): Promise<void> {
      await each(books.expired, key => ({ kind: 'end', ended: { ...endedRow(key, nothing, clock.now()), expired: true }, unclear: [] }))
      await each(books.pending, call => ({ kind: 'release', call }))
    },

    /** Takes back that managers are to look at a model which has reported nothing strange for a while. */
    async forgetDoubts(): Promise<void> {
      await inTransaction(job(), async unit => {
        const facts = await doubts.close(sequelize, unit)
        if (facts.length > 0) await tell(job(), facts, unit)
      })
    },

    /** Sees to limits whose period is over, so that nobody is told to see to them any more, and to those whose figures are not whole yet. */
    async lookAfter(): Promise<void> {
      const waiting = await books.waiting(sequelize, clock.now(), mostExpired)
      for (const limit of waiting) {
        if (!limit.isCounted) await inTransaction(job(), unit => count(limit, unit))
        else await inTransaction(job(), unit => rollOver(limit, unit))
        announce([limit.id], null)
      }
    },

    /** Forgets what was asked, where its time is over. */
    forgetPrompts: () => books.forgetPrompts(sequelize, clock.now(), mostForgotten),

    count,

    /** Ends once what is still to be written is, of calls too that are about to end. */
    async settled() {
      await underWay.over(lastWordsMs)
      await Promise.all([...writing, later.end()])
    },
  }

  /** Does an entry for each call of a list, which no call is on any more after that. */
  async function each(list: typeof books.expired, entryOf: (call: CallKey) => Entry): Promise<void> {
    for (;;) {
      const found = await list(sequelize, clock.now(), mostExpired)
      await Promise.all(found.map(call => teller.do(call.organizationId, entryOf(call))))
      if (found.length < mostExpired) return
    }
  }

  async function rollOver({ id }: SpendLimitRow, { transaction }: Unit): Promise<void> {
    const [before] = await books.lockLimits(sequelize, [id], [], transaction)
    if (!before) return
    const now = monotonicNow(clock.now(), [before])
    const after = alerted(asOf(before, now), now)
    if (after !== before) await keep(before, after, { transaction, now })
  }

  /** Writes one limit, and tells what follows from that. */
  async function keep(before: SpendLimitRow, after: SpendLimitRow, unit: Unit): Promise<void> {
    await books.write(sequelize, { limits: [after], begun: [], ended: [] }, unit.transaction)
    const facts = factsOf(before, after, unit.now)
    if (facts.length > 0) await tell(job(), facts, unit)
  }

  /**
   * Brings what was spent before a limit was made into its figures, to the last call; those that run are looked at again when they end.
   * @param unit a transaction of its own
   * @returns the limit after the change; null if it was deleted
   */
  async function count(limit: SpendLimitRow, { transaction }: Unit): Promise<SpendLimitRow | null> {
    await counts.mark(sequelize, limit, transaction)
    const [before] = await books.lockLimits(sequelize, [limit.id], [], transaction)
    if (!before) return null
    const now = monotonicNow(clock.now(), [before])
    const present = asOf(before, now)
    const spentMicros = present.period === 'TOTAL' ? present.spentMicros : await counts.spent(sequelize, present, transaction)
    const after = alerted(overdrawn({ ...present, spentMicros, isCounted: true }), now)
    await keep(before, after, { transaction, now })
    return after
  }
}

/** What is known here of what is held for a call: nothing is, what was last written, or something else. */
type Holds = 'free' | 'held' | 'unknown'

const nothing: CallEnd = { status: 'FAILED', model: null, provider: null, costMicros: 0n }

const newCall = ({ organizationId, userId, appId }: CallCaller, { family, operation }: Pick<CallOrder, 'family' | 'operation'>, now: Date): CallRow => ({
  ...{ organizationId, id: newId(now), family, operation, status: 'RUNNING', appId, userId, requestedModel: null, model: null, provider: null },
  ...{
    inputTokens: null,
    cachedTokens: null,
    cacheWriteTokens: null,
    outputTokens: null,
    units: null,
    costMicros: null,
    platformMicros: null,
    doubtful: false,
    latencyMs: null,
    firstByteMs: null,
    attempts: [],
    prompt: null,
  },
  ...{ promptUntil: null, held: [], hasNewLimit: false, expired: false, expiresAt: null, pending: [], pendingUntil: null, createdAt: now, endedAt: null },
})

const endedRow = ({ organizationId, id }: CallKey, end: CallEnd, now: Date): CallChange => ({
  organizationId,
  id,
  status: end.status,
  model: end.model,
  provider: end.provider,
  inputTokens: end.inputTokens ?? null,
  cachedTokens: end.cachedTokens ?? null,
  cacheWriteTokens: end.cacheWriteTokens ?? null,
  outputTokens: end.outputTokens ?? null,
  // A recording's length may have fractions of a second: the price is exact, the log stores whole seconds.
  units: end.units == null ? null : Math.ceil(end.units),
  costMicros: end.costMicros,
  platformMicros: end.platformMicros ?? null,
  doubtful: end.isDoubtful ?? false,
  latencyMs: end.latencyMs == null ? null : Math.round(end.latencyMs),
  firstByteMs: end.firstByteMs == null ? null : Math.round(end.firstByteMs),
  attempts: end.attempts ?? [],
  held: [],
  expired: false,
  expiresAt: null,
  pending: [],
  pendingUntil: null,
  endedAt: now,
})

/** A text as JSON in PostgreSQL may hold it, no longer than it is kept. */
const clean = (text: string | null, most: number): string | null => (text === null ? null : text.replaceAll('\0', '').slice(0, most).toWellFormed())

const distinct = (places: readonly Place[]): readonly Place[] => [
  ...new Map(places.map(place => [`${place.organizationId} ${place.type} ${place.value}`, place])).values(),
]
