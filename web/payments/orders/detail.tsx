import { CircleAlert, CircleHelp, Clock } from 'lucide-react'
import { useEffect } from 'react'
import { useSubscription } from 'urql'
import { Facts } from '../../design/parts/facts.tsx'
import { Note } from '../../design/parts/status.tsx'
import { type Column, Table } from '../../design/parts/table.tsx'
import { Link } from '../../shell/address.tsx'
import { useRights } from '../../shell/frame/rights.ts'
import { money } from '../../shell/parts/money.ts'
import { Panel } from '../../shell/parts/panel.tsx'
import { useRead } from '../../shell/read.ts'
import { lately, moment } from '../../shell/time.ts'
import { say } from '../../shell/words.ts'
import { RefundState } from '../refunds/state.tsx'
import { TransactionState } from '../transactions/state.tsx'
import { OrderActions } from './actions.tsx'
import { OrderChangesDocument, OrderDetailDocument, type OrderDetailsFragment, OrderMoneyDocument } from './orders.generated.ts'
import { OrderState } from './state.tsx'
import { OrderTimeline } from './timeline.tsx'

/** One order beside its list: what may be done next, its lines, and the money that moved. It changes by itself when a payment ends. */
export function OrderPanel({ id, back }: { readonly id: string; readonly back: string }) {
  const { data, state, problem, retry } = useRead(OrderDetailDocument, { id })
  useSubscription({ query: OrderChangesDocument, variables: { id } })
  const order = data?.order
  return (
    <Panel
      label={say('orders.one')}
      heading={order && say('orders.numbered', { number: order.number })}
      back={back}
      state={data && !order ? 'error' : state}
      problem={problem}
      retry={retry}
    >
      {order && <Details order={order} reload={retry} />}
    </Panel>
  )
}

function Details({ order, reload }: { readonly order: OrderDetailsFragment; reload(): void }) {
  const has = ({ amountMinor }: OrderDetailsFragment['total']) => Number(amountMinor) !== 0
  return (
    <>
      <div>
        <OrderState status={order.status} />
      </div>
      {order.description && <p dir="auto">{order.description}</p>}
      <Phase order={order} />
      <OrderActions order={order} reload={reload} />
      <Table label={say('orders.lines')} columns={columns()} rows={order.lines.map((line, at) => ({ ...line, id: `${at}` }))} />
      <Facts
        of={[
          [say('orders.subtotal'), money(order.subtotal)],
          [say('orders.discount'), has(order.discount) && money(order.discount)],
          [say('orders.tax'), money(order.tax)],
          [say('orders.total'), <strong key="total">{money(order.total)}</strong>],
          [say('orders.captured'), has(order.captured) && money(order.captured)],
          [say('orders.refunded'), has(order.refunded) && money(order.refunded)],
          [say('orders.refundable'), has(order.captured) && money(order.refundable)],
          [say('orders.due'), has(order.due) && money(order.due)],
          [
            say('orders.customer'),
            order.customerId && (
              <Link key="customer" to={`/customers/${order.customerId}`}>
                {say('orders.open-customer')}
              </Link>
            ),
          ],
          [say('orders.reference'), order.reference],
          [say('orders.by'), order.createdBy?.name],
          [say('orders.created'), moment(order.createdAt)],
          [say('orders.updated'), order.updatedAt !== order.createdAt && moment(order.updatedAt)],
        ]}
      />
      <MoneyMoved id={order.id} version={order.version} />
      <OrderTimeline id={order.id} version={order.version} />
    </>
  )
}

/** What its payment waits for, or why it did not succeed. */
function Phase({ order: { failure, paymentPhase } }: { readonly order: OrderDetailsFragment }) {
  if (paymentPhase === 'PROCESSING')
    return (
      <Note meaning="info" icon={Clock}>
        {say('orders.processing')}
      </Note>
    )
  if (paymentPhase === 'UNKNOWN')
    return (
      <Note meaning="warning" icon={CircleHelp}>
        {say('orders.unknown')}
      </Note>
    )
  if (paymentPhase === 'AUTHORIZED')
    return (
      <Note meaning="info" icon={Clock}>
        {say('orders.authorized')}
      </Note>
    )
  return (
    failure && (
      <Note meaning="danger" icon={CircleAlert}>
        {failure.message}
      </Note>
    )
  )
}

/** Transactions and refunds of an order, the newest first. @param version read anew when it grows */
function MoneyMoved({ id, version }: { readonly id: string; readonly version: number }) {
  const may = useRights().may('payments:transactions.read')
  const { data, retry } = useRead(OrderMoneyDocument, { id }, { pause: !may })
  useEffect(() => {
    if (may) retry()
  }, [version, may])
  if (!may) return null
  const transactions = (data?.order?.transactions?.nodes ?? []).filter(each => each !== null)
  const refunds = (data?.order?.refunds ?? []).filter(each => each !== null)
  return (
    <>
      <h3>{say('orders.payments')}</h3>
      <ul className="list">
        {transactions.map(({ id: key, type, amount, status, createdAt }) => (
          <li key={key} data-transaction={key}>
            <div className="grow">
              <Link to={`/transactions/${key}`}>{say(`transaction-type.${type}`)}</Link>
              <p className="quiet small">{lately(createdAt)}</p>
            </div>
            <span className="figures">{money(amount)}</span>
            <TransactionState status={status} />
          </li>
        ))}
        {data && transactions.length === 0 && <li className="quiet">{say('orders.no-payment')}</li>}
      </ul>
      {refunds.length > 0 && (
        <>
          <h3>{say('refunds.title')}</h3>
          <ul className="list">
            {refunds.map(({ id: key, amount, reason, status }) => (
              <li key={key} data-refund={key}>
                <div className="grow">
                  <Link to={`/refunds/${key}`}>{money(amount)}</Link>
                  <p className="quiet small">{say(`refund-reason.${reason}`)}</p>
                </div>
                <RefundState status={status} />
              </li>
            ))}
          </ul>
        </>
      )}
    </>
  )
}

const columns = (): readonly Column<OrderDetailsFragment['lines'][number] & { readonly id: string }>[] => [
  { id: 'name', heading: say('orders.item'), isMain: true, cell: ({ name, sku }) => <span className="clip">{[name, sku].filter(Boolean).join(' · ')}</span> },
  { id: 'quantity', heading: say('orders.quantity'), cell: ({ quantity, unitAmount }) => `${quantity} × ${money(unitAmount)}` },
  { id: 'total', heading: say('orders.total'), cell: ({ total }) => money(total) },
]
