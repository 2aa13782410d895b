import { useState } from 'react'
import { useMutation } from 'urql'
import { Field } from '../../design/parts/field.tsx'
import { toast } from '../../design/parts/toast.tsx'
import { goTo } from '../../shell/address.tsx'
import { useOnce } from '../../shell/data/draft.ts'
import { problemOf } from '../../shell/data/problems.ts'
import { FormDialog } from '../../shell/parts/ask.tsx'
import { say } from '../../shell/words.ts'
import { TriggerFields, triggerDraft, triggerInput } from './trigger.tsx'
import { CreateWorkflowDocument, UpdateWorkflowDocument, type WorkflowDetailsFragment } from './workflows.generated.ts'

/** Makes a workflow, or changes what it is called and what begins its runs. @param workflow null makes a new one */
export function WorkflowForm({ workflow, onClose }: { readonly workflow: WorkflowDetailsFragment | null; onClose(): void }) {
  const idempotencyKey = useOnce()
  const [created, create] = useMutation(CreateWorkflowDocument)
  const [updated, update] = useMutation(UpdateWorkflowDocument)
  const [name, setName] = useState(workflow?.name ?? '')
  const [description, setDescription] = useState(workflow?.description ?? '')
  const [trigger, setTrigger] = useState(() => triggerDraft(workflow?.trigger ?? null))
  const [isTried, setTried] = useState(false)
  const problem = problemOf(created.error ?? updated.error)
  const wrong = (field: string) => (problem?.field === field ? problem.sentence : null)
  async function save() {
    setTried(true)
    if (name.trim() === '') return
    const fields = { name: name.trim(), description: description.trim() || null, trigger: triggerInput(trigger) }
    if (workflow) {
      const { data } = await update({ input: { ...fields, id: workflow.id, expectedVersion: workflow.version } })
      if (data?.updateWorkflow) onClose()
      return
    }
    const { data } = await create({ input: { ...fields, steps: [], idempotencyKey } })
    if (!data?.createWorkflow) return
    toast({ sentence: say('workflows.made', { name: data.createWorkflow.name }) })
    goTo(`/workflows/${data.createWorkflow.id}`)
  }
  return (
    <FormDialog
      title={say(workflow ? 'workflows.change' : 'workflows.create')}
      verb={say(workflow ? 'action.save' : 'workflows.create')}
      isBusy={created.fetching || updated.fetching}
      problem={problem}
      fields={['name', 'description', 'trigger.cron', 'trigger.timeZone']}
      onDo={() => void save()}
      onClose={onClose}
    >
      <Field label={say('workflows.name')} value={name} onChange={setName} wrong={isTried && name.trim() === '' ? say('form.required') : wrong('name')} />
      <Field label={say('workflows.description')} rows={3} value={description} onChange={setDescription} wrong={wrong('description')} />
      <TriggerFields of={trigger} wrong={wrong} onChange={setTrigger} />
    </FormDialog>
  )
}
