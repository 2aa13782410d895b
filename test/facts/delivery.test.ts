import { expect, test } from 'vitest'
import { until } from '../kit/launch.ts'
import { factStage, subjectOf } from './stage.ts'

test('a fact is there when its transaction is through, and reaches its receiver, who acts on it once', async () => {
  await using stage = await factStage()
  await stage.start()
  await stage.write({ subject: subjectOf(1), name: 'first' })
  await until('the receiver acted', async () => (await stage.acted()).length > 0)
  expect(await stage.acted()).toEqual([[subjectOf(1), 'first']])
  const delivered = await until(
    'it is noted',
    async () => (await stage.sql('select receiver, kind, attempts, next_at, failure from identity.facts where delivered_at is not null'))[0],
  )
  expect(delivered).toEqual({ receiver: 'publishing', kind: 'organization.created', attempts: 1, next_at: null, failure: null })
  expect(await stage.sql('select writer, kind, subject from publishing.inbox')).toEqual([
    { writer: 'identity', kind: 'organization.created', subject: `organization:${subjectOf(1)}` },
  ])
})
