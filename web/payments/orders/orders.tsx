import { Plus, ReceiptText } from 'lucide-react'
import { Button } from '../../design/parts/button.tsx'
import type { Column } from '../../design/parts/table.tsx'
import { goTo, Link, usePath, useSearch, withSearch } from '../../shell/address.tsx'
import { useRights } from '../../shell/frame/rights.ts'
import { Page } from '../../shell/page.tsx'
import { hasRange, rangeIn } from '../../shell/parts/dates.tsx'
import { chosenOf, Filters, type Pill } from '../../shell/parts/filters.tsx'
import { Listing, pageOf } from '../../shell/parts/listing.tsx'
import { money } from '../../shell/parts/money.ts'
import { useRead } from '../../shell/read.ts'
import { moment } from '../../shell/time.ts'
import { say } from '../../shell/words.ts'
import { OrderPanel } from './detail.tsx'
import { CreateOrder } from './new.tsx'
import { type OrderRowFragment, type OrderStatus, OrdersDocument } from './orders.generated.ts'
import { OrderState } from './state.tsx'

const statuses: readonly OrderStatus[] = ['DRAFT', 'PENDING', 'PAID', 'PARTIALLY_REFUNDED', 'REFUNDED', 'CANCELLED', 'FAILED']

/** Orders as the filters of the address say; the one that the path names is open beside them. */
export default function Orders() {
  const { may } = useRights()
  const [path, search] = [usePath(), useSearch()]
  const id = /^\/orders\/([^/]+)$/.exec(path)?.[1]
  const offered = pills()
  const { status } = chosenOf(search, offered)
  const reference = search.get('reference')?.trim()
  const variables = { ...pageOf(search), ...rangeIn(search), ...(status && { status: status as OrderStatus }), ...(reference && { reference }) }
  const { data, state, problem, retry } = useRead(OrdersDocument, variables, { isEmpty: ({ orders }) => orders?.nodes?.length === 0 })
  const rows = (data?.orders?.nodes ?? []).filter(each => each !== null)
  const isFiltered = Boolean(status || reference) || hasRange(search)
  const ask = (isOpen: boolean) => goTo(withSearch('/orders', search, { new: isOpen ? 'order' : null }))
  const create = may('payments:payments.create') && (
    <Button kind="primary" icon={Plus} onPress={() => ask(true)}>
      {say('orders.create')}
    </Button>
  )
  return (
    <Page title={say('orders.title')} actions={create}>
      <div className={id ? 'beside open' : 'beside'}>
        <div className="stack">
          <Filters path="/orders" search={search} pills={offered} hasDates text={{ name: 'reference', heading: say('orders.reference') }} />
          <Listing
            label={say('orders.title')}
            path="/orders"
            columns={columns(search)}
            rows={rows}
            current={id}
            state={state}
            problem={problem}
            retry={retry}
            page={data?.orders?.pageInfo}
            total={data?.orders?.totalCount}
            attributes={each => ({ 'data-order': each.id })}
            empty={{
              icon: ReceiptText,
              sentence: say(isFiltered ? 'orders.nothing' : 'orders.empty'),
              action: !isFiltered && <Button onPress={() => ask(true)}>{say('orders.create')}</Button>,
            }}
          />
        </div>
        {id && <OrderPanel key={id} id={id} back={withSearch('/orders', search, {})} />}
      </div>
      {search.get('new') === 'order' && may('payments:payments.create') && <CreateOrder onClose={() => ask(false)} reload={retry} />}
    </Page>
  )
}

const pills = (): readonly (Pill & { readonly name: 'status' })[] => [
  { name: 'status', heading: say('orders.status'), values: statuses, title: value => say(`order.${value}`) },
]

const columns = (search: URLSearchParams): readonly Column<OrderRowFragment>[] => [
  {
    id: 'number',
    heading: say('orders.order'),
    isMain: true,
    cell: ({ id, number, description }) => (
      <Link to={withSearch(`/orders/${id}`, search, { new: null })}>{[number, description].filter(Boolean).join(' · ')}</Link>
    ),
  },
  { id: 'total', heading: say('orders.total'), cell: ({ total }) => money(total) },
  { id: 'status', isKept: true, heading: say('orders.status'), cell: ({ status }) => <OrderState status={status} /> },
  {
    id: 'at',
    heading: say('orders.created'),
    cell: ({ createdAt }) => (
      <time className="quiet" dateTime={createdAt}>
        {moment(createdAt)}
      </time>
    ),
  },
]
