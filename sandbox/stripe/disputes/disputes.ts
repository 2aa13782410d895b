import type { Form } from '../form.ts'
import type { Objects, StripeObject } from '../objects.ts'
import { invalid, notNow } from '../problems.ts'

const day = 24 * 3600
/** How long evidence is taken, in seconds. */
const evidenceTime = 9 * day

/** The texts that evidence may have (https://docs.stripe.com/api/disputes/evidence_object). */
const texts = [
  ...['access_activity_log', 'billing_address', 'cancellation_policy_disclosure', 'cancellation_rebuttal', 'customer_email_address', 'customer_name'],
  ...['customer_purchase_ip', 'duplicate_charge_explanation', 'duplicate_charge_id', 'product_description', 'refund_policy_disclosure'],
  ...['refund_refusal_explanation', 'service_date', 'shipping_address', 'shipping_carrier', 'shipping_date', 'shipping_tracking_number', 'uncategorized_text'],
]
/** Those that name a file each. */
const files = [
  ...['cancellation_policy', 'customer_communication', 'customer_signature', 'duplicate_charge_documentation', 'receipt', 'refund_policy'],
  ...['service_documentation', 'shipping_documentation', 'uncategorized_file'],
]
const maxText = 20_000

/** Opens the dispute of a charge that was taken. */
export function openDispute(objects: Objects, charge: StripeObject): StripeObject {
  const { amount_captured: amount, currency, payment_intent } = charge
  const dispute = objects.add('dispute', {
    ...{ amount, currency, charge: charge.id, payment_intent, reason: 'fraudulent', status: 'needs_response', metadata: {} },
    ...{ balance_transactions: [], evidence: {}, is_charge_refundable: false, enhanced_eligibility_types: [] },
    evidence_details: { due_by: objects.now() + evidenceTime, has_evidence: false, past_due: false, submission_count: 0 },
  })
  objects.change(charge, { disputed: true })
  return dispute
}

/** The dispute of a charge, as long as its money is not free. */
export const heldBy = (objects: Objects, charge: string): StripeObject | undefined =>
  objects.all('dispute').find(dispute => dispute.charge === charge && dispute.status !== 'won' && dispute.status !== 'warning_closed')

const isOpen = ({ status }: StripeObject): boolean => status === 'needs_response' || status === 'warning_needs_response'

const overdue = (dispute: StripeObject): Error => notNow(`This dispute is already ${dispute.status}.`, 'dispute_unexpected_state')

/** Takes evidence; `submit`, which is true unless said, sends it to the bank, and that can be done once. */
export function changeDispute(objects: Objects, id: string, form: Form): StripeObject {
  const dispute = objects.find('dispute', id, null)
  const given = form.part('evidence')
  const evidence = Object.fromEntries(
    [...texts, ...files].flatMap(name => {
      const text = given?.text(name)
      if (text && text.length > maxText) throw invalid(`${name} can have up to ${maxText} characters.`, given!.at(name))
      if (text && files.includes(name)) objects.find('file', text, given!.at(name))
      return text === undefined ? [] : [[name, text]]
    }),
  )
  const metadata = form.names('metadata')
  const submit = form.flag('submit') ?? true
  form.end()
  const isMetadataAlone = given === undefined && metadata !== undefined
  if (!isOpen(dispute) && !isMetadataAlone) throw overdue(dispute)
  const { evidence_details: details } = dispute
  const isSent = submit && !isMetadataAlone
  if (isSent && objects.now() > details.due_by) throw notNow('The time for evidence of this dispute is over.', 'dispute_unexpected_state')
  const all = { ...dispute.evidence, ...evidence }
  return objects.change(dispute, {
    ...(metadata && { metadata: { ...dispute.metadata, ...metadata } }),
    evidence: all,
    evidence_details: { ...details, has_evidence: Object.keys(all).length > 0, submission_count: details.submission_count + (isSent ? 1 : 0) },
    ...(isSent && { status: dispute.status === 'needs_response' ? 'under_review' : 'warning_under_review' }),
  })
}

/** Accepts a dispute: it is lost. */
export function closeDispute(objects: Objects, id: string, form: Form): StripeObject {
  form.end()
  const dispute = objects.find('dispute', id, null)
  if (!isOpen(dispute)) throw overdue(dispute)
  return objects.change(dispute, { status: 'lost' })
}

/** A dispute under review after the bank has read its evidence: two texts decide it (https://docs.stripe.com/testing#evidence), else it stays there. */
export function decided(objects: Objects, dispute: StripeObject): StripeObject {
  const { uncategorized_text: text = '' } = dispute.evidence
  if (dispute.status !== 'under_review') return dispute
  if (text === 'winning_evidence') return objects.change(dispute, { status: 'won' })
  return text === 'losing_evidence' ? objects.change(dispute, { status: 'lost' }) : dispute
}
