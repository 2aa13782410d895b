import { newId, readText, requireId } from '../../../platform/ids.ts'
import type { WriteTransaction } from '../../store/books.ts'
import { type Hold, makeHeld } from '../../store/claim.ts'
import { change, write } from '../../store/write.ts'
import { activeOrganization, actorOf } from '../../viewer.ts'
import { refundThreshold } from '../admin/settings/rules.ts'
import type { Context } from '../context.ts'
import { announceOrder, approvalFacts } from '../engines/payment/announce.ts'
import { recordIntention } from '../engines/payment/intention.ts'
import { runAndWait } from '../engines/payment/run.ts'
import { readMetadata } from '../order/metadata.ts'
import type { ApproveRefundInput, DecideRefundInput, RefundOrderInput, RejectRefundInput } from '../resolvers.generated.ts'
import type { PaymentSettingsRow } from '../stores/admin/settings.ts'
import type { MetadataRow, OrderRow } from '../stores/order.ts'
import type { RefundRow } from '../stores/refund.ts'
import { amountOf, most, requireSecondPerson, requireUndisputed, requireWaiting } from './rules.ts'

/** What was recorded of a refund. */
export interface Recorded {
  readonly order: OrderRow
  readonly refund: RefundRow
  /** The transaction that pays it out; null: it waits. */
  readonly transactionId: string | null
}

/** What is to go back. */
export interface RefundRequest {
  readonly orderId: string
  /** In minor units; null: all that may still go back. */
  readonly amountMinor: bigint | null
  readonly reason: RefundRow['reason']
  readonly note: string | null
  readonly metadata?: readonly MetadataRow[] | undefined
}

/**
 * Writes a refund and holds its amount, under the order's lock, in the caller's transaction; with it the intention to pay it out, unless it
 * waits for approval. `announcements` says what follows.
 */
export async function writeRefund(
  context: Context,
  id: string,
  { orderId, amountMinor: asked, reason, note, metadata = [] }: RefundRequest,
  ofOrganization: PaymentSettingsRow,
  unit: WriteTransaction,
): Promise<Recorded> {
  const { disputes, orders, refunds, viewer } = context
  const order = (await orders.lock(orderId, unit.transaction)) ?? (await orders.require(orderId, 'orderId'))
  const number = await refunds.countOf(order.id, unit.transaction)
  const amountMinor = amountOf(order, asked, { number, isDisputed: await disputes.hasOpen(order.id, unit.transaction) })
  const isWaiting = amountMinor > refundThreshold(ofOrganization, order.currency)
  const { merchantId, organizationId, currency } = order
  const stamps = { createdAt: unit.now, updatedAt: unit.now, createdBy: actorOf(viewer) }
  const refund = await refunds.insert(
    {
      ...{ id, merchantId, organizationId, orderId: order.id, amountMinor, currency, reason, note, metadata, origin: 'PLATFORM', ...stamps },
      status: isWaiting ? 'AWAITING_APPROVAL' : 'PENDING',
      requestedBy: viewer.kind === 'user' ? viewer.userId : null,
      requestedKeyId: viewer.keyId,
    },
    unit.transaction,
  )
  const held = await hold(context, order, amountMinor, unit)
  return { order: held, refund, transactionId: isWaiting ? null : await intendRefund(context, held, refund, unit) }
}

/** What follows when a refund was written. */
export const announcements = ({ events, publicUrl }: Pick<Context, 'events' | 'publicUrl'>) => ({
  audit: ({ refund }: Recorded) => auditOf(refund, 'refund.requested'),
  facts: ({ order, refund }: Recorded) => approvalFacts(order, null, refund, publicUrl),
  announce: ({ order }: Recorded) => announceOrder(events, order),
})

async function recordRefund(context: Context, id: string, input: RefundOrderInput): Promise<Recorded> {
  const note = readText(input.note, 'note', most.note)
  const metadata = readMetadata(input.metadata)
  const request = { orderId: requireId(input.orderId, 'orderId'), amountMinor: input.amountMinor ?? null, reason: input.reason, note, metadata }
  const ofOrganization = await context.settings.of(activeOrganization(context.viewer, 'Refunds'))
  return write(context, { run: unit => writeRefund(context, id, request, ofOrganization, unit), ...announcements(context) })
}

const hold = ({ orders }: Context, order: OrderRow, amountMinor: bigint, { now, transaction }: WriteTransaction): Promise<OrderRow> =>
  orders.update(order, { returningMinor: order.returningMinor + amountMinor, version: order.version + 1, updatedAt: now }, transaction)

async function intendRefund(context: Context, order: OrderRow, { id: refundId, amountMinor }: RefundRow, unit: WriteTransaction): Promise<string> {
  const id = newId(unit.now)
  await recordIntention(context, order, { id, type: 'REFUND', amountMinor, refundId }, unit)
  return id
}

const auditOf = ({ id, merchantId, orderId, amountMinor }: RefundRow, action: string) => ({
  tenantId: merchantId,
  action,
  subjectId: id,
  details: { orderId, amountMinor: String(amountMinor) },
})

/** Asks for a refund, once for each key, and answers it when its outcome is known, or eight seconds have passed. */
export async function refundOrder(context: Context, input: RefundOrderInput): Promise<RefundRow> {
  const tenantId = activeOrganization(context.viewer, 'Refunds')
  await context.orders.require(input.orderId, 'orderId')
  const job = context.jobFor(actorOf(context.viewer))
  const find = (id: string) => job.refunds.byId.load(id)
  const { row } = await makeHeld<RefundRow>(context, {
    ...{ what: 'refundOrder', tenantId, once: input, find },
    async make({ id, isResumed }: Hold) {
      const begun = isResumed ? await find(id) : null
      if (begun) return begun
      const { transactionId } = await recordRefund(context, id, input)
      if (transactionId) await runAndWait(job, transactionId)
      return (await find(id))!
    },
  })
  return row
}

/** Lets a refund go that waits, once for each key: by a second person. */
export async function approveRefund(context: Context, input: ApproveRefundInput): Promise<RefundRow> {
  const { refunds, viewer } = context
  const tenantId = activeOrganization(viewer, 'Refunds')
  const { id, requestedKeyId } = await refunds.require(input.id)
  const keyMaker = requestedKeyId ? await context.makerOf(requestedKeyId, tenantId) : null
  const job = context.jobFor(actorOf(viewer))
  const find = () => job.refunds.byId.load(id)
  const { row } = await makeHeld<RefundRow>(context, {
    ...{ what: 'approveRefund', tenantId, once: input, find },
    async make({ isResumed }: Hold) {
      const known = (await find())!
      // A process that died had approved it: whoever is due next pays it out.
      if (isResumed && known.decidedBy === viewer.userId) return known
      const transactionId = await decide(context, input, 'PENDING', refund => {
        requireWaiting(refund, 'approve')
        requireSecondPerson(refund, viewer.userId, keyMaker)
        return {}
      })
      await runAndWait(job, transactionId!)
      return (await find())!
    },
  })
  return row
}

/** Ends a refund that waits, once for each key, and gives its amount free. */
export async function rejectRefund(context: Context, input: RejectRefundInput): Promise<RefundRow> {
  const { refunds, viewer } = context
  const tenantId = activeOrganization(viewer, 'Refunds')
  const note = readText(input.note, 'note', most.note)
  const { id } = await refunds.require(input.id)
  const find = () => context.jobFor(actorOf(viewer)).refunds.byId.load(id)
  const { row } = await makeHeld<RefundRow>(context, {
    ...{ what: 'rejectRefund', tenantId, once: input, find },
    async make() {
      await decide(context, input, 'REJECTED', refund => {
        requireWaiting(refund, 'reject')
        return note === null ? {} : { note }
      })
      return (await find())!
    },
  })
  return row
}

/**
 * Decides on a refund under the locks of its order and of itself, in this order as everywhere.
 * @param judge refuses what may not be decided, and says what changes besides
 * @returns the transaction that pays it out; null for a rejection
 */
async function decide(
  context: Context,
  { id, expectedVersion }: ApproveRefundInput,
  status: 'PENDING' | 'REJECTED',
  judge: (refund: RefundRow) => Partial<RefundRow>,
): Promise<string | null> {
  const { orders, refunds, disputes, viewer, events, publicUrl } = context
  const { orderId } = await refunds.require(id)
  let order: OrderRow | null = null
  let transactionId: string | null = null
  await change(context, {
    ...{ of: refunds, id, expectedVersion },
    async before(unit) {
      order = await orders.lock(orderId, unit.transaction)
      if (status === 'PENDING') requireUndisputed(await disputes.hasOpen(orderId, unit.transaction))
    },
    async decide(refund, unit) {
      const changes = judge(refund)
      if (status === 'PENDING') transactionId = await intendRefund(context, order!, refund, unit)
      const freed = status === 'REJECTED' ? refund.amountMinor : 0n
      order = await hold(context, order!, -freed, unit)
      return { ...changes, status, decidedBy: viewer.userId, decidedAt: unit.now }
    },
    audit: ({ after }) => auditOf(after, status === 'PENDING' ? 'refund.approved' : 'refund.rejected'),
    facts: ({ before, after }) => approvalFacts(order!, before, after, publicUrl),
    announce: () => announceOrder(events, order!),
  })
  return transactionId
}

/** Approves or rejects a refund, as who asks says: one way in for clients that decide by a form. */
export function decideRefund(context: Context, { decision, comment, ...input }: DecideRefundInput): Promise<RefundRow> {
  return decision === 'APPROVE' ? approveRefund(context, input) : rejectRefund(context, { ...input, note: comment ?? null })
}
