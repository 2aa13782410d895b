import { KeyRound } from 'lucide-react'
import { type FormEvent, useState } from 'react'
import { useMutation } from 'urql'
import { Button } from '../../design/parts/button.tsx'
import { Field } from '../../design/parts/field.tsx'
import { Icon } from '../../design/parts/icon.tsx'
import { toast } from '../../design/parts/toast.tsx'
import { problemOf } from '../../shell/data/problems.ts'
import { useRead } from '../../shell/read.ts'
import { Failure, Region } from '../../shell/region.tsx'
import { say } from '../../shell/words.ts'
import { PersonDocument, type PersonFormFragment, RenamePersonDocument } from './person.generated.ts'
import { SettingsPage } from './tabs.tsx'

/** The person's own account: their name and mail address. */
export default function Person() {
  const { data, state, problem, retry } = useRead(PersonDocument, {})
  const person = data?.viewer?.user
  return (
    <SettingsPage>
      <Region title={say('settings.person')} state={state} problem={problem} retry={retry} lines={4}>
        {person && <PersonForm key={person.id} person={person} />}
      </Region>
    </SettingsPage>
  )
}

function PersonForm({ person }: { readonly person: PersonFormFragment }) {
  const [name, setName] = useState(person.name)
  const [isTried, setTried] = useState(false)
  const [{ error, fetching }, rename] = useMutation(RenamePersonDocument)
  const problem = problemOf(error)
  async function save(event: FormEvent) {
    event.preventDefault()
    setTried(true)
    if (name.trim() === '') return
    const { data } = await rename({ input: { name: name.trim() } })
    if (data?.updateUser) toast({ sentence: say('settings.saved') })
  }
  const wrong = isTried && name.trim() === '' ? say('settings.name-missing') : problem?.field === 'name' ? problem.sentence : null
  return (
    <form className="form" onSubmit={event => void save(event)} noValidate>
      <Field label={say('settings.name')} value={name} onChange={setName} autoComplete="name" wrong={wrong} required />
      <Field
        label={say('settings.email')}
        type="email"
        value={String(person.email ?? '')}
        onChange={() => {}}
        readOnly
        hint={say(person.emailVerified ? 'settings.email-verified' : 'settings.email-open')}
      />
      {problem && problem.field !== 'name' && <Failure sentence={problem.sentence} requestId={problem.requestId} />}
      <div className="actions">
        <Button kind="primary" type="submit" isDisabled={fetching || name === person.name}>
          {say('action.save')}
        </Button>
        <a className="button secondary" href="/identity/reset-password">
          <Icon of={KeyRound} />
          {say('settings.password')}
        </a>
      </div>
    </form>
  )
}
