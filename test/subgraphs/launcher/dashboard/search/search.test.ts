import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { personalScopes } from '../../../../../subgraphs/scopes.ts'
import type { Viewer } from '../../../../../subgraphs/viewer.ts'
import { type Supergraph, supergraph } from '../../../../kit/supergraph.ts'
import { key, personally } from '../../../../kit/viewers.ts'
import { removeInstallations, seedApps } from '../../catalog/seed.ts'
import { seedItem, seedNotification } from '../own-widget/seed.ts'

let graph: Supergraph
let owner: Viewer
let member: Viewer
let outsider: Viewer
beforeAll(async () => {
  graph = await supergraph()
  await seedApps(
    graph,
    { slug: 'route-finder', title: 'Route Finder', launchUrl: 'https://apps.example/route', summary: 'Plans tours for drivers' },
    { slug: 'stock-count', title: 'Stock Count', launchUrl: 'https://apps.example/stock', summary: 'Counts what is in the shelves' },
    { slug: 'time-sheet', title: 'Time Sheet', launchUrl: 'https://apps.example/time' },
    { slug: 'day-planner', title: 'Day Planner', contexts: ['personal'] },
  )
})
beforeEach(async () => {
  ;({ owner, member, outsider } = await graph.seed.owner().member().outsider())
  await removeInstallations(graph)
})
afterAll(() => graph[Symbol.asyncDispose]())

const ask = (as: Viewer, query: string, more: object = {}) =>
  graph.execute(
    'query($query: String!, $first: Int) { launcherSearch(query: $query, first: $first) { id kind title app url icon score } }',
    { query, ...more } as Record<string, unknown>,
    { as },
  )
const search = async (as: Viewer, query: string, more: object = {}) => (await ask(as, query, more)).data().launcherSearch
/** Titles without notifications: every installation posts one. */
const titles = async (as: Viewer, query: string, more: object = {}): Promise<string[]> =>
  (await search(as, query, more)).filter(({ kind }: { kind: string }) => kind !== 'NOTIFICATION').map(({ title }: { title: string }) => title)
const change = async (as: Viewer, name: string, input: object) =>
  (await graph.execute(`mutation($input: ${name[0]!.toUpperCase()}${name.slice(1)}Input!) { ${name}(input: $input) { id } }`, { input }, { as })).data()[name]
    .id as string
const install = (as: Viewer, ...apps: string[]) => Promise.all(apps.map(app => change(as, 'installApp', { app })))
const link = (title: string) => ({ title, url: 'https://demo.example/a' })

describe('launcherSearch', () => {
  it('finds installed apps by words, beginnings and with typing errors, and no others', async () => {
    await install(owner, 'route-finder', 'stock-count')
    await install(outsider, 'time-sheet')
    for (const query of ['route', 'Rou', 'rout findr', 'tours drivers']) {
      const [hit] = await search(member, query)
      expect(hit).toMatchObject({ kind: 'APP', app: 'route-finder', title: 'Route Finder', url: null })
      expect(hit.icon).toBe('http://localhost:4000/launcher/icons/route-finder')
      expect(hit.score).toBeGreaterThan(0)
    }
    for (const query of ['time sheet', 'day planner', 'zzzz', '!!']) expect(await titles(member, query)).toEqual([])
    expect(await titles(outsider, 'route')).toEqual([])
  })

  it('finds one’s own favourite addresses and the organization’s links, and nobody else’s', async () => {
    const own = await change(member, 'addFavourite', link('Handbook of drivers'))
    await change(owner, 'addFavourite', link('Handbook of the owner'))
    const shared = await change(owner, 'createSharedLink', { ...link('Handbook'), icon: 'https://demo.example/a.png' })
    await change(outsider, 'createSharedLink', link('Handbook elsewhere'))
    const hits = await search(member, 'handbook')
    expect(hits.map(({ id, kind, icon }: Record<string, unknown>) => [id, kind, icon])).toEqual([
      [shared, 'LINK', 'https://demo.example/a.png'],
      [own, 'LINK', null],
    ])
    expect(await titles(member, 'handbok')).toEqual(['Handbook', 'Handbook of drivers'])
    const alone = { ...personally(member), scopes: personalScopes }
    expect(await titles(alone, 'handbook')).toEqual([])
  })

  it('finds what a person has installed in personal context, and nothing of the organization', async () => {
    const alone = { ...personally(member), scopes: personalScopes }
    await install(alone, 'day-planner')
    await install(owner, 'stock-count')
    expect(await titles(alone, 'planner')).toEqual(['Day Planner'])
    expect(await titles(alone, '')).toEqual(['Day Planner'])
    expect(await titles(alone, 'stock')).toEqual([])
  })

  it('finds open items that the viewer sees, snoozed or not, with typing errors too', async () => {
    const [open, managers] = [
      await seedItem(graph, owner, { title: 'Check the boiler' }),
      await seedItem(graph, owner, { title: 'Pay the boiler', audience: 'managers' }),
    ]
    await seedItem(graph, owner, { title: 'Boiler was checked', status: 'DONE' })
    await seedItem(graph, outsider, { title: 'Boiler elsewhere' })
    const until = new Date(graph.clock.now().getTime() + 3_600_000).toISOString()
    ;(
      await graph.execute('mutation($input: SnoozeActionItemInput!) { snoozeActionItem(input: $input) { id } }', { input: { id: open, until } }, { as: member })
    ).data()
    expect(await search(member, 'boiler')).toMatchObject([{ id: open, kind: 'ACTION', app: 'publishing', url: 'https://demo.example/item', icon: null }])
    expect((await search(owner, 'boiler')).map(({ id }: { id: string }) => id).sort()).toEqual([open, managers].sort())
    expect(await titles(member, 'boilr')).toEqual(['Check the boiler'])
    expect(await titles({ ...personally(member), scopes: personalScopes }, 'boiler')).toEqual([])
  })

  it('finds the person’s own notifications that are not archived', async () => {
    const own = await seedNotification(graph, member, { title: 'Kettle arrived' })
    await seedNotification(graph, member, { title: 'Kettle ordered', isArchived: true })
    await seedNotification(graph, owner, { title: 'Kettle of the owner' })
    expect(await search(member, 'kettle')).toMatchObject([{ id: own, kind: 'NOTIFICATION', app: 'payments', url: null }])
    expect(await search(outsider, 'kettle')).toEqual([])
  })

  it('finds own and shared workflows, and nobody else’s own', async () => {
    const steps = [{ kind: 'LINK', title: 'Look', url: 'https://demo.example/' }]
    const own = await change(member, 'createLauncherWorkflow', { name: 'Lantern round', steps })
    const shared = await change(owner, 'createLauncherWorkflow', { name: 'Lantern of all', steps, shared: true })
    await change(owner, 'createLauncherWorkflow', { name: 'Lantern of the owner', steps })
    const hits = await search(member, 'lantern')
    expect(hits.map(({ id }: { id: string }) => id).sort()).toEqual([own, shared].sort())
    for (const hit of hits) expect(hit).toMatchObject({ kind: 'WORKFLOW', app: null, url: null, icon: null })
    expect(await titles(outsider, 'lantern')).toEqual([])
  })

  it('puts the title that is the search first, then those that begin with it, and answers as many as are wanted', async () => {
    for (const title of ['My rota', 'Rota two', 'Rota']) await change(owner, 'createSharedLink', link(title))
    expect(await titles(member, 'rota')).toEqual(['Rota', 'Rota two', 'My rota'])
    expect(await titles(member, 'rota', { first: 2 })).toEqual(['Rota', 'Rota two'])
  })

  it('answers as many as are wanted beside an installed app that is no longer paid for', async () => {
    await install(owner, 'publishing')
    await change(owner, 'createSharedLink', link('How we use publishing'))
    const all = await titles(member, 'publishing', { first: 50 })
    expect(all).toEqual(['Publishing', 'How we use publishing'])
    await graph.rows('delete from launcher.billing_subscriptions where owner_id = $1', [owner.organizationId])
    expect(await titles(member, 'publishing')).toEqual(['How we use publishing'])
    // The notification of the installation comes when it comes, and has the word too.
    const withoutNotifications = async (query: string) => {
      await graph.rows('delete from launcher.notifications')
      return titles(member, query, { first: 1 })
    }
    for (const query of ['publishing', 'publshing']) await expect.poll(() => withoutNotifications(query)).toEqual(['How we use publishing'])
  })

  it('answers an empty query with favourites in their order, then the other apps by title', async () => {
    await install(owner, 'time-sheet', 'stock-count', 'route-finder')
    await change(member, 'addFavourite', link('Handbook'))
    await change(member, 'addFavourite', { app: 'time-sheet' })
    expect(await titles(member, ' ')).toEqual(['Handbook', 'Time Sheet', 'Route Finder', 'Stock Count'])
    expect(await titles(member, '', { first: 3 })).toHaveLength(3)
    expect((await search(member, '')).every(({ score }: { score: number }) => score === 0)).toBe(true)
  })

  it('answers an empty query with apps by the launches of the last 30 days after the favourites', async () => {
    await install(owner, 'time-sheet', 'stock-count', 'route-finder')
    const open = (app: string) => change(member, 'launchApp', { app, source: 'CATALOGUE' })
    for (const app of ['time-sheet', 'time-sheet', 'route-finder']) await open(app)
    expect(await titles(member, '')).toEqual(['Time Sheet', 'Route Finder', 'Stock Count'])
    expect(await titles(owner, '')).toEqual(['Route Finder', 'Stock Count', 'Time Sheet'])
    await graph.clock.advance(30 * 86_400_000)
    await open('stock-count')
    await graph.clock.advance(1)
    expect(await titles(member, '')).toEqual(['Stock Count', 'Route Finder', 'Time Sheet'])
  })

  it('takes 200 characters and 1 to 50 hits, from people alone', async () => {
    expect((await ask(member, 'x'.repeat(201))).refused('BAD_USER_INPUT').extensions.field).toBe('query')
    for (const first of [0, 51]) expect((await ask(member, 'a', { first })).refused('BAD_USER_INPUT').extensions.field).toBe('first')
    ;(await ask(key(owner.organizationId!, ['launcher:launcher.read']), '')).refused('UNAUTHORIZED_FIELD_OR_TYPE')
  })

  it('takes any words without an error, eight of them at most', async () => {
    for (const query of ['a & b', "x:* | 'y'", 'one two three four five six seven eight nine ten', '\\', '%_']) expect(await titles(member, query)).toEqual([])
  })
})
