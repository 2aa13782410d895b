import { expect, test } from 'vitest'
import { until } from '../kit/launch.ts'
import { type FactStage, factStage, subjectOf } from './stage.ts'

const fails = () => Promise.reject(new Error('connect ECONNREFUSED'))
const many = (count: number) => Array.from({ length: count }, (_, subject) => ({ subject: subjectOf(subject), name: 'x' }))
const open = async (stage: FactStage) => (await stage.sql('select from identity.facts where delivered_at is null')).length
const allDelivered = (stage: FactStage) => until('all is delivered', async () => (await open(stage)) === 0)

test('a receiver that is down is left alone after a few failures, however much waits for it, and gets all of it when it is back', async () => {
  await using stage = await factStage()
  const up = stage.way
  let tries = 0
  stage.way = async () => {
    tries += 1
    return fails()
  }
  await stage.write(...Array.from({ length: 30 }, (_, subject) => ({ subject: subjectOf(subject), name: 'x' })))
  await stage.start()
  await until('it has failed', () => tries >= 3)
  // Facts that were claimed but not delivered become available again.
  await until('what waits is put back', async () => (await stage.sql('select from identity.facts where attempts = 0')).length > 15)
  expect(tries).toBeLessThan(10)
  stage.way = up
  await stage.clock.run(60_000)
  await allDelivered(stage)
  expect(await stage.acted()).toHaveLength(30)
})

test('a receiver that answers in between is not down: everything that waits is tried', async () => {
  await using stage = await factStage()
  const up = stage.way
  const noted = 'select from identity.facts where failure is not null or delivered_at is not null'
  let tries = 0
  stage.way = async (receiver, fact) => {
    const place = tries
    tries += 1
    await until('those before it are noted', async () => (await stage.sql(noted)).length === place)
    return place % 2 === 0 ? fails() : up(receiver, fact)
  }
  await stage.write(...many(16))
  await stage.start()
  await until('all were tried', () => tries === 16)
})

test('delivers more facts than one search takes without a pause', async () => {
  await using stage = await factStage()
  await stage.write(...many(100))
  await stage.start()
  await allDelivered(stage)
})

test('delivers facts skipped because of a full receiver as soon as there is room', async () => {
  await using stage = await factStage()
  const up = stage.way
  const through = Promise.withResolvers<void>()
  let under = 0
  stage.way = async (receiver, fact) => {
    under += 1
    await through.promise
    return up(receiver, fact)
  }
  await stage.write(...many(4))
  await stage.start()
  await until('four are under way', () => under === 4)
  await stage.write({ subject: subjectOf(4), name: 'x' })
  // Another look, which is over when the next one's statement was answered.
  await stage.clock.run(15_000)
  expect([under, await open(stage)]).toEqual([4, 5])
  through.resolve()
  await allDelivered(stage)
})

test('keeps the result of another process that delivered the fact meanwhile, and does not deliver it again', async () => {
  await using stage = await factStage()
  let tries = 0
  stage.way = async (_, { subject }) => {
    tries += 1
    // As an operator gives it up, and as a process has it refused that took it after this one was late.
    if (subject === `organization:${subjectOf(0)}`) await stage.sql('update identity.facts set delivered_at = at, next_at = null where subject = $1', [subject])
    else await stage.sql(`update identity.facts set next_at = null, failure = 'refused' where subject = $1`, [subject])
    return fails()
  }
  await stage.write(...many(2))
  await stage.start()
  await until('both were told', () => tries === 2)
  await stage.clock.run(120_000)
  expect(tries).toBe(2)
  expect(await stage.sql('select failure, next_at from identity.facts order by seq')).toEqual([
    { failure: null, next_at: null },
    { failure: 'refused', next_at: null },
  ])
})

test('a stopping relay takes no more, and waits until running deliveries are stored', async () => {
  await using stage = await factStage()
  const up = stage.way
  const through = Promise.withResolvers<void>()
  let under = 0
  stage.way = async (receiver, fact) => {
    under += 1
    await through.promise
    return up(receiver, fact)
  }
  await stage.write(...many(3))
  await stage.start()
  await until('they are under way', () => under === 3)
  const stopped = stage.writer.stop()
  await stage.write({ subject: subjectOf(3), name: 'x' })
  await stage.clock.run(30_000)
  through.resolve()
  await stopped
  expect([under, await open(stage)]).toEqual([3, 1])
})

test('warns about a receiver that is not ready, as at a joint start, only when it stays away', async () => {
  await using stage = await factStage()
  const levels = () => stage.log.filter(({ msg }) => /^a fact could not be delivered/.test(String(msg))).map(({ level }) => level)
  stage.way = fails
  await stage.write({ subject: subjectOf(0), name: 'x' })
  await stage.start()
  // It is delivered again some seconds after each failure.
  await until('it has failed three times', async () => {
    await stage.clock.run(5_000)
    return levels().length >= 3
  })
  expect(levels().slice(0, 3)).toEqual([30, 30, 40])
})
