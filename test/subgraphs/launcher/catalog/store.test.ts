import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type Door, openDoor } from '../../../kit/door.ts'
import { type Supergraph, supergraph } from '../../../kit/supergraph.ts'
import { steer } from './seed.ts'

let graph: Supergraph
let door: Door
beforeAll(async () => {
  graph = await supergraph({ sandbox: true, catalogue: true })
  door = await openDoor(graph)
  await graph.platform.launcher.at.services.catalog.refresh()
})
// An answer of the developer platform is cached for a minute.
beforeEach(() => graph.clock.advance(60_000))
afterAll(async () => {
  await door[Symbol.asyncDispose]()
  await graph[Symbol.asyncDispose]()
})

const store = async (path: string) => (await door.ask('GET', `/launcher/api/store/${path}`)).json
const slugsOf = ({ apps }: { apps: readonly { app: string }[] }) => apps.map(({ app }) => app)
/** Lets the developer platform's store refuse its next calls. */
const whileAway = async <Result>(work: () => Promise<Result>): Promise<Result> => {
  await steer(graph, 'faults', { network: 'developers', fault: 'status', status: 503, times: 20, path: '/api/store' })
  try {
    return await work()
  } finally {
    await steer(graph, 'faults', { network: 'developers', fault: 'none' })
  }
}

describe('the store', () => {
  it('lists the developer platform’s apps by title, neither technical nor custom ones', async () => {
    const list = await store('apps?first=100')
    expect(list).toMatchObject({ source: 'developers', nextCursor: null, totalCount: 11 })
    expect(list.apps[0]).toEqual({
      ...{ app: 'day-planner', title: 'Day Planner', summary: expect.any(String), description: expect.any(String), category: 'Personal' },
      ...{ publisher: 'Northwind Apps', icon: 'http://localhost:4000/launcher/icons/day-planner', contexts: ['personal'], capabilities: [] },
      ...{ screenshots: [expect.any(String)], version: '1.4.0' },
    })
    expect(slugsOf(list)).not.toContain('address-check')
  })

  it('pages through them', async () => {
    const first = await store('apps?first=10')
    const second = await store(`apps?first=10&after=${first.nextCursor}`)
    expect([first.apps.length, second.apps.length, second.nextCursor]).toEqual([10, 1, null])
  })

  it('answers from the copy while the developer platform is away, with typing errors, and searches there again afterwards', async () => {
    const [list, typo, none, one] = await whileAway(() =>
      Promise.all([store('apps?first=100'), store('search?q=rout%20findr'), store('search?q=qzxwv'), store('apps/team-board')]),
    )
    expect(list).toMatchObject({ source: 'local', totalCount: 11 })
    expect(slugsOf(typo)[0]).toBe('route-finder')
    expect(none).toEqual({ apps: [], source: 'local' })
    expect(one.title).toBe('Team Board')
    expect(await store('search?q=route')).toMatchObject({ source: 'developers', apps: [{ app: 'route-finder' }] })
  })

  it('asks the developer platform once a minute for the same page', async () => {
    const asked = () => graph.sent.filter(call => call.startsWith('GET /developers/api/store/apps')).length
    const before = asked()
    await Promise.all([store('apps'), store('apps'), store('apps')])
    expect(asked()).toBe(before + 1)
    await graph.clock.advance(59_999)
    await store('apps')
    expect(asked()).toBe(before + 1)
    await graph.clock.advance(1)
    await store('apps')
    expect(asked()).toBe(before + 2)
  })

  it.each(['nowhere', 'demo-tool', 'address-check', 'publishing'])('has no app %s', async app => {
    expect((await door.ask('GET', `/launcher/api/store/apps/${app}`)).status).toBe(404)
  })

  it('is in the graph, for everybody', async () => {
    const answer = await graph.execute('{ storeApps(search: "route") { nodes { app title } } storeApp(app: "team-board") { title version } }')
    expect(answer.data()).toEqual({
      storeApps: { nodes: [{ app: 'route-finder', title: 'Route Finder' }] },
      storeApp: { title: 'Team Board', version: '1.4.0' },
    })
    ;(await graph.execute('{ storeApp(app: "address-check") { title } }')).refused('NOT_FOUND')
  })
})

describe('GET /launcher/icons/:app', () => {
  it('streams the developer platform’s icon, which no browser runs on our origin', async () => {
    const icon = await door.ask('GET', '/launcher/icons/route-finder')
    expect(icon).toMatchObject({ status: 200, headers: { 'content-type': 'image/svg+xml', 'cache-control': 'public, max-age=3600' } })
    expect(icon.headers['content-security-policy']).toMatch(/default-src 'none'.*sandbox/)
    expect(icon.text).toContain('<circle')
  })

  it('draws one when there is none to be had, and never reads it from another origin', async () => {
    await graph.rows(`update launcher.catalog_entries set icon_url = 'http://169.254.169.254/icon.svg' where app = 'stock-count'`)
    expect((await door.ask('GET', '/launcher/icons/stock-count')).text).toContain('<rect')
    expect((await door.ask('GET', '/launcher/icons/nowhere')).status).toBe(404)
  })
})
