import { Facts } from '../../design/parts/facts.tsx'
import { type Column, Table } from '../../design/parts/table.tsx'
import { money } from '../../shell/parts/money.ts'
import { Panel } from '../../shell/parts/panel.tsx'
import { useRead } from '../../shell/read.ts'
import { moment } from '../../shell/time.ts'
import { say } from '../../shell/words.ts'
import { OrderDetailDocument, type OrderDetailsFragment } from './orders.generated.ts'
import { OrderState } from './state.tsx'

/** One order beside its list: its lines, and what they come to. */
export function OrderPanel({ id, back }: { readonly id: string; readonly back: string }) {
  const { data, state, problem, retry } = useRead(OrderDetailDocument, { id })
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
      {order && <Details order={order} />}
    </Panel>
  )
}

function Details({ order }: { readonly order: OrderDetailsFragment }) {
  return (
    <>
      <div>
        <OrderState status={order.status} />
      </div>
      {order.description && <p dir="auto">{order.description}</p>}
      <Table label={say('orders.lines')} columns={columns()} rows={order.lines.map((line, at) => ({ ...line, id: `${at}` }))} />
      <Facts
        of={[
          [say('orders.subtotal'), money(order.subtotal)],
          [say('orders.discount'), Number(order.discount.amountMinor) !== 0 && money(order.discount)],
          [say('orders.tax'), money(order.tax)],
          [say('orders.total'), <strong key="total">{money(order.total)}</strong>],
          [say('orders.reference'), order.reference],
          [say('orders.by'), order.createdBy?.name],
          [say('orders.created'), moment(order.createdAt)],
          [say('orders.updated'), order.updatedAt !== order.createdAt && moment(order.updatedAt)],
        ]}
      />
    </>
  )
}

const columns = (): readonly Column<OrderDetailsFragment['lines'][number] & { readonly id: string }>[] => [
  { id: 'name', heading: say('orders.item'), isMain: true, cell: ({ name, sku }) => <span className="clip">{[name, sku].filter(Boolean).join(' · ')}</span> },
  { id: 'quantity', heading: say('orders.quantity'), cell: ({ quantity, unitAmount }) => `${quantity} × ${money(unitAmount)}` },
  { id: 'total', heading: say('orders.total'), cell: ({ total }) => money(total) },
]
