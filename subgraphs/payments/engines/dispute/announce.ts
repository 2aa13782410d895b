import type { WriteTransaction } from '../../../store/books.ts'
import type { FactBody, NewFact } from '../../../store/fact-kinds.ts'
import type { DisputeRow } from '../../stores/events/dispute.ts'
import type { OrderRow } from '../../stores/order.ts'
import { type Announcing, announceToWebhooks } from '../outgoing/announce.ts'
import { lower, moneyOf } from '../outgoing/record.ts'
import { isOpenDispute } from './rules.ts'

/** A dispute as REST shows it. */
export const disputeRecord = (dispute: DisputeRow): object => ({
  ...{ id: dispute.id, orderId: dispute.orderId, amount: moneyOf(dispute.amountMinor, dispute.currency), reason: dispute.reason },
  ...{ status: lower(dispute.status), evidenceDueBy: dispute.evidenceDueBy, openedAt: dispute.openedAt, closedAt: dispute.closedAt },
  ...{ evidence: evidenceRecord(dispute), processorId: dispute.processorId, version: dispute.version },
})

const evidenceRecord = ({ evidenceText: text, evidenceFiles, evidenceBy: submittedById, evidenceAt: submittedAt }: DisputeRow): object | null =>
  submittedAt && { text, files: evidenceFiles.map(({ id, name, contentType, bytes }) => ({ id, name, contentType, bytes })), submittedById, submittedAt }

/** Under which key an organization is to see to a dispute. */
const keyOf = (id: string): string => `dispute:${id}`

/** Returns the facts about a dispute that has opened, or was decided. */
export function disputeFacts(order: OrderRow, before: DisputeRow | null, after: DisputeRow, publicUrl: string, at: Date): readonly NewFact[] {
  const [was, is] = [before !== null && isOpenDispute(before.status), isOpenDispute(after.status)]
  if (was && !is) return [{ kind: 'attention.closed', body: { key: keyOf(after.id) } }]
  if (was || !is) return []
  const body: FactBody<'attention.opened'> = {
    ...{ key: keyOf(after.id), kind: 'DISPUTE', organizationId: after.organizationId, subjectId: after.id, audience: 'organization', severity: 'HIGH' },
    title: `The payment of order ${order.number} is disputed`,
    url: `${publicUrl}/payments/api/disputes/${after.id}`,
    at: at.toISOString(),
    ...(after.evidenceDueBy && { dueAt: after.evidenceDueBy.toISOString() }),
  }
  return [{ kind: 'attention.opened', body }]
}

/** Announces to webhooks that a dispute has opened, and that it is decided. */
export async function announceDispute(work: Announcing, before: DisputeRow | null, after: DisputeRow, unit: WriteTransaction): Promise<void> {
  const what = { organizationId: after.organizationId, entityId: after.id, data: disputeRecord(after) }
  if (!before) await announceToWebhooks(work, { event: 'dispute.opened', ...what }, unit)
  if ((!before || isOpenDispute(before.status)) && !isOpenDispute(after.status)) await announceToWebhooks(work, { event: 'dispute.closed', ...what }, unit)
}
