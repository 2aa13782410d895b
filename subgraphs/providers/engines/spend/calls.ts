import { crash } from '../../../../platform/crash.ts'
import type { WriteTransaction } from '../../../store/books.ts'
import type { CallRow } from '../../stores/call.ts'
import { books, placesOf } from '../../stores/spend/books.ts'
import { heldForMs } from './booking.ts'
import { type Admitted, type Covered, type EndEntry, type Entry, placesOfEnd } from './decide.ts'
import type { DefaultLimits } from './default-limits.ts'
import { createLater } from './later.ts'
import { type CallCaller, type CallEnd, type CallOrder, type Calls, type Charge, inWords, type OpenCall, type Prices } from './order.ts'
import { clean, endedRow, newCall } from './rows.ts'
import { createUnderWay } from './under-way.ts'
import { createUpkeep } from './upkeep.ts'
import { createLedgerWriter, type LedgerGround } from './writer.ts'

/** Dependencies of calls. */
export interface CallsGround extends LedgerGround {
  readonly prices: Prices
  readonly defaults: Pick<DefaultLimits, 'ensure'>
}

/** Maximum expired prompts deleted in one round. */
const mostForgotten = 5_000

/**
 * Time in ms for which a stop waits for calls whose callers it has just disconnected, so that their results are stored.
 */
const lastWordsMs = 1_000

/** Opens the ledger of calls. */
export function createCalls(ground: CallsGround) {
  const { sequelize, clock, prices, log, announce, defaults } = ground
  const { wasLimited, keepBooks, keepSoon, write, settled: chargesStored } = createLedgerWriter(ground)

  const underWay = createUnderWay()

  /** Call ends that the database could not store. */
  const later = createLater(log)

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
        const { covered } = (await write(call.organizationId, { kind: 'cover', call, micros })) as Covered
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

  async function admitted(entry: Extract<Entry, { kind: 'begin' }>): Promise<Admitted> {
    const outcome = await keepSoon(entry.call.organizationId, entry, [])
    if ('refused' in outcome) throw outcome.refused
    return outcome as Admitted
  }

  async function settle(call: CallRow, end: CallEnd, holds: Holds): Promise<void> {
    const entry: EndEntry = { kind: 'end', ended: endedRow(call, end, clock.now()), unclear: end.unclear ?? [] }
    crash('before-call-is-settled')
    const store = () => writeEnd(call, entry, holds)
    await store().catch(cause => later.keep(call.id, cause, store))
    crash('call-settled')
  }

  /** Stores a call's end; repeating it after a lost answer changes nothing. */
  async function writeEnd(call: CallRow, entry: EndEntry, holds: Holds): Promise<void> {
    if (holds === 'free' && !entry.ended.doubtful && (await books.endFree(sequelize, entry.ended, placesOfEnd(call, entry)))) announce([], call.organizationId)
    else if (holds === 'held' && !entry.ended.doubtful) await keepSoon(call.organizationId, entry, [call])
    else await write(call.organizationId, entry)
  }

  async function charge(caller: CallCaller, { family, operation, provider, units, micros }: Charge, unit: WriteTransaction): Promise<string> {
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

    ...createUpkeep(ground, { write }),

    /** Deletes expired prompts. */
    forgetPrompts: () => books.forgetPrompts(sequelize, clock.now(), mostForgotten),

    /** Resolves when all pending writes have finished, those of ending calls included. */
    async settled() {
      await underWay.over(lastWordsMs)
      await Promise.all([chargesStored(), later.end()])
    },
  }
}

/** What this process knows of a call's reservation: none, the last written one, or unknown. */
type Holds = 'free' | 'held' | 'unknown'
