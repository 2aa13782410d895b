import { PgBoss } from 'pg-boss'
import { describe, expect, test } from 'vitest'
import type { JobData } from '../../platform/jobs/queue.ts'
import { openQueues } from '../../platform/jobs/queue-table.ts'
import { gate, runner } from './runner.ts'

const queue = 'wake'
const waiting = `select singleton_key as key, start_after as at, data, state from publishing_jobs.job where name = 'wake' and state < 'active' order by start_after`

/** A queue that notes what it was woken with. */
function noting() {
  const woken: string[] = []
  return { woken, queue: { name: queue, handle: async ({ id }: JobData) => void woken.push(id!) } }
}

describe('a job with a key', () => {
  test('waits at most once: sent a hundred times it is one, with the last time and the last data', async () => {
    const { woken, queue: wake } = noting()
    await using run = await runner([wake])
    await run.jobs.start()
    for (let turn = 1; turn <= 100; turn++) await run.jobs.enqueue(queue, { id: `turn ${turn}` }, { key: 'post', startAfter: run.in(turn * 60_000) })
    expect(await run.rows(waiting)).toEqual([{ key: 'post', at: run.in(6_000_000), data: { id: 'turn 100' }, state: 'created' }])
    await run.jobs.enqueue(queue, { id: 'now' }, { key: 'post' })
    await run.clock.tick(2_000)
    expect(woken).toEqual(['now'])
    await run.clock.setTime(run.in(6_000_000))
    await run.clock.tick(2_000)
    expect(woken).toEqual(['now'])
  })

  test('is one when two transactions send it at once, and is missing after a rollback', async () => {
    await using run = await runner([noting().queue])
    await run.jobs.start()
    const [sent, end] = [gate(), gate()]
    const send = (id: string, then: () => Promise<void>) =>
      run.database.sequelize.transaction(async transaction => {
        await run.jobs.enqueue(queue, { id }, { transaction, key: 'post', startAfter: run.in(60_000) })
        await then()
      })
    const first = send('first', () => {
      sent.resolve()
      return end.promise
    })
    await sent.promise
    const second = send('second', async () => {})
    // The second waits behind the first: it sees the first one's job once that is committed.
    const behind = `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`
    await expect.poll(() => run.rows(behind)).toHaveLength(1)
    end.resolve()
    await Promise.all([first, second])
    expect(await run.rows(waiting)).toMatchObject([{ data: { id: 'second' } }])

    await expect(
      run.database.sequelize.transaction(async transaction => {
        await run.jobs.enqueue(queue, { id: 'undone' }, { transaction, key: 'other' })
        await run.jobs.enqueue(queue, { id: 'undone' }, { transaction })
        await run.jobs.cancel(queue, 'post', { transaction })
        throw new Error('undone')
      }),
    ).rejects.toThrow('undone')
    expect(await run.rows(waiting)).toMatchObject([{ key: 'post', data: { id: 'second' } }])
  })

  test('that is cancelled never runs; others stay', async () => {
    const { woken, queue: wake } = noting()
    await using run = await runner([wake])
    await run.jobs.start()
    await run.jobs.enqueue(queue, { id: 'gone' }, { key: 'a', startAfter: run.in(500) })
    await run.jobs.enqueue(queue, { id: 'kept' }, { key: 'b', startAfter: run.in(500) })
    await run.database.sequelize.transaction(transaction => run.jobs.cancel(queue, 'a', { transaction }))
    await run.jobs.cancel(queue, 'nobody')
    await run.clock.tick(2_000)
    expect(woken).toEqual(['kept'])
    expect(await run.rows(waiting)).toEqual([])
  })

  test('may be sent again while it runs: it runs once more', async () => {
    const [began, end] = [gate(), gate()]
    const woken: string[] = []
    await using run = await runner([
      {
        name: queue,
        async handle({ id }) {
          woken.push(id!)
          began.resolve()
          await end.promise
        },
      },
    ])
    await run.jobs.start()
    await run.jobs.enqueue(queue, { id: 'one' }, { key: 'post' })
    await run.clock.tick(10)
    await began.promise
    await run.jobs.enqueue(queue, { id: 'two' }, { key: 'post' })
    await run.jobs.enqueue(queue, { id: 'three' }, { key: 'post' })
    await run.clock.tick(2_000)
    end.resolve()
    await expect.poll(() => woken).toEqual(['one', 'three'])
  })
})

test('an unfinished job of a stopping process is returned to the queue: another process takes it at once, not when its heartbeat ends', async () => {
  const began = gate()
  await using run = await runner([
    {
      name: queue,
      async handle() {
        began.resolve()
        await new Promise(() => {})
      },
    },
  ])
  const { woken, queue: wake } = noting()
  await run.jobs.start()
  await run.jobs.enqueue(queue, { id: 'hangs' }, { key: 'post' })
  await run.clock.tick(10)
  await began.promise
  await run.jobs.stop()
  await run.another([wake]).start()
  await run.clock.tick(1_500)
  await expect.poll(() => woken).toEqual(['hangs'])
})

test('jobs without a key are as many as were sent', async () => {
  const { woken, queue: wake } = noting()
  await using run = await runner([wake])
  await run.jobs.start()
  await run.database.sequelize.transaction(async transaction => {
    for (const id of ['a', 'b', 'c']) await run.jobs.enqueue(queue, { id }, { transaction })
  })
  await run.clock.tick(1_000)
  expect(woken.sort()).toEqual(['a', 'b', 'c'])
})

test('a job is taken exactly at its time, and one of another process that is due at once within two seconds', async () => {
  const { woken, queue: wake } = noting()
  await using run = await runner([wake])
  await run.jobs.start()
  // It only sends: what it could take it was not started for.
  const other = run.another([wake])
  await run.jobs.enqueue(queue, { id: 'later' }, { startAfter: run.in(10_300) })
  await run.clock.tick(10_299)
  expect(woken).toEqual([])
  await run.clock.tick(1)
  expect(woken).toEqual(['later'])
  await other.enqueue(queue, { id: 'theirs' })
  await run.clock.tick(2_000)
  expect(woken).toEqual(['later', 'theirs'])
})

describe('an early wake-up', () => {
  test('is rescheduled to the time that its handler returns, and runs then', async () => {
    const at: number[] = []
    await using run = await runner([
      {
        name: queue,
        async handle() {
          at.push(run.clock.now())
          return at.length === 1 ? { again: new Date(at[0]! + 700) } : undefined
        },
      },
    ])
    await run.jobs.start()
    await run.jobs.enqueue(queue, { id: 'post' }, { key: 'post' })
    await run.clock.tick(10)
    await expect.poll(() => run.rows(waiting)).toMatchObject([{ key: 'post' }])
    await run.clock.tick(2_000)
    expect(at.map(moment => moment - at[0]!)).toEqual([0, 700])
    await expect.poll(() => run.rows(`select state from publishing_jobs.job`)).toEqual([{ state: 'completed' }, { state: 'completed' }])
  })

  test('gives way to a newer one with its key', async () => {
    const [began, end] = [gate(), gate()]
    const woken: string[] = []
    await using run = await runner([
      {
        name: queue,
        async handle({ id }) {
          woken.push(id!)
          if (id !== 'old') return
          began.resolve()
          await end.promise
          return { again: run.in(60_000) }
        },
      },
    ])
    await run.jobs.start()
    await run.jobs.enqueue(queue, { id: 'old' }, { key: 'post' })
    await run.clock.tick(10)
    await began.promise
    await run.jobs.enqueue(queue, { id: 'new' }, { key: 'post', startAfter: run.in(30_000) })
    end.resolve()
    await expect.poll(() => run.rows(`select 1 from publishing_jobs.job where state = 'completed'`)).toHaveLength(1)
    expect(await run.rows(waiting)).toMatchObject([{ data: { id: 'new' }, at: run.in(30_000) }])
  })
})

describe('concurrent jobs', () => {
  /** A queue whose jobs run until the test ends them, by id. */
  function untilEnded() {
    const running = new Map<string, () => void>()
    return {
      present: () => [...running.keys()].sort(),
      let: (id: string) => {
        running.get(id)!()
        running.delete(id)
      },
      handle: async ({ id }: JobData) => {
        const { promise, resolve } = gate()
        running.set(id!, resolve)
        await promise
      },
    }
  }

  test('finish independently: a slow one delays neither the end nor the place of a fast one', async () => {
    const { present, let: end, handle } = untilEnded()
    await using run = await runner([{ name: queue, concurrency: 3, handle }])
    await run.jobs.start()
    for (const id of ['a', 'b', 'c', 'd']) await run.jobs.enqueue(queue, { id })
    await run.clock.tick(1_000)
    await expect.poll(present).toHaveLength(3)
    const [first, ...rest] = present()
    end(first!)
    await expect.poll(() => run.rows(`select 1 from publishing_jobs.job where state = 'completed' and data->>'id' = $1`, [first])).toHaveLength(1)
    await run.clock.tick(10)
    await expect.poll(present).toHaveLength(3)
    for (const id of present()) end(id)
    expect(rest).toHaveLength(2)
  })

  test('of one group are few, over all processes; other groups overtake them', async () => {
    const { present, let: end, handle } = untilEnded()
    const grouped = { name: queue, perGroup: 2, groupOf: ({ id }: JobData) => id!.charAt(0), handle }
    await using run = await runner([grouped])
    await run.jobs.start()
    for (const id of ['a1', 'a2', 'a3', 'a4', 'b1']) await run.jobs.enqueue(queue, { id })
    await run.clock.tick(1_000)
    await expect.poll(() => present().length).toBe(3)
    const other = run.another([grouped])
    await other.start()
    await run.clock.tick(2_000)
    expect(present().filter(id => id.startsWith('a'))).toHaveLength(2)
    expect(present()).toContain('b1')
    end(present()[0]!)
    await expect.poll(() => run.rows(`select 1 from publishing_jobs.job where state = 'completed'`)).toHaveLength(1)
    await run.clock.tick(1_000)
    await expect.poll(() => present().filter(id => id.startsWith('a'))).toHaveLength(2)
    while ((await run.rows(`select 1 from publishing_jobs.job where state < 'completed'`)).length > 0) {
      for (const id of present()) end(id)
      await run.clock.tick(1_000)
    }
  })
})

describe('a job that fails', () => {
  test('is retried three times, a second apart, then given up; a newer job with its key replaces it at once', async () => {
    const woken: string[] = []
    const end = gate()
    await using run = await runner([
      {
        name: queue,
        async handle({ id }) {
          woken.push(id!)
          if (id === 'overtaken') await end.promise
          throw new Error(`${id} cannot`)
        },
      },
    ])
    await run.jobs.start()
    await run.jobs.enqueue(queue, { id: 'bad' }, { key: 'bad' })
    for (let second = 0; second < 10; second++) {
      await run.clock.tick(1_000)
      await expect.poll(() => run.rows(`select 1 from publishing_jobs.job where state = 'active'`)).toEqual([])
    }
    expect(woken).toEqual(['bad', 'bad', 'bad', 'bad'])
    expect(await run.rows(`select state, output from publishing_jobs.job`)).toMatchObject([{ state: 'failed', output: { message: 'bad cannot' } }])

    await run.jobs.enqueue(queue, { id: 'overtaken' }, { key: 'other' })
    await run.clock.tick(100)
    await run.jobs.enqueue(queue, { id: 'newer' }, { key: 'other', startAfter: run.in(3600_000) })
    end.resolve()
    await expect.poll(() => run.rows(`select 1 from publishing_jobs.job where state = 'completed'`)).toHaveLength(1)
    expect(await run.rows(waiting)).toMatchObject([{ data: { id: 'newer' } }])
  })

  test('because its process was killed is taken up within half a minute', async () => {
    const { woken, queue: wake } = noting()
    await using run = await runner([wake])
    await run.jobs.start()
    await run.jobs.enqueue(queue, { id: 'orphan' }, { key: 'orphan', startAfter: run.in(3600_000) })
    // The state that a killed worker leaves: an active job whose last heartbeat is now.
    await run.rows(`update publishing_jobs.job set state = 'active', started_on = publishing_jobs.job_now(), heartbeat_on = publishing_jobs.job_now()`)
    await run.clock.tick(9_000)
    expect(woken).toEqual([])
    await run.clock.tick(20_000)
    expect(woken).toEqual(['orphan'])
  })

  test('only because it is slow is kept alive, and counts as failed after a minute', async () => {
    const end = gate()
    let begun = 0
    await using run = await runner([{ name: queue, handle: () => (begun++ ? Promise.resolve() : end.promise) }])
    await run.jobs.start()
    await run.jobs.enqueue(queue, { id: 'slow' })
    await run.clock.tick(55_000)
    expect([begun, await run.rows(`select state from publishing_jobs.job`)]).toEqual([1, [{ state: 'active' }]])
    await run.clock.tick(20_000)
    await expect.poll(() => begun).toBe(2)
    end.resolve()
  })
})

test('jobs that ended are deleted after ten minutes, those that wait are not', async () => {
  await using run = await runner([noting().queue])
  await run.jobs.start()
  await run.jobs.enqueue(queue, { id: 'done' })
  await run.jobs.enqueue(queue, { id: 'waits' }, { startAfter: run.in(365 * 24 * 3600_000) })
  await run.clock.tick(1_000)
  await expect.poll(() => run.rows(`select 1 from publishing_jobs.job where state = 'completed'`)).toHaveLength(1)
  await run.clock.setTime(run.in(601_000))
  await run.clock.tick(301_000)
  expect(await run.rows(`select data->>'id' as id from publishing_jobs.job`)).toEqual([{ id: 'waits' }])
})

test('a queue of an earlier version keeps its jobs and lets one wait for each key from now on', async () => {
  const { woken, queue: wake } = noting()
  await using run = await runner([])
  await run.jobs.start()
  await run.rows(`select publishing_jobs.create_queue('wake', '{"policy":"standard","retryLimit":1}'::jsonb)`)
  for (const id of ['x', 'y'])
    await run.rows(`insert into publishing_jobs.job (name, data, policy, start_after) values ('wake', $1::jsonb, 'standard', publishing_jobs.job_now())`, [
      JSON.stringify({ id }),
    ])
  const later = run.another([wake])
  await later.start()
  await later.enqueue(queue, { id: 'a' }, { key: 'k', startAfter: run.in(60_000) })
  await later.enqueue(queue, { id: 'b' }, { key: 'k', startAfter: run.in(60_000) })
  await run.clock.tick(1_000)
  expect(woken.sort()).toEqual(['x', 'y'])
  expect(await run.rows(waiting)).toMatchObject([{ key: 'k', data: { id: 'b' } }])
})

test('processes that start at the same moment create the indexes of waiting jobs without conflict', async () => {
  await using run = await runner([noting().queue])
  await run.jobs.start()
  const boss = new PgBoss({ connectionString: run.database.url, schema: 'publishing_jobs', max: 8, supervise: false, schedule: false })
  await boss.start()
  try {
    // Most often they come one after the other all the same.
    for (let round = 0; round < 20; round += 1) {
      await run.rows('drop index publishing_jobs.waiting_by_key, publishing_jobs.waiting_by_time')
      await Promise.all(Array.from({ length: 8 }, () => openQueues(boss, 'publishing_jobs', [queue], { retryLimit: 3 })))
    }
  } finally {
    await boss.stop({ graceful: false })
  }
  const made = await run.rows<{ indexname: string }>(
    `select indexname from pg_indexes where schemaname = 'publishing_jobs' and indexname like 'waiting%' order by 1`,
  )
  expect(made.map(({ indexname }) => indexname)).toEqual(['waiting_by_key', 'waiting_by_time'])
})

describe('readiness', () => {
  test('names a sweep that hangs, which is restarted after a minute', async () => {
    let rounds = 0
    const stuck = gate()
    await using run = await runner([noting().queue], [{ name: 'due things', everyMs: 5_000, run: () => (rounds++ === 0 ? stuck.promise : Promise.resolve()) }])
    await run.jobs.start()
    await run.jobs.check()
    await run.clock.tick(20_000)
    await run.jobs.check()
    await run.clock.tick(5_000)
    await expect(run.jobs.check()).rejects.toThrow('due things last went round 25 s ago')
    expect(rounds).toBe(1)
    await run.clock.tick(40_000)
    expect(rounds).toBeGreaterThan(1)
    await run.jobs.check()
    expect(run.log).toMatchObject([{ sweep: 'due things', err: { message: 'the sweep "due things" did not end within 60 s' } }])
    stuck.resolve()
  })

  test('tolerates a slow sweep that calls third parties', async () => {
    const silent = gate()
    await using run = await runner([], [{ name: 'calls', everyMs: 5_000, asksOthers: true, run: () => silent.promise }])
    await run.jobs.start()
    await run.clock.tick(55_000)
    await run.jobs.check()
    await run.clock.tick(30_000)
    await expect(run.jobs.check()).rejects.toThrow('calls last went round 85 s ago')
    silent.resolve()
  })

  test('names a sweep that fails each time', async () => {
    await using run = await runner([], [{ name: 'due things', everyMs: 5_000, run: () => Promise.reject(new Error('no')) }])
    await run.jobs.start()
    await run.clock.tick(25_000)
    await expect(run.jobs.check()).rejects.toThrow('due things last went round 25 s ago')
  })

  test('reports that jobs do not run before the start', async () => {
    await using run = await runner([])
    await expect(run.jobs.check()).rejects.toThrow('the job runner was not started')
  })
})

test('no job is taken and no sweep runs while the program may not use its database', async () => {
  const { woken, queue: wake } = noting()
  let rounds = 0
  let may = false
  const sweep = { name: 'due things', everyMs: 5_000, run: async () => void rounds++ }
  await using run = await runner([wake], [sweep], () => may)
  await run.jobs.start()
  await run.jobs.enqueue(queue, { id: 'held' })
  await run.clock.tick(30_000)
  expect([woken, rounds]).toEqual([[], 0])
  await run.jobs.check()
  may = true
  await run.clock.tick(6_000)
  expect([woken, rounds]).toEqual([['held'], 1])
})
