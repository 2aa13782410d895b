import { setTimeout as wait } from 'node:timers/promises'
import pg from 'pg'
import { expect, test } from 'vitest'
import { factStage, subjectOf } from './stage.ts'

const seed = Number(process.env.RANDOM_SEED ?? Math.floor(Math.random() * 2 ** 32))
const [subjects, each] = [30, 6]

/** Numbers from 0 to 1, the same for the same seed (mulberry32). */
function randomNumbers(state: number): () => number {
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

test('with lost messages and dropped connections, each fact has its effect once, and those of a subject in order', {
  timeout: 120_000,
}, async () => {
  console.log(`facts: seed ${seed} (RANDOM_SEED repeats it)`)
  const random = randomNumbers(seed)
  await using stage = await factStage()
  const up = stage.way
  let slowPolling = false
  stage.way = async (receiver, fact) => {
    if (!slowPolling && random() < 0.15) throw new Error('lost on its way there')
    const receipt = await up(receiver, fact)
    if (!slowPolling && random() < 0.15) throw new Error('the answer is lost')
    return receipt
  }
  stage.acting = async () => {
    if (!slowPolling && random() < 0.1) throw new Error('the receiver has a fault')
    await wait(random() * 5)
  }
  await stage.start()
  await stage.another()
  await using killer = await connected(stage.database.url)
  const writing = Array.from({ length: subjects }, async (_, subject) => {
    // Two writers of one subject at a time: what counts is in which order they come through.
    for (let number = 0; number < each; number += 2)
      await Promise.allSettled([0, 1].map(other => stage.write({ subject: subjectOf(subject), name: `${number + other}` })))
  })
  const written = Promise.all(writing).then(() => true)
  let kills = 0
  for (let over = false; !over; ) {
    over = await Promise.race([written, wait(60 + random() * 150, false)])
    if (kills < 25) kills += await killer.dropConnections()
    await stage.clock.run(500)
  }
  for (let rounds = 0; rounds < 8; rounds += 1) {
    kills += await killer.dropConnections()
    await wait(20)
    await stage.clock.run(5_000)
  }
  slowPolling = true
  const left = () => stage.sql('select from identity.facts where delivered_at is null').catch(() => [null])
  while ((await left()).length > 0) {
    await stage.clock.run(5_000)
    await wait(5)
  }
  const told = await stage.sql<{ subject: string; name: string }>(
    `select body->>'organizationId' as subject, body->>'name' as name from identity.facts order by seq`,
  )
  const acted = await stage.acted()
  console.log(`facts: ${told.length} of ${subjects} subjects, ${kills} connections dropped`)
  const bySubject = (pairs: readonly (readonly [string, string])[]) => Object.fromEntries(Map.groupBy(pairs, ([subject]) => subject))
  expect(told.length).toBeGreaterThan(subjects)
  expect(kills).toBeGreaterThan(0)
  expect(bySubject(acted)).toEqual(bySubject(told.map(({ subject, name }) => [subject, name] as const)))
})

/** Somebody who drops every other connection to a database. */
async function connected(url: string) {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  return {
    async dropConnections(): Promise<number> {
      const { rows } = await client.query(
        `select pg_terminate_backend(pid) from pg_stat_activity
          where datname = current_database() and pid <> pg_backend_pid() and application_name like 'supergraph%'`,
      )
      return rows.length
    },
    [Symbol.asyncDispose]: () => client.end(),
  }
}
