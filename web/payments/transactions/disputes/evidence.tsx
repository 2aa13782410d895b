import { FileText, Trash2 } from 'lucide-react'
import { useRef, useState } from 'react'
import { useMutation } from 'urql'
import { Button } from '../../../design/parts/button.tsx'
import { Field } from '../../../design/parts/field.tsx'
import { Icon } from '../../../design/parts/icon.tsx'
import { toast } from '../../../design/parts/toast.tsx'
import { useSession } from '../../../shell/context.ts'
import { useDraft, useOnce } from '../../../shell/data/draft.ts'
import { problemOf } from '../../../shell/data/problems.ts'
import { FormDialog } from '../../../shell/parts/ask.tsx'
import { say } from '../../../shell/words.ts'
import { type DisputeDetailsFragment, SubmitDisputeEvidenceDocument } from './disputes.generated.ts'
import { type KeptFile, keepFile, most, takes, typesOf } from './files.ts'

interface GiveProps {
  readonly dispute: DisputeDetailsFragment
  /** Reads the dispute anew. */
  again(): void
  onDone(): void
  onClose(): void
}

/** Gives the bank a text and files, once. What was written outlives a reload. */
export function GiveEvidence({ dispute, again, onDone, onClose }: GiveProps) {
  const idempotencyKey = useOnce()
  const session = useSession()
  const [{ error, fetching }, submit] = useMutation(SubmitDisputeEvidenceDocument)
  const [{ text, files }, setDraft, forget] = useDraft<{ readonly text: string; readonly files: readonly KeptFile[] }>('evidence', { text: '', files: [] })
  const [isTried, setTried] = useState(false)
  const [refused, setRefused] = useState<string | null>(null)
  const [sending, setSending] = useState<string | null>(null)
  const input = useRef<HTMLInputElement>(null)
  const problem = problemOf(error)
  const isNothing = text.trim() === '' && files.length === 0
  async function add(chosen: readonly File[]) {
    setRefused(null)
    let kept = files
    for (const file of chosen) {
      const wrong = kept.length >= most.files ? say('disputes.too-many') : !takes(file) ? say('disputes.wrong-file', { name: file.name }) : null
      if (wrong) return setRefused(wrong)
      setSending(file.name)
      const made = await keepFile(session, dispute.id, file)
      setSending(null)
      if (!made) return setRefused(say('disputes.not-kept', { name: file.name }))
      kept = [...kept, made]
      setDraft({ text, files: kept })
    }
  }
  async function act() {
    setTried(true)
    if (isNothing || sending) return
    const evidence = { ...(text.trim() && { text: text.trim() }), files: files.map(({ id }) => id) }
    const { data } = await submit({ input: { id: dispute.id, evidence, expectedVersion: dispute.version, idempotencyKey } })
    if (!data?.submitDisputeEvidence) return again()
    forget()
    toast({ sentence: say('disputes.sent') })
    onDone()
  }
  return (
    <FormDialog
      title={say('disputes.give')}
      verb={say('disputes.send')}
      isBusy={fetching || sending !== null}
      problem={problem}
      fields={['evidence.text', 'evidence']}
      onDo={() => void act()}
      onClose={onClose}
    >
      <p>{say('disputes.give-sentence')}</p>
      <Field
        label={say('disputes.text')}
        rows={8}
        value={text}
        onChange={value => setDraft({ text: value, files })}
        hint={say('disputes.text-hint')}
        wrong={problem?.field?.startsWith('evidence') ? problem.sentence : isTried && isNothing ? say('disputes.nothing-given') : null}
      />
      <div>
        <input
          ref={input}
          type="file"
          multiple
          hidden
          aria-label={say('disputes.files')}
          accept={typesOf.join(',')}
          onChange={({ target }) => {
            void add([...(target.files ?? [])])
            target.value = ''
          }}
        />
        <ul className="list">
          {files.map(({ id, name }) => (
            <li key={id} data-file={name}>
              <Icon of={FileText} />
              <span className="grow clip">{name}</span>
              <Button
                kind="quiet"
                icon={Trash2}
                name={say('action.of', { action: say('disputes.remove'), name })}
                onPress={() => setDraft({ text, files: files.filter(each => each.id !== id) })}
              />
            </li>
          ))}
        </ul>
        <p className="quiet small" role="status">
          {sending ? say('disputes.keeping', { name: sending }) : say('disputes.files-hint')}
        </p>
        {refused && <p className="small wrong">{refused}</p>}
        <Button isDisabled={sending !== null || files.length >= most.files} onPress={() => input.current?.click()}>
          {say('disputes.add-file')}
        </Button>
      </div>
    </FormDialog>
  )
}
