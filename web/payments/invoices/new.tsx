import { useState } from 'react'
import { useMutation } from 'urql'
import { Field } from '../../design/parts/field.tsx'
import { Select } from '../../design/parts/select.tsx'
import { toast } from '../../design/parts/toast.tsx'
import { goTo } from '../../shell/address.tsx'
import { useDraft, useOnce } from '../../shell/data/draft.ts'
import { problemOf } from '../../shell/data/problems.ts'
import { FormDialog } from '../../shell/parts/ask.tsx'
import { useRead } from '../../shell/read.ts'
import { say } from '../../shell/words.ts'
import { type Line, LineFields, lineInputs, noLine } from '../orders/lines.tsx'
import { CreateInvoiceDocument, InvoiceCustomersDocument } from './invoices.generated.ts'

const noDraft = { customerId: '', currency: 'EUR', memo: '', lines: [noLine] as readonly Line[] }

/** Writes a draft of an invoice to a customer; it has no number until it is finalized. */
export function CreateInvoice({ reload, onClose }: { reload(): void; onClose(): void }) {
  const idempotencyKey = useOnce()
  const { data } = useRead(InvoiceCustomersDocument, {})
  const [{ error, fetching }, create] = useMutation(CreateInvoiceDocument)
  const [draft, setDraft, forget] = useDraft('invoice', noDraft)
  const [isTried, setTried] = useState(false)
  const problem = problemOf(error)
  const { currency, customerId, lines, memo } = draft
  const customers = (data?.customers?.nodes ?? []).flatMap(each =>
    each?.name ? [{ id: each.id, name: [each.name, each.email].filter(Boolean).join(' · ') }] : [],
  )
  const chosen = customers.some(({ id }) => id === customerId) ? customerId : (customers[0]?.id ?? '')
  async function save() {
    setTried(true)
    const written = lineInputs(lines, currency)
    if (!written || !chosen) return
    const input = { customerId: chosen, currency, lines: written, ...(memo.trim() && { memo: memo.trim() }), idempotencyKey }
    const { data: made } = await create({ input })
    if (!made?.createInvoice) return
    forget()
    toast({ sentence: say('invoices.made') })
    reload()
    goTo(`/invoices/${made.createInvoice.id}`)
  }
  return (
    <FormDialog
      title={say('invoices.create')}
      verb={say('invoices.create')}
      isBusy={fetching}
      problem={problem}
      fields={['memo']}
      onDo={() => void save()}
      onClose={onClose}
    >
      {data && customers.length === 0 ? (
        <p>{say('invoices.no-customer')}</p>
      ) : (
        <Select label={say('orders.customer')} value={chosen} onChange={id => setDraft({ ...draft, customerId: id })} choices={customers} />
      )}
      <LineFields currency={currency} lines={lines} isTried={isTried} onChange={changes => setDraft({ ...draft, ...changes })} />
      <Field
        label={say('invoices.memo')}
        rows={3}
        value={memo}
        onChange={text => setDraft({ ...draft, memo: text })}
        wrong={problem?.field === 'memo' ? problem.sentence : null}
      />
    </FormDialog>
  )
}
