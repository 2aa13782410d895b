import { useState } from 'react'
import { useMutation } from 'urql'
import { Field } from '../../design/parts/field.tsx'
import { Select } from '../../design/parts/select.tsx'
import { toast } from '../../design/parts/toast.tsx'
import { problemOf } from '../../shell/data/problems.ts'
import { FormDialog } from '../../shell/parts/ask.tsx'
import { say } from '../../shell/words.ts'
import { type CredentialDetailsFragment, RotateCredentialDocument } from './credentials.generated.ts'

/** Seconds for which the secret before still counts. */
const graces = ['0', '3600', '86400', '604800'] as const

/** Puts another secret in place of a credential's. The one before is tried for a while where the provider refuses the new one. */
export function Rotate({ credential, onClose }: { readonly credential: CredentialDetailsFragment; onClose(): void }) {
  const [{ error, fetching }, rotate] = useMutation(RotateCredentialDocument)
  const [secret, setSecret] = useState('')
  const [grace, setGrace] = useState<string>('3600')
  const [isTried, setTried] = useState(false)
  const field = credential.fields.find(({ value }) => value === null)!
  async function save() {
    setTried(true)
    if (secret.trim() === '') return
    const fields = [{ name: field.name, value: secret.trim() }]
    const { data } = await rotate({ input: { id: credential.id, fields, graceSeconds: Number(grace), expectedVersion: credential.version } })
    if (!data?.rotateCredential) return
    toast({ sentence: say('credentials.was-rotated', { name: credential.name }) })
    onClose()
  }
  return (
    <FormDialog
      title={say('credentials.rotate-title', { name: credential.name })}
      verb={say('credentials.rotate')}
      isBusy={fetching}
      problem={problemOf(error)}
      onDo={() => void save()}
      onClose={onClose}
    >
      <Field
        label={say(`credential-field.${field.name}`)}
        type="password"
        autoComplete="off"
        value={secret}
        onChange={setSecret}
        hint={say('credentials.secret-hint')}
        wrong={isTried && secret.trim() === '' ? say('form.required') : null}
      />
      <Select
        label={say('credentials.grace-label')}
        value={grace}
        onChange={setGrace}
        choices={graces.map(each => ({ id: each, name: say(`credentials.grace-${each}`) }))}
      />
    </FormDialog>
  )
}
