import { useState } from 'react'
import { useMutation } from 'urql'
import { Field } from '../../design/parts/field.tsx'
import { toast } from '../../design/parts/toast.tsx'
import { useOnce } from '../../shell/data/draft.ts'
import { problemOf } from '../../shell/data/problems.ts'
import { FormDialog } from '../../shell/parts/ask.tsx'
import { minorOf, money } from '../../shell/parts/money.ts'
import { say } from '../../shell/words.ts'
import { useMayRefund } from '../refunds/detail.tsx'
import { CreateCreditNoteDocument, type InvoiceDetailsFragment } from './invoices.generated.ts'

/** Takes back a part of a paid invoice, or all that is left of it, and gives the money back if that is wanted. */
export function CreditNoteForm({ invoice, onClose }: { readonly invoice: InvoiceDetailsFragment; onClose(): void }) {
  const idempotencyKey = useOnce()
  const mayRefund = useMayRefund()
  const [{ error, fetching }, create] = useMutation(CreateCreditNoteDocument)
  const [amount, setAmount] = useState('')
  const [reason, setReason] = useState('')
  const [refunds, setRefunds] = useState(false)
  const [isTried, setTried] = useState(false)
  const { currency } = invoice
  const credited = (invoice.creditNotes ?? []).reduce((sum, note) => sum + BigInt(note.amount.amountMinor), 0n)
  const left = { amountMinor: BigInt(invoice.total.amountMinor) - credited, currency }
  const minor = minorOf(amount, currency)
  const isWrong = amount.trim() !== '' && (minor === null || BigInt(minor) === 0n)
  const problem = problemOf(error)
  async function save() {
    setTried(true)
    if (isWrong) return
    const input = {
      invoiceId: invoice.id,
      ...(minor !== null && { amountMinor: minor }),
      ...(reason.trim() && { reason: reason.trim() }),
      refund: refunds,
      idempotencyKey,
    }
    const { data } = await create({ input })
    if (!data?.createCreditNote) return
    toast({ sentence: say('invoices.credited', { number: data.createCreditNote.number }) })
    onClose()
  }
  return (
    <FormDialog
      title={say('invoices.credit')}
      verb={say('invoices.credit')}
      isBusy={fetching}
      problem={problem}
      fields={['amountMinor', 'reason']}
      onDo={() => void save()}
      onClose={onClose}
    >
      <p>{say('invoices.credit-sentence', { amount: money(left), number: invoice.number ?? '' })}</p>
      <Field
        label={say('refunds.amount-in', { currency })}
        inputMode="decimal"
        value={amount}
        onChange={setAmount}
        hint={say('invoices.credit-hint')}
        wrong={isTried && isWrong ? say('orders.no-amount') : problem?.field === 'amountMinor' ? problem.sentence : null}
      />
      <Field label={say('invoices.reason')} value={reason} onChange={setReason} wrong={problem?.field === 'reason' ? problem.sentence : null} />
      {mayRefund && (
        <label className="check">
          <input type="checkbox" checked={refunds} onChange={event => setRefunds(event.target.checked)} />
          {say('invoices.refund-too')}
        </label>
      )}
    </FormDialog>
  )
}
