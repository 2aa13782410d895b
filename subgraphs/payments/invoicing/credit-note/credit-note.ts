import { newId, readText, requireId } from '../../../../platform/ids.ts'
import { record } from '../../../store/books.ts'
import { type Hold, makeHeld } from '../../../store/claim.ts'
import { remove, write } from '../../../store/write.ts'
import { activeOrganization, actorOf } from '../../../viewer.ts'
import type { Context } from '../../context.ts'
import { runAndWait } from '../../engines/payment/run.ts'
import { announcements, type Recorded, writeRefund } from '../../refund/refund.ts'
import type { CreateCreditNoteInput } from '../../resolvers.generated.ts'
import type { CreditNoteRow } from '../../stores/invoicing/credit-note.ts'
import { creditOf, most, refundReasonOf } from './rules.ts'

/** What was recorded of a credit note, with the refund that was made with it. */
interface Credited {
  readonly note: CreditNoteRow
  readonly refunded: Recorded | null
}

const line = (action: string, { id, organizationId, invoiceId, amountMinor, number }: CreditNoteRow) => ({
  tenantId: organizationId,
  action,
  subjectId: id,
  details: { changes: Object.entries({ number, invoiceId, amountMinor: String(amountMinor) }).map(([field, after]) => ({ field, before: null, after })) },
})

/** Writes a credit note, and the intention to pay its amount out, in one transaction and under the locks of order and invoice. */
async function recordCreditNote(context: Context, id: string, input: CreateCreditNoteInput): Promise<Credited> {
  const { viewer, creditNotes, invoices, orders } = context
  const reason = readText(input.reason, 'reason', most.reason)
  const ofOrganization = await context.settings.of(activeOrganization(viewer, 'Credit notes'))
  const { orderId } = await invoices.require(input.invoiceId, 'invoiceId')
  const refundFollows = announcements(context)
  return write(context, {
    async run(unit): Promise<Credited> {
      const { transaction, now } = unit
      if (orderId !== null) await orders.lock(orderId, transaction)
      const invoice = (await invoices.lock(requireId(input.invoiceId, 'invoiceId'), transaction)) ?? (await invoices.require(input.invoiceId, 'invoiceId'))
      const credited = await creditNotes.creditedOf(invoice.id, transaction)
      const amountMinor = creditOf(invoice, input.amountMinor ?? null, credited)
      const request = { orderId: invoice.orderId!, amountMinor, ...refundReasonOf(reason) }
      const refunded = input.refund ? await writeRefund(context, newId(now), request, ofOrganization, unit) : null
      if (refunded) await record(context, refundFollows.audit(refunded), unit)
      const { merchantId, organizationId, currency } = invoice
      const sequence = credited.last + 1
      const stamps = { createdAt: now, updatedAt: now, createdBy: actorOf(viewer) }
      const place = { id, merchantId, organizationId, invoiceId: invoice.id, sequence, number: `${invoice.number}-C${sequence}` }
      const note = await creditNotes.insert({ ...place, amountMinor, currency, reason, refundId: refunded?.refund.id ?? null, ...stamps }, transaction)
      return { note, refunded }
    },
    audit: ({ note }) => line('credit_note.created', note),
    facts: ({ refunded }) => (refunded ? refundFollows.facts(refunded) : []),
    announce: ({ refunded }) => (refunded ? refundFollows.announce(refunded) : undefined),
  })
}

/** Credits a part of a paid invoice, once for each key; with a refund it answers when the outcome is known, or eight seconds have passed. */
export async function createCreditNote(context: Context, input: CreateCreditNoteInput): Promise<CreditNoteRow> {
  const tenantId = activeOrganization(context.viewer, 'Credit notes')
  await context.invoices.require(input.invoiceId, 'invoiceId')
  const job = context.jobFor(actorOf(context.viewer))
  const find = (id: string) => job.creditNotes.byId.load(id)
  const { row } = await makeHeld<CreditNoteRow>(context, {
    ...{ what: 'createCreditNote', tenantId, once: input, find },
    async make({ id, isResumed }: Hold) {
      const begun = isResumed ? await find(id) : null
      if (begun) return begun
      const { note, refunded } = await recordCreditNote(context, id, input)
      if (refunded?.transactionId) await payOut(context, note, refunded.transactionId)
      return (await find(id))!
    },
  })
  return row
}

/** Pays the refund of a credit note out. What was not sent took its refund back, and takes the credit note with it. */
async function payOut(context: Context, { id, refundId }: CreditNoteRow, transactionId: string): Promise<void> {
  const job = context.jobFor(actorOf(context.viewer))
  try {
    await runAndWait(job, transactionId)
  } catch (error) {
    job.refunds.byId.clear(refundId!)
    if ((await job.refunds.byId.load(refundId!)) === null)
      await remove(context, { of: context.creditNotes, id, audit: note => line('credit_note.withdrawn', note) })
    throw error
  }
}
