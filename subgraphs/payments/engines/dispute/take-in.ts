import { newId } from '../../../../platform/ids.ts'
import { type WriteTransaction, writing } from '../../../store/books.ts'
import { step } from '../../../store/write.ts'
import type { DisputeRow, DisputeStatus, Disputes } from '../../stores/events/dispute.ts'
import type { OrderRow } from '../../stores/order.ts'
import { post } from '../ledger/post.ts'
import { announceOrder } from '../payment/announce.ts'
import { insertForeign } from '../payment/events/take-in.ts'
import type { PaymentWork } from '../payment/work.ts'
import type { Effect } from '../webhook/event.ts'
import { announceDispute, disputeFacts } from './announce.ts'
import { isOpenDispute, moveOf } from './rules.ts'

/** What disputes are taken in with. */
export interface DisputeWork extends PaymentWork {
  readonly disputes: Disputes
}

/** What the processor says of a dispute, by an event or by an answer. */
export interface SaidOfDispute {
  readonly processorId: string
  readonly status: DisputeStatus
  readonly occurredAt: Date
  readonly evidenceDueBy: Date | null
  /** What it is about; null where only one is meant that is known. */
  readonly opening: { readonly amountMinor: bigint; readonly reason: string; readonly openedAt: Date | null } | null
}

const actions = { OPEN: 'dispute.opened', UNDER_REVIEW: 'dispute.reviewed', WON: 'dispute.won', LOST: 'dispute.lost' } as const

/** Takes in what has become of a dispute: its record, what it holds of the order, and the movements of money, in one database transaction. */
export async function takeInDispute(job: DisputeWork, orderId: string, said: SaidOfDispute): Promise<Effect> {
  const { status } = said
  let effect: Effect = 'NOT_YET'
  await step(job, {
    of: job.orders,
    hold: orderId,
    async decide(order, unit) {
      const before = await job.disputes.lockAtProcessor(said.processorId, unit.transaction)
      const amountMinor = before?.amountMinor ?? said.opening?.amountMinor ?? 0n
      // Its payment is being concluded: what can be disputed has been captured.
      if (!before && (order.capturedMinor === 0n || amountMinor < 1n)) return null
      const move = moveOf(before?.status ?? null, status, { amountMinor })
      effect = move ? 'DONE' : 'BACKWARDS'
      if (!move || before?.status === status) return null
      const along = async () => {
        const after = await write(job, order, { before, said, amountMinor }, unit)
        const { currency } = order
        await post(
          job,
          order,
          move.bookings.map(booking => ({ ...booking, currency, orderId: order.id })),
          unit,
        )
        return { before, after, at: unit.now }
      }
      return { changes: { disputedMinor: order.disputedMinor + move.heldMinor }, isNews: true, along }
    },
    audit: ({ along }) => {
      const { id, merchantId, orderId: of, amountMinor, processorId } = along!.after
      return { tenantId: merchantId, action: actions[status], subjectId: id, details: { orderId: of, amountMinor: String(amountMinor), processorId } }
    },
    facts: ({ after, along }) => disputeFacts(after, along!.before, along!.after, job.publicUrl, along!.at),
    wake: ({ along }, unit) => announceDispute(job, along!.before, along!.after, unit),
    announce: ({ after }) => announceOrder(job.events, after),
  })
  return effect
}

interface Written {
  readonly before: DisputeRow | null
  readonly said: SaidOfDispute
  readonly amountMinor: bigint
}

/** Writes the dispute, and the transactions by which its money moved. */
async function write(job: DisputeWork, order: OrderRow, { before, said, amountMinor }: Written, unit: WriteTransaction): Promise<DisputeRow> {
  const { now, transaction } = unit
  const { processorId, status, occurredAt, evidenceDueBy, opening } = said
  const over = isOpenDispute(status) ? null : occurredAt
  const moved = { amountMinor, processorId, status: 'SUCCEEDED', nextAttemptAt: null, completedAt: now } as const
  if (!before) await insertForeign(job, order, { type: 'CHARGEBACK', ...moved }, unit)
  if (status === 'WON') await insertForeign(job, order, { type: 'CHARGEBACK_REVERSAL', ...moved }, unit)
  if (before) return job.disputes.update(before, { status, closedAt: over, evidenceDueBy, updatedAt: now, version: before.version + 1 }, transaction)
  const { id: orderId, merchantId, organizationId, currency } = order
  const what = { processorId, amountMinor, currency, reason: opening?.reason ?? 'general', status, evidenceDueBy }
  const times = { openedAt: opening?.openedAt ?? occurredAt, closedAt: over, createdAt: now, updatedAt: now }
  return job.disputes.insert({ id: newId(now), merchantId, organizationId, orderId, ...what, ...times, createdBy: job[writing].actor }, transaction)
}
