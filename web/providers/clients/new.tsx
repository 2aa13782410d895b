import { useState } from 'react'
import { useMutation } from 'urql'
import { Field } from '../../design/parts/field.tsx'
import { goTo } from '../../shell/address.tsx'
import { useOnce } from '../../shell/data/draft.ts'
import { problemOf } from '../../shell/data/problems.ts'
import { FormDialog } from '../../shell/parts/ask.tsx'
import { say } from '../../shell/words.ts'
import { CreateClientDocument, type ServiceOperation } from './clients.generated.ts'

const operations: readonly ServiceOperation[] = [
  'COMPLETIONS',
  'TRANSCRIPTIONS',
  'IMAGES',
  'EMBEDDINGS',
  'EMAIL',
  'PAYMENTS',
  'TRANSFERS',
  'VIDEO',
  'NETWORK_APPLICATIONS',
]

/** Registers a service that may call the gateway, for the operations that are chosen. Its first token is issued afterwards. */
export function CreateClient({ onClose }: { onClose(): void }) {
  const once = useOnce()
  const [{ error, fetching }, create] = useMutation(CreateClientDocument)
  const [name, setName] = useState('')
  const [appId, setAppId] = useState('')
  const [chosen, setChosen] = useState<readonly ServiceOperation[]>(['COMPLETIONS'])
  const [isTried, setTried] = useState(false)
  const problem = problemOf(error)
  const wrong = (field: string, text: string) => (problem?.field === field ? problem.sentence : isTried && text.trim() === '' ? say('form.required') : null)
  async function save() {
    setTried(true)
    if (name.trim() === '' || appId.trim() === '' || chosen.length === 0) return
    const { data } = await create({ input: { name: name.trim(), appId: appId.trim(), operations: [...chosen], idempotencyKey: once } })
    if (!data?.createServiceClient) return
    onClose()
    goTo(`/clients/${data.createServiceClient.id}`)
  }
  return (
    <FormDialog
      title={say('clients.add')}
      verb={say('clients.add')}
      isBusy={fetching}
      problem={problem}
      fields={['name', 'appId']}
      onDo={() => void save()}
      onClose={onClose}
    >
      <Field label={say('clients.name')} value={name} onChange={setName} wrong={wrong('name', name)} />
      <Field label={say('clients.app')} value={appId} onChange={setAppId} hint="app_support" wrong={wrong('appId', appId)} />
      <fieldset>
        <legend>{say('clients.operations')}</legend>
        <div className="toggles">
          {operations.map(each => (
            <label key={each}>
              <input
                type="checkbox"
                checked={chosen.includes(each)}
                onChange={({ target }) => setChosen(target.checked ? [...chosen, each] : chosen.filter(other => other !== each))}
              />
              {say(`operation.${each}`)}
            </label>
          ))}
        </div>
        {isTried && chosen.length === 0 && <p className="small wrong">{say('form.required')}</p>}
      </fieldset>
    </FormDialog>
  )
}
