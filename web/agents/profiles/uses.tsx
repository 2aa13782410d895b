import { useState } from 'react'
import { useMutation } from 'urql'
import { Button } from '../../design/parts/button.tsx'
import { Field } from '../../design/parts/field.tsx'
import { problemOf } from '../../shell/data/problems.ts'
import { FormDialog } from '../../shell/parts/ask.tsx'
import { moment } from '../../shell/time.ts'
import { say } from '../../shell/words.ts'
import { PreviewProfileDocument, type PreviewProfileMutation, type ProfileDetailsFragment, UpdateProfileDocument } from './profiles.generated.ts'

/** What the profile may be used for, and a text in its voice to try that. */
export function Uses({ profile }: { readonly profile: ProfileDetailsFragment }) {
  const [asks, setAsks] = useState<'allow' | 'preview' | null>(null)
  const [{ fetching }, update] = useMutation(UpdateProfileDocument)
  const policies = profile.usagePolicies.map(({ product, purpose, allowed, expiresAt }) => ({
    product,
    purpose: purpose ?? null,
    allowed,
    expiresAt: expiresAt ?? null,
  }))
  return (
    <>
      <h3>{say('profiles.uses')}</h3>
      <ul className="list">
        {policies.map(({ product, purpose, allowed, expiresAt }, at) => (
          <li key={`${product} ${purpose}`}>
            <div className="grow">
              <p>{say(allowed ? 'profiles.may' : 'profiles.may-not', { product, purpose: purpose ?? say('profiles.whatever') })}</p>
              {expiresAt && <p className="quiet small">{say('profiles.until', { when: moment(expiresAt) })}</p>}
            </div>
            <Button
              name={say('action.of', { action: say('profiles.remove-use'), name: product })}
              isDisabled={fetching}
              onPress={() => void update({ input: { id: profile.id, usagePolicies: policies.toSpliced(at, 1), expectedVersion: profile.version } })}
            >
              {say('profiles.remove-use')}
            </Button>
          </li>
        ))}
        {policies.length === 0 && <li className="quiet">{say('profiles.no-use')}</li>}
      </ul>
      <div className="actions">
        <Button onPress={() => setAsks('allow')}>{say('profiles.allow')}</Button>
        <Button onPress={() => setAsks('preview')}>{say('profiles.preview')}</Button>
      </div>
      {asks === 'allow' && <Allow profile={profile} policies={policies} onClose={() => setAsks(null)} />}
      {asks === 'preview' && <Preview profile={profile} onClose={() => setAsks(null)} />}
    </>
  )
}

interface Policy {
  readonly product: string
  readonly purpose: string | null
  readonly allowed: boolean
  readonly expiresAt: string | null
}

function Allow({ profile, policies, onClose }: { readonly profile: ProfileDetailsFragment; readonly policies: readonly Policy[]; onClose(): void }) {
  const [{ error, fetching }, update] = useMutation(UpdateProfileDocument)
  const [product, setProduct] = useState('publishing')
  const [purpose, setPurpose] = useState('')
  const problem = problemOf(error)
  async function act() {
    if (product.trim() === '') return
    const added = { product: product.trim(), purpose: purpose.trim() || null, allowed: true, expiresAt: null }
    const { data } = await update({ input: { id: profile.id, usagePolicies: [...policies, added], expectedVersion: profile.version } })
    if (data?.updatePersonProfile) onClose()
  }
  return (
    <FormDialog title={say('profiles.allow')} verb={say('profiles.allow')} isBusy={fetching} problem={problem} onDo={() => void act()} onClose={onClose}>
      <Field label={say('profiles.product')} value={product} onChange={setProduct} hint={say('profiles.product-hint')} />
      <Field label={say('profiles.purpose')} value={purpose} onChange={setPurpose} hint={say('profiles.purpose-hint')} />
    </FormDialog>
  )
}

/** A text in the voice of the profile, with the sentences on which it rests. */
function Preview({ profile, onClose }: { readonly profile: ProfileDetailsFragment; onClose(): void }) {
  const [{ error, fetching }, preview] = useMutation(PreviewProfileDocument)
  const [brief, setBrief] = useState('')
  const [shown, setShown] = useState<PreviewProfileMutation['previewPersonProfile']>(null)
  const [isTried, setTried] = useState(false)
  const problem = problemOf(error)
  const refused = problem?.reason === 'AUTHORIZATION_MISSING' || problem?.reason === 'USAGE_NOT_ALLOWED' || problem?.reason === 'NO_SOURCES'
  const said = problem && refused ? { ...problem, sentence: say(`profiles.${problem.reason}`) } : problem
  async function act() {
    setTried(true)
    if (brief.trim() === '') return
    const { data } = await preview({ input: { id: profile.id, product: 'publishing', brief: brief.trim() } })
    setShown(data?.previewPersonProfile ?? null)
  }
  return (
    <FormDialog
      title={say('profiles.preview')}
      verb={say('profiles.write')}
      isBusy={fetching}
      problem={said}
      fields={['brief']}
      onDo={() => void act()}
      onClose={onClose}
    >
      <Field
        label={say('profiles.brief')}
        rows={3}
        value={brief}
        onChange={setBrief}
        hint={say('profiles.brief-hint')}
        wrong={problem?.field === 'brief' ? problem.sentence : isTried && brief.trim() === '' ? say('form.required') : null}
      />
      {shown && (
        <div data-preview={shown.mode}>
          <blockquote>
            <p className="text" dir="auto">
              {shown.text}
            </p>
          </blockquote>
          {shown.notice && <p className="quiet small">{shown.notice}</p>}
          <h3>{say('profiles.citations')}</h3>
          <ul className="list">
            {(shown.citations ?? []).map(({ source, start, quote }) => (
              <li key={`${source?.id} ${start}`}>
                <div className="grow">
                  <p dir="auto">{`“${quote}”`}</p>
                  <p className="quiet small">{say('profiles.cited-at', { title: source?.title ?? '–', at: start })}</p>
                </div>
              </li>
            ))}
          </ul>
        </div>
      )}
    </FormDialog>
  )
}
