import { Plus, Trash2 } from 'lucide-react'
import { useState } from 'react'
import { useMutation } from 'urql'
import { Button } from '../../design/parts/button.tsx'
import { Field } from '../../design/parts/field.tsx'
import { toast } from '../../design/parts/toast.tsx'
import { goTo } from '../../shell/address.tsx'
import { useOnce } from '../../shell/data/draft.ts'
import { problemOf } from '../../shell/data/problems.ts'
import { FormDialog } from '../../shell/parts/ask.tsx'
import { say } from '../../shell/words.ts'
import { type ConnectorDetailsFragment, CreateConnectorDocument, UpdateConnectorDocument } from './connectors.generated.ts'

/** Adds a server, or renames one. Headers are secret: they are sent once, and kept nowhere on this page. @param connector null adds one */
export function ConnectorForm({ connector, reload, onClose }: { readonly connector: ConnectorDetailsFragment | null; reload(): void; onClose(): void }) {
  const idempotencyKey = useOnce()
  const [created, create] = useMutation(CreateConnectorDocument)
  const [updated, update] = useMutation(UpdateConnectorDocument)
  const [name, setName] = useState(connector?.name ?? '')
  const [baseUrl, setUrl] = useState('')
  const [counterparty, setCounterparty] = useState(connector?.counterparty ?? '')
  const [headers, setHeaders] = useState<readonly { readonly id: string; readonly name: string; readonly value: string }[]>([])
  const [isTried, setTried] = useState(false)
  const problem = problemOf(created.error ?? updated.error)
  const wrong = (field: string) => (problem?.field === field ? problem.sentence : null)
  const missing = (value: string) => (isTried && value.trim() === '' ? say('form.required') : null)
  async function save() {
    setTried(true)
    if (name.trim() === '') return
    const fields = { name: name.trim(), counterparty: counterparty.trim() || null }
    if (connector) {
      const { data } = await update({ input: { ...fields, id: connector.id, expectedVersion: connector.version } })
      if (data?.updateConnector) onClose()
      return
    }
    if (baseUrl.trim() === '') return
    const filled = headers.filter(each => each.name.trim() !== '').map(each => ({ name: each.name.trim(), value: each.value }))
    const { data } = await create({ input: { ...fields, kind: 'MCP', baseUrl: baseUrl.trim(), ...(filled.length > 0 && { headers: filled }), idempotencyKey } })
    if (!data?.createConnector) return
    toast({ sentence: say('connectors.made', { name: data.createConnector.name }) })
    reload()
    onClose()
    goTo(`/connectors/${data.createConnector.id}`)
  }
  const set = (id: string, changes: Partial<(typeof headers)[number]>) => setHeaders(headers.map(each => (each.id === id ? { ...each, ...changes } : each)))
  return (
    <FormDialog
      title={say(connector ? 'connectors.change' : 'connectors.create')}
      verb={say(connector ? 'action.save' : 'connectors.create')}
      isBusy={created.fetching || updated.fetching}
      problem={problem}
      fields={['name', 'baseUrl', 'counterparty']}
      onDo={() => void save()}
      onClose={onClose}
    >
      <Field label={say('connectors.name')} value={name} onChange={setName} wrong={missing(name) ?? wrong('name')} />
      {!connector && (
        <Field
          label={say('connectors.url')}
          type="url"
          value={baseUrl}
          onChange={setUrl}
          hint={say('connectors.url-hint')}
          wrong={missing(baseUrl) ?? wrong('baseUrl')}
        />
      )}
      <Field
        label={say('connectors.counterparty')}
        value={counterparty}
        onChange={setCounterparty}
        hint={say('connectors.counterparty-hint')}
        wrong={wrong('counterparty')}
      />
      {!connector &&
        headers.map((header, at) => (
          <fieldset key={header.id} className="line">
            <legend>{say('connectors.header', { number: at + 1 })}</legend>
            <Field label={say('connectors.header-name')} value={header.name} onChange={value => set(header.id, { name: value })} />
            <Field
              label={say('connectors.header-value')}
              type="password"
              autoComplete="off"
              value={header.value}
              onChange={value => set(header.id, { value })}
            />
            <Button
              kind="quiet"
              icon={Trash2}
              name={say('connectors.remove-header', { number: at + 1 })}
              onPress={() => setHeaders(headers.filter(({ id }) => id !== header.id))}
            />
          </fieldset>
        ))}
      {!connector && headers.length < 20 && (
        <div>
          <Button kind="quiet" icon={Plus} onPress={() => setHeaders([...headers, { id: crypto.randomUUID(), name: '', value: '' }])}>
            {say('connectors.add-header')}
          </Button>
        </div>
      )}
    </FormDialog>
  )
}
