import { expect, test } from 'vitest'
import { openFactOperator } from '../../platform/jobs/facts/operator.ts'
import { launch, until } from '../kit/launch.ts'
import { factStage, subjectOf } from './stage.ts'

test('lets an operator list undelivered facts with reasons, retry them, or drop one so that its subject continues', async () => {
  await using stage = await factStage()
  const { sequelize, url } = stage.database
  const up = stage.way
  let knows = false
  stage.way = (receiver, fact) => up(receiver, knows || fact.subject.endsWith('3') ? fact : { ...fact, kind: 'of.tomorrow' })
  await stage.start()
  await stage.write({ subject: subjectOf(1), name: 'first' })
  await stage.write({ subject: subjectOf(1), name: 'second' }, { subject: subjectOf(2), name: 'never' }, { subject: subjectOf(3), name: 'fine' })
  const operator = await openFactOperator(sequelize, ['identity', 'publishing', 'launcher', 'agents'])
  const states = async () => (await operator.list()).map(({ from, receiver, subject, state }) => [from, receiver, subject.at(-1), state])
  await until('two are refused', async () => (await operator.list()).filter(({ state }) => state === 'REFUSED').length === 2)
  expect((await states()).sort()).toEqual([
    ['identity', 'publishing', '1', 'BEHIND'],
    ['identity', 'publishing', '1', 'REFUSED'],
    ['identity', 'publishing', '2', 'REFUSED'],
  ])

  const command = async (...words: string[]) => {
    const run = launch(process.execPath, ['scripts/operate/facts.ts', ...words], { DATABASE_URL: url })
    await run.ended
    return run
  }
  const listed = await command('list')
  await listed.printed(
    /REFUSED {2}organization\.created {2}identity -> publishing {2}organization:\S+1 .* publishing of this version knows no fact of\.tomorrow/,
  )
  const refused = (await operator.list()).find(({ subject, state }) => state === 'REFUSED' && subject.endsWith('2'))!
  await (await command('drop', refused.id)).printed(/^1 given up/m)
  knows = true
  await (await command('retry')).printed(/^2 are told again/m)
  await stage.clock.run(60_000)
  await until('all is delivered', async () => (await operator.list()).length === 0)
  expect((await stage.acted()).map(([, name]) => name)).toEqual(['fine', 'first', 'second'])
  await (await command('list')).printed(/^every fact is delivered/m)
})

test('retries one of several refused facts, and leaves the others', async () => {
  await using stage = await factStage()
  const { sequelize } = stage.database
  const up = stage.way
  stage.way = (receiver, fact) => up(receiver, { ...fact, kind: 'of.tomorrow' })
  await stage.start()
  await stage.write({ subject: subjectOf(1), name: 'first' }, { subject: subjectOf(2), name: 'second' })
  const operator = await openFactOperator(sequelize, ['identity'])
  await until('both are refused', async () => (await operator.list()).every(({ state }) => state === 'REFUSED'))
  stage.way = up
  const [one] = (await operator.list()).filter(({ subject }) => subject.endsWith('1'))
  expect(await operator.retry(one!.id, stage.clock.now())).toBe(1)
  await stage.clock.run(15_000)
  await until('it is delivered', async () => (await operator.list()).length === 1)
  expect([await stage.acted(), await operator.list()]).toMatchObject([
    [[subjectOf(1), 'first']],
    [{ subject: `organization:${subjectOf(2)}`, state: 'REFUSED', attempts: 1 }],
  ])
})
