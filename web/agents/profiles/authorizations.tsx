import { useState } from 'react'
import { useMutation } from 'urql'
import { Button } from '../../design/parts/button.tsx'
import { Field } from '../../design/parts/field.tsx'
import { Select } from '../../design/parts/select.tsx'
import { toast } from '../../design/parts/toast.tsx'
import { useOnce } from '../../shell/data/draft.ts'
import { problemOf } from '../../shell/data/problems.ts'
import { Confirm, FormDialog } from '../../shell/parts/ask.tsx'
import { moment } from '../../shell/time.ts'
import { say } from '../../shell/words.ts'
import {
  AddProfileAuthorizationDocument,
  type ProfileAuthorizationKind,
  type ProfileDetailsFragment,
  RevokeProfileAuthorizationDocument,
} from './profiles.generated.ts'

type Authorization = ProfileDetailsFragment['authorizations'][number]

/** The evidence that the profile may be used at all. It is added and withdrawn by whoever sees the profile. */
export function Authorizations({ profile }: { readonly profile: ProfileDetailsFragment }) {
  const [asks, setAsks] = useState<Authorization | 'add' | null>(null)
  return (
    <>
      <h3>{say('profiles.authorizations')}</h3>
      <ul className="list">
        {profile.authorizations.map(authorization => {
          const { id, kind, reference, grantedBy, expiresAt, revokedAt } = authorization
          return (
            <li key={id} data-authorization={id}>
              <div className="grow">
                <p className="clip">{[say(`authorization.${kind}`), reference, grantedBy].filter(Boolean).join(' · ')}</p>
                <p className="quiet small">
                  {revokedAt
                    ? say('profiles.revoked', { when: moment(revokedAt) })
                    : expiresAt
                      ? say('profiles.until', { when: moment(expiresAt) })
                      : say('profiles.unlimited')}
                </p>
              </div>
              {!revokedAt && (
                <Button name={say('action.of', { action: say('profiles.revoke'), name: reference })} onPress={() => setAsks(authorization)}>
                  {say('profiles.revoke')}
                </Button>
              )}
            </li>
          )
        })}
        {profile.authorizations.length === 0 && <li className="quiet">{say('profiles.no-authorization')}</li>}
      </ul>
      <div className="actions">
        <Button onPress={() => setAsks('add')}>{say('profiles.authorize')}</Button>
      </div>
      {asks === 'add' && <Add profile={profile} onClose={() => setAsks(null)} />}
      {asks !== null && asks !== 'add' && <Revoke profile={profile} authorization={asks} onClose={() => setAsks(null)} />}
    </>
  )
}

const kinds: readonly ProfileAuthorizationKind[] = ['CONSENT', 'CONTRACT', 'EMPLOYMENT', 'OTHER']

function Add({ profile, onClose }: { readonly profile: ProfileDetailsFragment; onClose(): void }) {
  const idempotencyKey = useOnce()
  const [{ error, fetching }, add] = useMutation(AddProfileAuthorizationDocument)
  const [kind, setKind] = useState<ProfileAuthorizationKind>('CONSENT')
  const [reference, setReference] = useState('')
  const [grantedBy, setGrantedBy] = useState('')
  const [until, setUntil] = useState('')
  const [isTried, setTried] = useState(false)
  const problem = problemOf(error)
  async function act() {
    setTried(true)
    if (reference.trim() === '') return
    const input = {
      ...{ personProfileId: profile.id, kind, reference: reference.trim(), idempotencyKey },
      ...(grantedBy.trim() && { grantedBy: grantedBy.trim() }),
      ...(until && { expiresAt: new Date(until).toISOString() }),
    }
    const { data } = await add({ input })
    if (!data?.addProfileAuthorization) return
    toast({ sentence: say('profiles.authorized') })
    onClose()
  }
  const wrong = (field: string) => (problem?.field === field ? problem.sentence : null)
  return (
    <FormDialog
      title={say('profiles.authorize')}
      verb={say('profiles.authorize')}
      isBusy={fetching}
      problem={problem}
      fields={['reference', 'grantedBy', 'expiresAt']}
      onDo={() => void act()}
      onClose={onClose}
    >
      <Select
        label={say('profiles.evidence-kind')}
        choices={kinds.map(id => ({ id, name: say(`authorization.${id}`) }))}
        value={kind}
        onChange={id => setKind(id as ProfileAuthorizationKind)}
      />
      <Field
        label={say('profiles.evidence')}
        value={reference}
        onChange={setReference}
        hint={say('profiles.evidence-hint')}
        wrong={isTried && reference.trim() === '' ? say('form.required') : wrong('reference')}
      />
      <Field label={say('profiles.granted-by')} value={grantedBy} onChange={setGrantedBy} wrong={wrong('grantedBy')} />
      <Field
        label={say('profiles.expires')}
        type="datetime-local"
        value={until}
        onChange={setUntil}
        hint={say('profiles.expires-hint')}
        wrong={wrong('expiresAt')}
      />
    </FormDialog>
  )
}

interface RevokeProps {
  readonly profile: ProfileDetailsFragment
  readonly authorization: Authorization
  onClose(): void
}

function Revoke({ profile, authorization, onClose }: RevokeProps) {
  const [{ error, fetching }, revoke] = useMutation(RevokeProfileAuthorizationDocument)
  async function act() {
    const { data } = await revoke({ input: { id: authorization.id, personProfileId: profile.id } })
    if (data?.revokeProfileAuthorization) onClose()
  }
  return (
    <Confirm
      title={say('profiles.revoke')}
      sentence={say('profiles.revoke-sentence', { reference: authorization.reference })}
      verb={say('profiles.revoke')}
      isBusy={fetching}
      problem={problemOf(error)}
      onConfirm={() => void act()}
      onClose={onClose}
    />
  )
}
