import { pino } from 'pino'
import { expect, test } from 'vitest'
import { connections } from '../../config/connections.ts'
import { createBudget } from '../../db/budget.ts'
import { createOpenPool } from '../../db/connect.ts'
import { createOpenJobs } from '../../platform/jobs/jobs.ts'

const log = pino({ level: 'silent' })
const url = 'postgres://nobody@localhost:1/nothing'

test('a process has at most thirty connections to a database, over all pools', async () => {
  expect(connections.most).toBe(30)
  const budget = createBudget()
  const taken = [budget.take('requests', 'Sequelize'), budget.take('credentials', 'identity')]
  for (;;) {
    try {
      taken.push(budget.take('jobs', 'a job runner'))
    } catch (error) {
      expect(error).toMatchObject({ message: 'a job runner is to have 5 connections to the database, and 1 of 30 are left: see config/connections.ts' })
      break
    }
  }
  expect(taken).toEqual([10, 4, 5, 5, 5])
})

test('a pool is as large as its purpose gets, and a runner of sweeps only gets none', async () => {
  const budget = createBudget({ most: 5, each: { requests: 1, credentials: 2, jobs: 3, events: 1 } })
  const openPool = createOpenPool({ url, log, budget })
  const runner = (queues: readonly string[]) =>
    createOpenJobs({ openPool })({ slug: 'publishing', queues: queues.map(name => ({ name, handle: async () => {} })), sweeps: [], log })
  const pool = openPool({ use: 'credentials', name: 'identity' })
  expect(pool.options.max).toBe(2)
  const [sweeping, working] = [runner([]), runner(['deliver'])]
  expect(() => runner(['another'])).toThrow('publishing_jobs is to have 3 connections')
  await expect(sweeping.enqueue('deliver', { id: '1' })).rejects.toThrow()
  await Promise.all([pool.end(), sweeping.stop(), working.stop()])
})
