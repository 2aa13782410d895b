import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { cell } from '../../../../subgraphs/http/csv.ts'
import { figuresSweep, followersSweep } from '../../../../subgraphs/publishing/insight/analytics/collect.ts'
import { nextCount, nextTry } from '../../../../subgraphs/publishing/insight/analytics/rules.ts'
import { daysOf } from '../../../../subgraphs/publishing/insight/dashboard/resolvers.ts'
import type { Figures, Network } from '../../../../subgraphs/publishing/network/network.ts'
import { AccessExpired } from '../../../../subgraphs/publishing/network/network.ts'
import { inTransaction } from '../../../../subgraphs/store/write.ts'
import type { Viewer } from '../../../../subgraphs/viewer.ts'
import { type Door, openDoor } from '../../../kit/door.ts'
import { type Supergraph, supergraph } from '../../../kit/supergraph.ts'
import { seedBrand } from '../brand/seed.ts'
import { seedConnection } from '../connection/seed.ts'
import { seedPost } from '../post/seed.ts'

const hour = 3_600_000
let graph: Supergraph
let door: Door
let owner: Viewer
/** What X counts, and for which posts it was asked. */
let counts: Map<string, Figures>
let asked: string[][]
let failing: Error | null
const figuresOf = (likes: number): Figures => ({ impressions: likes * 10, likes, comments: 0, shares: null, clicks: null, videoViews: null })

beforeAll(async () => {
  graph = await supergraph({ sandbox: true })
  door = await openDoor(graph)
  owner = (await graph.seed.owner()).owner
  const network = graph.job.networks.get('X') as { -readonly [Name in keyof Network]: Network[Name] }
  network.figures = async (_, ids) => {
    asked.push([...ids])
    if (failing) throw failing
    return new Map(ids.flatMap(id => (counts.has(id) ? [[id, counts.get(id)!] as const] : [])))
  }
  network.followers = async () => 42
})
afterAll(async () => {
  await door[Symbol.asyncDispose]()
  await graph[Symbol.asyncDispose]()
})
beforeEach(() => {
  counts = new Map()
  asked = []
  failing = null
})

async function world(timeZone = 'UTC') {
  const { job } = graph
  const { id: brandId } = await seedBrand(graph, { organizationId: owner.organizationId! })
  await inTransaction(job, async ({ transaction }) => job.brands.update((await job.brands.lock(brandId, transaction))!, { timeZone }, transaction))
  const connection = await seedConnection(graph, { brandId, owner })
  return { brandId, connection }
}
let number = 1000
/** A post that went out, as the delivery leaves it. */
async function published({ brandId, connection }: Awaited<ReturnType<typeof world>>, publishedAt = graph.clock.now(), copy = 'Out') {
  const platformPostId = String(++number)
  const { externalAccountId } = connection
  const row = { status: 'PUBLISHED' as const, publishedAt, scheduledAt: publishedAt, platformPostId, connectionId: connection.id, externalAccountId }
  const { id } = await seedPost(graph, { brandId, owner }, { copy, row })
  await inTransaction(graph.job, ({ transaction }) => graph.job.analytics.begin([id], transaction))
  return { id, platformPostId }
}
const read = async (id: string) =>
  (await graph.execute('query($id: ID!) { postAnalytics(id: $id) { latest { at likes shares } snapshots { likes } } }', { id }, { as: owner })).data()
    .postAnalytics
const refresh = (id: string) => graph.execute('mutation($id: ID!) { refreshPostAnalytics(input: { id: $id }) { latest { likes } } }', { id }, { as: owner })
const sweep = () => figuresSweep(() => graph.job).run()

describe('P-18 figures of a post', () => {
  test('are read 1 hour, 6 hours, 1, 3, 7 and 30 days after publication, those of one account in one call', async () => {
    const place = await world()
    const [one, two] = [await published(place), await published(place)]
    counts.set(one.platformPostId, figuresOf(3)).set(two.platformPostId, figuresOf(4))
    await sweep()
    expect(asked, 'not before an hour').toEqual([])
    for (const hours of [1, 5, 18, 48, 96, 552, 5_000]) {
      await graph.clock.advance(hours * hour)
      await sweep()
    }
    expect(asked.map(ids => ids.toSorted())).toEqual(Array(6).fill([one.platformPostId, two.platformPostId]))
    expect(await read(one.id)).toMatchObject({ latest: { likes: 3, shares: null }, snapshots: Array(6).fill({ likes: 3 }) })
  })

  test('are requested again when the network does not answer, and nothing is stored meanwhile', async () => {
    const post = await published(await world())
    failing = new Error('silence')
    await graph.clock.advance(hour)
    await sweep()
    expect((await read(post.id)).latest).toBeNull()
    failing = null
    counts.set(post.platformPostId, figuresOf(1))
    await sweep()
    expect(asked.length, 'not at once').toBe(1)
    await graph.clock.advance(hour / 4)
    await sweep()
    expect((await read(post.id)).latest).toMatchObject({ likes: 1 })
  })

  test('are read at once on request, once a minute, and only for published posts', async () => {
    const place = await world()
    const post = await published(place)
    counts.set(post.platformPostId, figuresOf(5))
    expect((await refresh(post.id)).data().refreshPostAnalytics.latest).toEqual({ likes: 5 })
    expect((await refresh(post.id)).refused('RATE_LIMITED').extensions.retryAfter).toBe(60)
    await graph.clock.advance(60_000)
    failing = new AccessExpired('X')
    ;(await refresh(post.id)).refused('UPSTREAM_FAILED')
    const { id } = await seedPost(graph, { brandId: place.brandId, owner })
    ;(await refresh(id)).refused('CONFLICT')
  })

  test.each([
    [0, hour],
    [hour, 6 * hour],
    [6 * hour - 1, 6 * hour],
    [720 * hour, null],
  ])('%s ms after its publication a post is counted next at %s', (after, next) => {
    const at = new Date('2027-03-01T09:00:00Z')
    expect(nextCount(at, new Date(at.getTime() + after))).toEqual(next === null ? null : new Date(at.getTime() + next))
    expect(nextTry(at, new Date(at.getTime() + after))).not.toBeNull()
    expect(nextTry(at, new Date(at.getTime() + 745 * hour))).toBeNull()
  })
})

describe('figures of a brand', () => {
  const document = `query($brandId: ID!, $from: DateTime!, $to: DateTime!) { brandAnalytics(brandId: $brandId, from: $from, to: $to) {
    totals { posts likes shares } byPlatform { platform sums { posts likes } } byDay { day sums { posts likes } } topPosts { postId figures { likes } } followers { count change } } }`

  test('are summed over its posts, by network and by day of its time zone', async () => {
    const place = await world('Asia/Tokyo')
    // Half past midnight in Tokyo is the day before in UTC.
    const [night, noon] = [new Date('2027-02-09T15:30:00Z'), new Date('2027-02-10T03:00:00Z')]
    const [one, two] = [await published(place, night, '=HYPERLINK("x")'), await published(place, noon)]
    await published(place, new Date('2027-02-12T00:00:00Z'))
    counts.set(one.platformPostId, figuresOf(2)).set(two.platformPostId, figuresOf(3))
    for (const { id } of [one, two]) (await refresh(id)).data()
    const range = { brandId: place.brandId, from: '2027-02-09T15:00:00Z', to: '2027-02-11T15:00:00Z' }
    await followersSweep(() => graph.job).run()
    const told = (await graph.execute(document, range, { as: owner })).data().brandAnalytics
    expect(told).toMatchObject({
      totals: { posts: 2, likes: 5, shares: null },
      byPlatform: [{ platform: 'X', sums: { posts: 2, likes: 5 } }],
      byDay: [
        { day: '2027-02-10', sums: { posts: 2, likes: 5 } },
        { day: '2027-02-11', sums: { posts: 0, likes: null } },
      ],
      topPosts: [
        { postId: two.id, figures: { likes: 3 } },
        { postId: one.id, figures: { likes: 2 } },
      ],
    })
    const whole = await graph.execute(
      document,
      { ...range, to: graph.clock.in(hour).toISOString(), from: graph.clock.in(-24 * hour).toISOString() },
      { as: owner },
    )
    expect(whole.data().brandAnalytics.followers).toEqual([{ count: 42, change: null }])
    for (const [daysAgo, count] of [
      [3, 7],
      [1, 40],
    ] as const)
      await graph.rows('insert into publishing.follower_counts (brand_id, connection_id, day, count) values ($1, $2, $3, $4)', [
        place.brandId,
        place.connection.id,
        graph.clock
          .in(-24 * hour * daysAgo)
          .toISOString()
          .slice(0, 10),
        count,
      ])
    const lately = await graph.execute(document, { ...range, to: graph.clock.soon(hour), from: graph.clock.soon(-24 * hour) }, { as: owner })
    expect(lately.data().brandAnalytics.followers, 'since the first day of the range').toEqual([{ count: 42, change: 2 }])
    const response = await graph.platform.subgraphs.find(({ registration }) => registration.slug === 'publishing')!.http!(
      new Request(`http://localhost:4000/publishing/api/analytics.csv?${new URLSearchParams(range)}`),
      owner,
    )
    const lines = (await response.text()).trimEnd().split('\r\n')
    expect(lines[0]).toMatch(/^postId,platform,/)
    expect(lines.slice(1).map(line => line.split(',')[0])).toEqual([one.id, two.id])
    expect(lines[1]).toContain(`"'=HYPERLINK(""x"")"`)
  })

  test('are one row for each post in the CSV, also where hundreds were published at one moment', async () => {
    const place = await world()
    const at = new Date('2027-02-10T03:00:00Z')
    const { id } = await published(place, at)
    await graph.rows(`update publishing.posts set title = 'Its own title' where id = $1`, [id])
    await graph.rows(
      `insert into publishing.posts select (jsonb_populate_record(p, jsonb_build_object('id', n.id, 'thread_id', n.id, 'platform_post_id', 'many-' || n.at))).*
        from publishing.posts p cross join (select gen_random_uuid() as id, at from generate_series(1, 600) at) n where p.id = $1`,
      [id],
    )
    const range = new URLSearchParams({ brandId: place.brandId, from: '2027-02-10T03:00:00Z', to: '2027-02-11T00:00:00Z' })
    const { http } = graph.platform.subgraphs.find(({ registration }) => registration.slug === 'publishing')!
    const lines = (await (await http!(new Request(`http://localhost:4000/publishing/api/analytics.csv?${range}`), owner)).text()).trimEnd().split('\r\n')
    expect(new Set(lines.slice(1).map(line => line.split(',')[0])).size).toBe(601)
    expect(lines).toHaveLength(602)
    expect(lines[1]!.split(',')[3], 'a post is called by its own title').toBe('Its own title')
  })

  test('are rejected for more than 366 days, and for another organization', async () => {
    const { brandId } = await world()
    const answer = await graph.execute(document, { brandId, from: '2026-01-01T00:00:00Z', to: '2027-01-03T00:00:00Z' }, { as: owner })
    expect(answer.refused('BAD_USER_INPUT').extensions.field).toBe('to')
    const { outsider } = await graph.seed.owner().outsider()
    ;(await graph.execute(document, { brandId, from: '2026-01-01T00:00:00Z', to: '2026-01-03T00:00:00Z' }, { as: outsider })).refused('NOT_FOUND')
  })

  test.each([
    ['=1+1', "'=1+1"],
    ['＝1+1', "'＝1+1"],
    ['+x', "'+x"],
    ['-x', "'-x"],
    ['@x', "'@x"],
    ['\tx', "'\tx"],
    ['a,b', '"a,b"'],
    ['say "a"', '"say ""a"""'],
    [null, ''],
    [-5, '-5'],
  ])('a cell of %j is written %j', (value, written) => expect(cell(value)).toBe(written))
})

describe('the dashboard', () => {
  const document = `query($id: ID) { publishingDashboard(brandId: $id) { scheduledToday failed publishedThisWeek awaitingApproval unknown
    attentionIds nextIds attention { id } next { id } } }`
  const shown = async (id?: string) => (await graph.execute(document, { id }, { as: owner })).data().publishingDashboard

  test('has the figures of the lists, in days and weeks of the brand’s zone', async () => {
    await graph.clock.advance(Date.UTC(2027, 7, 1, 20) - graph.clock.now().getTime())
    const place = await world('Asia/Tokyo')
    const post = async (row: object) => (await seedPost(graph, { brandId: place.brandId, owner }, { row })).id
    // Monday, 2 August, 05:00 in Tokyo; Sunday evening in UTC.
    const today = await post({ status: 'SCHEDULED', scheduledAt: new Date('2027-08-02T14:59:00Z'), approval: 'PENDING' })
    const tomorrow = await post({ status: 'SCHEDULED', scheduledAt: new Date('2027-08-02T15:00:00Z') })
    await post({ status: 'FAILED', failureCode: 'X', failureMessage: 'x', failedAt: graph.clock.now() })
    await published(place, new Date('2027-08-01T15:00:00Z'))
    await published(place, new Date('2027-08-01T14:59:00Z'))
    await graph.rows(`update publishing.connections set health = 'EXPIRING' where id = $1`, [place.connection.id])
    expect(await shown(place.brandId)).toEqual({
      scheduledToday: 1,
      failed: 1,
      publishedThisWeek: 1,
      awaitingApproval: 1,
      unknown: 0,
      attentionIds: [place.connection.id],
      nextIds: [today, tomorrow],
      attention: [{ id: place.connection.id }],
      next: [{ id: today }, { id: tomorrow }],
    })
    expect((await shown()).failed).toBe(1)
  })

  test.each([
    ['Asia/Tokyo', '2027-08-01T20:00:00Z', ['2027-08-01T15:00:00.000Z', '2027-08-02T15:00:00.000Z', '2027-08-01T15:00:00.000Z']],
    ['UTC', '2027-08-01T20:00:00Z', ['2027-08-01T00:00:00.000Z', '2027-08-02T00:00:00.000Z', '2027-07-26T00:00:00.000Z']],
    ['Europe/Berlin', '2026-10-25T12:00:00Z', ['2026-10-24T22:00:00.000Z', '2026-10-25T23:00:00.000Z', '2026-10-18T22:00:00.000Z']],
  ])('in %s at %s has a day and a week of its own', (zone, now, days) => {
    const { dayFrom, dayTo, weekFrom } = daysOf(zone, new Date(now))
    expect([dayFrom, dayTo, weekFrom].map(each => each.toISOString())).toEqual(days)
  })
})

test('P-18 reads follower counts of all accounts in parallel: a silent network delays no other, nor the round', async () => {
  await world()
  await world()
  const network = graph.job.networks.get('X') as { -readonly [Name in keyof Network]: Network[Name] }
  const usual = network.followers!
  const answer = Promise.withResolvers<number>()
  let silent = 0
  network.followers = () => {
    silent += 1
    if (silent === 2) answer.resolve(7)
    return answer.promise
  }
  await followersSweep(() => graph.job).run()
  network.followers = usual
  expect(silent).toBeGreaterThan(1)
})
