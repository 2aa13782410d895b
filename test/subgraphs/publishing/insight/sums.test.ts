import fc from 'fast-check'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { dayAfter, localTime, startOfDay } from '../../../../platform/clock.ts'
import { newId } from '../../../../platform/ids.ts'
import { clocksOf, daysFrom, daysOn } from '../../../../subgraphs/publishing/insight/analytics/days.ts'
import { checkSums, daySumsSweep, sumUp } from '../../../../subgraphs/publishing/insight/analytics/sum-up.ts'
import { inTransaction } from '../../../../subgraphs/store/write.ts'
import type { Viewer } from '../../../../subgraphs/viewer.ts'
import { type Supergraph, supergraph } from '../../../kit/supergraph.ts'
import { seedBrand } from '../brand/seed.ts'

const hour = 3_600_000
const begin = Date.parse('2027-03-20T00:00:00Z')
const at = (hours: number) => new Date(begin + hours * hour)
const zones = ['UTC', 'Europe/Berlin', 'Asia/Kathmandu', 'America/New_York']

let graph: Supergraph
let owner: Viewer
let elsewhere: string
beforeAll(async () => {
  graph = await supergraph()
  owner = (await graph.seed.owner()).owner
  elsewhere = (await graph.seed.owner()).organization.id
})
afterAll(() => graph[Symbol.asyncDispose]())

const brand = async () => (await seedBrand(graph, { organizationId: owner.organizationId! })).id
const platforms = ['X', 'THREADS', 'FACEBOOK'] as const

let number = 0
/** A post that went out, past every rule. */
async function published(brandId: string, publishedAt: Date, platform: string = 'X'): Promise<string> {
  const id = newId()
  await graph.rows(
    `insert into publishing.posts (brand_id, id, thread_id, position, platform, copy, status, published_at, platform_post_id, created_at, updated_at, created_by)
     values ($1, $2, $2, 1, $3, 'Out', 'PUBLISHED', $4, $5, $4, $4, 'user:x')`,
    [brandId, id, platform, publishedAt, `sums-${++number}`],
  )
  return id
}
const counted = (brandId: string, postId: string, likes: number | null, shares: number | null, publishedAt = at(0)) =>
  graph.rows(
    `insert into publishing.post_figures (brand_id, post_id, published_at, at, likes, shares) values ($1, $2, $3, $3, $4, $5)
     on conflict (brand_id, post_id) do update set likes = $4, shares = $5, at = $3`,
    [brandId, postId, publishedAt, likes, shares],
  )

interface Post {
  readonly id: string
  readonly platform: string
  readonly publishedAt: Date
  readonly isCounted: boolean
  readonly likes: number | null
  readonly shares: number | null
}

/** What a list of posts comes to, summed here rather than by the database. */
function sumsOf(posts: readonly Post[]) {
  const sum = (figure: 'likes' | 'shares') => {
    const told = posts.flatMap(post => post[figure] ?? [])
    return told.length === 0 ? null : told.reduce((a, b) => a + b, 0)
  }
  return { posts: posts.length, likes: sum('likes'), shares: sum('shares') }
}

/** What is told of a range, beside what its posts come to. */
async function compare(brandId: string, from: Date, to: Date) {
  const [{ zone }] = (await graph.rows<{ zone: string }>('select time_zone as zone from publishing.brands where id = $1', [brandId])) as [{ zone: string }]
  const all = await graph.rows<Post>(
    `select p.id, p.platform, p.published_at as "publishedAt", f.at is not null as "isCounted", f.likes, f.shares from publishing.posts p
     left join publishing.post_figures f on f.brand_id = p.brand_id and f.post_id = p.id where p.brand_id = $1 and p.status = 'PUBLISHED'`,
    [brandId],
  )
  const posts = all.filter(({ publishedAt }) => publishedAt >= from && publishedAt < to)
  const days = daysFrom(zone, from, new Date(to.getTime() - 1))
  const range = { brandId, from, to, days, clocks: clocksOf(zone) }
  const [sums, top] = await Promise.all([graph.job.daySums.sums(range), graph.job.daySums.top(range)])
  const told = (row: { posts: number; likes: number | null; shares: number | null }) => ({ posts: row.posts, likes: row.likes, shares: row.shares })
  const done = (post: Post) => (post.likes ?? 0) + (post.shares ?? 0)
  const byDay = Map.groupBy(posts, ({ publishedAt }) => localTime(zone, publishedAt).day)
  const byPlatform = Map.groupBy(posts, ({ platform }) => platform)
  expect({
    all: sums.filter(row => !row.ofDay && !row.ofPlatform).map(told),
    byDay: Object.fromEntries(sums.filter(row => row.ofDay).map(row => [days[row.day! - 1]!.day, told(row)])),
    byPlatform: Object.fromEntries(sums.filter(row => row.ofPlatform).map(row => [row.platform, told(row)])),
    top: top.map(({ id }) => id),
  }).toEqual({
    all: [sumsOf(posts)],
    byDay: Object.fromEntries([...byDay].map(([name, own]) => [name, sumsOf(own)])),
    byPlatform: Object.fromEntries([...byPlatform].map(([name, own]) => [name, sumsOf(own)])),
    top: posts
      .filter(({ isCounted }) => isCounted)
      .sort((a, b) => done(b) - done(a) || (a.id < b.id ? -1 : 1))
      .slice(0, 10)
      .map(({ id }) => id),
  })
}
const ranges = [
  [0, 240],
  [-24, 24 * 30],
  [13, 61],
] as const
const compareAll = async (brandId: string) => {
  for (const [from, to] of ranges) await compare(brandId, at(from), at(to))
}

/** What may happen to posts of a brand, and to the brand. */
const happening = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({ what: fc.constant('publish' as const), hours: fc.integer({ min: -10, max: 250 }), platform: fc.constantFrom(...platforms) }),
  },
  {
    weight: 6,
    arbitrary: fc.record({ what: fc.constant('count' as const), which: fc.nat(), likes: fc.option(fc.nat(30)), shares: fc.option(fc.nat(30)) }),
  },
  { weight: 2, arbitrary: fc.record({ what: fc.constantFrom('delete' as const, 'forget' as const, 'revert' as const), which: fc.nat() }) },
  { weight: 1, arbitrary: fc.record({ what: fc.constant('zone' as const), zone: fc.constantFrom(...zones) }) },
  { weight: 1, arbitrary: fc.record({ what: fc.constantFrom('transfer' as const, 'release' as const) }) },
  { weight: 4, arbitrary: fc.record({ what: fc.constantFrom('sweep' as const, 'sum' as const) }) },
)

describe('sums of days', () => {
  test('equal the posts’ figures at every moment, whatever happens, and stored sums are right', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(happening, { minLength: 5, maxLength: 25 }), async happenings => {
        const brandId = await brand()
        const posts: string[] = []
        for (const each of happenings) {
          const one = 'which' in each ? posts[each.which % Math.max(posts.length, 1)] : undefined
          if (each.what === 'publish') posts.push(await published(brandId, at(each.hours), each.platform))
          else if (each.what === 'zone') await graph.rows('update publishing.brands set time_zone = $2 where id = $1', [brandId, each.zone])
          else if (each.what === 'transfer') await graph.rows('update publishing.brands set organization_id = $2 where id = $1', [brandId, elsewhere])
          else if (each.what === 'release')
            await graph.rows('update publishing.posts set group_id = $2, campaign_id = null where brand_id = $1', [brandId, newId()])
          else if (each.what === 'sweep') await daySumsSweep(() => graph.job).run()
          else if (each.what === 'sum') await sumUp(graph.job, brandId)
          else if (!one) continue
          else if (each.what === 'count') await counted(brandId, one, each.likes, each.shares)
          else if (each.what === 'forget') await graph.rows('delete from publishing.post_figures where post_id = $1', [one])
          else if (each.what === 'delete') await graph.rows('delete from publishing.posts where id = $1', [posts.splice(posts.indexOf(one), 1)[0]])
          else
            await graph.rows(`update publishing.posts set status = 'DRAFT', published_at = null, platform_post_id = null where id = $1`, [
              posts.splice(posts.indexOf(one), 1)[0],
            ])
          await compare(brandId, at(0), at(240))
        }
        await compareAll(brandId)
        await sumUp(graph.job, brandId)
        await compareAll(brandId)
        expect(await graph.rows('select from publishing.days_to_sum where brand_id = $1', [brandId])).toEqual([])
        expect(await checkSums(graph.job, brandId)).toBe(0)
      }),
      { numRuns: 12, endOnFailure: true },
    )
  })

  test('stay right when a publication began before they were computed, and is committed after', async () => {
    const brandId = await brand()
    const post = await published(brandId, at(30))
    await counted(brandId, post, 1, 1)
    await sumUp(graph.job, brandId)
    const client = new pg.Client({ connectionString: graph.database.url })
    await client.connect()
    try {
      await client.query('begin')
      await client.query('update publishing.post_figures set likes = 7 where post_id = $1', [post])
      const other = await published(brandId, at(31))
      await sumUp(graph.job, brandId)
      await compareAll(brandId)
      await client.query('commit')
      await compareAll(brandId)
      await sumUp(graph.job, brandId)
      await compareAll(brandId)
      expect(await graph.rows<{ posts: number }>('select posts, likes from publishing.day_sums where brand_id = $1', [brandId])).toEqual([
        { posts: 2, likes: '7' },
      ])
      await graph.rows('delete from publishing.posts where id = any($1::uuid[])', [[post, other]])
      await compareAll(brandId)
    } finally {
      await client.end()
    }
  })

  test('are computed by one process at a time: a second one skips the brand', async () => {
    const brandId = await brand()
    await published(brandId, at(5))
    await inTransaction(graph.job, async ({ transaction }) => {
      expect(await graph.job.daySums.hold(brandId, transaction)).toMatchObject({ timeZone: 'UTC', by: null })
      await sumUp(graph.job, brandId)
      expect(await graph.rows('select from publishing.days_to_sum where brand_id = $1', [brandId])).toHaveLength(1)
    })
    await Promise.all([1, 2, 3].map(() => sumUp(graph.job, brandId)))
    expect(await graph.rows('select from publishing.days_to_sum where brand_id = $1', [brandId])).toEqual([])
    await compareAll(brandId)
  })

  test('are computed again when the rules of time zones change', async () => {
    const brandId = await brand()
    await published(brandId, at(5))
    await sumUp(graph.job, brandId)
    await graph.rows(`update publishing.summed_brands set zones = '1970a' where brand_id = $1`, [brandId])
    // What was summed by other rules does not count.
    await graph.rows('update publishing.day_sums set posts = 17 where brand_id = $1', [brandId])
    await compareAll(brandId)
    await daySumsSweep(() => graph.job).run()
    expect(await graph.rows('select posts from publishing.day_sums where brand_id = $1', [brandId])).toEqual([{ posts: 1 }])
    await compareAll(brandId)
  })

  test('that are wrong are found once a day, logged, counted and recomputed', async () => {
    const brandId = await brand()
    await counted(brandId, await published(brandId, at(5)), 3, null)
    await published(brandId, at(100))
    const sweep = () => daySumsSweep(() => graph.job).run()
    await sweep()
    await graph.rows('update publishing.day_sums set likes = 4 where brand_id = $1 and likes = 3', [brandId])
    await graph.rows(`insert into publishing.day_sums (brand_id, starts_at, platform, posts, top) values ($1, $2, 'X', 2, '{}')`, [brandId, at(48)])
    await graph.clock.advance(25 * hour)
    await graph.rows('update publishing.summed_brands set checked_at = $2 where brand_id = $1', [brandId, at(-1000)])
    const said = () => graph.log.filter(line => line.includes('daily sums differ') && line.includes(brandId)).length
    await sweep()
    expect(said()).toBe(1)
    const figure = await graph.metrics.getSingleMetricAsString('publishing_day_sums_drift_total')
    expect(figure).toMatch(/publishing_day_sums_drift_total 2$/m)
    await sweep()
    expect(await checkSums(graph.job, brandId)).toBe(0)
    await compareAll(brandId)
  })

  test('cost the same number of statements for any number of days and posts, and summed posts are not read again', async () => {
    const brandId = await brand()
    for (let post = 0; post < 40; post++) await counted(brandId, await published(brandId, at(post * 6)), post, null)
    await sumUp(graph.job, brandId)
    const ask = (from: Date, to: Date) => async () =>
      (
        await graph.execute(
          `{ brandAnalytics(brandId: "${brandId}", from: "${from.toISOString()}", to: "${to.toISOString()}") { totals { posts } byDay { day } topPosts { postId } } }`,
          {},
          { as: owner },
        )
      ).data()
    const [short, long] = [await graph.statements(ask(at(0), at(24))), await graph.statements(ask(at(-24 * 300), at(24 * 60)))]
    expect(long.length).toBe(short.length)
    // Whoever summed posts would not find what the sums say.
    await graph.rows('update publishing.day_sums set posts = posts + 100 where brand_id = $1', [brandId])
    expect((await ask(at(0), at(24))()).brandAnalytics.totals.posts).toBe(104)
    expect((await ask(at(0), at(25))()).brandAnalytics.totals.posts, 'of a day that has only begun').toBe(105)
  })
})

describe('days of a time zone', () => {
  test('equal those that are searched one by one', () => {
    for (const zone of [...zones, 'Africa/Casablanca', 'America/Sao_Paulo', 'Pacific/Apia', 'Africa/Cairo'])
      for (const year of [2011, 2018, 2027]) {
        const [first, last] = [new Date(Date.UTC(year, 0, 3, 11)), new Date(Date.UTC(year + 1, 0, 3, 11))]
        const days = daysFrom(zone, first, last)
        expect(days[0]!.day).toBe(localTime(zone, first).day)
        expect(days.at(-1)!.day).toBe(localTime(zone, last).day)
        for (const { day, starts, ends } of days)
          expect({ zone, day, starts, ends }).toEqual({ zone, day, starts: startOfDay(zone, day), ends: startOfDay(zone, dayAfter(day, 1)) })
      }
  })

  test('with given moments are listed once each, in any order', () => {
    const moments = [at(50), at(1), at(49), at(2)]
    expect(daysOn('UTC', moments)).toMatchObject([{ starts: at(0) }, { starts: at(48), ends: at(72) }])
    expect(daysOn('UTC', [])).toEqual([])
  })
})
