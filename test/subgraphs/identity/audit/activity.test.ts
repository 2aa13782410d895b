import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Viewer } from '../../../../subgraphs/viewer.ts'
import { type Supergraph, supergraph } from '../../../kit/supergraph.ts'
import { personally } from '../../../kit/viewers.ts'

let graph: Supergraph
beforeAll(async () => {
  graph = await supergraph()
})
afterAll(() => graph[Symbol.asyncDispose]())

const run = async (document: string, as: Viewer, variables: Record<string, unknown> = {}) => {
  // What happens within one millisecond stands in no order.
  await graph.clock.advance(1000)
  return (await graph.execute(document, variables, { as })).data()
}
const activity = '{ accountActivity(first: 50) { nodes { action user { id } organization { id } targetId ipAddress userAgent requestId } } }'
const told = async (as: Viewer): Promise<string[]> => (await run(activity, as)).accountActivity.nodes.map(({ action }: { action: string }) => action).reverse()
const createKey = 'mutation { createApiKey(input: { name: "One", scopes: ["publishing:posts.read"] }) { apiKey { id } } }'
const idOf = async (viewer: Viewer) =>
  (
    await graph.rows<{ id: string }>('select id from identity.memberships where user_id = $1 and organization_id = $2', [viewer.userId, viewer.organizationId])
  )[0]!.id

test('a change of a person’s rights by others is an entry of their account, in every organization', async () => {
  const { owner, member } = await graph.seed.owner().member()
  const id = await idOf(member)
  await run('mutation($id: ID!) { changeMemberRoles(input: { id: $id, roles: [ADMIN] }) { id } }', owner, { id })
  await run('mutation($id: ID!) { removeMember(input: { id: $id }) { id } }', owner, { id })
  const both = ['membership.roles_changed', 'membership.removed']
  expect(await told(member)).toEqual(both)
  expect(await told(personally(member))).toEqual(both)
  expect(await told(owner)).toEqual([])
})

test('a lasting credential that a person creates is an entry of their account; a later change is one of the changer’s account', async () => {
  const { owner, organization } = await graph.seed.owner()
  const made = (await run('mutation { createOrganization(input: { slug: "of-mine", name: "Mine" }) { id } }', owner)).createOrganization
  const first = (await run(createKey, owner)).createApiKey.apiKey.id
  await run(createKey, { ...owner, clientId: 'phone', roles: [] })
  await run('mutation($id: ID!) { rotateApiKey(input: { id: $id }) { apiKey { id } } }', owner, { id: first })
  await run('mutation($id: ID!) { revokeApiKey(input: { id: $id }) { id } }', owner, { id: first })
  expect(await told(personally(owner))).toEqual(['organization.created', 'api_key.created', 'api_key.created', 'api_key.rotated', 'api_key.revoked'])
  const { nodes } = (await run(activity, owner)).accountActivity
  expect(nodes.at(-1)).toMatchObject({ targetId: made.id })
  expect(nodes[0]).toMatchObject({ targetId: first, user: { id: owner.userId }, organization: { id: organization.id } })
})

test('actions of programs and changes of service accounts concern no person’s account', async () => {
  const { owner, key } = await graph.seed.owner().key('publishing:api_keys.write', 'publishing:posts.read')
  await run(createKey, key)
  const create = 'mutation { createServiceAccount(input: { name: "Agent", roles: [MEMBER] }) { id } }'
  const { id } = (await run(create, owner)).createServiceAccount
  await run('mutation($id: ID!) { changeMemberRoles(input: { id: $id, roles: [VIEWER] }) { id } }', owner, { id })
  await run('mutation($id: ID!) { removeMember(input: { id: $id }) { id } }', owner, { id })
  const rows = await graph.rows<{ action: string; person_id: string | null }>(
    'select action, person_id from identity.audit_entries where tenant_id = $1 order by at',
    [owner.organizationId],
  )
  const actions = ['api_key.created', 'service_account.created', 'membership.roles_changed', 'membership.removed']
  expect(rows).toEqual(actions.map(action => ({ action, person_id: null })))
})

test('people do not see address and reason of others’ actions on their account; managers do', async () => {
  const { owner, member } = await graph.seed.owner().member()
  const reason = 'Found in a list of stolen passwords'
  await graph.platform.identity.provision({
    password: 'correct horse battery',
    people: [],
    organizations: [{ slug: 'admin', name: 'Administration', members: [] }],
    keys: [],
  })
  const [admin] = await graph.rows<{ id: string }>(`select id from identity.organizations where slug = 'admin'`)
  const platform = { ...owner, organizationId: admin!.id, roles: ['platform_super_admin'] }
  const of = { id: member.userId, reason }
  await run('mutation($id: ID!, $reason: String!) { suspendUser(input: { id: $id, reason: $reason }) { id } }', platform, of)
  await run('mutation($id: ID!) { reinstateUser(input: { id: $id }) { id } }', platform, { id: member.userId })
  await run('mutation($id: ID!) { changeMemberRoles(input: { id: $id, roles: [VIEWER] }) { id } }', owner, { id: await idOf(member) })
  await graph.rows(`insert into identity.audit_entries (tenant_id, id, at, actor, action, subject_id, user_id, person_id, ip_address, user_agent)
    select tenant_id, gen_random_uuid(), at + interval '1 s', actor, action, subject_id, user_id, person_id, '192.0.2.1', 'walker/2'
      from identity.audit_entries where action = 'membership.roles_changed' and person_id = '${member.userId}'`)
  const whole = (field: string) => `{ ${field}(first: 1) { nodes { action ipAddress userAgent details { value } } } }`
  const anyOf = '{ accountActivity(first: 50) { nodes { action ipAddress userAgent details { value } } } }'
  const { nodes } = (await run(anyOf, member)).accountActivity
  expect(nodes).toHaveLength(4)
  for (const each of nodes) expect(each).toMatchObject({ ipAddress: null, userAgent: null, details: [] })
  expect((await run(whole('auditLog'), owner)).auditLog.nodes).toMatchObject([{ ipAddress: '192.0.2.1', userAgent: 'walker/2' }])
  const suspensions = '{ auditLog(action: "account.suspended") { nodes { details { value } } } }'
  expect((await run(suspensions, platform)).auditLog.nodes).toEqual([{ details: [{ value: reason }] }])
})
