import { useState } from 'react'
import { useMutation } from 'urql'
import { Field } from '../../design/parts/field.tsx'
import { Select } from '../../design/parts/select.tsx'
import { toast } from '../../design/parts/toast.tsx'
import { goTo } from '../../shell/address.tsx'
import { useOnce } from '../../shell/data/draft.ts'
import { problemOf } from '../../shell/data/problems.ts'
import { useRights } from '../../shell/frame/rights.ts'
import { FormDialog } from '../../shell/parts/ask.tsx'
import { microsOf } from '../../shell/parts/money.ts'
import { useRead } from '../../shell/read.ts'
import { say } from '../../shell/words.ts'
import { AgentChoicesDocument, type AgentDetailsFragment, AgentProfilesDocument, CreateAgentDocument, UpdateAgentDocument } from './agents.generated.ts'

/** Writes an agent, or changes one. @param agent null writes a new one */
export function AgentForm({ agent, reload, onClose }: { readonly agent: AgentDetailsFragment | null; reload?(): void; onClose(): void }) {
  const idempotencyKey = useOnce()
  const { may } = useRights()
  const mayRead = may('agents:knowledge.read')
  const { data: profiles } = useRead(AgentProfilesDocument, {})
  const { data: choices } = useRead(AgentChoicesDocument, {}, { pause: !mayRead })
  const [created, create] = useMutation(CreateAgentDocument)
  const [updated, update] = useMutation(UpdateAgentDocument)
  const [name, setName] = useState(agent?.name ?? '')
  const [description, setDescription] = useState(agent?.description ?? '')
  const [instructions, setInstructions] = useState(agent?.instructions ?? '')
  const [model, setModel] = useState(agent ? (agent.model ?? '') : 'default')
  const [personProfileId, setProfile] = useState(agent?.personProfile?.id ?? '')
  const [limit, setLimit] = useState(agent?.monthlyLimitMicros ? String(Number(agent.monthlyLimitMicros) / 1_000_000) : '')
  const [sourceIds, setSources] = useState<readonly string[]>((agent?.knowledgeSources ?? []).flatMap(each => (each ? [each.id] : [])))
  const [isTried, setTried] = useState(false)
  const problem = problemOf(created.error ?? updated.error)
  const wrong = (field: string) => (problem?.field === field ? problem.sentence : null)
  const micros = limit.trim() === '' ? null : microsOf(limit)
  const isWrongLimit = limit.trim() !== '' && micros === null
  const offered = (profiles?.personProfiles?.nodes ?? []).flatMap(each => (each ? [{ id: each.id, name: each.displayName }] : []))
  // What is chosen and not among the newest hundred stays chosen.
  const sources = new Map(
    [...(agent?.knowledgeSources ?? []), ...(choices?.knowledgeSources?.nodes ?? [])].flatMap(each => (each ? [[each.id, each.title]] : [])),
  )
  async function save() {
    setTried(true)
    if (name.trim() === '' || isWrongLimit) return
    const fields = {
      ...{ name: name.trim(), description: description.trim() || null, instructions: instructions.trim(), model: model.trim() || null },
      ...{ personProfileId: personProfileId || null, monthlyLimitMicros: micros },
      ...(mayRead && { knowledgeSourceIds: sourceIds }),
    }
    if (agent) {
      const { data } = await update({ input: { ...fields, id: agent.id, expectedVersion: agent.version } })
      if (data?.updateAgent) onClose()
      return
    }
    const { data } = await create({ input: { ...fields, idempotencyKey } })
    if (!data?.createAgent) return
    toast({ sentence: say('agents.made', { name: data.createAgent.name }) })
    reload?.()
    goTo(`/agents/${data.createAgent.id}`)
  }
  return (
    <FormDialog
      title={say(agent ? 'agents.change' : 'agents.create')}
      verb={say(agent ? 'action.save' : 'agents.create')}
      isBusy={created.fetching || updated.fetching}
      problem={problem}
      fields={['name', 'description', 'instructions', 'model', 'monthlyLimitMicros', 'personProfileId', 'knowledgeSourceIds']}
      onDo={() => void save()}
      onClose={onClose}
    >
      <Field label={say('agents.name')} value={name} onChange={setName} wrong={isTried && name.trim() === '' ? say('form.required') : wrong('name')} />
      <Field label={say('agents.description')} value={description} onChange={setDescription} wrong={wrong('description')} />
      <Field
        label={say('agents.instructions')}
        rows={6}
        value={instructions}
        onChange={setInstructions}
        hint={say('agents.instructions-hint')}
        wrong={wrong('instructions')}
      />
      <Field label={say('agents.model')} value={model} onChange={setModel} hint={say('agents.model-hint')} wrong={wrong('model')} />
      <Select label={say('agents.profile')} choices={[{ id: '', name: say('agents.no-profile') }, ...offered]} value={personProfileId} onChange={setProfile} />
      {mayRead && sources.size > 0 && (
        <fieldset>
          <legend>{say('agents.sources')}</legend>
          <div className="choices">
            {[...sources].map(([id, title]) => (
              <label key={id}>
                <input
                  type="checkbox"
                  checked={sourceIds.includes(id)}
                  onChange={({ target }) => setSources(target.checked ? [...sourceIds, id] : sourceIds.filter(each => each !== id))}
                />
                {title}
              </label>
            ))}
          </div>
          {wrong('knowledgeSourceIds') && <p className="wrong small">{wrong('knowledgeSourceIds')}</p>}
        </fieldset>
      )}
      {wrong('personProfileId') && <p className="wrong small">{wrong('personProfileId')}</p>}
      <Field
        label={say('agents.limit')}
        inputMode="decimal"
        value={limit}
        onChange={setLimit}
        hint={say('agents.limit-hint')}
        wrong={isTried && isWrongLimit ? say('agents.no-amount') : wrong('monthlyLimitMicros')}
      />
    </FormDialog>
  )
}
