import { DomainError } from '../../../platform/errors.ts'
import { readText, requireId, requireName, requireText } from '../../../platform/ids.ts'
import type { AgentToolInput, CreateAgentInput, UpdateAgentInput } from '../resolvers.generated.ts'
import type { AgentRow, AgentStatus, AgentToolRow } from '../stores/agent.ts'

/** How much an agent may hold, in characters and in entries. */
export const limits = { name: 200, description: 2_000, instructions: 20_000, model: 200, tools: 50, sources: 100, toolName: 200, agentsADay: 1_000 } as const

/** The model that stands for the organization's preference. */
export const preferredModel = 'default'

type Words = Pick<AgentRow, 'name' | 'description' | 'instructions' | 'model' | 'monthlyLimitMicros'>

/** Reads what a new agent is. @throws BAD_USER_INPUT with the `field` */
export const readAgent = (input: CreateAgentInput): Words => ({
  name: requireName(input.name, 'name', limits.name),
  description: readText(input.description, 'description', limits.description),
  instructions: readInstructions(input.instructions),
  model: readModel(input.model),
  monthlyLimitMicros: readLimit(input.monthlyLimitMicros),
})

/** Reads what a change mentions; null empties what may be empty. @throws BAD_USER_INPUT with the `field` */
export function readChanges(input: UpdateAgentInput): Partial<Words & Pick<AgentRow, 'status'>> {
  const { name, instructions, status } = input
  return {
    ...(typeof name === 'string' && { name: requireName(name, 'name', limits.name) }),
    ...(input.description !== undefined && { description: readText(input.description, 'description', limits.description) }),
    ...(typeof instructions === 'string' && { instructions: readInstructions(instructions) }),
    ...(input.model !== undefined && { model: readModel(input.model) }),
    ...(input.monthlyLimitMicros !== undefined && { monthlyLimitMicros: readLimit(input.monthlyLimitMicros) }),
    ...(status && { status: readStatus(status) }),
  }
}

/** Reads tools as they are kept. @throws BAD_USER_INPUT with the `field` */
export function readTools(given: readonly AgentToolInput[]): readonly AgentToolRow[] {
  if (given.length > limits.tools)
    throw new DomainError('BAD_USER_INPUT', `connectorTools has ${given.length} entries, and takes ${limits.tools}.`, { field: 'connectorTools' })
  return given.map(({ connectorId, name, permission, risk }, at) => ({
    connectorId: requireId(connectorId, `connectorTools[${at}].connectorId`),
    name: requireName(name, `connectorTools[${at}].name`, limits.toolName),
    ...{ permission: permission ?? 'ASK', risk: risk ?? 'LOW' },
  }))
}

/** Reads ids of sources, each once. @throws BAD_USER_INPUT with the `field` */
export function readSourceIds(given: readonly string[]): readonly string[] {
  if (given.length > limits.sources)
    throw new DomainError('BAD_USER_INPUT', `knowledgeSourceIds has ${given.length} entries, and takes ${limits.sources}.`, { field: 'knowledgeSourceIds' })
  return [...new Set(given.map((id, at) => requireId(id, `knowledgeSourceIds[${at}]`)))]
}

const readInstructions = (given: string): string => requireText(given, 'instructions', limits.instructions, 0)

function readModel(given: string | null | undefined): string | null {
  return given === null || given === undefined ? null : requireName(given, 'model', limits.model)
}

function readLimit(given: bigint | null | undefined): bigint | null {
  if (given === null || given === undefined) return null
  const micros = given
  if (micros < 0n || micros > 2n ** 62n)
    throw new DomainError('BAD_USER_INPUT', 'monthlyLimitMicros is below 0 or too large: leave it out for no limit.', { field: 'monthlyLimitMicros' })
  return micros
}

function readStatus(given: AgentStatus): AgentStatus {
  if (given !== 'ARCHIVED') return given
  throw new DomainError('BAD_USER_INPUT', 'status takes ACTIVE and PAUSED: archive an agent with archiveAgent.', { field: 'status' })
}

/** Requires that an agent is not archived. @throws CONFLICT, reason ILLEGAL_MOVE */
export function requireKept({ status: from }: Pick<AgentRow, 'status'>, verb: 'update' | 'archive'): void {
  if (from !== 'ARCHIVED') return
  throw new DomainError('CONFLICT', `An archived agent does not allow ${verb}: create another.`, { reason: 'ILLEGAL_MOVE', from, verb, possible: [] })
}
