import { expect, test } from 'vitest'
import { provideDemoConnector } from '../../../subgraphs/agents/connect/demo.ts'
import { provideDemo } from '../../../subgraphs/agents/demo.ts'
import { provideDemoKnowledge } from '../../../subgraphs/agents/knowledge/demo.ts'
import { provideDemoWorkflow } from '../../../subgraphs/agents/workflow/demo.ts'
import { provideDemo as providePeople } from '../../../subgraphs/identity/setup/demo.ts'
import { supergraph } from '../../kit/supergraph.ts'
import { person } from '../../kit/viewers.ts'
import { createStyleSnapshot, personProfile, wholeProfile } from './documents.ts'

test('the demo has a profile of its member, whole and once, however many start at the same moment; what people change in it stays', async () => {
  await using graph = await supergraph()
  const { organizationId, userId, memberId } = await providePeople(graph.platform.identity, null)
  const provide = () => provideDemo(graph.platform.agents.job(`user:${userId}`), { organizationId, userId, subjectId: memberId })
  const [{ personProfileId: id }] = await Promise.all([provide(), provide()])
  const member = person(memberId, organizationId, ['member'])
  const { personProfile: profile } = (await graph.execute(personProfile, { id }, { as: member })).data()
  expect(profile).toMatchObject({
    displayName: 'Demo voice',
    status: 'ACTIVE',
    subject: { id: memberId },
    authorizations: [{ kind: 'CONSENT', revokedAt: null }],
    usagePolicies: [{ product: 'publishing', allowed: true }],
  })
  const filled = [...Object.values(profile.writingStyle), ...Object.values(profile.speakingStyle), profile.personaRules, profile.voiceProfiles]
  expect(filled.filter(value => (value as string | unknown[] | null)?.length)).toHaveLength(filled.length)
  const { personProfile: below } = (await graph.execute(wholeProfile, { id }, { as: member })).data()
  expect(below.sources.nodes.map(({ status }: { status: string }) => status)).toEqual(['READY', 'READY'])
  expect(below.activeSnapshot).toMatchObject({ number: 1, active: true, sources: [{}, {}], measures: { sentences: 7 } })
  // It is what a person would have taken.
  const taken = (await graph.execute(createStyleSnapshot, { input: { personProfileId: id } }, { as: member })).data().createStyleSnapshot
  expect(taken).toMatchObject({ id: below.activeSnapshot.id, justTaken: false })
  await graph.rows(`update agents.person_profiles set display_name = 'Renamed'`)
  await provide()
  expect(await graph.rows('select display_name from agents.person_profiles')).toEqual([{ display_name: 'Renamed' }])
})

test('the demo has a connector to the sandbox and a workflow, of whose runs one ends and one waits for a person for 30 days', async () => {
  await using graph = await supergraph({ sandbox: true })
  const { organizationId, userId } = await providePeople(graph.platform.identity, null)
  const job = graph.platform.agents.job(`user:${userId}`)
  const provide = async () => {
    const connectorId = await provideDemoConnector(job, { organizationId, userId, sandbox: graph.x.origin })
    return provideDemoWorkflow(job, { organizationId, userId, connectorId })
  }
  expect(new Set(await Promise.all([provide(), provide()])).size).toBe(1)
  expect(await provide()).toBe((await provide())!)
  const as = person(userId, organizationId, ['owner'])
  const { connectors } = (await graph.execute('{ connectors { name status tools { name permission } } }', {}, { as })).data()
  const [tools] = connectors.filter(({ name }: { name: string }) => name === 'Sandbox tools')
  expect(tools).toMatchObject({ status: 'HEALTHY' })
  expect(tools.tools.map(({ name, permission }: Record<string, string>) => `${name} ${permission}`)).toEqual([
    ...['create_note AUTO', 'send_letter ASK', 'read_notes AUTO', 'purge DENY', 'refuse AUTO'],
  ])
  await graph.clock.run(1)
  const read = async () =>
    (await graph.execute('{ runs { nodes { status input } } approvals { nodes { status expiresAt } } reports { nodes { title text } } }', {}, { as })).data()
  await expect
    .poll(async () => (await read()).runs.nodes.map(({ status }: { status: string }) => status).toSorted(), { timeout: 10_000 })
    .toEqual(['SUCCEEDED', 'WAITING_APPROVAL'])
  const { approvals, reports } = await read()
  expect(reports.nodes).toMatchObject([{ title: 'Releases', text: 'Release 1.4.1 (minor) went out.' }])
  expect(approvals.nodes).toMatchObject([{ status: 'PENDING' }])
  expect(Date.parse(approvals.nodes[0].expiresAt) - graph.clock.now().getTime()).toBeGreaterThan(29 * 86_400_000)
})

test('the demo has a public handbook and notes of the organization, once, and both are indexed', async () => {
  await using graph = await supergraph()
  const { organizationId, userId } = await providePeople(graph.platform.identity, null)
  const provide = () => provideDemoKnowledge(graph.platform.agents.job(`user:${userId}`), { organizationId, userId })
  await Promise.all([provide(), provide()])
  await graph.clock.run(1)
  const read = () => graph.rows('select title, visibility, status from agents.knowledge_sources order by title')
  await expect.poll(read, { timeout: 10_000 }).toEqual([
    { title: 'Demo handbook', visibility: 'PUBLIC', status: 'READY' },
    { title: 'Demo notes', visibility: 'ORGANIZATION', status: 'READY' },
  ])
  const found = await graph.rows(`select source_id from agents.knowledge_chunks where text like '%moonshot%'`)
  expect(found).toHaveLength(1)
})
