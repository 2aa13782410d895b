import { CircleAlert, CircleCheck, CircleHelp, Clock, type LucideIcon } from 'lucide-react'
import { Facts } from '../../design/parts/facts.tsx'
import { type Meaning, Status } from '../../design/parts/status.tsx'
import { type Column, Table } from '../../design/parts/table.tsx'
import { Link } from '../../shell/address.tsx'
import { money } from '../../shell/parts/money.ts'
import { Panel } from '../../shell/parts/panel.tsx'
import { Copyable } from '../../shell/parts/secret.tsx'
import { useRead } from '../../shell/read.ts'
import { moment } from '../../shell/time.ts'
import { say } from '../../shell/words.ts'
import { InvoiceActions } from './actions.tsx'
import { InvoiceDocument } from './document.tsx'
import { InvoiceDetailDocument, type InvoiceDetailsFragment, type InvoiceMailStatus } from './invoices.generated.ts'
import { InvoiceState } from './state.tsx'

/** One invoice beside its list: its lines, what may be done next, and its credit notes. @param reload reads the list anew */
export function InvoicePanel({ id, back, reload }: { readonly id: string; readonly back: string; reload(): void }) {
  const { data, state, problem, retry } = useRead(InvoiceDetailDocument, { id })
  const invoice = data?.invoice
  return (
    <Panel
      label={say('invoices.one')}
      heading={invoice && (invoice.number ?? say('invoices.draft'))}
      back={back}
      state={data && !invoice ? 'error' : state}
      problem={problem}
      retry={retry}
    >
      {invoice && (
        <>
          <div>
            <InvoiceState status={invoice.status} />
          </div>
          <InvoiceActions invoice={invoice} back={back} reload={reload} />
          {invoice.number && <InvoiceDocument id={invoice.id} name={invoice.number} />}
          <Details invoice={invoice} />
        </>
      )}
    </Panel>
  )
}

function Details({ invoice }: { readonly invoice: InvoiceDetailsFragment }) {
  const notes = invoice.creditNotes ?? []
  return (
    <>
      {invoice.memo && <p dir="auto">{invoice.memo}</p>}
      <Table label={say('orders.lines')} columns={columns()} rows={invoice.lines.map((line, at) => ({ ...line, id: `${at}` }))} />
      <Facts
        of={[
          [say('orders.subtotal'), money(invoice.subtotal)],
          [say('orders.discount'), Number(invoice.discount.amountMinor) !== 0 && money(invoice.discount)],
          [say('orders.tax'), money(invoice.tax)],
          [say('orders.total'), <strong key="total">{money(invoice.total)}</strong>],
          [say('invoices.open'), invoice.status === 'FINALIZED' && money(invoice.amountDue)],
          [
            say('orders.customer'),
            invoice.customer && (
              <Link key="customer" to={`/customers/${invoice.customer.id}`}>
                {invoice.customer.name ?? say('customers.erased')}
              </Link>
            ),
          ],
          [
            say('orders.order'),
            invoice.orderId && (
              <Link key="order" to={`/orders/${invoice.orderId}`}>
                {say('transactions.order')}
              </Link>
            ),
          ],
          [say('invoices.payment-url'), invoice.paymentUrl && <Copyable key="url" text={invoice.paymentUrl} />],
          [say('orders.created'), moment(invoice.createdAt)],
          [say('invoices.issued'), invoice.issuedAt && moment(invoice.issuedAt)],
          [say('invoices.due'), invoice.dueAt && moment(invoice.dueAt)],
          [say('invoices.paid'), invoice.paidAt && moment(invoice.paidAt)],
        ]}
      />
      <Mails mails={invoice.mails} />
      {notes.length > 0 && (
        <>
          <h3>{say('invoices.credit-notes')}</h3>
          <ul className="list">
            {notes.map(({ id, number, amount, reason, refundId, createdAt }) => (
              <li key={id} data-credit-note={id}>
                <div className="grow">
                  <p>{number}</p>
                  <p className="quiet small">{[reason, moment(createdAt)].filter(Boolean).join(' · ')}</p>
                </div>
                <span className="figures">{refundId ? <Link to={`/refunds/${refundId}`}>{money(amount)}</Link> : money(amount)}</span>
              </li>
            ))}
          </ul>
        </>
      )}
    </>
  )
}

const mailLooks: Readonly<Record<InvoiceMailStatus, readonly [Meaning, LucideIcon]>> = {
  QUEUED: ['info', Clock],
  SENT: ['positive', CircleCheck],
  FAILED: ['danger', CircleAlert],
  UNKNOWN: ['warning', CircleHelp],
}

/** What was mailed to the customer, and what became of it. */
function Mails({ mails }: { readonly mails: InvoiceDetailsFragment['mails'] }) {
  if (mails.length === 0) return null
  return (
    <>
      <h3>{say('invoices.mails')}</h3>
      <ul className="list">
        {mails.map(({ id, kind, status, at }) => (
          <li key={id} data-mail={id}>
            <div className="grow">
              <p>{say(`invoice-mail.${kind}`)}</p>
              <p className="quiet small">{moment(at)}</p>
            </div>
            <Status meaning={mailLooks[status][0]} icon={mailLooks[status][1]}>
              {say(`mail.${status}`)}
            </Status>
          </li>
        ))}
      </ul>
    </>
  )
}

const columns = (): readonly Column<InvoiceDetailsFragment['lines'][number] & { readonly id: string }>[] => [
  { id: 'name', heading: say('orders.item'), isMain: true, cell: ({ name, sku }) => <span className="clip">{[name, sku].filter(Boolean).join(' · ')}</span> },
  { id: 'quantity', heading: say('orders.quantity'), cell: ({ quantity, unitAmount }) => `${quantity} × ${money(unitAmount)}` },
  { id: 'total', heading: say('orders.total'), cell: ({ total }) => money(total) },
]
