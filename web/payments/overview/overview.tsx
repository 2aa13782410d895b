import { CircleAlert, CircleCheck, Clock, Plus, ReceiptText } from 'lucide-react'
import type { Client } from 'urql'
import { Icon } from '../../design/parts/icon.tsx'
import { Statistic, Statistics } from '../../design/parts/statistic.tsx'
import { type Meaning, Status } from '../../design/parts/status.tsx'
import { Link } from '../../shell/address.tsx'
import { useRights } from '../../shell/frame/rights.ts'
import { Page } from '../../shell/page.tsx'
import { money } from '../../shell/parts/money.ts'
import { Figures } from '../../shell/parts/widget.tsx'
import { locale } from '../../shell/place.ts'
import { useRead } from '../../shell/read.ts'
import { Region } from '../../shell/region.tsx'
import { say } from '../../shell/words.ts'
import { OrderState } from '../orders/state.tsx'
import { PaymentsOverviewDocument, type PaymentsOverviewQuery } from './overview.generated.ts'

const number = new Intl.NumberFormat(locale)

/** What the first look at the page reads. */
export const warm = (client: Client): void => void client.query(PaymentsOverviewDocument, {}).toPromise()

/** What waits, how many orders have each state, and the latest orders. */
export default function Overview() {
  const { data, state, problem, retry } = useRead(PaymentsOverviewDocument, {})
  const { may } = useRights()
  const orders = (data?.orders?.nodes ?? []).filter(each => each !== null)
  const create = may('payments:payments.create') && (
    <Link className="button primary" to="/orders?new=order">
      <Icon of={Plus} />
      {say('orders.create')}
    </Link>
  )
  return (
    <Page title={say('overview.title')} actions={create}>
      {data?.paymentsOverview ? (
        <Waiting overview={data.paymentsOverview} />
      ) : (
        <Region title={say('overview.waiting')} state={data ? 'error' : state} problem={problem} retry={retry} lines={1} />
      )}
      <Figures
        payload={data?.paymentsWidget && { ...data.paymentsWidget, items: [] }}
        state={data && !data.paymentsWidget ? 'error' : state}
        problem={problem}
        retry={retry}
      />
      {!data && <Region title={say('overview.by-state')} state={state} problem={problem} retry={retry} lines={2} />}
      {data?.paymentsOverview && (
        <Region title={say('overview.by-state')} state="ready">
          <Statistics>
            {data.paymentsOverview.orders.map(({ status, count }) => (
              <Statistic
                key={status}
                label={<Link to={`/orders?status=${status.toLowerCase()}`}>{say(`order.${status}`)}</Link>}
                value={number.format(count)}
              />
            ))}
          </Statistics>
        </Region>
      )}
      <Region
        title={say('overview.latest')}
        isFlush
        state={state === 'ready' && orders.length === 0 ? 'empty' : state}
        problem={problem}
        retry={retry}
        empty={{ icon: ReceiptText, sentence: say('orders.empty'), action: create }}
      >
        <ul className="list">
          {orders.map(({ id, number, status, description, total }) => (
            <li key={id} data-order={id}>
              <Link className="grow clip" to={`/orders/${id}`}>
                {[number, description].filter(Boolean).join(' · ')}
              </Link>
              <span className="figures">{money(total)}</span>
              <OrderState status={status} />
            </li>
          ))}
        </ul>
      </Region>
    </Page>
  )
}

type Overviewed = NonNullable<PaymentsOverviewQuery['paymentsOverview']>

/** What waits for a person, and where it is seen to; what moves by itself is told last. */
const waits = [
  ['unknownOutcomes', '/transactions?status=unknown', 'warning'],
  ['refundsAwaitingApproval', '/refunds?status=awaiting_approval', 'warning'],
  ['openDisputes', '/disputes?status=open', 'warning'],
  ['deadWebhookEvents', '/webhooks?status=dead', 'danger'],
  ['undeliveredCallbacks', '/settlement', 'warning'],
  ['settlementBatchesInProgress', '/settlement?status=processing', 'info'],
] as const satisfies readonly (readonly [Exclude<keyof Overviewed, 'orders'>, string, Meaning])[]

function Waiting({ overview }: { readonly overview: Overviewed }) {
  const open = waits.filter(([name]) => overview[name] > 0)
  return (
    <Region title={say('overview.waiting')} isFlush={open.length > 0} state="ready">
      {open.length === 0 && (
        <p className="quiet">
          <Icon of={CircleCheck} /> {say('overview.nothing-waits')}
        </p>
      )}
      {open.length > 0 && (
        <ul className="list">
          {open.map(([name, to, meaning]) => (
            <li key={name} data-waits={name}>
              <Link className="grow" to={to}>
                {say(`overview-waits.${name}`)}
              </Link>
              <Status meaning={meaning} icon={meaning === 'info' ? Clock : CircleAlert}>
                {number.format(overview[name])}
              </Status>
            </li>
          ))}
        </ul>
      )}
    </Region>
  )
}
