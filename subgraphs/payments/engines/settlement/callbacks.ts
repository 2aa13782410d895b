import { crash } from '../../../../platform/crash.ts'
import type { Sweep } from '../../../../platform/jobs/queue.ts'
import { type Deliveries, deliver } from '../../../../platform/outbound/webhooks/queue.ts'
import { send } from '../../../../platform/outbound/webhooks/send.ts'
import { type Answered, beginTry, conclude, isStillTried, type Tries } from '../../../../platform/outbound/webhooks/tries.ts'
import type { WriteTransaction } from '../../../store/books.ts'
import { step, write } from '../../../store/write.ts'
import { type CallbackAttempt, type CallbackKey, maxAttempts, type SettlementCallbackRow } from '../../stores/settlement/callback.ts'
import { deadCallbackFacts } from './announce.ts'
import type { SettlementWork } from './work.ts'

/** How often callbacks are looked for that are due, in ms, and how many a round takes. */
const [everyMs, atOnce] = [5_000, 50]

/** A callback as the schedule of webhooks knows it. */
const triesOf = ({ status, attempts, nextAttemptAt }: SettlementCallbackRow): Tries => ({
  ...{ attempts, nextAttemptAt },
  status: status === 'DEAD' ? 'FAILED' : status,
})

const deliveriesOf = (job: SettlementWork): Deliveries<CallbackKey, SettlementCallbackRow> => ({
  begin: ({ id }) => begin(job, id),
  call: callback => call(job, callback),
  settle: (callback, answered) => settle(job, callback, answered),
  due: (before, limit) => job.settlementCallbacks.due(before, limit),
})

/** Tries callbacks that are due: each of a batch once the one before it is over. */
export const callbackSweep = (job: () => SettlementWork): Sweep => ({
  name: 'settlement callbacks',
  everyMs,
  asksOthers: true,
  async run() {
    const opened = job()
    const due = await opened.settlementCallbacks.due(opened.clock.now(), atOnce)
    await Promise.all(due.map(({ endpointId }) => deliverCallbacks(job(), endpointId)))
  },
})

/** Sends the callbacks of a batch that are due, one after the other. Never throws. */
export async function deliverCallbacks(job: SettlementWork, batchId: string): Promise<void> {
  try {
    for (;;) {
      const key = await job.settlementCallbacks.nextOf(batchId, job.clock.now())
      if (!key) return
      await deliver(deliveriesOf(job), key)
    }
  } catch (error) {
    job.log.error({ err: error, settlementBatchId: batchId }, 'callbacks of a settlement batch could not be sent; the next round retries')
  }
}

async function begin(job: SettlementWork, id: string): Promise<SettlementCallbackRow | null> {
  const { settlementCallbacks } = job
  const begun = await step(job, {
    of: settlementCallbacks,
    hold: id,
    async decide(callback, { now, transaction }) {
      const changes = beginTry(triesOf(callback), now)
      return changes && (await settlementCallbacks.isFirst(id, transaction)) ? { changes } : null
    },
  })
  return begun?.after ?? null
}

/** Makes one try; null where no answer came, or none can be asked for. */
async function call({ callbackTarget, outbound, clock, log }: SettlementWork, { id, body, organizationId }: SettlementCallbackRow): Promise<Answered> {
  if (!callbackTarget) return null
  // The address is an operator's, who may name one within the network.
  const way = { outbound, reaches: async () => true }
  return send({ way, log }, { id, body, organizationId, ...callbackTarget }, clock.now())
}

const isTaken = (status: Answered): boolean => status !== null && status >= 200 && status < 300

const attemptOf = (status: Answered, at: Date): CallbackAttempt => ({
  ...{ at: at.toISOString(), status },
  error: isTaken(status) ? null : status === null ? 'No answer came.' : `It was answered ${status}.`,
})

const noted = (log: readonly CallbackAttempt[], status: Answered, at: Date) => [...log, attemptOf(status, at)].slice(-maxAttempts)

/** Writes what came of a try, with what managers are told of it. */
async function settle(job: SettlementWork, begun: SettlementCallbackRow, status: Answered): Promise<void> {
  await alter(job, begun.id, (held, { now }) => {
    if (!isStillTried(triesOf(begun), triesOf(held))) return null
    const { delivery } = conclude(held, status, now)
    const over = delivery.status === 'FAILED' ? ('DEAD' as const) : delivery.status
    return {
      ...{ nextAttemptAt: delivery.nextAttemptAt ?? null, attemptLog: noted(held.attemptLog, status, now) },
      ...(over && { status: over }),
      ...(over === 'DELIVERED' && { deliveredAt: now }),
    }
  })
  crash('callback-settled')
}

/** Sends a callback once more, whatever became of it: what is taken now is delivered, and a failure changes nothing but the list of tries. */
export async function resend(job: SettlementWork, callback: SettlementCallbackRow): Promise<void> {
  const status = await call(job, callback)
  await alter(job, callback.id, (held, { now }) => ({
    attemptLog: noted(held.attemptLog, status, now),
    ...(isTaken(status) && held.status !== 'DELIVERED' && { status: 'DELIVERED' as const, deliveredAt: now, nextAttemptAt: null }),
  }))
}

async function alter(
  job: SettlementWork,
  id: string,
  decide: (held: SettlementCallbackRow, unit: WriteTransaction) => Partial<SettlementCallbackRow> | null,
): Promise<void> {
  const { settlementCallbacks, settlementBatches, publicUrl } = job
  let at = job.clock.now()
  await write(job, {
    async run(unit) {
      const before = await settlementCallbacks.lock(id, unit.transaction)
      at = unit.now
      const changes = before && decide(before, unit)
      if (!before || !changes) return null
      const after = await settlementCallbacks.update(before, { ...changes, updatedAt: at, version: before.version + 1 }, unit.transaction)
      return { before, after, batch: (await settlementBatches.byId.load(before.batchId))! }
    },
    facts: ({ before, after, batch }) => deadCallbackFacts(batch, before, after, publicUrl, at),
  })
}
