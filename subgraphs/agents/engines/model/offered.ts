import type { AgentRow, AgentToolRow } from '../../stores/agent.ts'
import type { connectorStore, ToolRow } from '../../stores/connector.ts'
import type { RoundRow, ToolCallRow } from '../../stores/run/step.ts'
import type { Json, Risk } from '../../stores/workflow.ts'
import { isObject, storable } from '../connect/json.ts'
import { limits } from '../run/plan.ts'
import type { AskedCall, Message, ModelTool } from './models.ts'

/** A tool of an agent, under the name by which models call it. */
export interface OfferedTool extends ModelTool {
  readonly connectorId: string
  readonly tool: string
  /** Whether a person is asked before each call. */
  readonly asks: boolean
  readonly risk: Risk
}

const risks: readonly Risk[] = ['LOW', 'MEDIUM', 'HIGH']

/** Names of functions have letters, digits, `_` and `-` alone, and are unique: tools of two connectors may be called alike. */
function functionName(tool: string, taken: ReadonlySet<string>): string {
  const name = tool.replace(/[^\w-]/g, '_').slice(0, 60)
  for (let number = 1; ; number += 1) {
    const numbered = number === 1 ? name : `${name}_${number}`
    if (!taken.has(numbered)) return numbered
  }
}

/** What models are offered of a tool: the stricter permission and the greater risk of agent and connector count. */
const offer = (own: AgentToolRow, tool: ToolRow, name: string): OfferedTool => ({
  ...{ name, description: tool.description ?? tool.title, connectorId: own.connectorId, tool: tool.name },
  parameters: isObject(tool.inputSchema) && tool.inputSchema.type === 'object' ? tool.inputSchema : { type: 'object' },
  asks: own.permission === 'ASK' || tool.permission === 'ASK',
  risk: risks[Math.max(risks.indexOf(own.risk), risks.indexOf(tool.risk))]!,
})

/** The tools that an agent may call at present: those of connectors in use which neither the agent nor the connector denies. */
export async function offeredTools(
  { connectors }: { readonly connectors: ReturnType<(typeof connectorStore)['open']> },
  { tools, organizationId }: Pick<AgentRow, 'tools' | 'organizationId'>,
): Promise<readonly OfferedTool[]> {
  const usable = tools.filter(({ permission }) => permission !== 'DENY')
  const found = await Promise.all(usable.map(({ connectorId }) => connectors.byId.load(connectorId)))
  const offered: OfferedTool[] = []
  for (const [at, own] of usable.entries()) {
    const connector = found[at]
    if (connector?.organizationId !== organizationId || connector.status === 'DISABLED') continue
    const tool = connector.tools.find(({ name }) => name === own.name)
    if (!tool || tool.permission === 'DENY') continue
    offered.push(offer(own, tool, functionName(tool.name, new Set(offered.map(({ name }) => name)))))
  }
  return offered
}

/** Reads the arguments that a model wrote; null for anything but an object that can be kept. */
function readArguments(given: string): Json | null {
  if (Buffer.byteLength(given) > limits.tools.argumentBytes) return null
  try {
    const value: unknown = JSON.parse(given === '' ? '{}' : given)
    return isObject(value as Json) ? storable(value as Json) : null
  } catch {
    return null
  }
}

function readCall({ id, name, arguments: given }: AskedCall, offered: readonly OfferedTool[], at: number): ToolCallRow {
  const found = offered.find(each => each.name === name) ?? null
  const values = readArguments(given)
  const call = { id, name, connectorId: found?.connectorId ?? null, tool: found?.tool ?? null, asks: found?.asks ?? true, risk: found?.risk ?? 'HIGH' } as const
  const refuse = (result: string): ToolCallRow => ({ ...call, arguments: {}, result })
  if (!found) return refuse(`There is no tool ${name}.`)
  if (values === null) return refuse(`It was not called: the arguments are no JSON object of at most ${limits.tools.argumentBytes} bytes.`)
  if (at >= limits.tools.atOnce) return refuse(`It was not called: at most ${limits.tools.atOnce} tools are called at once.`)
  return { ...call, arguments: values, result: null }
}

/** The round that a model's answer begins: which of the calls that it wants are made, and what it is told of the others. */
export const roundOf = (text: string, asked: readonly AskedCall[], offered: readonly OfferedTool[]): RoundRow => ({
  text: text.slice(0, limits.jsonBytes).replaceAll('\0', '').toWellFormed(),
  calls: asked.slice(0, limits.tools.read).map((call, at) => readCall(call, offered, at)),
})

/** The messages in which a model is told what it said before, and what came of its calls. */
export const messagesOfRounds = (rounds: readonly RoundRow[]): readonly Message[] =>
  rounds.flatMap(({ text, calls }): Message[] => [
    { role: 'ASSISTANT', content: text, toolCalls: calls.map(({ id, name, arguments: given }) => ({ id, name, arguments: JSON.stringify(given) })) },
    ...calls.map(({ id, result }) => ({ role: 'TOOL', content: result ?? '', toolCallId: id }) as const),
  ])

/** The tools of a question: those that are offered, none of which may be called in the last round. Vendors want those known that were called before. */
export function toolsFor(offered: readonly OfferedTool[], rounds: readonly RoundRow[]): { readonly tools: readonly ModelTool[]; readonly mayCall: boolean } {
  if (offered.length > 0) return { tools: offered, mayCall: rounds.length < limits.tools.rounds }
  const names = new Set(rounds.flatMap(({ calls }) => calls.map(({ name }) => name)))
  return { tools: [...names].map(name => ({ name, description: null, parameters: { type: 'object' } })), mayCall: false }
}
