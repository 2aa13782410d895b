import { useState } from 'react'
import { useMutation } from 'urql'
import { Field } from '../../design/parts/field.tsx'
import { goTo } from '../../shell/address.tsx'
import { useOnce } from '../../shell/data/draft.ts'
import { problemOf } from '../../shell/data/problems.ts'
import { FormDialog } from '../../shell/parts/ask.tsx'
import { say } from '../../shell/words.ts'
import { readJson } from '../runs/json.ts'
import { TestRunDocument, type WorkflowDetailsFragment } from './workflows.generated.ts'

/** Tries the draft without an effect: steps whose output is written here are not executed. */
export function TryDraft({ workflow: { id, draft }, onClose }: { readonly workflow: WorkflowDetailsFragment; onClose(): void }) {
  const idempotencyKey = useOnce()
  const [{ error, fetching }, test] = useMutation(TestRunDocument)
  const [input, setInput] = useState('')
  const [outputs, setOutputs] = useState<Readonly<Record<string, string>>>({})
  const [isTried, setTried] = useState(false)
  const problem = problemOf(error)
  const steps = draft?.steps ?? []
  const pinned = steps.filter(({ key }) => outputs[key] !== undefined)
  const wrong = (text: string, field: string): string | null => {
    if (isTried && !readJson(text)) return say('workflows.no-json')
    return problem?.field === field ? problem.sentence : null
  }
  async function act() {
    setTried(true)
    const given = readJson(input)
    const told = pinned.map(({ key }) => ({ stepKey: key, read: readJson(outputs[key]!) }))
    if (!given || told.some(({ read }) => !read)) return
    const { data } = await test({
      input: {
        workflowId: id,
        ...('value' in given && { input: given.value }),
        pinned: told.map(({ stepKey, read }) => ({ stepKey, output: read?.value ?? null })),
        idempotencyKey,
      },
    })
    if (data?.testRun) goTo(`/runs/${data.testRun.id}`)
  }
  const pin = (key: string, isPinned: boolean) => {
    const { [key]: former = '', ...others } = outputs
    setOutputs(isPinned ? { ...others, [key]: former } : others)
  }
  return (
    <FormDialog
      title={say('trial.title')}
      verb={say('trial.begin')}
      isBusy={fetching}
      problem={problem}
      fields={['input', ...pinned.map((_, at) => `pinned[${at}].output`)]}
      onDo={() => void act()}
      onClose={onClose}
    >
      <p>{say('trial.sentence')}</p>
      <Field label={say('runs.input')} rows={4} value={input} onChange={setInput} hint={say('runs.input-hint')} wrong={wrong(input, 'input')} />
      <fieldset>
        <legend>{say('trial.pinned')}</legend>
        <p className="quiet small">{say('trial.pinned-hint')}</p>
        <div className="choices">
          {steps.map(({ key, title }) => (
            <div key={key} className="stack">
              <label>
                <input type="checkbox" checked={outputs[key] !== undefined} onChange={({ target }) => pin(key, target.checked)} />
                {title || key}
              </label>
              {outputs[key] !== undefined && (
                <Field
                  label={say('trial.output-of', { name: title || key })}
                  rows={3}
                  value={outputs[key]}
                  onChange={text => setOutputs({ ...outputs, [key]: text })}
                  wrong={wrong(outputs[key], `pinned[${pinned.findIndex(each => each.key === key)}].output`)}
                />
              )}
            </div>
          ))}
        </div>
      </fieldset>
    </FormDialog>
  )
}
