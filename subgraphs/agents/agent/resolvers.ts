import { DomainError } from '../../../platform/errors.ts'
import { requireId } from '../../../platform/ids.ts'
import { requireQuota } from '../../../platform/limit.ts'
import { type WriteTransaction, writeFacts } from '../../store/books.ts'
import { change, create } from '../../store/write.ts'
import { activeOrganization, actorOf, personOf } from '../../viewer.ts'
import type { Context } from '../context.ts'
import { attentionKey } from '../engines/model/spend.ts'
import type { ArchiveAgentInput, CreateAgentInput, Resolvers, UpdateAgentInput } from '../resolvers.generated.ts'
import type { AgentRow } from '../stores/agent.ts'
import { monthOf } from '../stores/model-call.ts'
import { limits, readAgent, readChanges, readSourceIds, readTools, requireKept } from './rules.ts'

/** Reads the profile that an agent carries: one that the caller may see. */
async function readProfileId({ personProfiles }: Context, given: string | null | undefined): Promise<string | null> {
  if (given === null || given === undefined) return null
  const id = requireId(given, 'personProfileId')
  if (await personProfiles.find(id)) return id
  throw new DomainError('BAD_USER_INPUT', 'personProfileId is no profile that you may see.', { field: 'personProfileId' })
}

/** Reads what an agent may use: all of the active organization. */
async function readUses(
  { connectors, knowledgeSources }: Context,
  { connectorTools, knowledgeSourceIds }: Pick<CreateAgentInput, 'connectorTools' | 'knowledgeSourceIds'>,
): Promise<Partial<Pick<AgentRow, 'tools' | 'knowledgeSourceIds'>>> {
  const tools = connectorTools && readTools(connectorTools)
  const sourceIds = knowledgeSourceIds && readSourceIds(knowledgeSourceIds)
  const refuse = (field: string, what: string) => new DomainError('BAD_USER_INPUT', `${field} is no ${what} of the active organization.`, { field })
  for (const [at, { connectorId }] of (tools ?? []).entries())
    if (!(await connectors.find(connectorId))) throw refuse(`connectorTools[${at}].connectorId`, 'connector')
  for (const [at, id] of (sourceIds ?? []).entries()) if (!(await knowledgeSources.find(id))) throw refuse(`knowledgeSourceIds[${at}]`, 'knowledge source')
  return { ...(tools && { tools }), ...(sourceIds && { knowledgeSourceIds: sourceIds }) }
}

async function createAgent(context: Context, input: CreateAgentInput): Promise<AgentRow> {
  const { viewer, agents } = context
  const organizationId = activeOrganization(viewer, 'Agents')
  const words = readAgent(input)
  const personProfileId = await readProfileId(context, input.personProfileId)
  const uses = await readUses(context, input)
  const createdBy = actorOf(viewer)
  const { row } = await create(context, {
    of: agents,
    once: input,
    tenantId: organizationId,
    async run({ transaction, now }, id) {
      const written = await agents.madeBy(createdBy, now, limits.agentsADay, transaction)
      requireQuota(written, { inAll: Number.POSITIVE_INFINITY, aDay: limits.agentsADay }, 'agents that you wrote', 'wait', now)
      return { id, organizationId, ...words, ...uses, personProfileId, createdAt: now, updatedAt: now, createdBy }
    },
    audit: ({ id }) => ({ tenantId: organizationId, action: 'agent.created', subjectId: id }),
    wake: (agent, { transaction }) => agents.addVersion(agent, personOf(createdBy), transaction),
  })
  return row
}

async function changeAgent(
  context: Context,
  { id, expectedVersion }: Pick<ArchiveAgentInput, 'id' | 'expectedVersion'>,
  verb: 'update' | 'archive',
  changes: Partial<AgentRow>,
): Promise<AgentRow> {
  const { agents, viewer } = context
  return change(context, {
    of: agents,
    ...{ id, expectedVersion },
    decide(agent) {
      requireKept(agent, verb)
      return changes
    },
    audit: ({ after }) => ({ tenantId: after.organizationId, action: verb === 'update' ? 'agent.updated' : 'agent.archived', subjectId: after.id }),
    async wake({ before, after }, { transaction, now }) {
      await agents.addVersion(after, personOf(actorOf(viewer)), transaction)
      if (before.budgetAlertAt !== null) await endWarning(context, after, { transaction, now })
    },
  })
}

/** Takes the warning of a reached limit back, once the limit leaves room again. */
async function endWarning(context: Context, agent: AgentRow, unit: WriteTransaction): Promise<void> {
  const { agents, modelCalls } = context
  const { id, monthlyLimitMicros, status } = agent
  const isReached = monthlyLimitMicros !== null && (await modelCalls.spentSince(id, monthOf(unit.now), unit.transaction)) >= monthlyLimitMicros
  if (isReached && status !== 'ARCHIVED') return
  await agents.update(agent, { budgetAlertAt: null }, unit.transaction)
  await writeFacts(context, [{ kind: 'attention.closed', body: { key: attentionKey(id) } }], unit)
}

async function updateAgent(context: Context, input: UpdateAgentInput): Promise<AgentRow> {
  const { personProfileId } = input
  const profile = personProfileId !== undefined && { personProfileId: await readProfileId(context, personProfileId) }
  return changeAgent(context, input, 'update', { ...readChanges(input), ...(await readUses(context, input)), ...profile })
}

export const agentResolvers: Resolvers = {
  Query: {
    agent: (_, { id }, { agents }) => agents.require(id),
    agents(_, { status, ...page }, { viewer, agents }) {
      activeOrganization(viewer, 'Agents')
      return agents.filtered({ status }, page)
    },
  },
  Mutation: {
    createAgent: (_, { input }, context) => createAgent(context, input),
    updateAgent: (_, { input }, context) => updateAgent(context, input),
    archiveAgent: (_, { input }, context) => changeAgent(context, input, 'archive', { status: 'ARCHIVED' }),
  },
  Agent: {
    __resolveReference: ({ id }, { agents }) => agents.byId.load(id),
    knowledgeSources: ({ knowledgeSourceIds }, _, { knowledgeSources }) => Promise.all(knowledgeSourceIds.map(id => knowledgeSources.find(id))),
    personProfile: ({ personProfileId }, _, { personProfiles }) => personProfiles.find(personProfileId),
    spentMicros: ({ id }, _, { modelCalls }) => modelCalls.spentThisMonth.load(id),
    versions: ({ id }, _, { agents }) => agents.versions.load(id),
  },
  AgentTool: {
    connector: ({ connectorId }, _, { connectors }) => connectors.find(connectorId),
  },
  AgentVersion: {
    user: ({ userId }) => (userId ? { __typename: 'User', id: userId } : null),
  },
}
