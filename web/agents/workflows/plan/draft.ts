import type {
  ActionRisk,
  ApprovalDefault,
  ApprovalVerdict,
  ConditionOperator,
  ItemFailure,
  PlanStepInput,
  StepKind,
  WorkflowStepFragment,
} from '../workflows.generated.ts'

/** Kinds of steps that the editor has a form for. */
export const kinds = ['TOOL', 'MODEL', 'APPROVAL', 'TASK', 'REPORT', 'BRANCH', 'DELAY', 'RUN', 'MAP'] as const satisfies readonly StepKind[]
export type FormKind = (typeof kinds)[number]

/** A step as it is being written: what is typed stays text until the draft is saved. */
export interface StepDraft {
  /** Of this page alone, so that a step keeps its place while its key changes. */
  readonly id: string
  readonly key: string
  readonly kind: FormKind
  readonly title: string
  readonly next: string
  readonly otherwise: string
  readonly timeoutSeconds: string
  readonly retries: string
  /** JSON whose texts may hold templates. */
  readonly arguments: string
  readonly gateTitle: string
  readonly gateDescription: string
  readonly risk: ActionRisk
  readonly allowed: readonly ApprovalVerdict[]
  readonly expiresInSeconds: string
  readonly onExpiry: ApprovalDefault
  readonly escalateAfterSeconds: string
  /** How many different people have to approve. */
  readonly required: string
  /** The people who alone may decide; the form keeps them. */
  readonly approvers: readonly string[] | null
  readonly seconds: string
  readonly left: string
  readonly operator: ConditionOperator
  readonly right: string
  readonly workflowId: string
  readonly list: string
  readonly itemName: string
  readonly concurrency: string
  readonly onItemFailure: ItemFailure
  readonly agentId: string
  readonly prompt: string
  readonly connectorId: string
  readonly tool: string
  readonly counterparty: string
  readonly purpose: string
  readonly policyTimeoutSeconds: string
  readonly text: string
}

const textOf = (value: unknown): string => (value === null || value === undefined ? '' : typeof value === 'string' ? value : JSON.stringify(value))
const numberOf = (value: number | null | undefined): string => (value === null || value === undefined ? '' : String(value))

const isForm = (kind: StepKind): kind is FormKind => (kinds as readonly StepKind[]).includes(kind)

/** The steps of a plan as the editor writes them; null for a plan with a step of a kind that it has no form for. */
export function draftsOf(steps: readonly WorkflowStepFragment[]): readonly StepDraft[] | null {
  const drafts = steps.map(draftOf)
  return drafts.every(each => each !== null) ? drafts : null
}

function draftOf({ kind, gate, condition, ...step }: WorkflowStepFragment): StepDraft | null {
  if (!isForm(kind)) return null
  return {
    ...{ id: crypto.randomUUID(), kind, key: step.key, title: step.title ?? '', next: step.next ?? '', otherwise: step.otherwise ?? '' },
    ...{ timeoutSeconds: numberOf(step.timeoutSeconds), retries: numberOf(step.retries), text: step.text ?? '', seconds: numberOf(step.seconds) },
    arguments: step.arguments === null || step.arguments === undefined ? '' : JSON.stringify(step.arguments, null, 2),
    ...{ gateTitle: gate?.title ?? '', gateDescription: gate?.description ?? '', risk: gate?.risk ?? 'LOW', allowed: gate?.allowed ?? ['APPROVE', 'REJECT'] },
    ...{ expiresInSeconds: numberOf(gate?.expiresInSeconds), onExpiry: gate?.onExpiry ?? 'REJECT', escalateAfterSeconds: numberOf(gate?.escalateAfterSeconds) },
    ...{ left: textOf(condition?.left), operator: condition?.operator ?? 'EQUALS', right: textOf(condition?.right), workflowId: step.workflowId ?? '' },
    ...{ required: numberOf(gate?.required), approvers: gate?.approvers ?? null, list: step.list ?? '', itemName: step.itemName ?? '' },
    ...{ concurrency: numberOf(step.concurrency), onItemFailure: step.onItemFailure ?? 'STOP', agentId: step.agentId ?? '', prompt: step.prompt ?? '' },
    ...{ connectorId: step.connectorId ?? '', tool: step.tool ?? '', counterparty: step.counterparty ?? '', purpose: step.purpose ?? '' },
    policyTimeoutSeconds: numberOf(step.policyTimeoutSeconds),
  }
}

/** A new step of a kind, with a key that the plan does not have yet. */
export function newStep(kind: FormKind, others: readonly StepDraft[]): StepDraft {
  const name = kind.toLowerCase()
  const taken = new Set(others.map(({ key }) => key))
  let key = name
  for (let at = 2; taken.has(key); at += 1) key = `${name}_${at}`
  return {
    ...{ id: crypto.randomUUID(), kind, key, title: '', next: '', otherwise: '', timeoutSeconds: '', retries: '', arguments: '', gateTitle: '' },
    ...{ gateDescription: '', risk: 'LOW', allowed: ['APPROVE', 'REJECT'], expiresInSeconds: '', onExpiry: 'REJECT', escalateAfterSeconds: '' },
    ...{ seconds: '', left: '', operator: 'EQUALS', right: '', workflowId: '', agentId: '', prompt: '', text: '' },
    ...{ required: '', approvers: null, list: '', itemName: '', concurrency: '', onItemFailure: 'STOP' },
    ...{ connectorId: '', tool: '', counterparty: '', purpose: '', policyTimeoutSeconds: '' },
  }
}

/** What somebody typed for a value: JSON where it is JSON, else the text itself, so that templates need no quotes. */
function typedValue(text: string): unknown {
  if (text.trim() === '') return null
  try {
    return JSON.parse(text) as unknown
  } catch {
    return text
  }
}

/** What is wrong with a step before it is sent, by the names of the graph's fields: `arguments` that are no JSON, numbers that are none. */
export function wrongFields(step: StepDraft): ReadonlySet<string> {
  const wrong = new Set<string>()
  if (step.arguments.trim() !== '' && typedValue(step.arguments) === step.arguments) wrong.add('arguments')
  const numbers = {
    policyTimeoutSeconds: step.policyTimeoutSeconds,
    timeoutSeconds: step.timeoutSeconds,
    retries: step.retries,
    ...gateNumbers(step),
    ...(step.kind === 'DELAY' && { seconds: step.seconds }),
    ...(step.kind === 'MAP' && { concurrency: step.concurrency }),
  }
  for (const [name, text] of Object.entries(numbers)) if (text.trim() !== '' && !/^\d{1,9}$/.test(text.trim())) wrong.add(name)
  if (step.kind === 'DELAY' && step.seconds.trim() === '') wrong.add('seconds')
  return wrong
}

const gateNumbers = ({ kind, expiresInSeconds, escalateAfterSeconds, required }: StepDraft): Record<string, string> =>
  kind === 'APPROVAL' || kind === 'TOOL'
    ? { 'gate.expiresInSeconds': expiresInSeconds, 'gate.escalateAfterSeconds': escalateAfterSeconds, 'gate.required': required }
    : {}

const whole = (text: string) => (text.trim() === '' ? null : Number(text))
const words = (text: string) => text.trim() || null

const gateOf = (step: StepDraft) => ({
  ...{ title: step.gateTitle.trim(), description: words(step.gateDescription), risk: step.risk, allowed: step.allowed, onExpiry: step.onExpiry },
  ...{ expiresInSeconds: whole(step.expiresInSeconds), escalateAfterSeconds: whole(step.escalateAfterSeconds) },
  ...{ required: whole(step.required), approvers: step.approvers },
})

/** A step as the graph takes it, with the fields of its kind alone. */
export function inputOf(step: StepDraft): PlanStepInput {
  const { kind, key } = step
  const shared = { key: key.trim(), kind, title: words(step.title), next: words(step.next), otherwise: words(step.otherwise) }
  const calls = { timeoutSeconds: whole(step.timeoutSeconds), retries: whole(step.retries) }
  if (kind === 'DELAY') return { ...shared, seconds: whole(step.seconds) }
  if (kind === 'TOOL') {
    const across = { counterparty: words(step.counterparty), purpose: words(step.purpose), policyTimeoutSeconds: whole(step.policyTimeoutSeconds) }
    const gate = step.gateTitle.trim() === '' ? null : gateOf(step)
    return { ...shared, ...calls, ...across, connectorId: step.connectorId || null, tool: step.tool || null, arguments: typedValue(step.arguments), gate }
  }
  if (kind === 'MODEL') return { ...shared, ...calls, agentId: step.agentId || null, prompt: step.prompt }
  if (kind === 'REPORT' || kind === 'TASK') return { ...shared, text: step.text }
  if (kind === 'BRANCH') return { ...shared, condition: { left: typedValue(step.left), operator: step.operator, right: typedValue(step.right) } }
  if (kind === 'RUN') return { ...shared, ...calls, workflowId: step.workflowId, arguments: typedValue(step.arguments) }
  if (kind === 'MAP') {
    const items = { list: step.list, itemName: words(step.itemName), concurrency: whole(step.concurrency), onItemFailure: step.onItemFailure }
    return { ...shared, ...calls, ...items, workflowId: step.workflowId || null, arguments: typedValue(step.arguments) }
  }
  return { ...shared, arguments: typedValue(step.arguments), gate: gateOf(step) }
}

/** A plan as a text, a step a paragraph, by which two plans are compared. */
export const planText = (steps: readonly WorkflowStepFragment[]): string =>
  steps
    .map(({ key, kind, ...rest }, at) => {
      const said = Object.entries(rest).filter(([name, value]) => name !== '__typename' && value !== null && value !== undefined)
      return [
        `${at + 1}. ${key} (${kind})`,
        ...said.map(([name, value]) => `   ${name}: ${typeof value === 'string' ? value : JSON.stringify(plain(value))}`),
      ].join('\n')
    })
    .join('\n')

/** A value of the graph without the names of its types. */
function plain(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(plain)
  if (value === null || typeof value !== 'object') return value
  return Object.fromEntries(Object.entries(value).flatMap(([name, each]) => (name === '__typename' || each === null ? [] : [[name, plain(each)]])))
}
