import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Viewer } from '../../../../subgraphs/viewer.ts'
import { type Supergraph, supergraph } from '../../../kit/supergraph.ts'
import { personally } from '../../../kit/viewers.ts'
import { seedApps, seedPlatformApps } from './seed.ts'

let graph: Supergraph
let owner: Viewer
let outsider: Viewer
beforeAll(async () => {
  graph = await supergraph()
  ;({ owner, outsider } = await graph.seed.owner().outsider())
  await seedPlatformApps(graph)
  await seedApps(
    graph,
    {
      slug: 'route-finder',
      title: 'Route Finder',
      summary: 'Plans round trips for drivers',
      category: 'Logistics',
      widget: { url: 'https://route.test/widget', audience: 'user' },
    },
    { slug: 'stock-count', title: 'Stock Count', summary: 'Counts goods, and finds the route through the warehouse', category: 'Logistics' },
    { slug: 'guest-list', title: 'Guest List', capabilities: ['household_capable'] },
    { slug: 'day-planner', title: 'Day Planner', contexts: ['personal'] },
    { slug: 'address-check', title: 'Address Check', kind: 'technical' },
    { slug: 'own-tool', title: 'Own Tool', organizationId: owner.organizationId },
    { slug: 'publishing', title: 'Somebody else’s Publishing' },
  )
})
afterAll(() => graph[Symbol.asyncDispose]())

const entries = async (as: Viewer, filter = '') =>
  (await graph.execute(`{ catalogEntries(first: 100${filter}) { totalCount nodes { app title origin launchable contexts } } }`, {}, { as })).data()
    .catalogEntries
const appsOf = async (as: Viewer, filter = ''): Promise<string[]> => (await entries(as, filter)).nodes.map(({ app }: { app: string }) => app)

describe('catalogEntries', () => {
  it('lists apps for organizations by title, the own custom app and technical services among them', async () => {
    const { nodes, totalCount } = await entries(owner)
    const titles = nodes.map(({ title }: { title: string }) => title)
    expect(titles).toEqual([...titles].sort())
    expect(totalCount).toBe(nodes.length)
    const apps = nodes.map(({ app }: { app: string }) => app)
    expect(apps).toEqual(expect.arrayContaining(['launcher', 'publishing', 'agents', 'payments', 'providers', 'route-finder', 'address-check', 'own-tool']))
    expect(apps).not.toContain('day-planner')
    expect(nodes.find(({ app }: { app: string }) => app === 'address-check')).toMatchObject({ launchable: false, origin: 'STORE' })
    expect(nodes.find(({ app }: { app: string }) => app === 'own-tool')).toMatchObject({ origin: 'CUSTOM' })
  })

  it('keeps a platform app’s slug from apps of the developer platform', async () => {
    const { title, origin } = (await entries(owner)).nodes.find(({ app }: { app: string }) => app === 'publishing')
    expect({ title, origin }).toEqual({ title: 'Publishing', origin: 'PLATFORM' })
  })

  it('shows a custom app to its organization alone', async () => {
    expect(await appsOf(outsider)).not.toContain('own-tool')
    const answer = await graph.execute('{ catalogEntry(app: "own-tool") { id } }', {}, { as: outsider })
    answer.refused('NOT_FOUND')
  })

  it('lists apps for persons and households alone in personal context', async () => {
    expect(await appsOf({ ...personally(owner), scopes: owner.scopes })).toEqual(['day-planner', 'guest-list', 'identity', 'launcher'])
  })

  it('narrows by category, kind and origin, with and without a search', async () => {
    expect(await appsOf(owner, ', category: "Logistics"')).toEqual(['route-finder', 'stock-count'])
    expect(await appsOf(owner, ', kind: TECHNICAL, origin: STORE')).toEqual(['address-check'])
    expect(await appsOf(owner, ', search: "route", category: "Finance"')).toEqual([])
  })

  it('finds words, their beginnings and words with typing errors, title before summary before description, and nothing that is not near', async () => {
    expect(await appsOf(owner, ', search: "route"')).toEqual(['route-finder', 'stock-count', 'providers'])
    expect(await appsOf(owner, ', search: "rou fin"')).toEqual(['route-finder', 'stock-count'])
    expect((await appsOf(owner, ', search: "rout findr"'))[0]).toBe('route-finder')
    expect(await appsOf(owner, ', search: "qzxwv"')).toEqual([])
    expect(await appsOf(owner, ', search: "& ! | ( :*"')).toEqual([])
  })

  it('pages through hits in their order', async () => {
    const page = async (after: string | null) =>
      (
        await graph.execute(
          'query($after: String) { catalogEntries(search: "rou fin", first: 1, after: $after) { nodes { app } totalCount pageInfo { hasNextPage endCursor } } }',
          { after },
          { as: owner },
        )
      ).data().catalogEntries
    const first = await page(null)
    expect(first).toMatchObject({ nodes: [{ app: 'route-finder' }], totalCount: 2, pageInfo: { hasNextPage: true } })
    expect(await page(first.pageInfo.endCursor)).toMatchObject({ nodes: [{ app: 'stock-count' }], pageInfo: { hasNextPage: false } })
  })

  it('resolves the registry’s entry of a platform app and none of a store app', async () => {
    const answer = await graph.execute(
      '{ platform: catalogEntry(app: "agents") { id icon service { id slug } } store: catalogEntry(app: "route-finder") { service { id } widgetAudience } }',
      {},
      { as: owner },
    )
    const { platform, store } = answer.data()
    expect(platform).toEqual({ id: platform.id, icon: 'http://localhost:4000/launcher/icons/agents', service: { id: platform.id, slug: 'agents' } })
    expect(store).toEqual({ service: null, widgetAudience: 'USER' })
  })
})
