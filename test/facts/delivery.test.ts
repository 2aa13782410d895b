import { expect, test } from 'vitest'
import { longMs, mostBodyBytes } from '../../platform/jobs/facts/fact.ts'
import { pauseMs } from '../../platform/jobs/facts/relay.ts'
import { createReadiness } from '../../router/door/health.ts'
import { until } from '../kit/launch.ts'
import { countStatements } from '../kit/statements.ts'
import { type FactStage, factStage, subjectOf } from './stage.ts'

const waiting = 'select kind, attempts, failure, next_at is null as refused from identity.facts where delivered_at is null order by seq'
const [one, two] = [subjectOf(1), subjectOf(2)]
const day = 86_400_000

const areDelivered = async (stage: FactStage) => (await stage.sql(waiting)).length === 0
const allDelivered = (stage: FactStage) => until('all is delivered', () => areDelivered(stage))
/**
 * Lets half a minute pass until all is delivered, and more of it while a fact is due that nobody has taken: on a busy machine a round of the
 * relay may be under way when the next two fall due, which are left out then.
 */
async function allDeliveredInTime(stage: FactStage): Promise<void> {
  await stage.clock.run(30_000)
  await until('all is delivered', async () => {
    if (await areDelivered(stage)) return true
    const due = await stage.sql('select from identity.facts where delivered_at is null and next_at <= $1', [stage.clock.now()])
    if (due.length > 0) await stage.clock.run(15_000)
    return false
  })
}
const fails = () => Promise.reject(new Error('connect ECONNREFUSED'))

test('a fact exists once its transaction is committed, and has its effect at its receiver once', async () => {
  await using stage = await factStage()
  await stage.start()
  await stage.write({ subject: one, name: 'first' })
  await allDelivered(stage)
  expect(await stage.acted()).toEqual([[one, 'first']])
  expect(await stage.sql('select receiver, kind, attempts, next_at, failure from identity.facts')).toEqual([
    { receiver: 'publishing', kind: 'organization.created', attempts: 1, next_at: null, failure: null },
  ])
  expect(await stage.sql('select writer, kind, subject from publishing.inbox')).toEqual([
    { writer: 'identity', kind: 'organization.created', subject: `organization:${one}` },
  ])
})

test('a transaction that fails publishes nothing', async () => {
  await using stage = await factStage()
  await expect(stage.write({ subject: one, name: 'first' }, { subject: 'no id at all', name: 'second' })).rejects.toThrow()
  await expect(stage.write({ subject: one, name: 'x'.repeat(mostBodyBytes) })).rejects.toThrow(/the (?:most|maximum)/)
  await expect(stage.writeAndFail({ subject: one, name: 'told' })).rejects.toThrow('it fails after all')
  expect(await stage.sql('select from identity.facts')).toEqual([])
})

test('the facts of a transaction cost one statement', async () => {
  await using stage = await factStage()
  await stage.write({ subject: one, name: 'warm' })
  const { statements } = await countStatements(() => stage.write({ subject: one, name: 'a' }, { subject: two, name: 'b' }, { subject: one, name: 'c' }))
  expect(statements).toHaveLength(3)
  expect(await stage.sql('select count(*)::int as facts from identity.facts')).toEqual([{ facts: 4 }])
})

test('without receivers nothing is written or read', async () => {
  await using stage = await factStage({ receivers: [] })
  await stage.write({ subject: one, name: 'warm' })
  const { statements } = await countStatements(() => stage.write({ subject: one, name: 'a' }))
  expect([statements.length, await stage.sql('select from identity.facts'), stage.log]).toEqual([2, [], []])
})

test('the log contains each published fact with id and subject', async () => {
  await using stage = await factStage()
  await stage.write({ subject: one, name: 'a' }, { subject: two, name: 'b' })
  const facts = await stage.sql<{ id: string; subject: string }>('select id, subject from identity.facts order by seq')
  expect(stage.log).toMatchObject(facts.map(({ id, subject }) => ({ level: 30, fact: id, kind: 'organization.created', subject })))
})

test('delivers facts to a receiver once it is back, retried at growing intervals meanwhile', async () => {
  await using stage = await factStage()
  const up = stage.way
  const tries: number[] = []
  stage.way = async () => {
    tries.push(stage.clock.now().getTime())
    return fails()
  }
  await stage.start()
  await stage.write({ subject: one, name: 'first' })
  for (let pause = 1; pause <= 4; pause += 1) {
    await until(`try ${pause}`, () => tries.length === pause)
    await until('it is noted', async () => (await stage.sql(waiting))[0]?.failure === 'connect ECONNREFUSED')
    await stage.clock.run(pauseMs(pause))
  }
  const pauses = tries.slice(1).map((at, place) => at - tries[place]!)
  expect(pauses).toEqual([...pauses].sort((a, b) => a - b))
  expect(pauseMs(1)).toBeLessThan(1_000)
  expect(pauseMs(40)).toBe(30_000)
  stage.way = up
  await allDeliveredInTime(stage)
  expect(await stage.acted()).toEqual([[one, 'first']])
})

test('a fact waits while an earlier one of its subject is undelivered; those of other subjects continue', async () => {
  await using stage = await factStage()
  const up = stage.way
  stage.way = (receiver, fact) => (fact.subject === `organization:${one}` ? fails() : up(receiver, fact))
  await stage.start()
  await stage.write({ subject: one, name: 'first' })
  await stage.write({ subject: one, name: 'second' }, { subject: two, name: 'other' })
  await until('the other subject went on', async () => (await stage.acted()).length === 1)
  expect(await stage.acted()).toEqual([[two, 'other']])
  stage.way = up
  await allDeliveredInTime(stage)
  expect((await stage.acted()).slice(1)).toEqual([
    [one, 'first'],
    [one, 'second'],
  ])
})

test('facts of one subject have the order in which their transactions committed, whatever else these lock', async () => {
  await using stage = await factStage()
  const { sequelize } = stage.database
  // One that has told and does not commit keeps the next from telling of the same subject, and nobody from telling of another.
  const slow = await sequelize.transaction()
  await sequelize.query(`select pg_advisory_xact_lock(hashtextextended('identity.facts organization:${one}', 4))`, { transaction: slow })
  const next = stage.write({ subject: one, name: 'behind' })
  await stage.write({ subject: two, name: 'other' })
  expect(await stage.sql('select body from identity.facts')).toHaveLength(1)
  await slow.commit()
  await next
  expect(await stage.sql(`select body->>'name' as name from identity.facts order by seq`)).toEqual([{ name: 'other' }, { name: 'behind' }])
})

test('locks several subjects in one order, so that transactions never deadlock', async () => {
  await using stage = await factStage()
  const { sequelize } = stage.database
  const subjects = [7, 3, 1, 6, 2, 5, 4].map(subjectOf)
  const last = await sequelize.transaction()
  await sequelize.query(`select pg_advisory_xact_lock(hashtextextended('identity.facts organization:${subjectOf(7)}', 4))`, { transaction: last })
  const told = stage.write(...subjects.map(subject => ({ subject, name: 'x' })))
  // Other tests have databases of their own in the same server.
  const locks = `(select pid, granted from pg_locks l join pg_database d on d.oid = l.database where d.datname = current_database() and locktype = 'advisory')`
  const held = `select count(*)::int as held from ${locks} l where granted and pid in (select pid from ${locks} w where not granted)`
  await expect.poll(() => stage.sql(held)).toEqual([{ held: 6 }])
  await last.commit()
  await told
})

test('delivers to one receiver although another one of the same fact is unavailable', async () => {
  await using stage = await factStage({ receivers: ['publishing', 'launcher'] })
  const told: string[] = []
  stage.way = async (receiver, { body }) => {
    if (receiver === 'publishing') return fails()
    told.push((body as { name: string }).name)
    return 'received'
  }
  await stage.start()
  for (const name of ['first', 'second', 'third']) await stage.write({ subject: one, name })
  await expect.poll(() => told).toEqual(['first', 'second', 'third'])
  expect(await stage.sql(`select distinct receiver from identity.facts where delivered_at is null`)).toEqual([{ receiver: 'publishing' }])
})

test('a fact that waits longer than any pause, because the clock was set back, is delivered now', async () => {
  await using stage = await factStage()
  await stage.write({ subject: one, name: 'soon' }, { subject: two, name: 'tomorrow' })
  const nextAt = 'update identity.facts set next_at = $1 where subject = $2'
  await stage.sql(nextAt, [stage.clock.in(600_000), `organization:${one}`])
  await stage.sql(nextAt, [stage.clock.in(600_001), `organization:${two}`])
  await stage.start()
  await until('it was told', async () => (await stage.acted()).length > 0)
  expect(await stage.acted()).toEqual([[two, 'tomorrow']])
})

test('a fact whose answer was not stored is delivered again, and has its effect once', async () => {
  await using stage = await factStage()
  const up = stage.way
  let answers = 0
  stage.way = async (receiver, fact) => {
    const receipt = await up(receiver, fact)
    answers += 1
    if (answers === 1) return fails()
    return receipt
  }
  await stage.start()
  await stage.write({ subject: one, name: 'first' })
  await until('it is noted as failed', async () => (await stage.sql(waiting))[0]?.failure === 'connect ECONNREFUSED')
  await allDeliveredInTime(stage)
  // On a busy machine half a minute of this clock may pass during a delivery: then the fact is delivered once more.
  expect(answers).toBeGreaterThanOrEqual(2)
  expect(await stage.acted()).toEqual([[one, 'first']])
})

test('a fact that is delivered twice at the same moment has its effect once, and both deliveries are answered', async () => {
  await using stage = await factStage()
  await stage.write({ subject: one, name: 'first' })
  const [fact] = await stage.sql<{ id: string }>('select id from identity.facts')
  const told = {
    id: fact!.id,
    from: 'identity',
    kind: 'organization.created',
    subject: 'x',
    at: stage.clock.now(),
    body: { organizationId: one, slug: 'a', name: 'first' },
  }
  expect(await Promise.all([stage.receiver.receive(told), stage.receiver.receive(told), stage.receiver.receive(told)])).toEqual([
    'received',
    'received',
    'received',
  ])
  expect(await stage.acted()).toHaveLength(1)
})

test('a fact at which its receiver fails leaves no effect, and is delivered again', async () => {
  await using stage = await factStage()
  let failures = 0
  stage.acting = async (_, { transaction }) => {
    await stage.database.sequelize.query(`insert into story.acted (subject, name) values ('half', 'done')`, { transaction })
    failures += 1
    if (failures === 1) throw new Error('the receiver has a fault')
  }
  await stage.start()
  await stage.write({ subject: one, name: 'first' })
  await until('it has failed', async () => (await stage.sql(waiting))[0]?.failure === 'the receiver has a fault')
  expect([await stage.acted(), await stage.sql('select from publishing.inbox')]).toEqual([[], []])
  await allDeliveredInTime(stage)
  expect(await stage.acted()).toEqual([
    ['half', 'done'],
    [one, 'first'],
  ])
})

test('a permanently refused fact stays with its reason, holds back its own subject only, and readiness and log report it', async () => {
  await using stage = await factStage()
  const up = stage.way
  stage.way = (receiver, fact) => up(receiver, fact.subject === `organization:${one}` ? { ...fact, kind: 'of.tomorrow' } : fact)
  await stage.start()
  await stage.write({ subject: one, name: 'first' }, { subject: two, name: 'other' })
  await until('it is refused', async () => (await stage.sql(waiting))[0]?.refused)
  await until('the other subject went on', async () => (await stage.acted()).length === 1)
  await until('one alone waits', async () => (await stage.sql(waiting)).length === 1)
  expect(await stage.sql(waiting)).toMatchObject([{ refused: true, failure: expect.stringMatching(/knows no fact of\.tomorrow/) }])
  await stage.clock.run(longMs)
  expect(await stage.writer.undelivered()).toBeUndefined()
  await stage.clock.run(1)
  expect(await stage.writer.undelivered()).toMatch(/1 to publishing since .* \(1 refused\); npm run facts -- list/)
  const look = createReadiness([{ name: 'identity', check: stage.writer.undelivered }])
  expect(await look()).toEqual([{ name: 'identity', ready: true, notice: expect.stringMatching(/^facts are not delivered: 1 to publishing/) }])
  expect(stage.log).toContainEqual(expect.objectContaining({ level: 50, kind: 'organization.created', refused: expect.stringMatching(/knows no fact/) }))
})

test('a receiver refuses an invalid body, a wrong writer, and a fact older than its receipts', async () => {
  await using stage = await factStage()
  const fact = {
    id: one,
    from: 'identity',
    kind: 'organization.created',
    subject: 'x',
    at: stage.clock.now(),
    body: { organizationId: one, slug: 'a', name: 'b' },
  }
  expect(await stage.receiver.receive({ ...fact, body: { organizationId: 'none' } })).toEqual({ refused: expect.stringMatching(/organizationId/) })
  expect(await stage.receiver.receive({ ...fact, from: 'launcher' })).toEqual({ refused: expect.stringMatching(/launcher is not who/) })
  expect(await stage.receiver.receive({ ...fact, at: stage.clock.in(-30 * day) })).toEqual({ refused: expect.stringMatching(/too long ago/) })
  expect(await stage.receiver.receive({ ...fact, at: stage.clock.in(-30 * day + 1) })).toBe('received')
})

test('a handler gets the fields of its kind only, without those of a newer writer', async () => {
  await using stage = await factStage()
  const up = stage.way
  stage.way = (receiver, fact) => up(receiver, { ...fact, body: { ...(fact.body as object), ofTomorrow: true } })
  const bodies: unknown[] = []
  stage.acting = async ({ body }) => void bodies.push(body)
  await stage.start()
  await stage.write({ subject: one, name: 'first' })
  await allDelivered(stage)
  expect(bodies).toEqual([{ organizationId: one, slug: 'story', name: 'first' }])
})

test('a fact at which the receiver hangs delays no other, and is delivered again', async () => {
  await using stage = await factStage()
  const up = stage.way
  let hung = 0
  stage.way = (receiver, fact) => {
    if (fact.subject !== `organization:${one}` || hung > 0) return up(receiver, fact)
    hung += 1
    return new Promise(() => {})
  }
  await stage.start()
  await stage.write({ subject: one, name: 'first' })
  await until('it hangs', () => hung === 1)
  await stage.write({ subject: two, name: 'other' })
  await until('the other is there', async () => (await stage.acted()).length === 1)
  expect((await stage.sql<{ failure: string | null }>(waiting))[0]).toMatchObject({ failure: null })
  await until('it was given up', async () => (await stage.sql<{ failure: string | null }>(waiting))[0]?.failure?.includes('did not end within 5 s'))
  await allDeliveredInTime(stage)
  expect(await stage.acted()).toEqual([
    [two, 'other'],
    [one, 'first'],
  ])
})

test('facts taken by a process that died are taken by another one', async () => {
  await using stage = await factStage()
  await stage.write({ subject: one, name: 'first' })
  // The state that a process leaves which is killed after it claimed the fact.
  await stage.sql('update identity.facts set next_at = $1, attempts = 1', [stage.clock.in(15_000)])
  await stage.another()
  await stage.clock.run(14_000)
  expect(await stage.acted()).toEqual([])
  await allDeliveredInTime(stage)
  expect(await stage.acted()).toEqual([[one, 'first']])
})
