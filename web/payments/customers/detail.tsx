import { CreditCard, Trash2 } from 'lucide-react'
import { useState } from 'react'
import { useMutation } from 'urql'
import { Button } from '../../design/parts/button.tsx'
import { Facts } from '../../design/parts/facts.tsx'
import { Icon } from '../../design/parts/icon.tsx'
import { Status } from '../../design/parts/status.tsx'
import { toast } from '../../design/parts/toast.tsx'
import { Link } from '../../shell/address.tsx'
import { problemOf } from '../../shell/data/problems.ts'
import { useRights } from '../../shell/frame/rights.ts'
import { Confirm } from '../../shell/parts/ask.tsx'
import { money } from '../../shell/parts/money.ts'
import { Panel } from '../../shell/parts/panel.tsx'
import { useRead } from '../../shell/read.ts'
import { moment } from '../../shell/time.ts'
import { say } from '../../shell/words.ts'
import { OrderState } from '../orders/state.tsx'
import { CustomerDetailDocument, EraseCustomerDocument } from './customers.generated.ts'

/** One customer beside the list: payment methods by brand and last digits, and the latest orders. */
export function CustomerPanel({ id, back }: { readonly id: string; readonly back: string }) {
  const { may } = useRights()
  const { data, state, problem, retry } = useRead(CustomerDetailDocument, { id })
  const [erased, erase] = useMutation(EraseCustomerDocument)
  const [asks, setAsks] = useState(false)
  const customer = data?.customer
  const orders = (customer?.orders?.nodes ?? []).filter(each => each !== null)
  const isErased = customer !== null && customer !== undefined && customer.name === null
  async function destroy() {
    if (!customer) return
    const { data: done } = await erase({ input: { id: customer.id, expectedVersion: customer.version } })
    if (!done?.eraseCustomer) return
    toast({ sentence: say('customers.was-erased') })
    setAsks(false)
  }
  return (
    <Panel
      label={say('customers.one')}
      heading={customer && (customer.name ?? say('customers.erased'))}
      back={back}
      state={data && !customer ? 'error' : state}
      problem={problem}
      retry={retry}
    >
      {customer && (
        <>
          <Facts
            of={[
              [say('customers.email'), customer.email],
              [say('customers.reference'), customer.reference],
              [say('customers.created'), moment(customer.createdAt)],
            ]}
          />
          <h3>{say('customers.methods')}</h3>
          <ul className="list">
            {(customer.paymentMethods ?? []).map(({ id: method, brand, last4, expMonth, expYear, isDefault }) => (
              <li key={method}>
                <Icon of={CreditCard} />
                <span className="grow">{[brand, last4 && `•••• ${last4}`, expMonth && expYear && `${expMonth}/${expYear}`].filter(Boolean).join(' · ')}</span>
                {isDefault && (
                  <Status meaning="info" icon={CreditCard}>
                    {say('customers.default-method')}
                  </Status>
                )}
              </li>
            ))}
            {customer.paymentMethods?.length === 0 && <li className="quiet">{say('customers.no-method')}</li>}
          </ul>
          <h3>{say('orders.title')}</h3>
          <ul className="list">
            {orders.map(({ id: order, number, status, total }) => (
              <li key={order}>
                <Link className="grow clip" to={`/orders/${order}`}>
                  {say('orders.numbered', { number })}
                </Link>
                <span className="figures">{money(total)}</span>
                <OrderState status={status} />
              </li>
            ))}
            {orders.length === 0 && <li className="quiet">{say('customers.no-order')}</li>}
          </ul>
          {may('payments:customers.write') && !isErased && (
            <div className="actions">
              <Button kind="danger" icon={Trash2} onPress={() => setAsks(true)}>
                {say('customers.erase')}
              </Button>
            </div>
          )}
          {asks && (
            <Confirm
              title={say('customers.erase-title', { name: customer.name ?? '' })}
              sentence={say('customers.erase-sentence')}
              verb={say('customers.erase')}
              isBusy={erased.fetching}
              problem={problemOf(erased.error)}
              onConfirm={() => void destroy()}
              onClose={() => setAsks(false)}
            />
          )}
        </>
      )}
    </Panel>
  )
}
