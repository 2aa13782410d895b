import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { bringPictures, compare, type Name, received, stood, toCsv } from './everywhere.ts'
import { bringFilm, type Library, newBrand, planFilms } from './films.ts'
import { openStage } from './stage.ts'
import { type Fault, goWrong, killAgainAndAgain, listingLag, randomNumbers, settled, spent, usualFaults, wronglyListed, wronglyTold } from './storm.ts'

const wanted = Boolean(process.env.CHAOS)
if (!wanted) console.warn('kills of the platform while films go out are left out, they take some minutes: npm run test:chaos')
const seed = Number(process.env.RANDOM_SEED ?? Math.floor(Math.random() * 2 ** 32))

const size = { INSTAGRAM: 48, YOUTUBE: 40, TIKTOK: 32, brands: 6, kills: 12, aheadMs: 25_000, dueMs: 60_000, mostKillingMs: 90_000, failingMs: 15_000 }

/** One of each size that goes another way: in one part, with parts before the last one at YouTube, at TikTok too. */
const paddings = [40_000, 700_000, 9_000_000, 17_000_000]

const of: readonly Name[] = ['INSTAGRAM', 'YOUTUBE', 'TIKTOK']

/** What goes wrong at each of the networks. */
const everywhere: readonly Fault[] = [
  ...usualFaults,
  { fault: 'reset-mid-stream' },
  { fault: 'processing', delayMs: 4_000, times: 2 },
  { fault: 'processing-error' },
]
const listing: readonly Fault[] = [...everywhere, listingLag]

/** How posts fail by what goes wrong, by what is said of that: nothing else may be the reason. A film that a network gives up has its own code there. */
const explained: Readonly<Record<string, RegExp>> = { RATE_LIMITED: /./, NOT_DELIVERED: /./, MEDIA_FAILED: /codec|file_format_check_failed|2207026/ }

/** The platform as it is tried before it is in use, with the applications that networks give for that. */
const staging = {
  ...{ ENVIRONMENT: 'staging', DEMO: '1', AUTH_SECRET: 's'.repeat(32), ENCRYPTION_KEYS: `k1:${Buffer.alloc(32).toString('base64')}` },
  PAYMENTS_AUTH_URL: 'https://auth.staging.example',
  PAYMENTS_GATEWAY_URL: 'https://gateway.staging.example',
  PAYMENTS_APP_URL: 'https://pay.staging.example',
}

const posts = size.INSTAGRAM + size.YOUTUBE + size.TIKTOK

test.runIf(wanted)(
  `P-09 P-10 after ${posts} posts of pictures and videos, ${size.kills} kills -9 and network faults each post exists once and complete`,
  {
    timeout: 300_000,
  },
  async () => {
    console.log(`kills while films go out: seed ${seed} (RANDOM_SEED repeats it)`)
    const began = performance.now()
    const random = randomNumbers(seed)
    await using stage = await openStage()
    // YouTube accepts a hundred uploads a day, and an unfinished one counts.
    const quota = join(stage.folder.path, 'quota.json')
    const usual = { bucket: 'all', units: 1 }
    writeFileSync(quota, JSON.stringify({ buckets: { all: 1_000_000 }, calls: { list: usual, write: usual, unknown: usual, 'videos.insert': usual } }))
    const environment = { ...staging, YOUTUBE_QUOTA: quota }
    let platform = await stage.start(environment)
    await stage.schedule('so that the brand is known', 3_600_000_000)
    const libraries: Library[] = []
    for (let at = 0; at < size.brands; at += 1) {
      const brandId = at === 0 ? stage.brandId() : await newBrand(stage, `chaos_${at}`)
      const films = []
      for (const padding of at < 2 ? paddings : paddings.slice(0, 2)) films.push(await bringFilm(stage, brandId, padding + at))
      libraries.push({ brandId, films, pictures: at === 0 ? await bringPictures(stage, 4) : [] })
      const input = { brandId, url: `${stage.sandbox}/hooks/chaos`, events: ['post.published'] }
      await stage.query('mutation($input: CreateWebhookEndpointInput!) { createWebhookEndpoint(input: $input) { endpoint { id } } }', { input })
    }
    const from = Date.now() + size.aheadMs
    const plan = planFilms(size, random, () => new Date(from + random() * size.dueMs), libraries)
    for (const [brandId, ofBrand] of Map.groupBy(plan, each => each.brandId)) {
      const { importPosts } = await stage.query<{ importPosts: { created: number; rows: { problems: object[] }[] } }>(
        'mutation($input: ImportPostsInput!) { importPosts(input: $input) { created rows { problems { code message } } } }',
        { input: { brandId, csv: toCsv(ofBrand) } },
      )
      expect(importPosts.created, JSON.stringify(importPosts.rows[0])).toBe(ofBrand.length)
    }
    const written = performance.now()

    const slowPolling = goWrong(stage, random, of, name => (name === 'YOUTUBE' ? everywhere : listing))
    await wait(Math.max(0, from - Date.now()))
    const { died } = await killAgainAndAgain(stage, random, { platform, kills: size.kills, points: [], mostMs: size.mostKillingMs, environment })
    await slowPolling()
    const [{ now: restarted }] = (await stage.sql<{ now: string }>('select now()::text as now')) as [{ now: string }]
    platform = await stage.start(environment)
    const killed = performance.now()

    await wait(Math.max(0, from + size.dueMs - Date.now()))
    await settled(stage, restarted)
    const stands = await stood(stage)
    const have = await received(stage, of)
    const { wrong, table } = compare(stands, have)
    const brandIds = libraries.map(({ brandId }) => brandId)
    wrong.push(...(await wronglyTold(stage, stands)), ...(await wronglyListed(stage, stands, brandIds)))
    const whole = new Map(plan.map(({ copy, sha256 }) => [copy, sha256]))
    for (const name of ['YOUTUBE', 'TIKTOK'] as const)
      for (const { text, media } of have.get(name)!)
        if (media?.[0]?.sha256 !== whole.get(text)) wrong.push(`${name} has another film for ${text} than was sent`)
    for (const { copy, failure_code: code, failure_message: message, delivery_phase: phase } of stands)
      if (code && phase !== 'UNKNOWN' && !explained[code]?.test(message!))
        wrong.push(`${copy} has failed as ${code}, and nothing of what goes wrong explains that: ${message}`)
    const seconds = (since: number, to = performance.now()) => Math.round((to - since) / 1000)
    console.log(
      [
        ...table,
        `${died} kills -9; went wrong: ${(await spent(stage, of)).join('; ')}`,
        `${seconds(began, written)} s to write, ${seconds(written, killed)} s of kills, ${seconds(killed)} s until all was settled; seed ${seed}`,
      ].join('\n'),
    )
    expect(stands).toHaveLength(posts)
    expect(wrong).toEqual([])
    platform.child.kill('SIGTERM')
    expect(await platform.ended).toBe(0)
  },
)
