import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { personalScopes } from '../../../../subgraphs/scopes.ts'
import type { Viewer } from '../../../../subgraphs/viewer.ts'
import { type Supergraph, supergraph } from '../../../kit/supergraph.ts'
import { key, personally } from '../../../kit/viewers.ts'
import { removeInstallations, seedApps, seedPlatformApps } from './seed.ts'

let graph: Supergraph
let owner: Viewer
let member: Viewer
let outsider: Viewer
beforeAll(async () => {
  graph = await supergraph()
  await seedPlatformApps(graph)
  await seedApps(
    graph,
    { slug: 'route-finder', title: 'Route Finder' },
    { slug: 'guest-list', title: 'Guest List', contexts: ['organization'], capabilities: ['household_capable'] },
    { slug: 'address-check', title: 'Address Check', kind: 'technical' },
    { slug: 'old-app', title: 'Old App', lifecycle: 'retired' },
  )
})
beforeEach(async () => {
  ;({ owner, member, outsider } = await graph.seed.owner().member().outsider())
  await removeInstallations(graph)
})
afterAll(() => graph[Symbol.asyncDispose]())

const alone = () => ({ ...personally(owner), scopes: personalScopes })
const installApp = (as: Viewer, app: string, more = '') =>
  graph.execute(
    `mutation { installApp(input: { app: "${app}"${more} }) { id app context organization { id } installedBy { id } removedAt version entry { title installed } } }`,
    {},
    { as },
  )
const uninstallApp = (as: Viewer, app: string, more = '') =>
  graph.execute(`mutation { uninstallApp(input: { app: "${app}"${more} }) { id removedAt version } }`, {}, { as })
const installed = async (as: Viewer): Promise<string[]> =>
  (await graph.execute('{ installations { app } }', {}, { as })).data().installations.map(({ app }: { app: string }) => app)
const facts = (app: string, kind: string) =>
  graph.rows(`select body from launcher.facts where receiver = $1 and kind = $2 and body->>'organizationId' = $3`, [app, kind, owner.organizationId])
const audits = (action: string) =>
  graph.rows('select actor, details from launcher.audit_entries where tenant_id = $1 and action = $2', [owner.organizationId, action])

describe('installApp', () => {
  it('installs an app for the organization, with an audit entry and a fact for the app', async () => {
    const { installApp: made } = (await installApp(owner, 'publishing')).data()
    expect(made).toEqual({
      ...{ id: expect.any(String), app: 'publishing', context: 'ORGANIZATION', organization: { id: owner.organizationId } },
      ...{ installedBy: { id: owner.userId }, removedAt: null, version: 1, entry: { title: 'Publishing', installed: true } },
    })
    expect(await installed(member)).toEqual(['publishing'])
    expect(await installed(outsider)).toEqual([])
    expect(await facts('publishing', 'app.installed')).toEqual([{ body: { app: 'publishing', organizationId: owner.organizationId, userId: owner.userId } }])
    expect(await audits('app.installed')).toEqual([{ actor: `user:${owner.userId}`, details: { app: 'publishing' } }])
  })

  it('makes one installation of twenty requests at once, with one audit entry and one fact', async () => {
    const answers = await Promise.all(Array.from({ length: 20 }, () => installApp(owner, 'publishing')))
    expect(new Set(answers.map(answer => answer.data().installApp.id)).size).toBe(1)
    expect(await audits('app.installed')).toHaveLength(1)
    expect(await facts('publishing', 'app.installed')).toHaveLength(1)
  })

  it.each([
    ['address-check', 'CONFLICT', 'NOT_LAUNCHABLE'],
    ['old-app', 'CONFLICT', 'NOT_LAUNCHABLE'],
    ['nowhere', 'NOT_FOUND', undefined],
  ] as const)('refuses %s with %s, reason %s, and stores nothing', async (app, code, reason) => {
    expect((await installApp(owner, app)).refused(code).extensions.reason).toBe(reason)
    expect(await installed(owner)).toEqual([])
    expect(await audits('app.installed')).toEqual([])
  })

  it('answers a repeated idempotencyKey with the first installation, also once it was removed, and refuses another app with it', async () => {
    const first = (await installApp(owner, 'route-finder', ', idempotencyKey: "one"')).data().installApp
    await uninstallApp(owner, 'route-finder')
    const again = (await installApp(owner, 'route-finder', ', idempotencyKey: "one"')).data().installApp
    expect(again).toMatchObject({ id: first.id, removedAt: expect.any(String) })
    expect(await installed(owner)).toEqual([])
    expect((await installApp(owner, 'guest-list', ', idempotencyKey: "one"')).refused('CONFLICT').extensions.reason).toBe('KEY_REUSED')
  })

  it('keeps personal context and the organization apart', async () => {
    const made = (await installApp(alone(), 'guest-list')).data().installApp
    expect(made).toMatchObject({ context: 'PERSONAL', organization: null, installedBy: { id: owner.userId } })
    expect(await installed(alone())).toEqual(['guest-list'])
    expect(await installed(owner)).toEqual([])
    expect((await installApp(alone(), 'publishing')).refused('CONFLICT').extensions.reason).toBe('CONTEXT')
  })

  it('is refused to members, and to keys without the scope', async () => {
    ;(await installApp(member, 'publishing')).refused('UNAUTHORIZED_FIELD_OR_TYPE')
    ;(await installApp(key(owner.organizationId!, ['launcher:apps.read']), 'publishing')).refused('UNAUTHORIZED_FIELD_OR_TYPE')
    expect((await installApp(key(owner.organizationId!, ['launcher:apps.write']), 'publishing')).data().installApp.installedBy).toBeNull()
  })
})

describe('uninstallApp', () => {
  it('ends an installation once, with an audit entry and a fact for the app; installing again begins another', async () => {
    const { id } = (await installApp(owner, 'publishing')).data().installApp
    expect((await uninstallApp(owner, 'publishing')).data().uninstallApp).toEqual({ id, removedAt: expect.any(String), version: 2 })
    ;(await uninstallApp(owner, 'publishing')).refused('NOT_FOUND')
    expect(await facts('publishing', 'app.uninstalled')).toHaveLength(1)
    expect(await audits('app.uninstalled')).toHaveLength(1)
    expect((await installApp(owner, 'publishing')).data().installApp.id).not.toBe(id)
  })

  it('leaves the installation of another organization alone', async () => {
    await installApp(owner, 'publishing')
    ;(await uninstallApp(outsider, 'publishing')).refused('NOT_FOUND')
    expect(await installed(owner)).toEqual(['publishing'])
  })

  it('refuses a stale version with CONFLICT', async () => {
    await installApp(owner, 'publishing')
    expect((await uninstallApp(owner, 'publishing', ', expectedVersion: 7')).refused('CONFLICT').extensions.reason).toBe('STALE_VERSION')
    expect(await installed(owner)).toEqual(['publishing'])
  })
})

describe('installationChanged', () => {
  it('sends each installation when it begins and ends, to its organization alone', async () => {
    await using own = await graph.subscribe('subscription { installationChanged { app removedAt } }', {}, { as: member })
    await using foreign = await graph.subscribe('subscription { installationChanged { app } }', {}, { as: outsider })
    await installApp(owner, 'route-finder')
    expect((await own.next()).installationChanged).toEqual({ app: 'route-finder', removedAt: null })
    await uninstallApp(owner, 'route-finder')
    expect((await own.next()).installationChanged).toEqual({ app: 'route-finder', removedAt: expect.any(String) })
    await installApp(outsider, 'guest-list')
    expect((await foreign.next()).installationChanged).toEqual({ app: 'guest-list' })
  })
})
