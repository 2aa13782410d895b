import { useState } from 'react'
import { useMutation } from 'urql'
import { Button } from '../../design/parts/button.tsx'
import { Field } from '../../design/parts/field.tsx'
import { toast } from '../../design/parts/toast.tsx'
import { goTo } from '../../shell/address.tsx'
import { problemOf } from '../../shell/data/problems.ts'
import { FormDialog } from '../../shell/parts/ask.tsx'
import { Failure } from '../../shell/region.tsx'
import { say } from '../../shell/words.ts'
import { EraseProfileDocument, type ProfileDetailsFragment, UpdateProfileDocument } from './profiles.generated.ts'

interface ActionsProps {
  readonly profile: ProfileDetailsFragment
  /** The list's address. */
  readonly back: string
  /** Reads the list anew. */
  reload(): void
}

/** Puts a profile into use or out of it, and erases it for good. */
export function ProfileActions({ profile, back, reload }: ActionsProps) {
  const [asks, setAsks] = useState(false)
  const [{ error, fetching }, update] = useMutation(UpdateProfileDocument)
  const problem = problemOf(error)
  const status = profile.status === 'ACTIVE' ? 'ARCHIVED' : 'ACTIVE'
  return (
    <>
      <div className="actions">
        <Button
          kind={status === 'ACTIVE' ? 'primary' : 'secondary'}
          isDisabled={fetching}
          onPress={() => void update({ input: { id: profile.id, status, expectedVersion: profile.version } })}
        >
          {say(status === 'ACTIVE' ? 'profiles.activate' : 'profiles.archive')}
        </Button>
        <Button kind="danger" onPress={() => setAsks(true)}>
          {say('profiles.erase')}
        </Button>
      </div>
      {problem && <Failure sentence={problem.sentence} requestId={problem.requestId} />}
      {asks && <Erase profile={profile} back={back} reload={reload} onClose={() => setAsks(false)} />}
    </>
  )
}

/** Nobody erases a person's profile by a slip: its name is typed first. */
function Erase({ profile, back, reload, onClose }: ActionsProps & { onClose(): void }) {
  const [{ error, fetching }, erase] = useMutation(EraseProfileDocument)
  const [typed, setTyped] = useState('')
  const [isTried, setTried] = useState(false)
  async function act() {
    setTried(true)
    if (typed.trim() !== profile.displayName) return
    const { data } = await erase({ input: { id: profile.id, expectedVersion: profile.version } })
    if (!data?.erasePersonProfile) return
    toast({ sentence: say('profiles.erased') })
    reload()
    goTo(back, { replace: true })
  }
  return (
    <FormDialog
      title={say('profiles.erase')}
      verb={say('profiles.erase')}
      isBusy={fetching}
      problem={problemOf(error)}
      onDo={() => void act()}
      onClose={onClose}
    >
      <p>{say('profiles.erase-sentence', { name: profile.displayName })}</p>
      <Field
        label={say('profiles.erase-name', { name: profile.displayName })}
        value={typed}
        onChange={setTyped}
        wrong={isTried && typed.trim() !== profile.displayName ? say('profiles.erase-other') : null}
      />
    </FormDialog>
  )
}
