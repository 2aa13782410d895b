import { GraphQLError } from 'graphql'
import { expect, test } from 'vitest'
import { OutboundFailure } from '../../platform/outbound/failure.ts'
import { formatError } from '../../router/door/errors.ts'
import { createLog } from '../../router/door/log.ts'

function open() {
  const time = { now: 0 }
  const lines: Record<string, unknown>[] = []
  const log = createLog('info', { write: line => void lines.push(JSON.parse(line)) }, () => time.now)
  return { time, lines, log }
}

const gone = (code: string) => new Error('wrapped', { cause: Object.assign(new Error('the server went'), { code }) })

test('logs failures of an unavailable database once in ten seconds for each message and cause, then with the number omitted', () => {
  const { time, lines, log } = open()
  for (let turn = 0; turn < 100; turn++) {
    log.error({ err: gone('57P01'), requestId: String(turn) }, 'field failed')
    log.error({ err: gone('ECONNREFUSED'), requestId: String(turn) }, 'field failed')
    log.child({ subgraph: 'publishing' }).error({ err: gone('ECONNREFUSED') }, 'a sweep failed')
  }
  expect(lines).toMatchObject([{ requestId: '0' }, { requestId: '0' }, { msg: 'a sweep failed', subgraph: 'publishing' }])
  expect(lines).toHaveLength(3)
  time.now = 10_000
  log.error({ err: gone('57P01') }, 'field failed')
  expect(lines[3]).toMatchObject({ msg: 'field failed', repeated: 99 })
})

test.each([
  ['mistakes of ours', () => new TypeError('x is undefined')],
  ['what the database refuses', () => Object.assign(new Error('duplicate key'), { code: '23505' })],
  ['what third parties did', () => new OutboundFailure('could not be asked', false, gone('ECONNREFUSED'))],
])('%s are told each time', (_what, error) => {
  const { lines, log } = open()
  for (let turn = 0; turn < 3; turn++) log.error({ err: error() }, 'failed')
  expect(lines).toHaveLength(3)
})

test('logs a failure that repeats within one request once with its stack, then with the number left out', () => {
  const { time, lines, log } = open()
  const fail = (requestId: string, record: number) => log.error({ requestId, err: new TypeError(`no such thing: ${record}`) }, 'field failed')
  for (let turn = 0; turn < 90; turn++) for (const requestId of ['one', 'two']) fail(requestId, turn)
  for (let turn = 0; turn < 5; turn++) log.error({ requestId: 'one', err: new RangeError('another cause') }, 'field failed')
  expect(lines.map(({ requestId, err }) => [requestId, (err as { type: string }).type])).toEqual([
    ['one', 'TypeError'],
    ['two', 'TypeError'],
    ['one', 'RangeError'],
  ])
  expect((lines[0]!.err as { stack: string }).stack).toContain('log.test')
  time.now = 10_000
  fail('one', 7)
  expect(lines[3]).toMatchObject({ requestId: 'one', repeated: 89 })
})

test('logs unavailable subgraphs one by one', () => {
  const { lines, log } = open()
  for (const service of ['identity', 'publishing', 'identity']) log.warn({ err: gone('ECONNREFUSED'), service }, 'A subgraph did not answer')
  expect(lines).toHaveLength(2)
})

test('S-11 an error is sent with its code and details, never with a stack or an HTTP status', () => {
  const extensions = { code: 'NOT_FOUND', field: 'id', stacktrace: ['at secret.ts:1'], http: { status: 200 } }
  const error = new GraphQLError('There is none.', { path: ['post'], extensions })
  const told = formatError(error, { requestId: 'request-1', log: open().log, hideSuggestions: true })
  expect(told).toEqual({ message: 'There is none.', path: ['post'], extensions: { code: 'NOT_FOUND', field: 'id' } })
})
