import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { newId } from '../../../../../platform/ids.ts'
import { personalScopes } from '../../../../../subgraphs/scopes.ts'
import type { Viewer } from '../../../../../subgraphs/viewer.ts'
import { type Supergraph, supergraph } from '../../../../kit/supergraph.ts'
import { key, personally } from '../../../../kit/viewers.ts'
import { removeInstallations, seedApps } from '../../catalog/seed.ts'
import { seedItem, seedNotification } from './seed.ts'

let graph: Supergraph
let owner: Viewer
let member: Viewer
let outsider: Viewer
beforeAll(async () => {
  graph = await supergraph()
  await seedApps(graph, { slug: 'team-board', launchUrl: 'https://apps.example/board' }, { slug: 'menu-board' })
})
beforeEach(async () => {
  ;({ owner, member, outsider } = await graph.seed.owner().member().outsider())
  await removeInstallations(graph)
})
afterAll(() => graph[Symbol.asyncDispose]())

const read = async (as: Viewer) =>
  (await graph.execute('{ launcherWidget { statistics { key value } items { id } nextAction { label url } chart { title } } }', {}, { as })).data()
    .launcherWidget
const figures = async (as: Viewer) => Object.fromEntries((await read(as)).statistics.map(({ key, value }: { key: string; value: number }) => [key, value]))
const write = async (as: Viewer, name: string, input: object) =>
  (await graph.execute(`mutation($input: ${name[0]!.toUpperCase()}${name.slice(1)}Input!) { ${name}(input: $input) { id } }`, { input }, { as })).data()
const none = { openActions: 0, unreadNotifications: 0, installedApps: 0, launchesToday: 0 }

describe('launcherWidget', () => {
  it('counts what the viewer has in the active context, and nobody else’s', async () => {
    await seedItem(graph, owner, { audience: 'managers' })
    await seedItem(graph, owner)
    await seedNotification(graph, member)
    // Written past the mutation, which notifies everybody a moment later.
    await graph.rows(
      `insert into launcher.installations (id, app, organization_id, installed_at, created_at, updated_at, created_by)
        select gen_random_uuid(), app, $1, $2, $2, $2, 'test' from unnest($3::text[]) app`,
      [owner.organizationId, graph.clock.now(), ['team-board', 'menu-board']],
    )
    await write(member, 'launchApp', { app: 'team-board', source: 'CATALOGUE' })
    expect(await figures(owner)).toEqual({ ...none, openActions: 2, installedApps: 2 })
    expect(await figures(member)).toEqual({ openActions: 1, unreadNotifications: 1, installedApps: 2, launchesToday: 1 })
    expect(await figures(outsider)).toEqual(none)
    expect(await figures({ ...personally(member), scopes: personalScopes })).toEqual(none)
    expect(await figures(key(owner.organizationId!, ['launcher:dashboard.read']))).toEqual({ ...none, openActions: 1, installedApps: 2 })
  })

  it('forgets launches at midnight (UTC), and never counts failed ones', async () => {
    await write(owner, 'installApp', { app: 'team-board' })
    await write(owner, 'launchApp', { app: 'menu-board', source: 'CATALOGUE' })
    await write(owner, 'launchApp', { app: 'team-board', source: 'CATALOGUE' })
    expect((await figures(owner)).launchesToday).toBe(1)
    const at = graph.clock.now()
    const midnight = Date.UTC(at.getUTCFullYear(), at.getUTCMonth(), at.getUTCDate() + 1)
    await graph.clock.advance(midnight - at.getTime() - 1)
    expect((await figures(owner)).launchesToday).toBe(1)
    await graph.clock.advance(1)
    expect((await figures(owner)).launchesToday).toBe(0)
  })

  it('leads to the open actions, if there are any', async () => {
    expect((await read(member)).nextAction).toBe(null)
    await seedItem(graph, owner)
    expect(await read(member)).toMatchObject({
      nextAction: { label: 'Look at the open action', url: 'http://localhost:4000/launcher/actions' },
      ...{ items: [], chart: null },
    })
    await seedItem(graph, owner, { id: newId() })
    expect((await read(member)).nextAction.label).toBe('Look at 2 open actions')
  })
})
