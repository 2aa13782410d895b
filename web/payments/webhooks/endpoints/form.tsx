import { useState } from 'react'
import { useMutation } from 'urql'
import { Dialog } from '../../../design/parts/dialog.tsx'
import { Field } from '../../../design/parts/field.tsx'
import { toast } from '../../../design/parts/toast.tsx'
import { goTo } from '../../../shell/address.tsx'
import { useOnce } from '../../../shell/data/draft.ts'
import { problemOf } from '../../../shell/data/problems.ts'
import { FormDialog } from '../../../shell/parts/ask.tsx'
import { Secret } from '../../../shell/parts/secret.tsx'
import { say } from '../../../shell/words.ts'
import { CreateEndpointDocument, type EndpointRowFragment, UpdateEndpointDocument } from './endpoints.generated.ts'

/** Events that can be sent, in the order in which they usually happen. */
const events = [
  'order.paid',
  'order.failed',
  'order.refunded',
  'refund.failed',
  'dispute.opened',
  'dispute.closed',
  'invoice.paid',
  'settlement_batch.settled',
] as const

/** Adds an endpoint, whose secret is shown once, or changes one. @param endpoint null adds one */
export function EndpointForm({ endpoint, reload, onClose }: { readonly endpoint: EndpointRowFragment | null; reload(): void; onClose(): void }) {
  const idempotencyKey = useOnce()
  const [created, create] = useMutation(CreateEndpointDocument)
  const [updated, update] = useMutation(UpdateEndpointDocument)
  const [url, setUrl] = useState(endpoint?.url ?? '')
  const [description, setDescription] = useState(endpoint?.description ?? '')
  const [chosen, setChosen] = useState<readonly string[]>(endpoint?.events ?? events)
  const [isTried, setTried] = useState(false)
  const problem = problemOf(created.error ?? updated.error)
  const made = created.data?.createPaymentWebhook
  async function save() {
    setTried(true)
    if (url.trim() === '' || chosen.length === 0) return
    const input = { url: url.trim(), events: chosen, idempotencyKey }
    if (!endpoint) {
      const { data } = await create({ input: { ...input, ...(description.trim() && { description: description.trim() }) } })
      if (data?.createPaymentWebhook) reload()
      return
    }
    const { data } = await update({ input: { ...input, description: description.trim() || null, id: endpoint.id, expectedVersion: endpoint.version } })
    if (!data?.updatePaymentWebhook) return
    toast({ sentence: say('endpoints.saved') })
    onClose()
  }
  if (made) {
    const leave = () => {
      onClose()
      if (made.webhook) goTo(`/webhook-endpoints/${made.webhook.id}`)
    }
    return <EndpointSecret secret={made.secret ?? null} onClose={leave} />
  }
  return (
    <FormDialog
      title={say(endpoint ? 'endpoints.change' : 'endpoints.create')}
      verb={say(endpoint ? 'action.save' : 'endpoints.create')}
      isBusy={created.fetching || updated.fetching}
      problem={problem}
      fields={['url', 'events', 'description']}
      onDo={() => void save()}
      onClose={onClose}
    >
      <Field
        label={say('endpoints.url')}
        type="url"
        value={url}
        onChange={setUrl}
        hint={say('endpoints.url-hint')}
        wrong={problem?.field === 'url' ? problem.sentence : isTried && url.trim() === '' ? say('form.required') : null}
      />
      <Field
        label={say('endpoints.description')}
        value={description}
        onChange={setDescription}
        wrong={problem?.field === 'description' ? problem.sentence : null}
      />
      <fieldset>
        <legend>{say('endpoints.events')}</legend>
        <div className="toggles">
          {events.map(each => (
            <label key={each}>
              <input
                type="checkbox"
                checked={chosen.includes(each)}
                onChange={({ target }) => setChosen(events.filter(other => (other === each ? target.checked : chosen.includes(other))))}
              />
              {say(`endpoint-event.${each}`)}
            </label>
          ))}
        </div>
        {((isTried && chosen.length === 0) || problem?.field === 'events') && (
          <p className="small wrong">{problem?.field === 'events' ? problem.sentence : say('endpoints.no-event')}</p>
        )}
      </fieldset>
    </FormDialog>
  )
}

/** The secret of an endpoint, shown this once. @param secret null: a repeated request shows none */
export const EndpointSecret = ({ secret, onClose }: { readonly secret: string | null; onClose(): void }) => (
  <Dialog title={say('endpoints.secret')} onClose={onClose}>
    {secret ? <Secret value={secret} label={say('endpoints.secret')} once={say('endpoints.once')} onKept={onClose} /> : <p>{say('endpoints.no-secret')}</p>}
  </Dialog>
)
