import { Ban, CircleAlert, CircleCheck, Clock, type LucideIcon, RotateCw } from 'lucide-react'
import { useMutation } from 'urql'
import { Button } from '../../design/parts/button.tsx'
import { Facts } from '../../design/parts/facts.tsx'
import { type Meaning, Note, Status } from '../../design/parts/status.tsx'
import { toast } from '../../design/parts/toast.tsx'
import { Link } from '../../shell/address.tsx'
import { useOnce } from '../../shell/data/draft.ts'
import { problemOf } from '../../shell/data/problems.ts'
import { useRights } from '../../shell/frame/rights.ts'
import { Panel } from '../../shell/parts/panel.tsx'
import { useRead } from '../../shell/read.ts'
import { Failure } from '../../shell/region.tsx'
import { moment } from '../../shell/time.ts'
import { say } from '../../shell/words.ts'
import { ReplayWebhookEventDocument, WebhookEventDetailDocument, type WebhookEventDetailsFragment, type WebhookEventStatus } from './webhooks.generated.ts'

const looks: Readonly<Record<WebhookEventStatus, readonly [Meaning, LucideIcon]>> = {
  RECEIVED: ['info', Clock],
  PROCESSED: ['positive', CircleCheck],
  IGNORED: ['plain', Ban],
  FAILED: ['warning', CircleAlert],
  DEAD: ['danger', CircleAlert],
}

/** How far an event has come. */
export function EventState({ status }: { readonly status: WebhookEventStatus }) {
  const [meaning, icon] = looks[status]
  return (
    <Status meaning={meaning} icon={icon}>
      {say(`webhook.${status}`)}
    </Status>
  )
}

/** One event beside the list, as the processor sent it; one that changed nothing can be processed again. */
export function WebhookEventPanel({ id, back }: { readonly id: string; readonly back: string }) {
  const { data, state, problem, retry } = useRead(WebhookEventDetailDocument, { id })
  const event = data?.webhookEvent
  return (
    <Panel label={say('webhooks.one')} heading={event?.type} back={back} state={data && !event ? 'error' : state} problem={problem} retry={retry}>
      {event && (
        <>
          <Details event={event} />
          <h3>{say('webhooks.payload')}</h3>
          {event.payload ? <pre className="text small">{JSON.stringify(event.payload, null, 2)}</pre> : <p className="quiet">{say('webhooks.no-payload')}</p>}
        </>
      )}
    </Panel>
  )
}

function Details({ event }: { readonly event: WebhookEventDetailsFragment }) {
  const { may } = useRights()
  const idempotencyKey = useOnce()
  const [{ error, fetching }, replay] = useMutation(ReplayWebhookEventDocument)
  const { id, attempts, occurredAt, order, processedAt, processorEventId, reason, receivedAt, status } = event
  const mayReplay = may('payments:settings.write') && (status === 'FAILED' || status === 'DEAD' || status === 'IGNORED')
  const problem = problemOf(error)
  async function again() {
    const { data } = await replay({ input: { id, idempotencyKey } })
    if (data?.replayWebhookEvent) toast({ sentence: say('webhooks.replayed') })
  }
  return (
    <>
      <div>
        <EventState status={status} />
      </div>
      {reason && (
        <Note meaning="plain" icon={Ban}>
          {say(`webhook-reason.${reason}`)}
        </Note>
      )}
      {mayReplay && (
        <div className="actions">
          <Button icon={RotateCw} isDisabled={fetching} onPress={() => void again()}>
            {say('webhooks.replay')}
          </Button>
        </div>
      )}
      {problem && <Failure sentence={problem.sentence} requestId={problem.requestId} />}
      <Facts
        of={[
          [say('transactions.processor-id'), processorEventId],
          [
            say('orders.order'),
            order && (
              <Link key="order" to={`/orders/${order.id}`}>
                {order.number}
              </Link>
            ),
          ],
          [say('webhooks.attempts'), attempts],
          [say('webhooks.occurred'), moment(occurredAt)],
          [say('webhooks.received'), moment(receivedAt)],
          [say('webhooks.processed'), processedAt && moment(processedAt)],
        ]}
      />
    </>
  )
}
