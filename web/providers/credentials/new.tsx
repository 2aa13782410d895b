import { useState } from 'react'
import { useMutation } from 'urql'
import { Field } from '../../design/parts/field.tsx'
import { Select } from '../../design/parts/select.tsx'
import { toast } from '../../design/parts/toast.tsx'
import { goTo } from '../../shell/address.tsx'
import { useOnce } from '../../shell/data/draft.ts'
import { problemOf } from '../../shell/data/problems.ts'
import { FormDialog } from '../../shell/parts/ask.tsx'
import { say } from '../../shell/words.ts'
import { providersByName } from '../names.ts'
import { CreateCredentialDocument } from './credentials.generated.ts'

/** Keeps a new credential. Its secret is typed here once, goes to the platform alone, and is in no draft. */
export function CreateCredential({ onClose }: { onClose(): void }) {
  const once = useOnce()
  const [provider, setProvider] = useState('openai')
  const [name, setName] = useState('')
  const [baseUrl, setBaseUrl] = useState('')
  const [values, setValues] = useState<Readonly<Record<string, string>>>({})
  const [isTried, setTried] = useState(false)
  const [{ error, fetching }, create] = useMutation(CreateCredentialDocument)
  const problem = problemOf(error)
  const { plain, secrets } = providersByName[provider]!
  const isCustom = provider === 'custom'
  const missing = (value: string | undefined) => (isTried && !value?.trim() ? say('form.required') : null)
  async function save() {
    setTried(true)
    const wanted = [...plain, ...secrets]
    if (wanted.some(each => !values[each]?.trim()) || (isCustom && (!name.trim() || !baseUrl.trim()))) return
    const input = {
      provider,
      fields: wanted.map(each => ({ name: each, value: values[each]!.trim() })),
      ...(name.trim() && { name: name.trim() }),
      ...(isCustom && { baseUrl: baseUrl.trim() }),
      idempotencyKey: once,
    }
    const { data } = await create({ input })
    if (!data?.createCredential) return
    toast({ sentence: say('credentials.added', { name: data.createCredential.name }) })
    onClose()
    goTo(`/credentials/${data.createCredential.id}`)
  }
  return (
    <FormDialog
      title={say('credentials.add')}
      verb={say('credentials.add')}
      isBusy={fetching}
      problem={problem}
      fields={['name', 'baseUrl']}
      onDo={() => void save()}
      onClose={onClose}
    >
      <Select
        label={say('credentials.provider')}
        value={provider}
        onChange={id => {
          setProvider(id)
          setValues({})
        }}
        choices={Object.entries(providersByName).map(([id, { title }]) => ({ id, name: title }))}
      />
      <Field
        label={say('credentials.name')}
        value={name}
        onChange={setName}
        hint={say(isCustom ? 'credentials.name-custom' : 'credentials.name-hint')}
        wrong={problem?.field === 'name' ? problem.sentence : isCustom ? missing(name) : null}
      />
      {isCustom && (
        <Field
          label={say('credentials.base-url')}
          type="url"
          value={baseUrl}
          onChange={setBaseUrl}
          hint="https://models.example.com/v1"
          wrong={problem?.field === 'baseUrl' ? problem.sentence : missing(baseUrl)}
        />
      )}
      {[...plain, ...secrets].map(each => (
        <Field
          key={`${provider} ${each}`}
          label={say(`credential-field.${each}`)}
          type={secrets.includes(each) ? 'password' : 'text'}
          autoComplete="off"
          value={values[each] ?? ''}
          onChange={value => setValues({ ...values, [each]: value })}
          wrong={missing(values[each])}
          {...(secrets.includes(each) && { hint: say('credentials.secret-hint') })}
        />
      ))}
    </FormDialog>
  )
}
