import { useState } from 'react'
import { useMutation } from 'urql'
import { Field } from '../../design/parts/field.tsx'
import { Select } from '../../design/parts/select.tsx'
import { toast } from '../../design/parts/toast.tsx'
import { goTo } from '../../shell/address.tsx'
import { useDraft, useOnce } from '../../shell/data/draft.ts'
import { problemOf } from '../../shell/data/problems.ts'
import { FormDialog } from '../../shell/parts/ask.tsx'
import { say } from '../../shell/words.ts'
import { AddSourceDocument, CreateProfileDocument, type ProfileSourceKind } from './profiles.generated.ts'

/** Makes a profile of a person, as a draft. */
export function CreateProfile({ onClose, reload }: { onClose(): void; reload(): void }) {
  const once = useOnce()
  const [{ error, fetching }, create] = useMutation(CreateProfileDocument)
  const [draft, setDraft, forget] = useDraft('profile', { displayName: '', tone: '' })
  const [isTried, setTried] = useState(false)
  const problem = problemOf(error)
  const { displayName, tone } = draft
  async function save() {
    setTried(true)
    if (displayName.trim() === '') return
    const input = { displayName: displayName.trim(), ...(tone.trim() && { writingStyle: { tone: tone.trim() } }), idempotencyKey: once }
    const { data } = await create({ input })
    if (!data?.createPersonProfile) return
    forget()
    toast({ sentence: say('profiles.made', { name: data.createPersonProfile.displayName }) })
    reload()
    goTo(`/profiles/${data.createPersonProfile.id}`)
  }
  return (
    <FormDialog
      title={say('profiles.create')}
      verb={say('profiles.create')}
      isBusy={fetching}
      problem={problem}
      fields={['displayName']}
      onDo={() => void save()}
      onClose={onClose}
    >
      <Field
        label={say('profiles.name')}
        value={displayName}
        onChange={text => setDraft({ ...draft, displayName: text })}
        wrong={problem?.field === 'displayName' ? problem.sentence : isTried && displayName.trim() === '' ? say('form.required') : null}
      />
      <Field label={say('profiles.tone')} value={tone} onChange={text => setDraft({ ...draft, tone: text })} hint={say('profiles.tone-hint')} />
    </FormDialog>
  )
}

const kinds: readonly ProfileSourceKind[] = ['DOCUMENT', 'TRANSCRIPT', 'POST', 'INTERVIEW', 'URL']

/** Adds what a person wrote or said: a text, or the address of a page. */
export function AddSource({ profileId, onClose, reload }: { readonly profileId: string; onClose(): void; reload(): void }) {
  const once = useOnce()
  const [{ error, fetching }, add] = useMutation(AddSourceDocument)
  const [draft, setDraft, forget] = useDraft('source', { kind: 'DOCUMENT' as ProfileSourceKind, title: '', text: '', url: '' })
  const [isTried, setTried] = useState(false)
  const problem = problemOf(error)
  const { kind, title, text, url } = draft
  const isPage = kind === 'URL'
  const wrong = (field: string, value: string) => (problem?.field === field ? problem.sentence : isTried && value.trim() === '' ? say('form.required') : null)
  async function save() {
    setTried(true)
    if (title.trim() === '' || (isPage ? url : text).trim() === '') return
    const input = { personProfileId: profileId, kind, title: title.trim(), ...(isPage ? { url: url.trim() } : { text }), idempotencyKey: once }
    const { data } = await add({ input })
    if (!data?.createProfileSource) return
    forget()
    toast({ sentence: say('profiles.source-added', { title: data.createProfileSource.title }) })
    reload()
    onClose()
  }
  return (
    <FormDialog
      title={say('profiles.add-source')}
      verb={say('profiles.add-source')}
      isBusy={fetching}
      problem={problem}
      fields={['title', 'text', 'url']}
      onDo={() => void save()}
      onClose={onClose}
    >
      <Select
        label={say('profiles.source-kind')}
        value={kind}
        onChange={id => setDraft({ ...draft, kind: id as ProfileSourceKind })}
        choices={kinds.map(id => ({ id, name: say(`kind.${id}`) }))}
      />
      <Field label={say('profiles.source-title')} value={title} onChange={value => setDraft({ ...draft, title: value })} wrong={wrong('title', title)} />
      {isPage ? (
        <Field label={say('profiles.source-url')} type="url" value={url} onChange={value => setDraft({ ...draft, url: value })} wrong={wrong('url', url)} />
      ) : (
        <Field label={say('profiles.source-text')} rows={8} value={text} onChange={value => setDraft({ ...draft, text: value })} wrong={wrong('text', text)} />
      )}
    </FormDialog>
  )
}
