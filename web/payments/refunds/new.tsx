import { useState } from 'react'
import { useMutation } from 'urql'
import { Facts } from '../../design/parts/facts.tsx'
import { Field } from '../../design/parts/field.tsx'
import { Select } from '../../design/parts/select.tsx'
import { toast } from '../../design/parts/toast.tsx'
import { useOnce } from '../../shell/data/draft.ts'
import { problemOf } from '../../shell/data/problems.ts'
import { FormDialog } from '../../shell/parts/ask.tsx'
import { minorOf, money } from '../../shell/parts/money.ts'
import { say } from '../../shell/words.ts'
import { RefundOrderDocument, type RefundReason } from './refunds.generated.ts'

const reasons: readonly RefundReason[] = ['REQUESTED_BY_CUSTOMER', 'DUPLICATE', 'FRAUDULENT', 'OTHER']

interface RefundableOrder {
  readonly id: string
  readonly number: string
  readonly currency: string
  readonly refundable: { readonly amountMinor: string | number; readonly currency: string }
}

/** Gives back a part of what an order has taken, or all that may still go back. */
export function RefundForm({ order, reload, onClose }: { readonly order: RefundableOrder; reload(): void; onClose(): void }) {
  const once = useOnce()
  const [{ error, fetching }, refund] = useMutation(RefundOrderDocument)
  const [amount, setAmount] = useState('')
  const [reason, setReason] = useState<RefundReason>('REQUESTED_BY_CUSTOMER')
  const [note, setNote] = useState('')
  const [isTried, setTried] = useState(false)
  const problem = problemOf(error)
  const { currency, refundable } = order
  const minor = minorOf(amount, currency)
  const isWhole = amount.trim() === ''
  const wrong = (() => {
    if (isWhole || !isTried) return null
    if (minor === null || minor === '0') return say('orders.no-amount')
    return BigInt(minor) > BigInt(refundable.amountMinor) ? say('refunds.too-much', { amount: money(refundable) }) : null
  })()
  async function save() {
    setTried(true)
    if (!isWhole && (minor === null || minor === '0' || BigInt(minor) > BigInt(refundable.amountMinor))) return
    const input = {
      orderId: order.id,
      amountMinor: isWhole ? String(refundable.amountMinor) : minor!,
      reason,
      ...(note.trim() && { note: note.trim() }),
      idempotencyKey: once,
    }
    const { data } = await refund({ input })
    if (!data?.refundOrder) return
    const { amount: back, status } = data.refundOrder
    toast({ sentence: say(status === 'AWAITING_APPROVAL' ? 'refunds.asked' : 'refunds.begun', { amount: money(back) }) })
    reload()
    onClose()
  }
  return (
    <FormDialog
      title={say('refunds.create')}
      verb={say('refunds.verb', { amount: isWhole ? money(refundable) : minor === null ? amount : money({ amountMinor: minor, currency }) })}
      isBusy={fetching}
      problem={problem}
      fields={['amountMinor', 'note']}
      onDo={() => void save()}
      onClose={onClose}
    >
      <Facts
        of={[
          [say('orders.order'), order.number],
          [say('refunds.remaining'), money(refundable)],
        ]}
      />
      <Field
        label={say('refunds.amount-in', { currency })}
        inputMode="decimal"
        value={amount}
        onChange={setAmount}
        hint={say('refunds.amount-hint')}
        wrong={wrong ?? (problem?.field === 'amountMinor' ? problem.sentence : null)}
      />
      <Select
        label={say('refunds.reason')}
        value={reason}
        onChange={id => setReason(id as RefundReason)}
        choices={reasons.map(id => ({ id, name: say(`refund-reason.${id}`) }))}
      />
      <Field label={say('refunds.note')} rows={3} value={note} onChange={setNote} wrong={problem?.field === 'note' ? problem.sentence : null} />
    </FormDialog>
  )
}
