import { systemClock } from 'pg-boss'
import { pino } from 'pino'
import { expect, test } from 'vitest'
import { createOpenPool } from '../../db/connect.ts'
import { createOpenJobs } from '../../platform/jobs/jobs.ts'
import type { JobData } from '../../platform/jobs/queue.ts'
import { createTestDatabase } from '../kit/database.ts'
import { until } from '../kit/launch.ts'

const log = pino({ level: 'silent' })

/** A runner in a process whose wall clock differs from the database's, and may be set while it runs. */
async function skewed(ms: number) {
  const database = await createTestDatabase()
  const wall = { ms }
  const now = () => Date.now() + wall.ms
  const taken: { id: string; late: number }[] = []
  const early: string[] = []
  const jobs = createOpenJobs({ openPool: createOpenPool({ url: database.url, log }), clock: { ...systemClock, now } })({
    slug: 'publishing',
    queues: [
      {
        name: 'wake',
        async handle({ id, at }: JobData) {
          const late = now() - Number(at)
          if (late < 0) {
            early.push(id!)
            return { again: new Date(Number(at)) }
          }
          taken.push({ id: id!, late })
        },
      },
    ],
    sweeps: [],
    log,
  })
  await jobs.start()
  return {
    wall,
    taken,
    early,
    send: (id: string, aheadMs: number) => {
      const at = now() + aheadMs
      return jobs.enqueue('wake', { id, at: String(at) }, { key: id, startAfter: new Date(at) })
    },
    async [Symbol.asyncDispose]() {
      await jobs.stop()
      await database.drop()
    },
  }
}

test('a process whose clock is behind the database’s reschedules wake-ups to its own time, without additional delay', async () => {
  await using run = await skewed(-3_000)
  for (const id of ['a', 'b', 'c']) await run.send(id, 4_000)
  await until('all ran', () => run.taken.length === 3)
  expect(run.early.sort()).toEqual(['a', 'b', 'c'])
  for (const { late } of run.taken) expect(late).toBeLessThan(3_000)
})

test('a process whose clock is ahead of the database’s follows the database: late by the difference, and never early', async () => {
  await using run = await skewed(1_500)
  await run.send('a', 2_000)
  await until('it ran', () => run.taken.length === 1)
  expect(run.early).toEqual([])
  expect(run.taken[0]!.late).toBeGreaterThanOrEqual(1_400)
})

test('a clock that is set back an hour stops no queue', async () => {
  await using run = await skewed(0)
  await run.send('before', 0)
  await until('the first ran', () => run.taken.length === 1)
  run.wall.ms = -3600_000
  await run.send('after', 0)
  await until('the second ran', () => run.taken.length === 2)
})
