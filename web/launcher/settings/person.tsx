import { KeyRound, Monitor, Trash2 } from 'lucide-react'
import { type FormEvent, useState } from 'react'
import { useMutation } from 'urql'
import { Button } from '../../design/parts/button.tsx'
import { Field } from '../../design/parts/field.tsx'
import { Icon } from '../../design/parts/icon.tsx'
import { Status } from '../../design/parts/status.tsx'
import { toast } from '../../design/parts/toast.tsx'
import { problemOf } from '../../shell/data/problems.ts'
import { Page } from '../../shell/page.tsx'
import { useRead } from '../../shell/read.ts'
import { Failure, Region } from '../../shell/region.tsx'
import { lately, moment } from '../../shell/time.ts'
import { say } from '../../shell/words.ts'
import { EndSessionDocument, PersonDocument, type PersonFormFragment, RenamePersonDocument, type SessionLineFragment } from './person.generated.ts'

/** The person's own account: their name, and where they are signed in. */
export default function Person() {
  const { data, state, problem, retry } = useRead(PersonDocument, {})
  const person = data?.viewer?.user
  return (
    <Page title={say('settings.title')}>
      <Region title={say('settings.person')} state={state} problem={problem} retry={retry} lines={4}>
        {person && <PersonForm key={person.id} person={person} />}
      </Region>
      <Region title={say('settings.sessions')} state={state} problem={problem} retry={retry} lines={3}>
        <ul className="list">{(data?.sessions ?? []).flatMap(each => (each ? [<SessionLine key={each.id} session={each} reload={retry} />] : []))}</ul>
      </Region>
    </Page>
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

function SessionLine({ session, reload }: { readonly session: SessionLineFragment; reload(): void }) {
  const [{ error, fetching }, end] = useMutation(EndSessionDocument)
  const problem = problemOf(error)
  const name = session.clientName ?? session.userAgent ?? say(`settings.session-${session.kind}`)
  async function finish() {
    const { data } = await end({ input: { id: session.id } })
    if (!data?.revokeSession) return
    toast({ sentence: say('settings.session-ended') })
    reload()
  }
  return (
    <li>
      <Icon of={Monitor} large />
      <div className="grow">
        <p className="clip">{name}</p>
        <p className="quiet small" title={moment(session.lastActiveAt)}>
          {[say(`settings.session-${session.kind}`), session.ipAddress, say('settings.session-active', { when: lately(session.lastActiveAt) })]
            .filter(Boolean)
            .join(' · ')}
        </p>
        {problem && <Failure sentence={problem.sentence} requestId={problem.requestId} />}
      </div>
      {session.current ? (
        <Status meaning="positive" icon={Monitor}>
          {say('settings.session-now')}
        </Status>
      ) : (
        <Button kind="quiet" icon={Trash2} isDisabled={fetching} onPress={() => void finish()} aria-label={say('settings.session-end-named', { name })}>
          {say('settings.session-end')}
        </Button>
      )}
    </li>
  )
}
