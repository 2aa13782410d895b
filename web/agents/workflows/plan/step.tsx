import { Field } from '../../../design/parts/field.tsx'
import type { Choice } from '../../../design/parts/open-select.tsx'
import { Select } from '../../../design/parts/select.tsx'
import { useRead } from '../../../shell/read.ts'
import { say } from '../../../shell/words.ts'
import {
  type ActionRisk,
  type ApprovalDefault,
  type ApprovalVerdict,
  type ConditionOperator,
  type ItemFailure,
  WorkflowAgentsDocument,
  WorkflowNamesDocument,
  WorkflowToolsDocument,
} from '../workflows.generated.ts'
import type { StepDraft } from './draft.ts'

const risks: readonly ActionRisk[] = ['LOW', 'MEDIUM', 'HIGH']
const verdicts: readonly ApprovalVerdict[] = ['APPROVE', 'EDIT', 'REJECT', 'RESPOND']
const operators: readonly ConditionOperator[] = ['EQUALS', 'NOT_EQUALS', 'CONTAINS', 'GREATER', 'LESS', 'EXISTS']

/** How a template names what is known. */
const templateHint = () => say('workflows.template-hint', { input: '{{input.amount}}', output: '{{steps.key.output}}' })

interface FormProps {
  readonly step: StepDraft
  /** What is wrong at a field, by its name in the graph; null for nothing. */
  wrong(field: string): string | null
  onChange(step: StepDraft): void
}

/** The form of one step. @param later steps that it may lead to */
export function StepForm({ step, wrong, onChange, later }: FormProps & { readonly later: readonly StepDraft[] }) {
  const set = (changes: Partial<StepDraft>) => onChange({ ...step, ...changes })
  const leads: readonly Choice[] = [
    { id: '', name: say('workflows.following') },
    ...later.map(({ key, title }) => ({ id: key, name: title || key })),
    { id: 'end', name: say('workflows.end') },
  ]
  const otherwise = [{ id: '', name: say(step.kind === 'BRANCH' ? 'workflows.then-end' : 'workflows.then-fail') }, ...leads.slice(1)]
  return (
    <div className="form">
      <Field label={say('workflows.key')} value={step.key} onChange={key => set({ key })} hint={say('workflows.key-hint')} wrong={wrong('key')} />
      <Field label={say('workflows.step-title')} value={step.title} onChange={title => set({ title })} wrong={wrong('title')} />
      {step.kind === 'TOOL' && <CalledTool step={step} wrong={wrong} onChange={onChange} />}
      {step.kind === 'APPROVAL' && <Gate step={step} wrong={wrong} onChange={onChange} />}
      {step.kind === 'BRANCH' && (
        <>
          <Field label={say('workflows.left')} value={step.left} onChange={left => set({ left })} hint={templateHint()} wrong={wrong('condition.left')} />
          <Select
            label={say('workflows.operator')}
            choices={operators.map(id => ({ id, name: say(`operator.${id}`) }))}
            value={step.operator}
            onChange={id => set({ operator: id as ConditionOperator })}
          />
          {step.operator !== 'EXISTS' && (
            <Field label={say('workflows.right')} value={step.right} onChange={right => set({ right })} wrong={wrong('condition.right')} />
          )}
        </>
      )}
      {step.kind === 'DELAY' && (
        <Field
          label={say('workflows.seconds')}
          inputMode="numeric"
          value={step.seconds}
          onChange={seconds => set({ seconds })}
          hint={say('workflows.seconds-hint')}
          wrong={wrong('seconds')}
        />
      )}
      {step.kind === 'MODEL' && <Asked step={step} wrong={wrong} onChange={onChange} />}
      {(step.kind === 'REPORT' || step.kind === 'TASK') && (
        <Field
          label={say(step.kind === 'TASK' ? 'workflows.task-text' : 'workflows.text')}
          rows={6}
          value={step.text}
          onChange={text => set({ text })}
          hint={templateHint()}
          wrong={wrong('text')}
        />
      )}
      {step.kind === 'MAP' && <Items step={step} wrong={wrong} onChange={onChange} />}
      {(step.kind === 'RUN' || step.kind === 'MAP') && <OtherWorkflow step={step} wrong={wrong} onChange={onChange} />}
      {(['APPROVAL', 'RUN', 'MAP', 'TOOL'] as const).some(kind => kind === step.kind) && (
        <Field
          label={say('workflows.arguments')}
          rows={5}
          value={step.arguments}
          onChange={text => set({ arguments: text })}
          hint={say(step.kind === 'MAP' ? 'workflows.item-arguments-hint' : 'workflows.arguments-hint', {
            item: `{{${step.itemName || 'item'}}}`,
            index: '{{index}}',
          })}
          wrong={wrong('arguments')}
        />
      )}
      <Select label={say('workflows.next')} choices={leads} value={leadOf(leads, step.next)} onChange={next => set({ next })} />
      {wrong('next') && <p className="wrong small">{wrong('next')}</p>}
      {(step.kind === 'APPROVAL' || step.kind === 'BRANCH') && (
        <>
          <Select
            label={say(step.kind === 'BRANCH' ? 'workflows.if-false' : 'workflows.if-rejected')}
            choices={otherwise}
            value={leadOf(otherwise, step.otherwise)}
            onChange={id => set({ otherwise: id })}
          />
          {wrong('otherwise') && <p className="wrong small">{wrong('otherwise')}</p>}
        </>
      )}
    </div>
  )
}

/** A key that leads nowhere any more counts as none. */
const leadOf = (choices: readonly Choice[], key: string) => (choices.some(({ id }) => id === key) ? key : '')

function Gate({ step, wrong, onChange }: FormProps) {
  const set = (changes: Partial<StepDraft>) => onChange({ ...step, ...changes })
  return (
    <>
      <Field
        label={say('workflows.gate-title')}
        value={step.gateTitle}
        onChange={gateTitle => set({ gateTitle })}
        wrong={wrong('gate.title') ?? wrong('gate')}
      />
      <Field
        label={say('workflows.gate-description')}
        rows={3}
        value={step.gateDescription}
        onChange={gateDescription => set({ gateDescription })}
        wrong={wrong('gate.description')}
      />
      <Select
        label={say('approvals.risk')}
        choices={risks.map(id => ({ id, name: say(`risk.${id}`) }))}
        value={step.risk}
        onChange={id => set({ risk: id as ActionRisk })}
      />
      <fieldset>
        <legend>{say('workflows.allowed')}</legend>
        <div className="toggles">
          {verdicts.map(each => (
            <label key={each}>
              <input
                type="checkbox"
                checked={step.allowed.includes(each)}
                onChange={({ target }) => set({ allowed: verdicts.filter(other => (other === each ? target.checked : step.allowed.includes(other))) })}
              />
              {say(`verdict.${each}`)}
            </label>
          ))}
        </div>
        {wrong('gate.allowed') && <p className="wrong small">{wrong('gate.allowed')}</p>}
      </fieldset>
      <Field
        label={say('workflows.expires')}
        inputMode="numeric"
        value={step.expiresInSeconds}
        onChange={expiresInSeconds => set({ expiresInSeconds })}
        hint={say('workflows.expires-hint')}
        wrong={wrong('gate.expiresInSeconds')}
      />
      <Select
        label={say('workflows.on-expiry')}
        choices={(['REJECT', 'APPROVE'] as const).map(id => ({ id, name: say(`on-expiry.${id}`) }))}
        value={step.onExpiry}
        onChange={id => set({ onExpiry: id as ApprovalDefault })}
      />
      <Field
        label={say('workflows.escalate')}
        inputMode="numeric"
        value={step.escalateAfterSeconds}
        onChange={escalateAfterSeconds => set({ escalateAfterSeconds })}
        hint={say('workflows.escalate-hint')}
        wrong={wrong('gate.escalateAfterSeconds')}
      />
      <Field
        label={say('workflows.required')}
        inputMode="numeric"
        value={step.required}
        onChange={required => set({ required })}
        hint={say('workflows.required-hint')}
        wrong={wrong('gate.required')}
      />
    </>
  )
}

/** Which tool is called, for which other organization, and whether a person is asked before. */
function CalledTool({ step, wrong, onChange }: FormProps) {
  const set = (changes: Partial<StepDraft>) => onChange({ ...step, ...changes })
  const { data } = useRead(WorkflowToolsDocument, {})
  const connectors = data?.connectors ?? []
  const tools = connectors.find(({ id }) => id === step.connectorId)?.tools ?? []
  const named = tools
    .filter(({ name, permission }) => permission !== 'DENY' || name === step.tool)
    .map(({ name, title }) => ({ id: name, name: title ?? name }))
  return (
    <>
      <Select
        label={say('connectors.one')}
        choices={[{ id: '', name: say('workflows.none') }, ...connectors]}
        value={step.connectorId}
        onChange={connectorId => set({ connectorId, tool: '' })}
      />
      {wrong('connectorId') && <p className="wrong small">{wrong('connectorId')}</p>}
      <Select label={say('operate.tool')} choices={[{ id: '', name: say('workflows.none') }, ...named]} value={step.tool} onChange={tool => set({ tool })} />
      {wrong('tool') && <p className="wrong small">{wrong('tool')}</p>}
      <Field
        label={say('workflows.gate-title')}
        value={step.gateTitle}
        onChange={gateTitle => set({ gateTitle })}
        hint={say('workflows.gate-optional')}
        wrong={wrong('gate.title')}
      />
      <Field
        label={say('connectors.counterparty')}
        value={step.counterparty}
        onChange={counterparty => set({ counterparty })}
        hint={say('workflows.counterparty-hint')}
        wrong={wrong('counterparty')}
      />
      {step.counterparty !== '' && (
        <Field label={say('operate.purpose')} value={step.purpose} onChange={purpose => set({ purpose })} wrong={wrong('purpose')} />
      )}
    </>
  )
}

/** Which agent answers, and what it is asked. */
function Asked({ step, wrong, onChange }: FormProps) {
  const { data } = useRead(WorkflowAgentsDocument, {})
  const known = (data?.agents?.nodes ?? [])
    .filter(each => each !== null && (each.status !== 'ARCHIVED' || each.id === step.agentId))
    .filter(each => each !== null)
  const choices = [{ id: '', name: say('workflows.none') }, ...known]
  return (
    <>
      <Select label={say('workflows.agent')} choices={choices} value={step.agentId} onChange={agentId => onChange({ ...step, agentId })} />
      {wrong('agentId') && <p className="wrong small">{wrong('agentId')}</p>}
      <Field
        label={say('workflows.prompt')}
        rows={6}
        value={step.prompt}
        onChange={prompt => onChange({ ...step, prompt })}
        hint={templateHint()}
        wrong={wrong('prompt')}
      />
    </>
  )
}

/** The list whose items are run one by one, and how. */
function Items({ step, wrong, onChange }: FormProps) {
  const set = (changes: Partial<StepDraft>) => onChange({ ...step, ...changes })
  return (
    <>
      <Field label={say('workflows.list')} value={step.list} onChange={list => set({ list })} hint={templateHint()} wrong={wrong('list')} />
      <Field
        label={say('workflows.item-name')}
        value={step.itemName}
        onChange={itemName => set({ itemName })}
        hint={say('workflows.item-name-hint')}
        wrong={wrong('itemName')}
      />
      <Field
        label={say('workflows.concurrency')}
        inputMode="numeric"
        value={step.concurrency}
        onChange={concurrency => set({ concurrency })}
        hint={say('workflows.concurrency-hint')}
        wrong={wrong('concurrency')}
      />
      <Select
        label={say('workflows.on-item-failure')}
        choices={(['STOP', 'SKIP'] as const).map(id => ({ id, name: say(`item-failure.${id}`) }))}
        value={step.onItemFailure}
        onChange={id => set({ onItemFailure: id as ItemFailure })}
      />
    </>
  )
}

function OtherWorkflow({ step, wrong, onChange }: FormProps) {
  const { data } = useRead(WorkflowNamesDocument, {})
  const known = (data?.workflows?.nodes ?? []).filter(each => each !== null)
  const choices = [
    { id: '', name: say('workflows.none') },
    ...known,
    ...(step.workflowId && data && !known.some(({ id }) => id === step.workflowId) ? [{ id: step.workflowId, name: step.workflowId }] : []),
  ]
  return (
    <>
      <Select label={say('workflows.other')} choices={choices} value={step.workflowId} onChange={workflowId => onChange({ ...step, workflowId })} />
      {wrong('workflowId') && <p className="wrong small">{wrong('workflowId')}</p>}
    </>
  )
}
