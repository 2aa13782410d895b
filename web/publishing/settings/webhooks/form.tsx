import { type FormEvent, useState } from 'react'
import { useMutation } from 'urql'
import { Button } from '../../../design/parts/button.tsx'
import { Dialog } from '../../../design/parts/dialog.tsx'
import { Field } from '../../../design/parts/field.tsx'
import { problemOf } from '../../../shell/data/problems.ts'
import { Secret } from '../../../shell/parts/secret.tsx'
import { Failure } from '../../../shell/region.tsx'
import { say } from '../../../shell/words.ts'
import { CreateWebhookDocument, UpdateWebhookDocument, type WebhookRowFragment } from './webhooks.generated.ts'

/** What an address may be told, by the names of the graph. */
const events = ['post.scheduled', 'post.published', 'post.failed', 'post.outcome_unknown', 'post.approval_changed', 'connection.health_changed'] as const

interface FormProps {
  readonly brandId: string
  /** The one that is changed; null for a new one. */
  readonly endpoint: WebhookRowFragment | null
  onClose(): void
  onDone(): void
}

/** Makes an address, and shows its secret this once; or changes one. */
export function WebhookForm({ brandId, endpoint, onClose, onDone }: FormProps) {
  const [created, create] = useMutation(CreateWebhookDocument)
  const [updated, update] = useMutation(UpdateWebhookDocument)
  const [url, setUrl] = useState(endpoint?.url ?? '')
  const [description, setDescription] = useState(endpoint?.description ?? '')
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set(endpoint?.events ?? events))
  const [secret, setSecret] = useState<string | null>(null)
  const [idempotencyKey] = useState(() => crypto.randomUUID())
  const problem = problemOf(created.error ?? updated.error)
  const wrongAt = (field: string) => (problem?.field === field ? problem.sentence : null)
  async function save(event: FormEvent) {
    event.preventDefault()
    const fields = { url: url.trim(), events: [...chosen], description: description.trim() || null }
    if (endpoint) {
      const { data } = await update({ input: { id: endpoint.id, ...fields, expectedVersion: endpoint.version } })
      if (!data?.updateWebhookEndpoint) return
      onDone()
      onClose()
    } else {
      const { data } = await create({ input: { brandId, ...fields, idempotencyKey } })
      if (!data?.createWebhookEndpoint) return
      setSecret(data.createWebhookEndpoint.secret ?? null)
      onDone()
    }
  }
  return (
    <Dialog title={say(endpoint ? 'webhooks.edit' : 'webhooks.create')} onClose={onClose}>
      {secret ? (
        <Secret value={secret} label={say('webhooks.secret')} once={say('webhooks.once')} onKept={onClose} />
      ) : (
        <form className="form" onSubmit={event => void save(event)}>
          <Field label={say('webhooks.url')} type="url" value={url} onChange={setUrl} hint={say('webhooks.url-hint')} wrong={wrongAt('url')} required />
          <Field label={say('webhooks.description')} value={description} onChange={setDescription} wrong={wrongAt('description')} />
          <fieldset className="field">
            <legend>{say('webhooks.events')}</legend>
            <div className="toggles">
              {events.map(each => (
                <label key={each}>
                  <input
                    type="checkbox"
                    checked={chosen.has(each)}
                    onChange={event => setChosen(event.target.checked ? new Set([...chosen, each]) : chosen.difference(new Set([each])))}
                  />
                  {say(`webhooks.${each.replace('.', '-')}`)}
                </label>
              ))}
            </div>
          </fieldset>
          {problem && !['url', 'description'].includes(problem.field ?? '') && <Failure sentence={problem.sentence} requestId={problem.requestId} />}
          <div className="actions">
            <Button onPress={onClose}>{say('action.cancel')}</Button>
            <Button kind="primary" type="submit" isDisabled={url.trim() === '' || chosen.size === 0 || created.fetching || updated.fetching}>
              {say(endpoint ? 'action.save' : 'webhooks.create')}
            </Button>
          </div>
        </form>
      )}
    </Dialog>
  )
}
