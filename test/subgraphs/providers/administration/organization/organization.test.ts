import { describe, expect, test } from 'vitest'
import { newId } from '../../../../../platform/ids.ts'
import { redacted } from '../../../../../subgraphs/providers/engines/spend/prompts.ts'
import { inTransaction } from '../../../../../subgraphs/store/write.ts'
import { type Supergraph, supergraph } from '../../../../kit/supergraph.ts'
import { key, person } from '../../../../kit/viewers.ts'

const shape = '{ id organization { id } status promptStorage retentionDays createdAt version }'
const provisioning = `mutation($input: ProvisionOrganizationInput!) { provisionOrganization(input: $input) ${shape} }`
const updating = `mutation($input: UpdateProviderOrganizationInput!) { updateProviderOrganization(input: $input) ${shape} }`
const prompt = 'Write to ada@example.test about order 4711 0815 99, my key is sk-live-abcdef123456'

/** Begins a call of an organization, as adapters do. */
const begin = async (graph: Supergraph, organizationId: string) => {
  const { calls } = graph.platform.providers.job('test')
  const order = { family: 'AI', operation: 'chat.completions', requestedModel: null, candidates: [], prompt } as const
  return calls.begin({ organizationId, userId: null, appId: 'app_providers' }, order)
}
const prompts = async (graph: Supergraph) =>
  graph.rows<{ prompt: string | null; prompt_until: Date | null }>('select prompt, prompt_until from providers.calls order by id')

describe('G-13 provisioning an organization', () => {
  test('happens once under concurrent requests, with an audit entry', async () => {
    await using graph = await supergraph()
    const { owner, organization } = await graph.seed.owner()
    const input = { organizationId: organization.id }
    const answers = await Promise.all(Array.from({ length: 20 }, () => graph.execute(provisioning, { input }, { as: owner })))
    const made = answers.map(answer => answer.data().provisionOrganization)
    expect(new Set(made.map(({ id }) => id)).size).toBe(1)
    expect(made[0]).toMatchObject({ organization: { id: organization.id }, status: 'ACTIVE', promptStorage: 'OFF', retentionDays: 30, version: 1 })
    expect(await graph.rows(`select subject_id from providers.audit_entries where action = 'organization.provisioned'`)).toEqual([{ subject_id: made[0].id }])
  })

  test('is allowed to the organization’s managers, and to platform admins for any other', async () => {
    await using graph = await supergraph()
    const { owner, organization } = await graph.seed.owner()
    const { owner: stranger } = await graph.seed.owner()
    const input = { organizationId: organization.id }
    ;(await graph.execute(provisioning, { input }, { as: stranger })).refused('NOT_FOUND')
    ;(await graph.execute(provisioning, { input }, { as: person(newId(), organization.id, ['member']) })).refused('UNAUTHORIZED_FIELD_OR_TYPE')
    const byKey = await graph.execute(provisioning, { input }, { as: key(organization.id, ['providers:organizations.provision']) })
    const byPlatform = await graph.execute(provisioning, { input }, { as: person(newId(), newId(), ['platform_super_admin']) })
    const read = (await graph.execute(`{ providerOrganization ${shape} }`, {}, { as: owner })).data().providerOrganization
    expect([byKey.data().provisionOrganization.id, byPlatform.data().provisionOrganization.id]).toEqual([read.id, read.id])
  })

  test('by its first call at the latest', async () => {
    await using graph = await supergraph()
    const organizationId = newId()
    await Promise.all([begin(graph, organizationId), begin(graph, organizationId)])
    expect(await graph.rows('select organization_id, created_by from providers.organizations')).toEqual([
      { organization_id: organizationId, created_by: 'calls' },
    ])
  })
})

describe('G-13 prompts of calls are stored as the organization sets', () => {
  test('not at all, redacted or complete; for the configured days and no longer', async () => {
    await using graph = await supergraph()
    const { owner, organization } = await graph.seed.owner()
    const set = async (input: object) => (await graph.execute(updating, { input }, { as: owner })).data().updateProviderOrganization
    await begin(graph, organization.id)
    expect(await set({ promptStorage: 'REDACTED', retentionDays: 7 })).toMatchObject({ promptStorage: 'REDACTED', retentionDays: 7, version: 2 })
    await graph.clock.advance(1)
    await begin(graph, organization.id)
    await set({ promptStorage: 'FULL' })
    await graph.clock.advance(1)
    await begin(graph, organization.id)
    const [none, some, all] = await prompts(graph)
    expect([none!.prompt, some!.prompt, all!.prompt]).toEqual([null, 'Write to […] about order […], my key is […]', prompt])
    expect(all!.prompt_until!.getTime() - graph.clock.now().getTime()).toBe(7 * 24 * 3_600_000)
    // A shorter time counts for what is there.
    await set({ retentionDays: 1 })
    expect((await prompts(graph))[2]!.prompt_until!.getTime() - graph.clock.now().getTime()).toBe(24 * 3_600_000)
    await set({ promptStorage: 'OFF' })
    expect((await prompts(graph)).map(each => each.prompt)).toEqual([null, null, null])
    const actions = await graph.rows<{ action: string; details: object }>(
      `select action, details from providers.audit_entries where action = 'organization.updated' order by at, id`,
    )
    expect(actions).toHaveLength(4)
    ;(await graph.execute(updating, { input: { retentionDays: 401 } }, { as: owner })).refused('BAD_USER_INPUT')
    ;(await graph.execute(updating, { input: { retentionDays: 3, expectedVersion: 1 } }, { as: owner })).refused('CONFLICT')
  })

  test.each([
    ['call me at +49 (89) 1234-5678 or 089/123456', 'call me at […] or […]'],
    ['Authorization: Bearer abcdef.ghijkl-1234', 'Authorization: […]'],
    ['see https://example.test/reset?token=secret now', 'see […] now'],
    ['in 2027 we had 12,000 visitors', 'in 2027 we had 12,000 visitors'],
    ['hash 9f86d081884c7d659a2feaa0c55ad015 is one', 'hash […] is one'],
    ['x'.repeat(3000), 'x'.repeat(2000)],
  ])('%s is redacted to %s', (words, left) => {
    expect(redacted(words)).toBe(left)
  })

  test('calls of a suspended organization are refused, and nothing of them is on record', async () => {
    await using graph = await supergraph()
    const { organization, owner } = await graph.seed.owner()
    await graph.execute(provisioning, { input: { organizationId: organization.id } }, { as: owner })
    await graph.rows(`update providers.organizations set status = 'SUSPENDED'`)
    await expect(begin(graph, organization.id)).rejects.toMatchObject({ code: 'FORBIDDEN', extensions: { reason: 'SUSPENDED' } })
    const job = graph.platform.providers.job('test')
    const charge = { family: 'EMAIL', operation: 'mail', provider: 'smtp', micros: 100n } as const
    await expect(
      inTransaction(job, unit => job.calls.charge({ organizationId: organization.id, userId: null, appId: 'app_providers' }, charge, unit)),
    ).rejects.toMatchObject({ code: 'FORBIDDEN' })
    expect(await graph.rows('select from providers.calls')).toHaveLength(0)
  })
})

describe('the audit log of changes', () => {
  test('is read by its organization alone, the newest first, page by page', async () => {
    await using graph = await supergraph()
    const { owner, organization } = await graph.seed.owner()
    const { owner: stranger } = await graph.seed.owner()
    const actor = `user:${owner.userId}`
    await graph.execute(provisioning, { input: { organizationId: organization.id } }, { as: owner })
    await graph.clock.advance(1000)
    await graph.execute(updating, { input: { retentionDays: 3 } }, { as: owner })
    const log = `query($after: String) { providerAuditLog(first: 1, after: $after) { nodes { at actor action target organization { id } } pageInfo { hasNextPage endCursor } totalCount } }`
    const first = (await graph.execute(log, {}, { as: owner })).data().providerAuditLog
    const [record] = await graph.rows<{ id: string }>('select id from providers.organizations')
    expect(first).toMatchObject({ totalCount: 2, pageInfo: { hasNextPage: true } })
    expect(first.nodes).toEqual([
      { at: graph.clock.now().toISOString(), actor, action: 'organization.updated', target: record!.id, organization: { id: organization.id } },
    ])
    const next = (await graph.execute(log, { after: first.pageInfo.endCursor }, { as: owner })).data().providerAuditLog
    expect(next.nodes.map(({ action }: { action: string }) => action)).toEqual(['organization.provisioned'])
    expect((await graph.execute(log, {}, { as: stranger })).data().providerAuditLog.totalCount).toBe(0)
  })
})
