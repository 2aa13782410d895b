import { CircleAlert, CircleCheck, Clock, type LucideIcon, RotateCw, Send } from 'lucide-react'
import { useState } from 'react'
import { useMutation } from 'urql'
import { Button } from '../../../design/parts/button.tsx'
import { Facts } from '../../../design/parts/facts.tsx'
import { type Meaning, Note, Status } from '../../../design/parts/status.tsx'
import { toast } from '../../../design/parts/toast.tsx'
import { goTo } from '../../../shell/address.tsx'
import { useOnce } from '../../../shell/data/draft.ts'
import { problemOf } from '../../../shell/data/problems.ts'
import { useRights } from '../../../shell/frame/rights.ts'
import { Confirm } from '../../../shell/parts/ask.tsx'
import { Panel } from '../../../shell/parts/panel.tsx'
import { useRead } from '../../../shell/read.ts'
import { Failure } from '../../../shell/region.tsx'
import { moment } from '../../../shell/time.ts'
import { say, sayIfKnown } from '../../../shell/words.ts'
import {
  DeleteEndpointDocument,
  type EndpointDeliveryFragment,
  EndpointDetailDocument,
  type EndpointRowFragment,
  type PaymentWebhookDeliveryStatus,
  RedeliverToEndpointDocument,
  RotateEndpointSecretDocument,
  TestEndpointDocument,
  UpdateEndpointDocument,
} from './endpoints.generated.ts'
import { EndpointForm, EndpointSecret } from './form.tsx'
import { EndpointState } from './state.tsx'

const looks: Readonly<Record<PaymentWebhookDeliveryStatus, readonly [Meaning, LucideIcon]>> = {
  PENDING: ['info', Clock],
  DELIVERED: ['positive', CircleCheck],
  FAILED: ['danger', CircleAlert],
}

/** One endpoint beside the list, with what was sent to it. @param reload reads the list anew */
export function EndpointPanel({ id, reload }: { readonly id: string; reload(): void }) {
  const { may } = useRights()
  const [after, setAfter] = useState<string | null>(null)
  const { data, state, problem, retry } = useRead(EndpointDetailDocument, { id, first: 20, ...(after && { after }) })
  const endpoint = data?.paymentWebhook
  const deliveries = (endpoint?.deliveries?.nodes ?? []).filter(each => each !== null)
  const { hasNextPage, endCursor } = endpoint?.deliveries?.pageInfo ?? {}
  return (
    <Panel
      label={say('endpoints.one')}
      heading={endpoint?.url}
      back="/webhook-endpoints"
      state={data && !endpoint ? 'error' : state}
      problem={problem}
      retry={retry}
    >
      {endpoint && (
        <>
          <div>
            <EndpointState endpoint={endpoint} />
          </div>
          {endpoint.disabledReason && (
            <Note meaning="danger" icon={CircleAlert}>
              {endpoint.disabledReason}
            </Note>
          )}
          {may('payments:settings.write') && <Actions endpoint={endpoint} again={retry} reload={reload} />}
          <Facts
            of={[
              [say('endpoints.description'), endpoint.description],
              [say('endpoints.events'), endpoint.events.map(each => sayIfKnown(`endpoint-event.${each}`, each)).join(', ')],
              [say('orders.created'), moment(endpoint.createdAt)],
            ]}
          />
          <h3>{say('endpoints.deliveries')}</h3>
          <ul className="list">
            {deliveries.map(delivery => (
              <Delivery key={delivery.id} delivery={delivery} isActive={endpoint.active} />
            ))}
            {deliveries.length === 0 && <li className="quiet">{say('endpoints.no-delivery')}</li>}
          </ul>
          <div className="actions">
            <Button icon={RotateCw} onPress={retry}>
              {say('endpoints.look-again')}
            </Button>
            {after && (
              <Button kind="quiet" onPress={() => setAfter(null)}>
                {say('list.first')}
              </Button>
            )}
            {hasNextPage && endCursor && (
              <Button kind="quiet" onPress={() => setAfter(endCursor)}>
                {say('list.next')}
              </Button>
            )}
          </div>
        </>
      )}
    </Panel>
  )
}

type Ask = 'change' | 'rotate' | 'disable' | 'delete'

/** What may be done with an endpoint. @param again reads it anew @param reload reads the list anew */
function Actions({ endpoint, again, reload }: { readonly endpoint: EndpointRowFragment; again(): void; reload(): void }) {
  const [asks, setAsks] = useState<Ask | null>(null)
  const [updated, update] = useMutation(UpdateEndpointDocument)
  const [tested, test] = useMutation(TestEndpointDocument)
  const { active, id, url, version } = endpoint
  const known = { id, expectedVersion: version }
  const problem = problemOf(asks === null ? (updated.error ?? tested.error) : undefined)
  const onClose = () => setAsks(null)
  async function turn() {
    const { data } = await update({ input: { ...known, active: !active, idempotencyKey: crypto.randomUUID() } })
    if (data?.updatePaymentWebhook) onClose()
  }
  async function send() {
    const { data } = await test({ input: { id, idempotencyKey: crypto.randomUUID() } })
    if (!data?.testPaymentWebhook) return
    toast({ sentence: say('endpoints.tested') })
    again()
  }
  return (
    <>
      <div className="actions">
        {active && (
          <Button icon={Send} isDisabled={tested.fetching} onPress={() => void send()}>
            {say('endpoints.test')}
          </Button>
        )}
        <Button onPress={() => setAsks('change')}>{say('endpoints.change')}</Button>
        <Button onPress={() => setAsks('rotate')}>{say('endpoints.rotate')}</Button>
        {active ? (
          <Button onPress={() => setAsks('disable')}>{say('endpoints.disable')}</Button>
        ) : (
          <Button isDisabled={updated.fetching} onPress={() => void turn()}>
            {say('endpoints.enable')}
          </Button>
        )}
        <Button kind="danger" onPress={() => setAsks('delete')}>
          {say('endpoints.delete')}
        </Button>
      </div>
      {problem && <Failure sentence={problem.sentence} requestId={problem.requestId} />}
      {asks === 'change' && <EndpointForm endpoint={endpoint} reload={reload} onClose={onClose} />}
      {asks === 'rotate' && <Rotate endpoint={endpoint} onClose={onClose} />}
      {asks === 'delete' && <Delete endpoint={endpoint} reload={reload} onClose={onClose} />}
      {asks === 'disable' && (
        <Confirm
          title={say('endpoints.disable')}
          sentence={say('endpoints.disable-sentence', { url })}
          verb={say('endpoints.disable')}
          isBusy={updated.fetching}
          problem={problemOf(updated.error)}
          onConfirm={() => void turn()}
          onClose={onClose}
        />
      )}
    </>
  )
}

function Rotate({ endpoint: { id, url, version }, onClose }: { readonly endpoint: EndpointRowFragment; onClose(): void }) {
  const idempotencyKey = useOnce()
  const [{ data, error, fetching }, rotate] = useMutation(RotateEndpointSecretDocument)
  const made = data?.rotatePaymentWebhookSecret
  if (made) return <EndpointSecret secret={made.secret ?? null} onClose={onClose} />
  return (
    <Confirm
      title={say('endpoints.rotate')}
      sentence={say('endpoints.rotate-sentence', { url })}
      verb={say('endpoints.rotate')}
      isDanger={false}
      isBusy={fetching}
      problem={problemOf(error)}
      onConfirm={() => void rotate({ input: { id, expectedVersion: version, idempotencyKey } })}
      onClose={onClose}
    />
  )
}

function Delete({ endpoint: { id, url, version }, reload, onClose }: { readonly endpoint: EndpointRowFragment; reload(): void; onClose(): void }) {
  const [{ error, fetching }, remove] = useMutation(DeleteEndpointDocument)
  async function act() {
    const { data } = await remove({ input: { id, expectedVersion: version } })
    if (!data?.deletePaymentWebhook) return
    reload()
    goTo('/webhook-endpoints', { replace: true })
  }
  return (
    <Confirm
      title={say('endpoints.delete')}
      sentence={say('endpoints.delete-sentence', { url })}
      verb={say('endpoints.delete')}
      isBusy={fetching}
      problem={problemOf(error)}
      onConfirm={() => void act()}
      onClose={onClose}
    />
  )
}

/** One event on its way, or over; what is over can be sent again. */
function Delivery({ delivery, isActive }: { readonly delivery: EndpointDeliveryFragment; readonly isActive: boolean }) {
  const mayResend = useRights().may('payments:settings.write') && isActive
  const [{ error, fetching }, resend] = useMutation(RedeliverToEndpointDocument)
  const { attempts, createdAt, event, id, nextAttemptAt, responseStatus, status } = delivery
  const problem = problemOf(error)
  const told = [
    say('endpoints.attempts', { count: attempts }),
    responseStatus && say('endpoints.answered', { status: String(responseStatus) }),
    nextAttemptAt && say('settlement.next', { when: moment(nextAttemptAt) }),
  ]
  async function again() {
    const { data } = await resend({ input: { id, idempotencyKey: crypto.randomUUID() } })
    if (data?.redeliverPaymentWebhook) toast({ sentence: say('endpoints.resent') })
  }
  return (
    <li data-delivery={id}>
      <div className="grow">
        <p className="clip">{sayIfKnown(`endpoint-event.${event}`, event)}</p>
        <p className="quiet small">
          {moment(createdAt)} · {told.filter(Boolean).join(' · ')}
        </p>
        {problem && <Failure sentence={problem.sentence} requestId={problem.requestId} />}
      </div>
      <Status meaning={looks[status][0]} icon={looks[status][1]}>
        {say(`delivery.${status}`)}
      </Status>
      {mayResend && status !== 'PENDING' && (
        <Button
          kind="quiet"
          icon={RotateCw}
          isDisabled={fetching}
          name={say('action.of', { action: say('endpoints.resend'), name: sayIfKnown(`endpoint-event.${event}`, event) })}
          onPress={() => void again()}
        />
      )}
    </li>
  )
}
