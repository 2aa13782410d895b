import type { Scope } from '../../../../subgraphs/scopes.ts'
import { type AccessRows, accountants, all, byScope, byScopeEachTheirOwn, change, constant, type Fresh, type RouteRow, row } from '../../../access/row.ts'
import { seedConnector } from '../connector/seed.ts'
import { seedKnowledge } from '../knowledge/seed.ts'
import { seedProfile } from '../person-profile/seed.ts'
import { seedAgent } from './seed.ts'

const read: readonly Scope[] = ['agents:agents.read']
const write: readonly Scope[] = ['agents:agents.write']
const managersOwn = 'refused yes refused refused refused yes yes'
const fresh: Fresh = ({ graph, owner }) => seedAgent(graph, { organizationId: owner.organizationId! })

const agents = '/agents/api/agents'
const route = (at: string, more: Omit<RouteRow, 'at'>): RouteRow => ({ at, ...more })

export const access: AccessRows = {
  async made({ graph, owner, outsider }) {
    await seedAgent(graph, { organizationId: outsider.organizationId! })
    // Newest first, so each has everything that an agent may lead to.
    const [organizationId, userId] = [owner.organizationId!, owner.userId!]
    const { id: source } = await seedKnowledge(graph, { organizationId })
    const { id: personProfileId } = await seedProfile(graph, { organizationId, subjectId: userId })
    const tools = [{ connectorId: await seedConnector(graph, organizationId), name: 'read_notes', permission: 'AUTO', risk: 'LOW' }] as const
    return { agent: await seedAgent(graph, { organizationId, userId, knowledgeSourceIds: [source], personProfileId, tools, monthlyLimitMicros: 1n }) }
  },
  fields: [
    row('Query.agent', read, write, byScope, ids => `{ agent(id: "${ids.agent}") { id } }`, 'agent'),
    row('AgentVersion.user', read, write, byScope, ids => `{ agent(id: "${ids.agent}") { versions { user { id } } } }`, 'agent.versions.user'),
    row(
      'Agent.knowledgeSources',
      ['agents:agents.read', 'agents:knowledge.read'],
      read,
      byScope,
      ids => `{ agent(id: "${ids.agent}") { knowledgeSources { id } } }`,
      'agent.knowledgeSources',
    ),
    row(
      'Agent.personProfile',
      all,
      write,
      'refused refused refused nothing nothing yes hidden',
      ids => `{ agent(id: "${ids.agent}") { personProfile { id } } }`,
      'agent.personProfile',
    ),
    row('Query.agents', read, write, byScopeEachTheirOwn, constant('{ agents { nodes { id } } }'), 'agents'),
    row(
      'Mutation.createAgent',
      write,
      read,
      managersOwn,
      change('createAgent', () => 'name: "New", instructions: "Answer."', 'id'),
      'createAgent',
    ),
    row(
      'Mutation.updateAgent',
      write,
      read,
      accountants,
      change('updateAgent', ({ fresh }) => `id: "${fresh}", name: "Other"`, 'id'),
      'updateAgent',
      fresh,
    ),
    row(
      'Mutation.archiveAgent',
      write,
      read,
      accountants,
      change('archiveAgent', ({ fresh }) => `id: "${fresh}"`, 'id'),
      'archiveAgent',
      fresh,
    ),
  ],
  routes: [
    route(`GET ${agents}`, { scopes: read, less: write, cells: byScopeEachTheirOwn, path: () => agents }),
    route(`POST ${agents}`, { scopes: write, less: read, cells: managersOwn, path: () => agents, body: () => ({ name: 'New', instructions: 'Answer.' }) }),
    route(`GET ${agents}/:id`, { scopes: read, less: write, cells: byScope, path: ({ agent }) => `${agents}/${agent}` }),
    route(`PUT ${agents}/:id`, {
      ...{ scopes: write, less: read, cells: accountants, path: ({ fresh }) => `${agents}/${fresh}`, body: () => ({ name: 'Other' }), fresh },
    }),
    route(`DELETE ${agents}/:id`, { scopes: write, less: read, cells: accountants, path: ({ fresh }) => `${agents}/${fresh}`, fresh }),
  ],
}
