import { describe, expect, it } from 'vitest'
import type { Registration } from '../../../../subgraphs/subgraph.ts'
import { anonymous, type Viewer } from '../../../../subgraphs/viewer.ts'
import { atTheSameMoment, execute, freshIdentity, origin, world } from '../identity-world.ts'

const fingerprint = Array<string>(32).fill('0A').join(':')
const publishing: Registration = {
  slug: 'publishing',
  appId: 'app_publishing',
  title: 'Publishing',
  contexts: ['organization'],
  icon: '/icons/publishing.svg',
  asks: [],
  widget: { audience: 'organization' },
  lifecycle: 'active',
  kind: 'application',
  capabilities: [],
  mobileApps: [],
}
const launcher: Registration = {
  ...publishing,
  slug: 'launcher',
  appId: 'app_launcher',
  title: 'Launcher',
  asks: ['publishing:dashboard.read'],
  widget: null,
  capabilities: ['household_capable'],
  mobileApps: [{ platform: 'android', appId: 'com.example.app', storeUrl: null, certificateFingerprints: [fingerprint] }],
}

describe('the registry of services', () => {
  const open = freshIdentity()

  const service: Viewer = { ...anonymous, kind: 'service', appId: 'app_launcher' }
  const read = async (slug: string) =>
    (
      await execute(
        open.identity,
        service,
        'query($slug: String!) { service(slug: $slug) { id slug appId title contexts icon lifecycle widgetAudience environment kind capabilities scopes { name permission meaning } addresses { role url } } }',
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

  it('I-07 is repeatable: ids stay, changes are applied, several processes may run it at once', async () => {
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

  it('I-07 notifies administrators once when a conflict begins, changes or ends, and publishes each changed entry', async () => {
    const { identity, database, foundation } = open
    await identity.provision(world)
    const listening = foundation.events.listen(['registry'])
    await register([publishing, launcher])
    await register([publishing, launcher])
    const owner = (name: string) => database.sequelize.query('update identity.service_entries set owner = $1 where slug = $2', { bind: [name, 'publishing'] })
    await owner('org-1')
    await register([{ ...publishing, title: 'New' }, launcher])
    await register([{ ...publishing, title: 'New' }, launcher])
    await owner('org-2')
    await register([publishing, launcher])
    await owner('platform')
    await register([publishing, launcher])
    const facts = await database.sequelize.query(`select kind, body from identity.facts where kind like 'service.%' or kind like 'attention.%' order by seq`)
    const told = (facts[0] as { kind: string; body: Record<string, unknown> }[]).map(({ kind, body }) => `${kind} ${body.slug ?? body.key}`)
    const conflict = 'service-conflict:development:publishing'
    expect(told).toEqual([
      'service.registered publishing',
      'service.registered launcher',
      `attention.opened ${conflict}`,
      `attention.opened ${conflict}`,
      `attention.closed ${conflict}`,
    ])
    const [opened] = (facts[0] as { kind: string; body: Record<string, unknown> }[]).filter(({ kind }) => kind === 'attention.opened')
    const [[admin]] = (await database.sequelize.query(`select id from identity.organizations where slug = 'admin'`)) as [{ id: string }[], unknown]
    expect(opened!.body).toMatchObject({ kind: 'SERVICE_CONFLICT', organizationId: admin!.id, audience: 'managers', subjectId: 'publishing' })
    const [lines] = await database.sequelize.query(
      `select tenant_id, details->>'reason' as reason from identity.audit_entries where action = 'service.conflict' order by reason`,
    )
    expect(lines).toEqual(['org-1', 'org-2'].map(name => ({ tenant_id: admin!.id, reason: `slug "publishing" is held by an entry of owner ${name}` })))
    expect([(await listening.next()).value, (await listening.next()).value]).toEqual([{ service: 'publishing' }, { service: 'launcher' }])
    await listening.return()
  })

  it('I-04 answers everyone by slug, and revalidates a cached answer', async () => {
    await register([publishing, launcher], { launcher: { dashboard: 'https://launcher.test', callback: 'https://launcher.test/callback' } })
    const ask = (slug: string, headers: Record<string, string> = {}) => open.identity.http(new Request(`${origin}/identity/api/services/${slug}`, { headers }))
    const answer = await ask('launcher')
    expect(answer.headers.get('cache-control')).toBe('public, max-age=60')
    const etag = answer.headers.get('etag')!
    expect(await answer.json()).toEqual({
      id: (await read('launcher')).id,
      slug: 'launcher',
      title: 'Launcher',
      environment: 'development',
      kind: 'application',
      contexts: ['organization'],
      capabilities: ['household_capable'],
      icon: '/icons/publishing.svg',
      lifecycle: 'active',
      addresses: [
        { role: 'callback', url: 'https://launcher.test/callback', environment: 'development' },
        { role: 'dashboard', url: 'https://launcher.test', environment: 'development' },
      ],
      mobileApps: [{ platform: 'android', appId: 'com.example.app', storeUrl: null, certificateFingerprints: [fingerprint] }],
      maintenance: null,
    })
    for (const known of [etag, `W/${etag}`, `"other", ${etag}`, '*']) expect((await ask('launcher', { 'if-none-match': known })).status, known).toBe(304)
    expect((await ask('launcher', { 'if-none-match': '"other"' })).status).toBe(200)
    await register([{ ...launcher, title: 'Other' }])
    expect((await ask('launcher', { 'if-none-match': etag })).status).toBe(200)
    for (const slug of ['nowhere', '', 'launcher/more', '__proto__']) expect((await ask(slug)).status, slug).toBe(404)
  })

  it('I-04 offers no sign-in to a service that nobody opens', async () => {
    await register([{ ...publishing, kind: 'technical' }], { publishing: { api: 'https://p.test', callback: 'https://p.test/callback' } })
    expect(await read('publishing')).toMatchObject({ kind: 'TECHNICAL', addresses: [{ role: 'api' }] })
  })

  it('I-07 leaves out an invalid registration with the reason', async () => {
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
