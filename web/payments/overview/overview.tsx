import { Plus, ReceiptText } from 'lucide-react'
import { Icon } from '../../design/parts/icon.tsx'
import { Link } from '../../shell/address.tsx'
import { useRights } from '../../shell/frame/rights.ts'
import { Page } from '../../shell/page.tsx'
import { money } from '../../shell/parts/money.ts'
import { Figures } from '../../shell/parts/widget.tsx'
import { useRead } from '../../shell/read.ts'
import { Region } from '../../shell/region.tsx'
import { say } from '../../shell/words.ts'
import { OrderState } from '../orders/state.tsx'
import { PaymentsOverviewDocument } from './overview.generated.ts'

/** What waits, and the latest orders. */
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
      <Figures
        payload={data?.paymentsWidget && { ...data.paymentsWidget, items: [] }}
        state={data && !data.paymentsWidget ? 'error' : state}
        problem={problem}
        retry={retry}
      />
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
