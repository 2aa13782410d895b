import { type FormEvent, useState } from 'react'
import { useMutation } from 'urql'
import { Button } from '../../design/parts/button.tsx'
import { Dialog } from '../../design/parts/dialog.tsx'
import { Field } from '../../design/parts/field.tsx'
import { Select } from '../../design/parts/select.tsx'
import { problemOf } from '../data/problems.ts'
import { useRights } from '../frame/rights.ts'
import { Secret } from '../parts/secret.tsx'
import { useRead } from '../read.ts'
import { Failure } from '../region.tsx'
import { say } from '../words.ts'
import { CreateKeyDocument, KeyScopesDocument } from './keys.generated.ts'

/** Days after which a key ends by itself. */
const lives = ['30', '90', '365'] as const

/** Makes a key with rights that the person has, and shows it this once. */
export function KeyForm({ service, onClose, onDone }: { readonly service: string; onClose(): void; onDone(): void }) {
  const { data } = useRead(KeyScopesDocument, { slug: service })
  const { scopes: own } = useRights()
  const [{ error, fetching }, create] = useMutation(CreateKeyDocument)
  const [name, setName] = useState('')
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set())
  const [days, setDays] = useState<string>('90')
  const [secret, setSecret] = useState<string | null>(null)
  const [idempotencyKey] = useState(() => crypto.randomUUID())
  const problem = problemOf(error)
  const scopes = (data?.service?.scopes ?? []).flatMap(each => (each && own.includes(scopeOf(service, each.name)) ? [each] : []))
  async function save(event: FormEvent) {
    event.preventDefault()
    const expiresAt = days === 'NEVER' ? {} : { expiresAt: new Date(Date.now() + Number(days) * 86_400_000).toISOString() }
    const answer = await create({ input: { name: name.trim(), service, scopes: [...chosen], ...expiresAt, idempotencyKey } })
    if (!answer.data?.createApiKey) return
    setSecret(answer.data.createApiKey.secret ?? null)
    onDone()
  }
  return (
    <Dialog title={say('keys.create')} onClose={onClose}>
      {secret ? (
        <Secret value={secret} label={say('keys.secret')} once={say('keys.once')} onKept={onClose} />
      ) : (
        <form className="form" onSubmit={event => void save(event)}>
          <Field
            label={say('keys.name')}
            value={name}
            onChange={setName}
            hint={say('keys.name-hint')}
            wrong={problem?.field === 'name' ? problem.sentence : null}
            required
          />
          <fieldset className="field">
            <legend>{say('keys.rights')}</legend>
            <div className="choices">
              {scopes.map(each => {
                const scope = scopeOf(service, each.name)
                return (
                  <label key={scope}>
                    <input
                      type="checkbox"
                      checked={chosen.has(scope)}
                      onChange={event => setChosen(event.target.checked ? new Set([...chosen, scope]) : chosen.difference(new Set([scope])))}
                    />
                    {each.meaning}
                  </label>
                )
              })}
            </div>
          </fieldset>
          <Select
            label={say('keys.life')}
            choices={[...lives.map(id => ({ id, name: say('keys.days', { count: Number(id) }) })), { id: 'NEVER', name: say('keys.never') }]}
            value={days}
            onChange={setDays}
          />
          {problem && problem.field !== 'name' && <Failure sentence={problem.sentence} requestId={problem.requestId} />}
          <div className="actions">
            <Button onPress={onClose}>{say('action.cancel')}</Button>
            <Button kind="primary" type="submit" isDisabled={name.trim() === '' || chosen.size === 0 || fetching}>
              {say('keys.create')}
            </Button>
          </div>
        </form>
      )}
    </Dialog>
  )
}

/** A scope with its service, whichever way it is named. */
export const scopeOf = (service: string, name: string): string => (name.includes(':') ? name : `${service}:${name}`)
