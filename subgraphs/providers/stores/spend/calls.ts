import type { Logger } from 'pino'
import type { Sequelize } from 'sequelize'
import type { Clock } from '../../../../platform/clock.ts'
import { crash } from '../../../../platform/crash.ts'
import { newId } from '../../../../platform/ids.ts'
import type { Unit, Writing } from '../../../store/books.ts'
import { tell } from '../../../store/books.ts'
import type { NewFact } from '../../../store/fact-kinds.ts'
import { inTransaction } from '../../../store/write.ts'
import type { CallAttempt, CallFamily, CallRow } from '../call.ts'
import { createAlone } from './alone.ts'
import { alerted, asOf, heldForMs, nowBeside, overdrawn } from './booking.ts'
import { books, counts, type EndedRow, type Place, placesOf } from './books.ts'
import { type Admitted, decide, type Entry, type Outcome, placesOfEntry } from './decide.ts'
import { createLater } from './later.ts'
import type { SpendLimitRow } from './limit.ts'
import { createTeller } from './teller.ts'
import { createUnderWay } from './under-way.ts'

/** In whose name a call is made: it is logged and limited under all three. */
export interface CallCaller {
  readonly organizationId: string
  readonly userId: string | null
  readonly appId: string
}

/** What may answer a call. */
export interface CallCandidate {
  /** Null where no model answers. */
  readonly model: string | null
  readonly provider: string
  /** What it costs at most in whole micro-dollars; null: nobody knows a price. */
  readonly upperMicros: bigint | null
}

/** What was asked: where it is long, it is put together only when somebody keeps it. */
export type Said = string | (() => string) | null | undefined

export const inWords = (said: Said): string | null => (typeof said === 'function' ? said() : (said ?? null))

/** A call that is to begin. */
export interface CallOrder {
  readonly family: CallFamily
  /** `chat.completions` */
  readonly operation: string
  readonly requestedModel: string | null
  /** In the order in which they are tried. */
  readonly candidates: readonly CallCandidate[]
  /** What is kept of what was asked, and until when; left out, nothing is. */
  readonly prompt?: Said
  readonly promptUntil?: Date | null
}

/** What became of a call. */
export interface CallEnd {
  readonly status: 'SUCCEEDED' | 'FAILED' | 'ABORTED'
  readonly model: string | null
  readonly provider: string | null
  readonly inputTokens?: number | null
  readonly outputTokens?: number | null
  readonly units?: number | null
  /** Null: nobody knows a price. Where nothing was delivered it is 0. */
  readonly costMicros: bigint | null
  readonly attempts?: readonly CallAttempt[]
  readonly firstByteMs?: number | null
  readonly latencyMs?: number | null
}

/** A call that has begun: what it may cost is held for it until it is settled. */
export interface OpenCall {
  readonly id: string
  /** The models that may be tried, in order: those that limits of their own leave out are missing. */
  readonly allowed: readonly string[]
  /** Whether a hard limit counts it: then it must not cost more than was held. */
  readonly isLimited: boolean
  /**
   * Says what became of it; the first word counts. What is not said within 15 minutes is booked as failed, for nothing. Where the database
   * cannot write it, that is done as soon as it can, and nobody waits for it.
   */
  settle(end: CallEnd): Promise<void>
}

/** Something at a fixed price. */
export interface Charge {
  readonly family: CallFamily
  readonly operation: string
  readonly provider: string | null
  readonly units?: number | null
  /** In whole micro-dollars. */
  readonly micros: bigint
}

/** The record of calls, and the limits that they are held to. */
export interface Calls {
  /**
   * Begins a call: what it may cost at most is held in every limit that it counts in, or in none.
   * @throws BUDGET_EXCEEDED with `scopeType`, `resetsAt` and `callId`; FORBIDDEN, reason `model_unpriced`. The call is on record as REFUSED then
   */
  begin(caller: CallCaller, order: CallOrder): Promise<OpenCall>
  /**
   * Records a call at a fixed price as made, and what it costs as spent, within a transaction: where that is undone, so are both.
   * @returns the call's id
   * @throws BUDGET_EXCEEDED before anything is written
   */
  charge(caller: CallCaller, charge: Charge, unit: Unit): Promise<string>
  /** What is paid for a mail, a call of a payment processor, a unit of a video network's quota: whole micro-dollars. */
  readonly priceOf: Prices
}

export interface Prices {
  readonly email: bigint
  readonly payment: bigint
  readonly videoUnit: bigint
}

/** What calls work with. */
export interface CallsGround {
  readonly sequelize: Sequelize
  readonly clock: Clock
  readonly prices: Prices
  readonly log: Pick<Logger, 'error' | 'warn'>
  /** Whose rows they are and who is told: made anew for each piece of work. */
  job(): Writing
  /** What others are told when a limit has come from one state into another. */
  factsOf(before: SpendLimitRow, after: SpendLimitRow, at: Date): readonly NewFact[]
  /** Tells screens, after the commit, that these limits have changed, or calls of this organization. */
  announce(limits: readonly string[], organizationId: string | null): void
}

/** How many calls that nobody ended are looked at in one round, and for how long it is remembered that an organization has limits, in ms. */
const mostExpired = 200
const mostForgotten = 5_000
const rememberedMs = 10_000
const mostRemembered = 20_000

/** For how long a stop waits for calls whose askers it has just cut off, in ms: each is to be told what became of it, and then is. */
const lastWordsMs = 1_000

/** Opens the record of calls. */
export function createCalls({ sequelize, clock, prices, log, job, factsOf, announce }: CallsGround) {
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
    for (const entry of entries) announce(changed, entry.kind === 'end' ? entry.ended.organizationId : entry.call.organizationId)
    return outcomes
  })

  const lone = createAlone({ sequelize, clock, isNews: (before, after, at) => factsOf(before, after, at).length > 0 })

  /** Locks what the entries touch, lets the rules speak in their order, and writes what has become of everything. */
  async function keepBooks(entries: readonly Entry[], unit: Unit): Promise<{ outcomes: readonly Outcome[]; changed: readonly string[] }> {
    const { transaction } = unit
    const ending = entries.flatMap(entry => (entry.kind === 'end' ? [entry.ended] : []))
    const running = ending.length > 0 ? await books.lockCalls(sequelize, ending, transaction) : []
    const placesOfAll = [
      ...entries.flatMap(entry => (entry.kind === 'end' ? [] : placesOfEntry(entry))),
      ...running.flatMap(call => placesOf(call, [ending.find(({ id }) => id === call.id)!.model])),
    ]
    const held = running.flatMap(call => call.held.map(({ limitId }) => limitId))
    const before = await books.lockLimits(sequelize, held, distinct(placesOfAll), transaction)
    // Whoever held the rows before may have been at it for a while.
    const now = nowBeside(clock.now(), before)
    const { outcomes, changes, begun, ended, refusedCharges, isLimited } = decide(entries, before, running, now)
    for (const [organizationId, isSo] of isLimited) remember(organizationId, isSo)
    for (const call of refusedCharges) recordRefused(call)
    if (changes.length > 0 || begun.length > 0 || ended.length > 0)
      await books.write(sequelize, { limits: changes.map(({ after }) => after), begun, ended }, transaction)
    const facts = changes.flatMap(change => factsOf(change.before, change.after, now))
    if (facts.length > 0) await tell(job(), facts, { transaction, now })
    lone.forget(changes.map(({ after }) => after.id))
    crash('books-written')
    return { outcomes, changed: changes.map(({ after }) => after.id) }
  }

  const underWay = createUnderWay()

  /** Ends of calls that the database could not write. */
  const later = createLater(log)

  /** Refusals that are being written down by themselves. */
  const writing = new Set<Promise<void>>()
  function recordRefused(call: CallRow): void {
    const written = books
      .insertFree(sequelize, call, [])
      .then(
        () => {},
        error => log.error({ err: error, call: call.id }, 'a refused call could not be recorded'),
      )
      .finally(() => writing.delete(written))
    writing.add(written)
  }

  async function begin(caller: CallCaller, { family, operation, requestedModel, candidates, prompt, promptUntil }: CallOrder): Promise<OpenCall> {
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
    const isFree = !wasLimited(caller.organizationId) && (await books.insertFree(sequelize, call, placesOf(call, models)))
    if (isFree) announce([], caller.organizationId)
    const free: Admitted = { allowed: candidates, isLimited: false, call }
    const { allowed, isLimited, call: open } = isFree ? free : await admitted({ kind: 'begin', call, candidates })
    crash('call-begun')
    const over = underWay.begun()
    let settled: Promise<void> | null = null
    return {
      id: call.id,
      allowed: allowed.flatMap(({ model }) => model ?? []),
      isLimited,
      settle(end) {
        settled ??= settle(open, end, isFree).finally(over)
        return settled
      },
    }
  }

  /** Organizations for which one entry is being written by itself. */
  const alone = new Set<string>()

  /** Does an entry by itself where nobody else of the organization is at it, and in turn with others where somebody is. */
  async function keepSoon(organizationId: string, entry: Entry, running: readonly CallRow[]): Promise<Outcome> {
    if (alone.has(organizationId) || teller.isBusy(organizationId)) return teller.do(organizationId, entry)
    alone.add(organizationId)
    try {
      return (await keepAlone(organizationId, entry, running)) ?? (await teller.do(organizationId, entry))
    } finally {
      alone.delete(organizationId)
    }
  }

  async function keepAlone(organizationId: string, entry: Entry, running: readonly CallRow[]): Promise<Outcome | null> {
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

  async function settle(call: CallRow, end: CallEnd, isFree: boolean): Promise<void> {
    const ended = endedRow(call, end, clock.now())
    crash('before-call-is-settled')
    const write = () => writeEnd(call, ended, isFree)
    await write().catch(cause => later.keep(call.id, cause, write))
    crash('call-settled')
  }

  /** Where it was written before, although nobody heard of it, nothing changes. */
  async function writeEnd(call: CallRow, ended: EndedRow, isFree: boolean): Promise<void> {
    if (isFree && (await books.endFree(sequelize, ended, placesOf(call, [ended.model])))) announce([], call.organizationId)
    else if (isFree) await teller.do(call.organizationId, { kind: 'end', ended })
    else await keepSoon(call.organizationId, { kind: 'end', ended }, [call])
  }

  async function charge(caller: CallCaller, { family, operation, provider, units, micros }: Charge, unit: Unit): Promise<string> {
    const { transaction } = unit
    const status = 'SUCCEEDED'
    const call: CallRow = { ...newCall(caller, { family, operation }, unit.now), status, provider, units: units ?? null, costMicros: micros, endedAt: unit.now }
    await books.share(sequelize, caller.organizationId, transaction)
    if (await books.insertFree(sequelize, call, placesOf(call, []), transaction)) {
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

    /** Frees what is held for calls that nobody has ended in time. Any number of processes may do so at the same time. */
    async expire(): Promise<void> {
      for (;;) {
        const over = await books.expired(sequelize, clock.now(), mostExpired)
        await Promise.all(
          over.map(({ organizationId, id }) =>
            teller.do(organizationId, { kind: 'end', ended: { ...endedRow({ organizationId, id }, nothing, clock.now()), expired: true } }),
          ),
        )
        if (over.length < mostExpired) return
      }
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

  async function rollOver({ id }: SpendLimitRow, { transaction }: Unit): Promise<void> {
    const [before] = await books.lockLimits(sequelize, [id], [], transaction)
    if (!before) return
    const now = nowBeside(clock.now(), [before])
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
   * @returns the limit as it stands then; null when it is gone
   */
  async function count(limit: SpendLimitRow, { transaction }: Unit): Promise<SpendLimitRow | null> {
    await counts.mark(sequelize, limit, transaction)
    const [before] = await books.lockLimits(sequelize, [limit.id], [], transaction)
    if (!before) return null
    const now = nowBeside(clock.now(), [before])
    const present = asOf(before, now)
    const spentMicros = present.period === 'TOTAL' ? present.spentMicros : await counts.spent(sequelize, present, transaction)
    const after = alerted(overdrawn({ ...present, spentMicros, isCounted: true }), now)
    await keep(before, after, { transaction, now })
    return after
  }
}

const nothing: CallEnd = { status: 'FAILED', model: null, provider: null, costMicros: 0n }

const newCall = ({ organizationId, userId, appId }: CallCaller, { family, operation }: Pick<CallOrder, 'family' | 'operation'>, now: Date): CallRow => ({
  ...{ organizationId, id: newId(now), family, operation, status: 'RUNNING', appId, userId, requestedModel: null, model: null, provider: null },
  ...{ inputTokens: null, outputTokens: null, units: null, costMicros: null, latencyMs: null, firstByteMs: null, attempts: [], prompt: null },
  ...{ promptUntil: null, held: [], hasNewLimit: false, expired: false, expiresAt: null, createdAt: now, endedAt: null },
})

const endedRow = ({ organizationId, id }: Pick<CallRow, 'organizationId' | 'id'>, end: CallEnd, now: Date): EndedRow => ({
  organizationId,
  id,
  status: end.status,
  model: end.model,
  provider: end.provider,
  inputTokens: end.inputTokens ?? null,
  outputTokens: end.outputTokens ?? null,
  units: end.units ?? null,
  costMicros: end.costMicros,
  latencyMs: end.latencyMs == null ? null : Math.round(end.latencyMs),
  firstByteMs: end.firstByteMs == null ? null : Math.round(end.firstByteMs),
  attempts: end.attempts ?? [],
  expired: false,
  endedAt: now,
})

/** A text as JSON in PostgreSQL may hold it, no longer than it is kept. */
const clean = (text: string | null, most: number): string | null => (text === null ? null : text.replaceAll('\0', '').slice(0, most).toWellFormed())

const distinct = (places: readonly Place[]): readonly Place[] => [
  ...new Map(places.map(place => [`${place.organizationId} ${place.type} ${place.value}`, place])).values(),
]
