import { CircleAlert, CircleCheck, Clock, KeyRound, Pencil, Play, RotateCw, Send, Trash2, TriangleAlert, X } from 'lucide-react'
import { useState } from 'react'
import { useMutation } from 'urql'
import { Button } from '../../../design/parts/button.tsx'
import { Dialog } from '../../../design/parts/dialog.tsx'
import { Note, Status } from '../../../design/parts/status.tsx'
import { toast } from '../../../design/parts/toast.tsx'
import { goTo, Link } from '../../../shell/address.tsx'
import { problemOf } from '../../../shell/data/problems.ts'
import { Confirm } from '../../../shell/parts/ask.tsx'
import { Secret } from '../../../shell/parts/secret.tsx'
import { useRead } from '../../../shell/read.ts'
import { Failure, Region } from '../../../shell/region.tsx'
import { lately } from '../../../shell/time.ts'
import { say } from '../../../shell/words.ts'
import { WebhookForm } from './form.tsx'
import { WebhookState } from './state.tsx'
import {
  ConfirmWebhookDocument,
  DeleteWebhookDocument,
  type DeliveryRowFragment,
  RedeliverDocument,
  RotateWebhookDocument,
  TestWebhookDocument,
  UpdateWebhookDocument,
  WebhookDetailDocument,
  type WebhookRowFragment,
} from './webhooks.generated.ts'

/** One address: how it stands, what was told there, and what can be done. */
export function WebhookPanel({ id, back, reload }: { readonly id: string; readonly back: string; reload(): void }) {
  const { data, state, problem, retry } = useRead(WebhookDetailDocument, { id })
  const endpoint = data?.webhookEndpoint
  const deliveries = (endpoint?.deliveries?.nodes ?? []).flatMap(each => each ?? [])
  return (
    <Region
      className="panel"
      aria-label={say('webhooks.detail')}
      title={
        <>
          {endpoint && <WebhookState state={endpoint.state} />}
          <h2 className="clip">{endpoint ? new URL(endpoint.url).host : say('webhooks.detail')}</h2>
        </>
      }
      tools={<Button kind="quiet" icon={X} name={say('action.close')} onPress={() => goTo(back)} />}
      state={data && !endpoint ? 'error' : state}
      problem={problem}
      retry={retry}
    >
      {endpoint && (
        <>
          <p className="text">{endpoint.url}</p>
          {endpoint.description && <p className="quiet">{endpoint.description}</p>}
          {endpoint.disabledReason && (
            <Note meaning="warning" icon={TriangleAlert}>
              {endpoint.disabledReason}
            </Note>
          )}
          <Tools
            endpoint={endpoint}
            retry={() => {
              retry()
              reload()
            }}
            onGone={() => {
              reload()
              goTo(back)
            }}
          />
          <h3>{say('webhooks.deliveries')}</h3>
          {deliveries.length === 0 ? (
            <p className="quiet">{say('webhooks.no-deliveries')}</p>
          ) : (
            <ul className="items">
              {deliveries.map(each => (
                <Delivery key={each.id} delivery={each} retry={retry} />
              ))}
            </ul>
          )}
        </>
      )}
    </Region>
  )
}

const outcomes = { DELIVERED: ['positive', CircleCheck], FAILED: ['danger', CircleAlert], PENDING: ['info', Clock] } as const

function Delivery({ delivery, retry }: { readonly delivery: DeliveryRowFragment; retry(): void }) {
  const [{ error, fetching }, redeliver] = useMutation(RedeliverDocument)
  const problem = problemOf(error)
  const [meaning, icon] = outcomes[delivery.status]
  const facts = [lately(delivery.createdAt), say('webhooks.tries', { count: delivery.attempts }), delivery.responseStatus && `HTTP ${delivery.responseStatus}`]
  const name = say(`webhooks.${delivery.event.replace('.', '-')}`)
  return (
    <li className="account" data-delivery={delivery.id}>
      <div className="grow">
        <p>{delivery.postId ? <Link to={`/posts/${delivery.postId}`}>{name}</Link> : name}</p>
        <p className="quiet small">{facts.filter(Boolean).join(' · ')}</p>
        {problem && <p className="small wrong">{problem.sentence}</p>}
      </div>
      <Status meaning={meaning} icon={icon}>
        {say(`webhooks.${delivery.status}`)}
      </Status>
      {delivery.status !== 'PENDING' && (
        <Button
          kind="quiet"
          icon={RotateCw}
          name={say('webhooks.redeliver', { event: name })}
          isDisabled={fetching}
          onPress={() => void redeliver({ input: { id: delivery.id } }).then(answer => !answer.error && retry())}
        />
      )}
    </li>
  )
}

function Tools({ endpoint, retry, onGone }: { readonly endpoint: WebhookRowFragment; retry(): void; onGone(): void }) {
  const [tested, test] = useMutation(TestWebhookDocument)
  const [rotated, rotate] = useMutation(RotateWebhookDocument)
  const [updated, update] = useMutation(UpdateWebhookDocument)
  const [confirmed, confirm] = useMutation(ConfirmWebhookDocument)
  const [deleted, drop] = useMutation(DeleteWebhookDocument)
  const [asks, setAsks] = useState<'edit' | 'rotate' | 'delete' | null>(null)
  const [secret, setSecret] = useState<string | null>(null)
  const problem = problemOf(tested.error ?? rotated.error ?? updated.error ?? confirmed.error ?? deleted.error)
  const input = { id: endpoint.id, expectedVersion: endpoint.version }
  const done = (answer: { readonly error?: unknown }, sentence: string) => {
    if (answer.error) return
    toast({ sentence })
    retry()
  }
  return (
    <>
      <div className="actions">
        {endpoint.active && (
          <Button
            icon={Send}
            isDisabled={tested.fetching}
            onPress={() => void test({ input: { id: endpoint.id } }).then(each => done(each, say('webhooks.tested')))}
          >
            {say('webhooks.test')}
          </Button>
        )}
        {endpoint.state === 'RESTING' && (
          <Button icon={Play} onPress={() => void confirm({ input }).then(each => done(each, say('webhooks.saved')))}>
            {say('webhooks.confirm')}
          </Button>
        )}
        {endpoint.state === 'INACTIVE' && (
          <Button icon={Play} onPress={() => void update({ input: { ...input, active: true } }).then(each => done(each, say('webhooks.saved')))}>
            {say('webhooks.activate')}
          </Button>
        )}
        <Button icon={Pencil} onPress={() => setAsks('edit')}>
          {say('webhooks.edit')}
        </Button>
        <Button icon={KeyRound} onPress={() => setAsks('rotate')}>
          {say('webhooks.rotate')}
        </Button>
        <Button kind="quiet" icon={Trash2} onPress={() => setAsks('delete')}>
          {say('webhooks.delete')}
        </Button>
      </div>
      {problem && <Failure sentence={problem.sentence} requestId={problem.requestId} />}
      {asks === 'edit' && <WebhookForm brandId="" endpoint={endpoint} onClose={() => setAsks(null)} onDone={retry} />}
      {asks === 'rotate' && (
        <Confirm
          title={say('webhooks.rotate')}
          sentence={say('webhooks.rotate-sure')}
          verb={say('webhooks.rotate')}
          isDanger={false}
          isBusy={rotated.fetching}
          onClose={() => setAsks(null)}
          onConfirm={() =>
            void rotate({ input }).then(({ data }) => {
              setAsks(null)
              setSecret(data?.rotateWebhookSecret?.secret ?? null)
            })
          }
        />
      )}
      {asks === 'delete' && (
        <Confirm
          title={say('webhooks.delete')}
          sentence={say('webhooks.delete-sure', { url: endpoint.url })}
          verb={say('webhooks.delete')}
          isBusy={deleted.fetching}
          onClose={() => setAsks(null)}
          onConfirm={() => {
            setAsks(null)
            void drop({ input }).then(({ data }) => data?.deleteWebhookEndpoint && onGone())
          }}
        />
      )}
      {secret && (
        <Dialog title={say('webhooks.secret')} onClose={() => setSecret(null)}>
          <Secret
            value={secret}
            label={say('webhooks.secret')}
            once={say('webhooks.once')}
            onKept={() => {
              setSecret(null)
              retry()
            }}
          />
        </Dialog>
      )}
    </>
  )
}
