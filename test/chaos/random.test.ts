import { setTimeout as wait } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { until } from '../kit/launch.ts'
import { type ChaosPost, openStage } from './stage.ts'

const kills = Number(process.env.RANDOM_KILLS ?? 0)
const seed = Number(process.env.RANDOM_SEED ?? Math.floor(Math.random() * 2 ** 32))

const postCount = 80
const streamMs = 32_000
/** How long the network takes to answer a call that it has obeyed: long enough for a kill to fall in between. */
const answerMs = 500
const settledWithin = 30

/** Numbers from 0 to 1, the same for the same seed (mulberry32). */
function randomNumbers(state: number): () => number {
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

if (!kills) console.warn('random kills are left out, they take a minute: set RANDOM_KILLS=10, as .ci/run does')

test.runIf(kills)(`P-09 ${kills || 'random'} kills -9 at random moments under a stream of posts lose none and double none`, { timeout: 300_000 }, async () => {
  console.log(`random kills: seed ${seed} (RANDOM_SEED repeats it)`)
  const random = randomNumbers(seed)
  await using stage = await openStage()
  await stage.arm({ fault: 'slow', delayMs: answerMs, times: 1_000 })
  let platform = await stage.start()
  const posts: ChaosPost[] = []
  while (posts.length < postCount) {
    const first = await stage.schedule(`post ${posts.length} of a stream`, 2_000 + random() * streamMs)
    posts.push(first)
    // Every fourth post is answered by one that is due at the same time.
    if (random() < 0.25)
      posts.push(await stage.schedule(`post ${posts.length} of a stream, a reply`, Date.parse(first.scheduledAt!) - Date.now(), first.threadId))
  }
  for (let kill = 0; kill < kills; kill++) {
    // From before it is ready until it has worked for a while.
    await wait(200 + random() * 6_000)
    platform.child.kill('SIGKILL')
    expect(await platform.ended).toBe('SIGKILL')
    platform = stage.begin()
  }
  const restarted = performance.now()
  await platform.printed(/^ready in/m)
  const last = Math.max(...posts.map(({ scheduledAt }) => Date.parse(scheduledAt!)))
  await wait(Math.max(0, last - Date.now()))
  const due = performance.now()
  const ended = await until(
    'every post is settled',
    async () => {
      const now = await stage.read(posts.map(({ id }) => id))
      return now.every(({ status }) => status !== 'SCHEDULED') && now
    },
    60,
  )
  const seconds = (performance.now() - Math.max(restarted, due)) / 1000
  console.log(`random kills: ${posts.length} posts settled ${seconds.toFixed(1)} s after the last restart or due time`)
  expect(ended.filter(({ status }) => status !== 'PUBLISHED')).toEqual([])
  const published = (await stage.published()).map(({ text }) => text)
  expect(published.sort()).toEqual(posts.map(({ copy }) => copy).sort())
  expect(await stage.refusedCreations()).toEqual([])
  expect(seconds).toBeLessThan(settledWithin)
})
