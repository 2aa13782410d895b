import { describe, expect, it } from 'vitest'
import { type Supergraph, supergraph } from '../../kit/supergraph.ts'
import { seedAgent } from './agent/seed.ts'

const mutation = (name: string) => `mutation($input: ${name[0]!.toUpperCase()}${name.slice(1)}Input!) { ${name}(input: $input) { id } }`
const atOnce = 50

async function office(graph: Supergraph) {
  const { owner } = await graph.seed.owner()
  const organizationId = owner.organizationId!
  return {
    ...{ owner, organizationId, userId: owner.userId! },
    /** Does the same fifty times at the same moment. @returns how often each answer came, `done` for those without an error */
    async fifty(name: string, inputOf: (at: number) => object) {
      const answers = await Promise.all(Array.from({ length: atOnce }, (_, at) => graph.execute(mutation(name), { input: inputOf(at) }, { as: owner })))
      return Object.fromEntries([...Map.groupBy(answers, ({ code }) => code ?? 'done')].map(([code, those]) => [code, those.length]))
    },
  }
}

describe('a limit of agents, fifty at once before it', () => {
  it('holds to the unit for conversations that a person begins', async () => {
    await using graph = await supergraph()
    const { fifty, organizationId, userId } = await office(graph)
    const agentId = await seedAgent(graph, { organizationId })
    await graph.rows(
      `insert into agents.conversations (id, organization_id, agent_id, title, created_at, updated_at, created_by)
       select gen_random_uuid(), $1, $2, 'A talk', $3, $3, $4 from generate_series(1, 995)`,
      [organizationId, agentId, graph.clock.now(), `user:${userId}`],
    )
    expect(await fifty('createConversation', () => ({ agentId }))).toEqual({ done: 5, RATE_LIMITED: atOnce - 5 })
  })

  it('holds to the unit for knowledge sources of an organization', async () => {
    await using graph = await supergraph()
    const { fifty, organizationId } = await office(graph)
    await graph.rows(
      `insert into agents.knowledge_sources (id, organization_id, title, kind, visibility, created_at, updated_at, created_by)
       select gen_random_uuid(), $1, 'A source', 'TEXT', 'ORGANIZATION', $2, $2, 'user:another' from generate_series(1, 1997)`,
      [organizationId, graph.clock.now()],
    )
    const input = { title: 'A source', kind: 'TEXT', text: 'The moon is round.', visibility: 'ORGANIZATION' }
    expect(await fifty('createKnowledgeSource', () => input)).toEqual({ done: 3, CONFLICT: atOnce - 3 })
  })

  it('holds to the unit for addresses that are still to be fetched', async () => {
    await using graph = await supergraph()
    const { fifty, owner, userId } = await office(graph)
    const make = async (displayName: string): Promise<string> =>
      (await graph.execute(mutation('createPersonProfile'), { input: { displayName } }, { as: owner })).data().createPersonProfile.id
    const [other, ...profiles] = await Promise.all(Array.from({ length: 11 }, (_, at) => make(`Ada ${at}`)))
    await graph.rows(
      `insert into agents.profile_sources (profile_id, id, kind, title, url, status, fetch_at, created_at, updated_at, created_by)
       select $1, gen_random_uuid(), 'URL', 'A page', 'https://page.test/', 'PROCESSING', $2::timestamptz + interval '1 day', $2, $2, $3 from generate_series(1, 96)`,
      [other, graph.clock.now(), `user:${userId}`],
    )
    const input = (at: number) => ({ personProfileId: profiles[at % 10], kind: 'URL', title: 'A page', url: 'https://93.184.216.34/' })
    expect(await fifty('createProfileSource', input)).toEqual({ done: 4, RATE_LIMITED: atOnce - 4 })
  })
})
