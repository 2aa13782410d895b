import { useState } from 'react'
import { useMutation } from 'urql'
import { Button } from '../../design/parts/button.tsx'
import { Field } from '../../design/parts/field.tsx'
import { toast } from '../../design/parts/toast.tsx'
import { goTo } from '../../shell/address.tsx'
import { useOnce } from '../../shell/data/draft.ts'
import { problemOf } from '../../shell/data/problems.ts'
import { useRights } from '../../shell/frame/rights.ts'
import { Confirm, FormDialog } from '../../shell/parts/ask.tsx'
import { money } from '../../shell/parts/money.ts'
import { say } from '../../shell/words.ts'
import { CreditNoteForm } from './credit.tsx'
import {
  DeleteInvoiceDocument,
  FinalizeInvoiceDocument,
  type InvoiceDetailsFragment,
  MarkInvoicePaidDocument,
  ResendInvoiceDocument,
  VoidInvoiceDocument,
} from './invoices.generated.ts'

type Ask = 'finalize' | 'delete' | 'mark-paid' | 'void' | 'credit' | 'resend'

const offers: Readonly<Record<InvoiceDetailsFragment['status'], readonly Ask[]>> = {
  DRAFT: ['finalize', 'delete'],
  FINALIZED: ['resend', 'mark-paid', 'void'],
  PAID: ['credit'],
  VOID: [],
}

/** What may be done next with an invoice, for those who write invoices. @param back the list's address */
export function InvoiceActions({ invoice, back, reload }: { readonly invoice: InvoiceDetailsFragment; readonly back: string; reload(): void }) {
  const { may } = useRights()
  const [asks, setAsks] = useState<Ask | null>(null)
  const onClose = () => setAsks(null)
  const offered = offers[invoice.status]
  if (!may('payments:invoices.write') || offered.length === 0) return null
  return (
    <>
      <div className="actions">
        {offered.map(ask => (
          <Button key={ask} kind={ask === 'finalize' ? 'primary' : 'secondary'} onPress={() => setAsks(ask)}>
            {say(`invoices.${ask}`)}
          </Button>
        ))}
      </div>
      {asks === 'finalize' && <Finalize invoice={invoice} reload={reload} onClose={onClose} />}
      {asks === 'delete' && <Delete invoice={invoice} back={back} reload={reload} onClose={onClose} />}
      {asks === 'resend' && <Resend invoice={invoice} onClose={onClose} />}
      {asks === 'credit' && <CreditNoteForm invoice={invoice} onClose={onClose} />}
      {(asks === 'void' || asks === 'mark-paid') && <End key={asks} ask={asks} invoice={invoice} reload={reload} onClose={onClose} />}
    </>
  )
}

interface StepProps {
  readonly invoice: InvoiceDetailsFragment
  reload(): void
  onClose(): void
}

/** Issues a draft under its number; the customer gets it by mail. */
function Finalize({ invoice, reload, onClose }: StepProps) {
  const idempotencyKey = useOnce()
  const [{ error, fetching }, finalize] = useMutation(FinalizeInvoiceDocument)
  async function act() {
    const { data } = await finalize({ input: { id: invoice.id, expectedVersion: invoice.version, idempotencyKey } })
    if (!data?.finalizeInvoice) return
    toast({ sentence: say('invoices.finalized', { number: data.finalizeInvoice.number ?? '' }) })
    reload()
    onClose()
  }
  return (
    <Confirm
      title={say('invoices.finalize')}
      sentence={say('invoices.finalize-sentence', { amount: money(invoice.total), name: invoice.customer?.name ?? '–' })}
      verb={say('invoices.finalize')}
      isDanger={false}
      isBusy={fetching}
      problem={problemOf(error)}
      onConfirm={() => void act()}
      onClose={onClose}
    />
  )
}

/** Mails it to the customer again. */
function Resend({ invoice, onClose }: Omit<StepProps, 'reload'>) {
  const idempotencyKey = useOnce()
  const [{ error, fetching }, resend] = useMutation(ResendInvoiceDocument)
  const problem = problemOf(error)
  async function act() {
    const { data } = await resend({ input: { id: invoice.id, idempotencyKey } })
    if (!data?.resendInvoice) return
    toast({ sentence: say('invoices.resent') })
    onClose()
  }
  return (
    <Confirm
      title={say('invoices.resend')}
      sentence={say('invoices.resend-sentence', { number: invoice.number ?? '', name: invoice.customer?.name ?? '–' })}
      verb={say('invoices.resend')}
      isDanger={false}
      isBusy={fetching}
      problem={problem?.reason === 'NO_ADDRESS' ? { ...problem, sentence: say('invoices.no-address') } : problem}
      onConfirm={() => void act()}
      onClose={onClose}
    />
  )
}

function Delete({ invoice, back, reload, onClose }: StepProps & { readonly back: string }) {
  const [{ error, fetching }, remove] = useMutation(DeleteInvoiceDocument)
  async function act() {
    const { data } = await remove({ input: { id: invoice.id, expectedVersion: invoice.version } })
    if (!data?.deleteInvoice) return
    reload()
    goTo(back, { replace: true })
  }
  return (
    <Confirm
      title={say('invoices.delete')}
      sentence={say('invoices.delete-sentence', { amount: money(invoice.total) })}
      verb={say('invoices.delete')}
      isBusy={fetching}
      problem={problemOf(error)}
      onConfirm={() => void act()}
      onClose={onClose}
    />
  )
}

/** Ends an invoice that is out: given up, or paid by another way. */
function End({ ask, invoice, reload, onClose }: StepProps & { readonly ask: 'void' | 'mark-paid' }) {
  const idempotencyKey = useOnce()
  const [voided, giveUp] = useMutation(VoidInvoiceDocument)
  const [paid, markPaid] = useMutation(MarkInvoicePaidDocument)
  const [text, setText] = useState('')
  const problem = problemOf(voided.error ?? paid.error)
  const field = ask === 'void' ? 'reason' : 'reference'
  async function save() {
    const known = { id: invoice.id, expectedVersion: invoice.version, idempotencyKey, ...(text.trim() && { [field]: text.trim() }) }
    const { error } = ask === 'void' ? await giveUp({ input: known }) : await markPaid({ input: known })
    if (error) return
    reload()
    onClose()
  }
  return (
    <FormDialog
      title={say(`invoices.${ask}`)}
      verb={say(`invoices.${ask}`)}
      isBusy={voided.fetching || paid.fetching}
      problem={problem}
      fields={[field]}
      onDo={() => void save()}
      onClose={onClose}
    >
      <p>{say(`invoices.${ask}-sentence`, { amount: money(invoice.amountDue), number: invoice.number ?? '' })}</p>
      <Field label={say(`invoices.${field}`)} value={text} onChange={setText} wrong={problem?.field === field ? problem.sentence : null} />
    </FormDialog>
  )
}
