import type { ToolCallRow } from '../../stores/run/step.ts'
import type { Gate, Json, PlanStep } from '../../stores/workflow.ts'

/** The key that ends a plan. */
export const endKey = 'end'

/** What a plan, a run and a step may have at most. Times in seconds. */
export const limits = {
  steps: 50,
  depth: 5,
  runningOfOrganization: 100,
  jsonBytes: 65_536,
  keyLength: 60,
  title: 200,
  text: 10_000,
  list: { items: 500, atOnce: { least: 1, most: 20, usual: 5 } },
  timeout: { least: 1, most: 600, usual: 60 },
  retries: { most: 5, usual: 2 },
  delay: { least: 1, most: 30 * 86_400 },
  approval: { least: 2, most: 30 * 86_400, usual: 72 * 3_600, approvers: 20, deciders: 5, decisions: 50 },
  policy: { least: 2, most: 7 * 86_400, usual: 24 * 3_600 },
  /** What a model may call: so often for one answer, so many tools at once, how many calls of one answer are read at all, and the bytes of what it sends them. */
  tools: { rounds: 8, atOnce: 8, read: 32, argumentBytes: 16_384 },
  runDays: 30,
} as const

/** The gate of a tool that is to be asked for, where the plan has none. */
export const usualGate = ({ title, tool }: Pick<PlanStep, 'title' | 'tool'>, risk: Gate['risk']): Gate => ({
  title: title ?? `May ${tool} be called?`,
  description: null,
  risk,
  allowed: ['APPROVE', 'REJECT'],
  expiresInSeconds: limits.approval.usual,
  onExpiry: 'REJECT',
  escalateAfterSeconds: null,
})

/** The one step of the run in which a tool is called for a model. The arguments are the run's input, so that no text in them is taken for a template. */
export const stepOfCall = (
  { agentId, title, timeoutSeconds, retries }: PlanStep,
  { connectorId, tool, asks, risk }: Omit<ToolCallRow, 'arguments'>,
): PlanStep => ({
  ...{ key: 'action', kind: 'TOOL', title: null, next: null, otherwise: null, arguments: '{{input}}', connectorId, tool, counterparty: null },
  ...{ gate: asks ? usualGate({ title: null, tool }, risk) : null, purpose: title, policyTimeoutSeconds: null, timeoutSeconds, retries, agentId },
  ...{ prompt: null, seconds: null, condition: null, workflowId: null, text: null },
})

/** Whether a value fits into a field of JSON. */
export const fits = (value: Json): boolean => Buffer.byteLength(JSON.stringify(value)) <= limits.jsonBytes
