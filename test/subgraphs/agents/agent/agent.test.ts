import { describe, expect, it } from 'vitest'
import { supergraph } from '../../../kit/supergraph.ts'
import { seedProfile } from '../person-profile/seed.ts'
import { seedAgent } from './seed.ts'

const fields = 'id name description instructions model status monthlyLimitMicros spentMicros version personProfile { id } versions { version user { id } }'
const createAgent = `mutation($input: CreateAgentInput!) { createAgent(input: $input) { ${fields} } }`
const updateAgent = `mutation($input: UpdateAgentInput!) { updateAgent(input: $input) { ${fields} } }`
const archiveAgent = 'mutation($input: ArchiveAgentInput!) { archiveAgent(input: $input) { id status version } }'
const agents = 'query($status: AgentStatus) { agents(status: $status) { nodes { id } totalCount } }'

describe('an agent', () => {
  it('is written, changed under its version, and archived for good', async () => {
    await using graph = await supergraph()
    const { owner } = await graph.seed.owner()
    const execute = (document: string, input: object) => graph.execute(document, { input }, { as: owner })
    const given = { name: 'Ada', instructions: 'Be short.', model: 'default', monthlyLimitMicros: '5000000' }
    const made = (await execute(createAgent, given)).data().createAgent
    expect(made).toMatchObject({ name: 'Ada', status: 'ACTIVE', model: 'default', monthlyLimitMicros: 5_000_000, spentMicros: 0, version: 1 })
    const changed = (await execute(updateAgent, { id: made.id, model: null, status: 'PAUSED', expectedVersion: 1 })).data().updateAgent
    expect(changed).toMatchObject({ name: 'Ada', model: null, status: 'PAUSED', version: 2, monthlyLimitMicros: 5_000_000 })
    expect(changed.versions).toEqual([2, 1].map(version => ({ version, user: { id: owner.userId } })))
    const stale = await execute(updateAgent, { id: made.id, name: 'Eve', expectedVersion: 1 })
    expect(stale.refused('CONFLICT').extensions).toMatchObject({ reason: 'STALE_VERSION' })
    expect((await execute(archiveAgent, { id: made.id })).data().archiveAgent).toMatchObject({ status: 'ARCHIVED', version: 3 })
    const late = await execute(updateAgent, { id: made.id, name: 'Eve' })
    expect(late.refused('CONFLICT').extensions).toMatchObject({ reason: 'ILLEGAL_MOVE', from: 'ARCHIVED' })
    expect((await graph.execute(agents, { status: 'ACTIVE' }, { as: owner })).data().agents).toEqual({ nodes: [], totalCount: 0 })
  })

  it('is made once for one idempotency key when twenty ask at the same moment', async () => {
    await using graph = await supergraph()
    const { owner } = await graph.seed.owner()
    const input = { name: 'Ada', instructions: 'Be short.', idempotencyKey: 'agent-1' }
    const answers = await Promise.all(Array.from({ length: 20 }, () => graph.execute(createAgent, { input }, { as: owner })))
    expect(new Set(answers.map(answer => answer.data().createAgent.id)).size).toBe(1)
    const other = await graph.execute(createAgent, { input: { ...input, name: 'Eve' } }, { as: owner })
    expect(other.refused('CONFLICT').extensions).toMatchObject({ reason: 'KEY_REUSED' })
  })

  it.each([
    ['a limit below zero', { monthlyLimitMicros: -1 }, 'monthlyLimitMicros'],
    ['a name without letters', { name: '   ' }, 'name'],
    ['instructions that are too long', { instructions: 'x'.repeat(20_001) }, 'instructions'],
    ['a profile that nobody has', { personProfileId: '01a00000-0000-7000-8000-000000000001' }, 'personProfileId'],
  ])('is refused with %s', async (_, wrong, field) => {
    await using graph = await supergraph()
    const { owner } = await graph.seed.owner()
    const answer = await graph.execute(createAgent, { input: { name: 'Ada', instructions: 'Be short.', ...wrong } }, { as: owner })
    expect(answer.refused('BAD_USER_INPUT').extensions).toMatchObject({ field })
    expect(await graph.rows('select 1 from agents.agents')).toEqual([])
  })

  it('shows its profile only to those who may see that profile', async () => {
    await using graph = await supergraph()
    const { owner, member } = await graph.seed.owner().member()
    const organizationId = owner.organizationId!
    const { id: personProfileId } = await seedProfile(graph, { organizationId, subjectId: owner.userId! })
    const id = await seedAgent(graph, { organizationId, personProfileId })
    const read = async (as: typeof owner) => (await graph.execute('query($id: ID!) { agent(id: $id) { personProfile { id } } }', { id }, { as })).data().agent
    expect(await read(owner)).toEqual({ personProfile: { id: personProfileId } })
    expect(await read(member)).toEqual({ personProfile: null })
  })
})
