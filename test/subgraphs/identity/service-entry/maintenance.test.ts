import { beforeEach, describe, expect, it } from 'vitest'
import type { Provisioned } from '../../../../subgraphs/identity/setup/provision.ts'
import type { Registration } from '../../../../subgraphs/subgraph.ts'
import { anonymous, type Viewer } from '../../../../subgraphs/viewer.ts'
import { execute, freshIdentity, origin, userViewer, world } from '../identity-world.ts'

const publishing: Registration = {
  ...{ slug: 'publishing', appId: 'app_publishing', title: 'Publishing', icon: '/icons/publishing.svg', kind: 'application', lifecycle: 'active' },
  ...{ contexts: ['organization'], asks: [], widget: null, capabilities: [], mobileApps: [] },
}

describe('the maintenance of a service', () => {
  const open = freshIdentity()
  let made: Provisioned
  let platform: Viewer
  let serviceId: string
  beforeEach(async () => {
    made = await open.identity.provision(world)
    platform = userViewer(made.users['super@admin.test']!, made.organizations.admin!, ['platform_super_admin'])
    await open.identity.registerServices([publishing], {})
    serviceId = (await shown()).id
  })

  const soon = (ms: number) => new Date(open.clock.now().getTime() + ms).toISOString()
  const set = (input: object) =>
    execute(
      open.identity,
      platform,
      'mutation($input: SetServiceMaintenanceInput!) { setServiceMaintenance(input: $input) { id maintenance { until message } } }',
      {
        input: { serviceId, ...input },
      },
    )
  const shown = async () => (await execute(open.identity, anonymous, '{ service(slug: "publishing") { id maintenance { until message } } }')).data().service
  const row = () => open.identity.http(new Request(`${origin}/identity/api/services/publishing`))
  const read = async (sql: string) => (await open.database.sequelize.query(sql))[0] as Record<string, unknown>[]
  const record = () => read(`select action, tenant_id, subject_id, details from identity.audit_entries where action like 'service.%' order by at, id`)

  it('is shown to everyone until its end, and then ends by itself', async () => {
    expect(await shown()).toMatchObject({ maintenance: null })
    const until = soon(90_000)
    const maintenance = { until, message: 'Moving house' }
    expect((await set(maintenance)).data().setServiceMaintenance).toEqual({ id: serviceId, maintenance })
    expect((await shown()).maintenance).toEqual(maintenance)
    const answer = await row()
    expect([await answer.json(), answer.headers.get('cache-control')]).toEqual([expect.objectContaining({ maintenance }), 'public, max-age=60'])
    open.clock.advance(60_000)
    expect((await row()).headers.get('cache-control')).toBe('public, max-age=30')
    open.clock.advance(30_000)
    expect([(await shown()).maintenance, ((await (await row()).json()) as { maintenance: unknown }).maintenance]).toEqual([null, null])
  })

  it('is ended by null, and each change has one event and one audit entry', async () => {
    const until = soon(60_000)
    for (const _ of [1, 2]) await set({ until })
    for (const _ of [1, 2]) expect((await set({ until: null })).data().setServiceMaintenance.maintenance).toBeNull()
    const line = { tenant_id: made.organizations.admin, subject_id: serviceId }
    expect(await record()).toEqual([
      { ...line, action: 'service.maintenance_set', details: { service: 'publishing', until } },
      { ...line, action: 'service.maintenance_ended', details: { service: 'publishing' } },
    ])
    // The first is told when the service registers.
    expect(await read(`select body->>'serviceId' as id from identity.facts where kind = 'service.registered'`)).toEqual(Array(3).fill({ id: serviceId }))
  })

  it('outlasts a start of the service', async () => {
    await set({ until: soon(60_000), message: 'Moving house' })
    await open.identity.registerServices([{ ...publishing, title: 'Published' }], {})
    expect((await shown()).maintenance).toMatchObject({ message: 'Moving house' })
  })

  it.each([
    ['a moment that has passed', () => ({ until: soon(0) }), 'BAD_USER_INPUT', 'until'],
    ['a moment too far ahead', () => ({ until: soon(91 * 86_400_000) }), 'BAD_USER_INPUT', 'until'],
    ['a message that is too long', () => ({ until: soon(60_000), message: 'x'.repeat(501) }), 'BAD_USER_INPUT', 'message'],
    ['what is no id', () => ({ serviceId: 'publishing', until: null }), 'BAD_USER_INPUT', 'serviceId'],
    ['a service that there is not', () => ({ serviceId: made.organizations.admin, until: null }), 'NOT_FOUND', 'serviceId'],
  ] as const)('is refused for %s', async (_, input, code, field) => {
    expect((await set(input())).refused(code).extensions.field).toBe(field)
    expect(await record()).toEqual([])
  })
})
