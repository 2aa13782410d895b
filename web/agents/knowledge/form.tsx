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
import {
  CreateKnowledgeSourceDocument,
  type KnowledgeDetailsFragment,
  type KnowledgeSourceKind,
  type KnowledgeVisibility,
  UpdateKnowledgeSourceDocument,
} from './knowledge.generated.ts'

/** Adds a text or a page, or changes what a source is called, who it is for and its language. @param source null adds one */
export function SourceForm({ source, reload, onClose }: { readonly source: KnowledgeDetailsFragment | null; reload?(): void; onClose(): void }) {
  const idempotencyKey = useOnce()
  const [created, create] = useMutation(CreateKnowledgeSourceDocument)
  const [updated, update] = useMutation(UpdateKnowledgeSourceDocument)
  const [kind, setKind] = useState<KnowledgeSourceKind>(source?.kind ?? 'TEXT')
  const [title, setTitle] = useState(source?.title ?? '')
  const [text, setText] = useState('')
  const [url, setUrl] = useState(source?.url ?? '')
  const [visibility, setVisibility] = useState<KnowledgeVisibility>(source?.visibility ?? 'ORGANIZATION')
  const [language, setLanguage] = useState(source?.language ?? '')
  const [isTried, setTried] = useState(false)
  const problem = problemOf(created.error ?? updated.error)
  const wrong = (field: string, value = '-') => (problem?.field === field ? problem.sentence : isTried && value.trim() === '' ? say('form.required') : null)
  async function save() {
    setTried(true)
    const fields = { title: title.trim(), visibility, language: language.trim() || null }
    if (fields.title === '') return
    if (source) {
      const { data } = await update({ input: { ...fields, url: url.trim() || null, id: source.id, expectedVersion: source.version } })
      if (data?.updateKnowledgeSource) onClose()
      return
    }
    if ((kind === 'TEXT' ? text : url).trim() === '') return
    const input = { ...fields, kind, ...(kind === 'TEXT' && { text }), ...(url.trim() && { url: url.trim() }), idempotencyKey }
    const { data } = await create({ input })
    if (!data?.createKnowledgeSource) return
    toast({ sentence: say('knowledge.made', { title: data.createKnowledgeSource.title }) })
    reload?.()
    goTo(`/knowledge/${data.createKnowledgeSource.id}`)
  }
  return (
    <FormDialog
      title={say(source ? 'knowledge.change' : 'knowledge.create')}
      verb={say(source ? 'action.save' : 'knowledge.create')}
      isBusy={created.fetching || updated.fetching}
      problem={problem}
      fields={['title', 'text', 'url', 'language']}
      onDo={() => void save()}
      onClose={onClose}
    >
      {!source && (
        <Select
          label={say('knowledge.kind')}
          choices={(['TEXT', 'URL'] as const).map(id => ({ id, name: say(`knowledge-kind.${id}`) }))}
          value={kind}
          onChange={id => setKind(id as KnowledgeSourceKind)}
        />
      )}
      <Field label={say('knowledge.name')} value={title} onChange={setTitle} wrong={wrong('title', title)} />
      {!source && kind === 'TEXT' && <Field label={say('knowledge.text')} rows={8} value={text} onChange={setText} wrong={wrong('text', text)} />}
      <Field
        label={say('knowledge.url')}
        type="url"
        value={url}
        onChange={setUrl}
        hint={say(kind === 'URL' ? 'knowledge.url-read' : 'knowledge.url-hint')}
        wrong={wrong('url', kind === 'URL' ? url : '-')}
      />
      <Select
        label={say('knowledge.for')}
        choices={(['ORGANIZATION', 'PUBLIC'] as const).map(id => ({ id, name: say(`knowledge-for.${id}`) }))}
        value={visibility}
        onChange={id => setVisibility(id as KnowledgeVisibility)}
      />
      <Field label={say('knowledge.language')} value={language} onChange={setLanguage} hint={say('knowledge.language-hint')} wrong={wrong('language')} />
    </FormDialog>
  )
}
