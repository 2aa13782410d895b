import type { Logger } from 'pino'
import type { Transaction } from 'sequelize'
import { personOf } from '../../../viewer.ts'
import { type agentStore, mayUse } from '../../stores/agent.ts'
import { type connectorStore, openHeaders } from '../../stores/connector.ts'
import type { policyRequestStore } from '../../stores/run/policy-request.ts'
import type { Json, PlanStep, planStore } from '../../stores/workflow.ts'
import type { CallEnd } from '../run/interpret.ts'
import { fits, limits } from '../run/plan.ts'
import type { ToolFacts } from '../run/state.ts'
import type { Calling } from '../run/work.ts'
import { callCatalogueTool } from './catalogue/call.ts'
import type { Connect } from './connect.ts'
import { isObject, storable } from './json.ts'
import { callMcpTool } from './mcp/client.ts'
import { withoutSecrets } from './outcome.ts'
import { callPlatformTool } from './platform/call.ts'

/** What tools are called with: everybody's rows. */
export interface ConnectWork {
  readonly agents: ReturnType<(typeof agentStore)['open']>
  readonly connectors: ReturnType<(typeof connectorStore)['open']>
  readonly connect: Connect
  readonly plans: ReturnType<(typeof planStore)['open']>
  readonly policyRequests: ReturnType<(typeof policyRequestStore)['open']>
  readonly log: Logger
}

/** A call of a tool. Whether it may be called is decided before. */
export interface ToolRequest {
  readonly organizationId: string
  readonly connectorId: string
  readonly tool: string
  readonly arguments: Json
  /** The same for every repetition of this call. */
  readonly idempotencyKey: string
  readonly timeoutMs: number
  /** Whose connector it may be: the counterparty whose allowance has arrived; null: ours alone. */
  readonly counterparty: string | null
  /** Within whose rights our own platform is called; null: within nobody's, so that it refuses. */
  readonly person: string | null
  readonly signal?: AbortSignal | undefined
}

const failed = (code: 'NOT_PERMITTED' | 'TOOL_ERROR', message: string): CallEnd => ({ failure: { hadNoEffect: true, isFinal: true, code, message } })

/** Calls a tool of an organization's connector once. It never rejects for what the other side does. */
export async function callTool(job: ConnectWork, request: ToolRequest): Promise<CallEnd> {
  const { organizationId, connectorId, tool, arguments: given, idempotencyKey, timeoutMs, signal } = request
  const connector = await job.connectors.byId.load(connectorId)
  if (connector?.organizationId !== organizationId || connector.status === 'DISABLED')
    return failed('NOT_PERMITTED', 'The connector of this step is not in use.')
  if (connector.counterparty !== null && connector.counterparty !== request.counterparty)
    return failed('NOT_PERMITTED', `The connector belongs to ${connector.counterparty}, whose allowance this call does not have.`)
  const values = given ?? {}
  if (!isObject(values)) return failed('TOOL_ERROR', 'The arguments of a tool are an object.')
  if (connector.kind === 'PLATFORM') {
    const { person } = request
    const end = await callPlatformTool(job.connect.ask, { organizationId, person, tool, arguments: values, idempotencyKey, timeoutMs })
    return ended(end)
  }
  if (connector.kind === 'MOBILE_APP_CATALOGUE') {
    const url = job.connect.developersUrl
    if (url === null) return failed('NOT_PERMITTED', 'No developer platform is configured.')
    return ended(await callCatalogueTool(job.connect, { url, connector, tool, arguments: values, timeoutMs }))
  }
  if (connector.baseUrl === null) return failed('NOT_PERMITTED', 'The connector of this step has no address.')
  const headers = await job.connect.headersFor(connector).catch(error => {
    job.log.warn({ err: error, connectorId }, 'headers of a connector could not be made')
    return null
  })
  if (!headers) return { failure: { hadNoEffect: true, code: 'UPSTREAM_FAILED', message: 'The call could not be prepared.' } }
  const server = { outbound: job.connect.way.outbound, url: connector.baseUrl, headers, timeoutMs, signal }
  const secrets = openHeaders(job.connect.cipher, connector).map(({ value }) => value)
  return ended(withoutSecrets(await callMcpTool(server, { tool, arguments: values, idempotencyKey }), secrets))
}

/** An answer that is too large cannot be kept, although the tool did what it was asked. */
function ended(end: CallEnd): CallEnd {
  if (end === 'interrupted' || !('answer' in end)) return end
  const answer = storable(end.answer)
  if (fits(answer)) return { answer }
  return { failure: { hadNoEffect: false, code: 'TOOL_ERROR', message: `The tool answered with more than ${limits.jsonBytes} bytes.` } }
}

/** Makes the call of a TOOL step, under the key of its attempt. */
export async function callToolOfStep(job: ConnectWork, { run, step, state }: Calling): Promise<CallEnd> {
  const request = state.policyId === null ? null : await job.policyRequests.byId.load(state.policyId)
  const counterparty = request?.decision === 'ALLOW' ? request.counterparty : null
  if (step.counterparty !== null && step.counterparty !== counterparty)
    return failed('NOT_PERMITTED', `The step belongs to ${step.counterparty}, whose allowance this call does not have.`)
  const agent = step.agentId && (await job.agents.byId.load(step.agentId))
  if (step.agentId && !(agent && mayUse(agent, step.connectorId!, step.tool!)))
    return failed('NOT_PERMITTED', `The agent of this step may not call ${step.tool}.`)
  const plan = run.startedById === null && !run.createdBy.startsWith('key:') ? await job.plans.byId.load(run.planId) : null
  return callTool(job, {
    ...{ organizationId: run.organizationId, connectorId: step.connectorId!, tool: step.tool!, arguments: state.input },
    idempotencyKey: `${run.id}:${step.key}:${state.attempt}`,
    timeoutMs: step.timeoutSeconds * 1_000,
    counterparty,
    // Of a run that no person began, whoever published its plan; a key has no person's rights.
    person: run.startedById ?? (plan && personOf(plan.createdBy)),
  })
}

/** Reads what is known of the tools that steps of an organization call: null for one that is not there, or not in use. */
export async function toolsOf(
  { connectors }: Pick<ConnectWork, 'connectors'>,
  steps: readonly PlanStep[],
  organizationId: string,
  transaction: Transaction,
): Promise<(step: PlanStep) => ToolFacts | null> {
  const calls = steps.flatMap(({ kind, connectorId, tool }) => (kind === 'TOOL' && connectorId !== null && tool !== null ? [{ connectorId, tool }] : []))
  if (calls.length === 0) return () => null
  const [ids, names] = [[...new Set(calls.map(({ connectorId }) => connectorId))], [...new Set(calls.map(({ tool }) => tool))]]
  const found = await connectors.callable(ids, names, organizationId, transaction)
  return ({ connectorId, tool }) => {
    const known = found.find(each => each.connectorId === connectorId && each.name === tool)
    if (!known) return null
    const { permission, risk, readOnly, idempotent, counterparty } = known
    return { permission, risk, counterparty, readOnly, mayRepeat: readOnly || idempotent }
  }
}
