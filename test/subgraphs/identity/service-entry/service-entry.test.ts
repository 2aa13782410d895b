import { describe, expect, it } from 'vitest'
import type { Registration } from '../../../../subgraphs/subgraph.ts'
import { anonymous, type Viewer } from '../../../../subgraphs/viewer.ts'
import { atTheSameMoment, execute, freshIdentity } from '../identity-world.ts'

const publishing: Registration = {
  slug: 'publishing',
  appId: 'app_publishing',
  title: 'Publishing',
  contexts: ['organization'],
  icon: '/icons/publishing.svg',
  asks: [],
  widget: { audience: 'organization' },
  lifecycle: 'active',
}
const launcher: Registration = { ...publishing, slug: 'launcher', appId: 'app_launcher', title: 'Launcher', asks: ['publishing:dashboard.read'], widget: null }

describe('the registry of services', () => {
  const open = freshIdentity()

  const service: Viewer = { ...anonymous, kind: 'service', appId: 'app_launcher' }
  const read = async (slug: string) =>
    (
      await execute(
        open.identity,
        service,
        'query($slug: String!) { service(slug: $slug) { id slug appId title contexts icon lifecycle widgetAudience scopes { name permission meaning } addresses { role url } } }',
        { slug },
      )
    ).data().service
  const register = (registrations: readonly Registration[], addresses = {}) => open.identity.registerServices(registrations, addresses)

  it('I-07 enters services with their scopes, and finds them by slug', async () => {
    expect(await register([publishing, launcher], { publishing: { rest: 'https://publishing.test/' } })).toEqual({
      registered: ['publishing', 'launcher'],
      conflicts: [],
    })
    const entry = await read('publishing')
    expect(entry).toMatchObject({
      appId: 'app_publishing',
      contexts: ['ORGANIZATION'],
      lifecycle: 'ACTIVE',
      widgetAudience: 'ORGANIZATION',
      addresses: [{ role: 'rest', url: 'https://publishing.test/' }],
    })
    expect(entry.scopes).toHaveLength(9)
    expect(entry.scopes).toContainEqual({ name: 'posts.read', permission: 'posts:read', meaning: 'See drafts, scheduled, published and failed posts' })
    expect(await read('nothing')).toBeNull()
    const { services } = (await execute(open.identity, service, '{ services { slug } }')).data()
    expect(services).toEqual([{ slug: 'launcher' }, { slug: 'publishing' }])
    const again = 'query($r: [_Any!]!) { _entities(representations: $r) { ... on ServiceEntry { slug } } }'
    expect((await execute(open.identity, service, again, { r: [{ __typename: 'ServiceEntry', id: entry.id }] })).data()._entities).toEqual([
      { slug: 'publishing' },
    ])
  })

  it('I-07 is repeatable: ids stay, changes are taken over, several processes may do it at once', async () => {
    await atTheSameMoment(open.database, 'identity.service_entries', [
      () => register([publishing]),
      () => register([publishing]),
      () => register([publishing, launcher]),
    ])
    const { id } = await read('publishing')
    await register([{ ...publishing, title: 'Publish', lifecycle: 'deprecated' }])
    expect(await read('publishing')).toMatchObject({ id, title: 'Publish', lifecycle: 'DEPRECATED' })
    await register([{ ...publishing, title: 'Publish', lifecycle: 'deprecated' }])
    const [rows] = await open.database.sequelize.query("select version from identity.service_entries where slug = 'publishing'")
    expect(rows).toEqual([{ version: 2 }])
  })

  it('I-07 reports a conflict and overwrites nothing', async () => {
    await register([publishing, launcher])
    const { sequelize } = open.database
    await sequelize.query("update identity.service_entries set owner = 'org-1', title = 'Theirs' where slug = 'publishing'")
    await sequelize.query("update identity.service_entries set slug = 'starter' where slug = 'launcher'")
    const outcome = await register([publishing, launcher])
    expect(outcome.registered).toEqual([])
    expect(outcome.conflicts).toEqual([
      { slug: 'publishing', reason: 'slug "publishing" is held by an entry of owner org-1' },
      { slug: 'launcher', reason: 'app id "app_launcher" is held by slug "starter"' },
    ])
    expect((await read('publishing')).title).toBe('Theirs')
  })

  it('I-07 leaves out what is not valid and says why', async () => {
    const bad = { ...launcher, appId: 'app_other' }
    const outcome = await register([publishing, bad])
    expect(outcome.registered).toEqual(['publishing'])
    expect(outcome.conflicts).toEqual([{ slug: 'launcher', reason: expect.stringContaining('must be app_launcher') }])
    expect(await read('launcher')).toBeNull()
  })

  it('S-15 keeps the registries of environments apart', async () => {
    await register([publishing])
    await open.database.sequelize.query("update identity.service_entries set environment = 'staging'")
    expect(await read('publishing')).toBeNull()
    await register([publishing])
    expect(await read('publishing')).not.toBeNull()
  })
})
