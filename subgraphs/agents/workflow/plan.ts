import { DomainError } from '../../../platform/errors.ts'
import { requireId } from '../../../platform/ids.ts'
import { isObject, isStorable } from '../engines/connect/json.ts'
import { endKey, fits, limits } from '../engines/run/plan.ts'
import { isPath, pathsOf, stepsNamedBy } from '../engines/run/template.ts'
import type { PlanStepInput, StepGateInput } from '../resolvers.generated.ts'
import type { Gate, Json, PlanStep, StepKind } from '../stores/workflow.ts'

const wrong = (field: string, message: string): DomainError => new DomainError('BAD_USER_INPUT', `${field}: ${message}`, { field })

/** What each kind needs, by the names of the input. */
const needs: Readonly<Record<StepKind, readonly (keyof PlanStepInput)[]>> = {
  APPROVAL: ['gate'],
  DELAY: ['seconds'],
  BRANCH: ['condition'],
  RUN: ['workflowId'],
  MAP: ['list', 'workflowId'],
  REPORT: ['text'],
  TOOL: ['connectorId', 'tool'],
  MODEL: ['agentId', 'prompt'],
  TASK: ['text'],
}

/**
 * Reads a plan of steps. What belongs to another kind is left out.
 * @throws BAD_USER_INPUT with the field, such as `steps[2].next`
 */
export function readPlan(given: readonly PlanStepInput[]): readonly PlanStep[] {
  if (given.length > limits.steps) throw wrong('steps', `a plan has at most ${limits.steps} steps, not ${given.length}`)
  const keys = given.map(({ key }) => key)
  return given.map((input, at) => {
    const field = `steps[${at}]`
    if (!/^[a-z][a-z0-9_]*$/.test(input.key) || input.key.length > limits.keyLength || input.key === endKey)
      throw wrong(`${field}.key`, `a key is a small letter, then at most ${limits.keyLength - 1} small letters, digits and underscores, and not ${endKey}`)
    if (keys.indexOf(input.key) !== at) throw wrong(`${field}.key`, `the key ${input.key} stands in the plan before`)
    const step = readStep(input, field)
    for (const name of ['next', 'otherwise'] as const) requireForward(step[name], at, keys, `${field}.${name}`)
    const { kind } = step
    const named: readonly [string, Json][] = [
      ['list', step.list ?? null],
      ['text', step.text],
      ['prompt', step.prompt],
      ['condition', step.condition && [step.condition.left, step.condition.right]],
    ]
    const earlier = keys.slice(0, at)
    for (const [name, value] of named) requireTemplates(value, earlier, `${field}.${name}`)
    requireTemplates(step.arguments, earlier, `${field}.arguments`, kind === 'MAP' ? [step.itemName!, 'index'] : [])
    return step
  })
}

function requireForward(key: string | null, at: number, keys: readonly string[], field: string): void {
  if (key === null || key === endKey || keys.indexOf(key) > at) return
  throw wrong(field, `${key} is not the key of a later step; write one, or ${endKey}`)
}

function requireTemplates(value: Json, earlier: readonly string[], field: string, names: readonly string[] = []): void {
  const bad = pathsOf(value).find(path => !isPath(path, names))
  if (bad !== undefined) throw wrong(field, `{{${bad}}} is no template: write {{input.a}} or {{steps.key.output.a}}`)
  const unknown = stepsNamedBy(value).find(key => !earlier.includes(key))
  if (unknown !== undefined) throw wrong(field, `${unknown} is not the key of an earlier step`)
}

function readStep(input: PlanStepInput, field: string): PlanStep {
  const { key, kind } = input
  const missing = needs[kind].find(name => input[name] === null || input[name] === undefined)
  if (missing) throw wrong(`${field}.${missing}`, `a step of kind ${kind} needs it`)
  const has = (...kinds: readonly StepKind[]) => kinds.includes(kind)
  const within = { least: 1, most: limits.text }
  return {
    ...{ key, kind, title: readWords(input.title, `${field}.title`, { least: 1, most: limits.title }) },
    ...{ next: input.next ?? null, otherwise: input.otherwise ?? null },
    timeoutSeconds: readWhole(input.timeoutSeconds ?? limits.timeout.usual, `${field}.timeoutSeconds`, limits.timeout),
    retries: readWhole(input.retries ?? limits.retries.usual, `${field}.retries`, { least: 0, ...limits.retries }),
    arguments: has('TOOL')
      ? readArguments(input.arguments, `${field}.arguments`)
      : has('APPROVAL', 'RUN', 'MAP')
        ? readJson(input.arguments, `${field}.arguments`)
        : null,
    seconds: has('DELAY') ? readWhole(input.seconds!, `${field}.seconds`, limits.delay) : null,
    condition: has('BRANCH') ? readCondition(input.condition!, `${field}.condition`) : null,
    workflowId: has('RUN', 'MAP') ? requireId(input.workflowId!, `${field}.workflowId`) : null,
    agentId: has('MODEL') ? requireId(input.agentId!, `${field}.agentId`) : null,
    prompt: has('MODEL') ? readWords(input.prompt, `${field}.prompt`, within) : null,
    text: has('REPORT', 'TASK') ? readWords(input.text, `${field}.text`, within) : null,
    ...(has('TOOL') ? readTool(input, `${field}.`) : noTool),
    ...(has('MAP') && readMap(input, field)),
    gate: has('APPROVAL', 'TOOL') && input.gate ? readGate(input.gate, kind, `${field}.gate`) : null,
  }
}

/** What a MAP needs beside the workflow and its arguments. */
function readMap(input: PlanStepInput, field: string): Pick<PlanStep, 'list' | 'itemName' | 'concurrency' | 'onItemFailure'> {
  const [list, itemName] = [input.list!.trim(), input.itemName ?? 'item']
  if (!/^\{\{[^{}]+\}\}$/.test(list) || list.length > limits.text) throw wrong(`${field}.list`, 'write one template that gives a list, such as {{input.list}}')
  if (!/^[a-zA-Z][a-zA-Z0-9_]*$/.test(itemName) || itemName.length > limits.keyLength || ['input', 'steps', 'index'].includes(itemName))
    throw wrong(`${field}.itemName`, `write a letter, then at most ${limits.keyLength - 1} letters, digits and underscores, and not input, steps or index`)
  const { atOnce } = limits.list
  const concurrency = readWhole(input.concurrency ?? atOnce.usual, `${field}.concurrency`, atOnce)
  return { list, itemName, concurrency, onItemFailure: input.onItemFailure ?? 'STOP' }
}

/** The arguments of a tool: an object, or one template that gives one. */
function readArguments(given: unknown, field: string): Json {
  const value = readJson(given ?? {}, field)
  if (typeof value === 'string' ? pathsOf(value).length === 1 : isObject(value)) return value
  throw wrong(field, 'the arguments of a tool are an object, or one template that gives one')
}

const noTool = { connectorId: null, tool: null, counterparty: null, purpose: null, policyTimeoutSeconds: null }

/**
 * Reads what a call of a tool needs. Whether the connector has the tool is decided by whoever knows it.
 * @param prefix how the input names the step, with a dot behind; empty where the input is the step
 * @throws BAD_USER_INPUT
 */
export function readTool(
  input: Pick<PlanStepInput, 'connectorId' | 'tool' | 'counterparty' | 'purpose' | 'policyTimeoutSeconds'>,
  prefix: string,
): Pick<PlanStep, keyof typeof noTool> {
  const seconds = input.policyTimeoutSeconds ?? limits.policy.usual
  return {
    connectorId: requireId(input.connectorId!, `${prefix}connectorId`),
    tool: readWords(input.tool, `${prefix}tool`, { least: 1, most: limits.title }),
    counterparty: readWords(input.counterparty, `${prefix}counterparty`, { least: 1, most: limits.title }),
    purpose: readWords(input.purpose, `${prefix}purpose`, { least: 0, most: limits.text }),
    policyTimeoutSeconds: readWhole(seconds, `${prefix}policyTimeoutSeconds`, limits.policy),
  }
}

/** Reads the gate of a step. @throws BAD_USER_INPUT */
export function readGate(given: StepGateInput, kind: StepKind, field: string): Gate {
  const allowed = given.allowed ?? (['APPROVE', 'REJECT'] as const)
  if (allowed.length === 0) throw wrong(`${field}.allowed`, 'name at least one answer')
  if (allowed.includes('RESPOND') && kind !== 'APPROVAL') throw wrong(`${field}.allowed`, 'RESPOND is for questions: steps of kind APPROVAL')
  const { escalateAfterSeconds } = given
  const approvers = given.approvers ? readApprovers(given.approvers, `${field}.approvers`) : null
  const most = Math.min(limits.approval.deciders, approvers?.length ?? limits.approval.deciders)
  const required = readWhole(given.required ?? 1, `${field}.required`, { least: 1, most })
  if (required > 1 && allowed.includes('RESPOND')) throw wrong(`${field}.allowed`, 'one person responds: leave RESPOND out, or required')
  return {
    title: readWords(given.title, `${field}.title`, { least: 1, most: limits.title })!,
    description: readWords(given.description, `${field}.description`, { least: 0, most: limits.text }),
    risk: given.risk ?? 'LOW',
    allowed: [...new Set(allowed)],
    expiresInSeconds: readWhole(given.expiresInSeconds ?? limits.approval.usual, `${field}.expiresInSeconds`, limits.approval),
    onExpiry: given.onExpiry ?? 'REJECT',
    ...{ approvers, required },
    escalateAfterSeconds:
      typeof escalateAfterSeconds === 'number' ? readWhole(escalateAfterSeconds, `${field}.escalateAfterSeconds`, { ...limits.approval, least: 1 }) : null,
  }
}

/** Reads who decides. That they are members is for the caller to see. */
function readApprovers(given: readonly string[], field: string): readonly string[] {
  const ids = given.map((id, at) => requireId(id, `${field}[${at}]`))
  if (ids.length < 1 || ids.length > limits.approval.approvers) throw wrong(field, `name 1 to ${limits.approval.approvers} members`)
  if (new Set(ids).size < ids.length) throw wrong(field, 'name each member once')
  return ids
}

function readCondition({ left, operator, right }: NonNullable<PlanStepInput['condition']>, field: string): PlanStep['condition'] {
  return { left: readJson(left, `${field}.left`), operator, right: readJson(right, `${field}.right`) }
}

function readWhole(value: number, field: string, { least, most }: { readonly least: number; readonly most: number }): number {
  if (value < least || value > most) throw wrong(field, `${value} is not between ${least} and ${most}`)
  return value
}

function readWords(given: string | null | undefined, field: string, { least, most }: { readonly least: number; readonly most: number }): string | null {
  if (given === null || given === undefined) return null
  if (given.includes('\0') || !given.isWellFormed()) throw wrong(field, 'remove NUL and halves of characters')
  if (given.trim().length < least || given.length > most) throw wrong(field, `it has ${given.length} characters, and takes ${least} to ${most}`)
  return given
}

/** Reads a value of JSON. @throws BAD_USER_INPUT for one of more than 64 KB, and for texts that no database holds */
export function readJson(given: unknown, field: string): Json {
  const value = (given ?? null) as Json
  if (!fits(value)) throw wrong(field, `it takes at most ${limits.jsonBytes} bytes of JSON`)
  const text = JSON.stringify(value)
  if (!isStorable(text)) throw wrong(field, 'remove NUL and halves of characters')
  return value
}
