import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { DomainError } from '../../../platform/errors.ts'
import { readIdempotency } from '../../../platform/idempotency.ts'
import { newId } from '../../../platform/ids.ts'
import { booksOf } from '../../../subgraphs/store/books.ts'
import { type Hold, type Holding, makeHeld } from '../../../subgraphs/store/claim.ts'
import { inTransaction } from '../../../subgraphs/store/write.ts'
import type { Operation } from '../../../subgraphs/subgraph.ts'
import { anonymous } from '../../../subgraphs/viewer.ts'
import { gate } from '../../jobs/runner.ts'
import { createTestDatabase, type TestDatabase } from '../../kit/database.ts'
import { dies } from '../../kit/dies.ts'
import { unbounded } from '../../kit/reading.ts'
import { openReplica } from './holder.ts'

const [acme, other] = [newId(), newId()]

let database: TestDatabase
let replicas: ReturnType<typeof openReplica>[]
beforeAll(async () => {
  database = await createTestDatabase()
  replicas = [openReplica(database.url), openReplica(database.url)]
  await database.sequelize.query('create table payments.works (id uuid not null, text text not null)')
})
afterAll(async () => {
  await Promise.all(replicas.map(each => each[Symbol.asyncDispose]()))
  await database[Symbol.asyncDispose]()
})
beforeEach(() => database.sequelize.query('truncate payments.idempotency_keys, payments.works'))

interface Work {
  readonly id: string
  readonly text: string
}
const works = async (): Promise<Work[]> => (await database.sequelize.query('select id, text from payments.works'))[0] as Work[]
const keys = async () => (await database.sequelize.query('select key, holder, held_until as "heldUntil" from payments.idempotency_keys'))[0]
/** Lets the time of every key that is held be over. */
const passHolds = () =>
  database.sequelize.query(`update payments.idempotency_keys set held_until = clock_timestamp() - interval '1 ms' where holder is not null`)

/** Writes what came of some work, outside of any transaction. */
async function note({ id }: Pick<Hold, 'id'>, text: string): Promise<Work> {
  await database.sequelize.query('insert into payments.works (id, text) values ($1, $2)', { bind: [id, text] })
  return { id, text }
}

interface Sent extends Partial<Pick<Holding<Work>, 'tenantId' | 'make' | 'what' | 'waitMs' | 'holdMs'>> {
  readonly key?: string | null
  readonly text?: string
}

/** Sends a request to a replica, whose work is noted once it is through. */
function send(at: number, { key = 'k', text = 'one', tenantId = acme, what = 'payOrder', make = hold => note(hold, text), ...more }: Sent = {}) {
  return makeHeld<Work>(replicas[at]!.context, {
    ...{ what, tenantId, make, ...more },
    once: { idempotencyKey: key, ...{ text } },
    find: async id => (await works()).find(each => each.id === id) ?? null,
  })
}

/** Begins work that goes on once `end` is called. */
async function underWay(make: (hold: Hold) => Promise<Work> = hold => note(hold, 'one')) {
  const [begun, ended] = [gate(), gate()]
  const answer = send(0, {
    async make(hold) {
      begun.resolve()
      await ended.promise
      return make(hold)
    },
  })
  await begun.promise
  return { answer, end: () => ended.resolve() }
}

describe('makeHeld', () => {
  it('does the work once for a key, and answers repetitions with what it has made, by any replica', async () => {
    const first = await send(0)
    expect(first).toEqual({ repeated: false, row: { id: expect.any(String), text: 'one' } })
    expect(await send(1)).toEqual({ repeated: true, row: first.row })
    expect(await works()).toHaveLength(1)
    expect(await keys()).toEqual([{ key: 'k', holder: null, heldUntil: null }])
  })

  it('marks the operation that repeats a key, and not the first', async () => {
    const operations = [0, 1].map((): Operation => ({ ...unbounded, requestId: 'request' }))
    for (const operation of operations)
      await makeHeld<Work>(replicas[0]!.contexts.open(anonymous, operation), {
        ...{ what: 'payOrder', tenantId: acme, once: { idempotencyKey: 'k' }, make: hold => note(hold, 'one') },
        find: async () => (await works())[0] ?? null,
      })
    expect(operations.map(({ isReplay = false }) => isReplay)).toEqual([false, true])
  })

  it('refuses a person’s key that they used in another organization, where what it made is not theirs to see', async () => {
    await using identity = openReplica(database.url, 'identity')
    const inOrganization = (tenantId: string) =>
      makeHeld<Work>(identity.context, {
        ...{ what: 'inviteMember', tenantId, once: { idempotencyKey: 'k' }, make: hold => note(hold, 'one') },
        find: async () => (await works())[0] ?? null,
      })
    await inOrganization(acme)
    await expect(inOrganization(other)).rejects.toMatchObject({ extensions: { code: 'CONFLICT', reason: 'KEY_REUSED' } })
  })

  it('does it each time without a key', async () => {
    await send(0, { key: null })
    await send(0, { key: null })
    expect([(await works()).length, await keys()]).toEqual([2, []])
  })

  it('holds no connection and no transaction while the work is under way', async () => {
    const { answer: sent, end } = await underWay(hold => note(hold, 'slow'))
    const [open] = await database.sequelize.query(
      `select from pg_stat_activity where datname = current_database() and state like 'idle in transaction%' or (state = 'active' and wait_event_type = 'Lock')`,
    )
    expect(open).toEqual([])
    end()
    expect((await sent).row.text).toBe('slow')
  })

  it('lets a repetition wait for the first, then answers it with what that has made', async () => {
    const { answer: first, end } = await underWay()
    const [second, third] = [send(1), send(0)]
    await expect.poll(async () => (await keys()).length).toBe(1)
    end()
    const { row } = await first
    expect(await Promise.all([second, third])).toEqual([
      { repeated: true, row },
      { repeated: true, row },
    ])
  })

  it('refuses a repetition with IN_PROGRESS and Retry-After when the first takes longer than it waits', async () => {
    const { answer: first, end } = await underWay()
    const refused = { extensions: { code: 'CONFLICT', reason: 'IN_PROGRESS', field: 'idempotencyKey', retryAfter: 2 } }
    await expect(send(1, { waitMs: 60 })).rejects.toMatchObject(refused)
    end()
    await first
    expect(await works()).toHaveLength(1)
  })

  it('refuses a key that came with another content, while the first is under way as afterwards', async () => {
    const reused = { extensions: { code: 'CONFLICT', reason: 'KEY_REUSED' } }
    const { answer: first, end } = await underWay()
    await expect(send(1, { text: 'two' })).rejects.toMatchObject(reused)
    await passHolds()
    await expect(send(1, { text: 'two' })).rejects.toMatchObject(reused)
    end()
    await first
    await expect(send(1, { text: 'two' })).rejects.toMatchObject(reused)
  })

  it('knows a key by organization and by mutation', async () => {
    await send(0)
    expect(await send(0, { tenantId: other })).toMatchObject({ repeated: false })
    expect(await send(0, { what: 'captureOrder' })).toMatchObject({ repeated: false })
    expect(await works()).toHaveLength(3)
  })

  it('gives the key back when the work is refused', async () => {
    const refuse = async () => {
      throw new DomainError('UPSTREAM_FAILED', 'Nothing was sent.', { reason: 'NOT_SENT' })
    }
    await expect(send(0, { make: refuse })).rejects.toMatchObject({ extensions: { reason: 'NOT_SENT' } })
    expect(await keys()).toEqual([])
    expect(await send(1)).toMatchObject({ repeated: false })
  })

  it('lets a waiting repetition do the work when the first is refused', async () => {
    const { answer: first, end } = await underWay(async () => {
      throw new DomainError('UPSTREAM_FAILED', 'Nothing was sent.')
    })
    const second = send(1)
    end()
    await expect(first).rejects.toMatchObject({ extensions: { code: 'UPSTREAM_FAILED' } })
    expect(await second).toMatchObject({ repeated: false })
  })

  it('ends the signal before the key may be taken by somebody else', async () => {
    const made = await send(0, {
      holdMs: 200,
      make: hold => new Promise(resolve => hold.signal.addEventListener('abort', () => resolve(note(hold, 'cut')))),
    })
    expect(made).toMatchObject({ repeated: false, row: { text: 'cut' } })
  })

  it.each(['key-held', 'key-work-done'])('goes on under the same id when the process died at %s, once its time is over', async point => {
    let id = ''
    await dies(point, () =>
      send(0, {
        async make(hold) {
          id = hold.id
          return { id, text: 'lost' }
        },
      }),
    )
    await expect(send(1, { waitMs: 30 })).rejects.toMatchObject({ extensions: { reason: 'IN_PROGRESS' } })
    await passHolds()
    const holds: Hold[] = []
    const made = await send(1, {
      make: hold => {
        holds.push(hold)
        return note(hold, 'one')
      },
    })
    expect([made.repeated, holds[0]!.isResumed]).toEqual([false, true])
    if (id) expect(made.row.id).toBe(id)
    expect(await send(0)).toEqual({ repeated: true, row: made.row })
  })

  it('ends with the transaction that writes what came of the work, and nothing is done again when the process dies after it', async () => {
    const make = async (hold: Hold) => {
      const row = await inTransaction(replicas[0]!.context, async unit => {
        await replicas[0]!.sequelize.query('insert into payments.works (id, text) values ($1, $2)', { bind: [hold.id, 'one'], transaction: unit.transaction })
        await hold.end(unit)
        return { id: hold.id, text: 'one' }
      })
      return row
    }
    await dies('key-work-done', () => send(0, { make }))
    const [kept] = await works()
    expect(await send(1)).toEqual({ repeated: true, row: kept })
    expect(await works()).toHaveLength(1)
  })

  it('writes nothing for a holder whose time was over and whose key another caller has taken', async () => {
    const { answer: late, end } = await underWay(hold =>
      inTransaction(replicas[0]!.context, async unit => {
        await replicas[0]!.sequelize.query('insert into payments.works (id, text) values ($1, $2)', {
          bind: [hold.id, 'late'],
          transaction: unit.transaction,
        })
        await hold.end(unit)
        return { id: hold.id, text: 'late' }
      }),
    )
    await passHolds()
    const { row } = await send(1)
    end()
    await expect(late).rejects.toMatchObject({ extensions: { reason: 'IN_PROGRESS' } })
    expect([await works(), await send(0)]).toEqual([[row], { repeated: true, row }])
  })

  it('answers NOT_FOUND when what the key has made is gone', async () => {
    await send(0)
    await database.sequelize.query('truncate payments.works')
    await expect(send(1)).rejects.toMatchObject({ extensions: { code: 'NOT_FOUND', field: 'idempotencyKey' } })
  })

  it('does the work once when two replicas race for a key, 50 times', async () => {
    for (let round = 0; round < 50; round += 1) {
      const sent = [0, 1, 0, 1].map(at => send(at, { key: `race-${round}`, text: `${round}` }))
      const made = await Promise.all(sent)
      expect(made.filter(({ repeated }) => !repeated)).toHaveLength(1)
      expect(new Set(made.map(({ row }) => row.id)).size).toBe(1)
    }
    expect(await works()).toHaveLength(50)
  })

  it('resumes once when two replicas find a key whose holder died, 50 times', async () => {
    for (let round = 0; round < 50; round += 1) {
      const key = `left-${round}`
      await database.sequelize.query(booksOf('payments', 'organization').hold.text, {
        bind: [acme, 'replica', 'payOrder', key, readIdempotency({ idempotencyKey: key, ...{ text: key } })!.hash, newId(), new Date(0), newId(), new Date(1)],
      })
      const made = await Promise.all([0, 1, 0, 1].map(at => send(at, { key, text: key })))
      expect(made.filter(({ repeated }) => !repeated)).toHaveLength(1)
    }
    expect(await works()).toHaveLength(50)
  })

  it('is free again, and only then, when a process was killed at its work', async () => {
    const task = { url: database.url, tenantId: acme, key: 'k', holdMs: 60_000 }
    const child = spawn(process.execPath, [join(import.meta.dirname, 'holder.ts'), JSON.stringify(task)], { stdio: ['ignore', 'pipe', 'inherit'] })
    const [line] = (await once(createInterface(child.stdout!), 'line')) as [string]
    child.kill('SIGKILL')
    await once(child, 'exit')
    const id = line.split(' ').at(-1)
    const resume = (waitMs: number) =>
      makeHeld<Work>(replicas[0]!.context, {
        ...{ what: 'payOrder', once: { idempotencyKey: 'k' }, tenantId: acme, waitMs },
        find: async () => null,
        make: hold => note(hold, hold.isResumed ? 'resumed' : 'anew'),
      })
    await expect(resume(30)).rejects.toMatchObject({ extensions: { reason: 'IN_PROGRESS' } })
    await passHolds()
    expect(await resume(30)).toEqual({ repeated: false, row: { id, text: 'resumed' } })
  })
})
