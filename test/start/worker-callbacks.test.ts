import type { ChildProcess } from 'node:child_process'
import { EventEmitter, once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { Registry } from 'prom-client'
import { Agent } from 'undici'
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest'
import { createCallbacks } from '../../router/engine/transport/streams/callback.ts'
import { gather } from '../../router/start/apart/gather.ts'
import { type Channel, openColleagues, type Word } from '../../router/start/process/colleagues.ts'
import { callbacksOfAll, idOfWorker, workerOf } from '../../router/start/process/shared/callbacks.ts'

interface Begun {
  readonly subscriptionId: string
  readonly verifier: string
}

/** What a subgraph was asked for; it never answers, so that each subscription stays. */
const begun: Begun[] = []
const subgraph = createServer(async request => {
  begun.push((JSON.parse(await text(request)) as { extensions: { subscription: Begun } }).extensions.subscription)
})
beforeAll(() => once(subgraph.listen(0, '127.0.0.1'), 'listening'))
afterAll(() => {
  subgraph.closeAllConnections()
  subgraph.close()
})

/** Workers of one port, and the process that keeps them. */
function workersOf(count: number) {
  const gathering = gather(count)
  const workers = Array.from({ length: count }, (_, at) => {
    const number = at + 1
    const ends = new EventEmitter()
    const process = Object.assign(new EventEmitter(), {
      pid: number,
      connected: true,
      send: (word: Word) => ends.emit('message', structuredClone(word)),
    }) as unknown as ChildProcess
    const channel = Object.assign(ends, { send: (word: Word) => gathering.heard(structuredClone(word), process) }) as unknown as Channel
    const { callbacks } = openColleagues(new Registry(), number, channel)
    const own = createCallbacks({ url: 'http://router', heartbeatMs: 0, newId: () => idOfWorker(number) })
    callbacks.answer(own)
    return { process, own, called: callbacksOfAll(own, number, callbacks.ask) }
  })
  return workers
}

/** Subscribes at the subgraph. */
async function begin({ own }: Pick<ReturnType<typeof workersOf>[number], 'own'>): Promise<Begun> {
  const leaving = new AbortController()
  onTestFinished(() => leaving.abort())
  const before = begun.length
  const start = { headers: [], timeoutMs: 60_000, dispatcher: new Agent(), signal: new AbortController().signal, leaving: leaving.signal }
  const url = `http://127.0.0.1:${(subgraph.address() as AddressInfo).port}/`
  own.subscribe({ url, payload: { query: 'subscription { twice }', variables: {} }, ...start }).catch(() => {})
  await expect.poll(() => begun.length).toBe(before + 1)
  return begun.at(-1)!
}

const callOf = ({ subscriptionId: id, verifier }: Begun, action: string, more: object = {}) =>
  [id, { kind: 'subscription', action, id, verifier, ...more }, 100] as const

test('ids name the worker that listens, and are UUIDs', () => {
  for (const worker of [1, 17, 65_535]) {
    expect(idOfWorker(worker)).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
    expect(workerOf(idOfWorker(worker))).toBe(worker)
  }
  for (const id of ['', 'x', '0001', `${idOfWorker(1)}0`, idOfWorker(1).toUpperCase()]) expect(workerOf(id)).toBe(null)
})

test('a call is taken by the worker that subscribed, whichever gets it', async () => {
  const workers = workersOf(3)
  const one = await begin(workers[0]!)
  for (const { called } of workers) {
    expect(await called.knows(one.subscriptionId)).toBe(true)
    expect(await called.take(...callOf(one, 'check'))).toEqual({ status: 204, headers: { 'subscription-protocol': 'callback/1.0' } })
    expect(await called.take(...callOf({ ...one, verifier: 'another' }, 'check'))).toEqual({ status: 401 })
    expect((await called.take(one.subscriptionId, { kind: 'subscription' }, 10)).status).toBe(400)
  }
})

test('an id that no worker gave, or that is over, is not known', async () => {
  const workers = workersOf(2)
  const one = await begin(workers[0]!)
  for (const id of [idOfWorker(1), idOfWorker(2), idOfWorker(9), 'x', one.subscriptionId.replace(/^(.{8})-0001/, '$1-0002')])
    for (const { called } of workers) {
      expect(await called.knows(id)).toBe(false)
      expect(await called.take(...callOf({ ...one, subscriptionId: id }, 'check'))).toEqual({ status: 404 })
    }
  workers[0]!.process.emit('exit', null, 'SIGKILL')
  expect(await workers[1]!.called.knows(one.subscriptionId)).toBe(false)
  expect(await workers[1]!.called.take(...callOf(one, 'next', { payload: {} }))).toEqual({ status: 404 })
})

test('a sign of life reaches the subscriptions of all workers, and names those that nobody has', async () => {
  const workers = workersOf(3)
  const all = [await begin(workers[0]!), await begin(workers[1]!), await begin(workers[2]!)]
  const ids = all.map(({ subscriptionId }) => subscriptionId)
  const unknown = [idOfWorker(1), idOfWorker(3), 'x']
  for (const { called } of workers) {
    expect(await called.take(...callOf(all[0]!, 'heartbeat', { ids }))).toEqual({ status: 204 })
    expect(await called.take(...callOf(all[0]!, 'heartbeat', { ids: [unknown[0], ...ids, ...unknown.slice(1)] }))).toEqual({
      status: 400,
      body: { id: ids[0], invalid_ids: unknown, verifier: all[0]!.verifier },
    })
  }
})

test('a worker that says nothing costs its own calls a status that says so', async () => {
  const workers = workersOf(2)
  const [one, other] = [await begin(workers[0]!), await begin(workers[1]!)]
  Object.assign(workers[1]!.process, { send: () => true })
  vi.useFakeTimers({ toFake: ['setTimeout'] })
  onTestFinished(() => void vi.useRealTimers())
  const late = workers[0]!.called.take(...callOf(other, 'check'))
  const known = workers[0]!.called.knows(other.subscriptionId)
  await vi.advanceTimersByTimeAsync(4_000)
  expect([await late, await known]).toEqual([{ status: 503 }, true])
  expect((await workers[0]!.called.take(...callOf(one, 'check'))).status).toBe(204)
})

test('at most 256 calls, and 64 MiB of them, wait for other workers', async () => {
  const workers = workersOf(2)
  const other = await begin(workers[1]!)
  Object.assign(workers[1]!.process, { send: () => true })
  vi.useFakeTimers({ toFake: ['setTimeout'] })
  onTestFinished(() => void vi.useRealTimers())
  const { called } = workers[0]!
  const [id, body] = callOf(other, 'check')
  const large = called.take(id, body, 60 * 1024 * 1024)
  expect(await called.take(id, body, 5 * 1024 * 1024)).toEqual({ status: 503 })
  const waiting = Array.from({ length: 255 }, () => called.take(id, body, 100))
  expect(await called.take(id, body, 100)).toEqual({ status: 503 })
  await vi.advanceTimersByTimeAsync(4_000)
  expect(new Set((await Promise.all([large, ...waiting])).map(({ status }) => status))).toEqual(new Set([503]))
  // What has ended makes room.
  const next = Promise.resolve(called.take(id, body, 60 * 1024 * 1024)).then(() => 'ended')
  expect(await Promise.race([next, vi.advanceTimersByTimeAsync(3_000).then(() => 'waits')])).toBe('waits')
  await vi.advanceTimersByTimeAsync(1_000)
  expect(await next).toBe('ended')
  Object.assign(workers[1]!.process, { send: undefined })
})
