import type { ExecutionResult } from 'graphql'
import { pino } from 'pino'
import { describe, expect, onTestFinished, test } from 'vitest'
import { createApp } from '../../../router/door/app.ts'
import { serveCallbacks } from '../../../router/door/streaming/callbacks.ts'
import type { ResultStream } from '../../../router/engine/engine.ts'
import { createCallbacks } from '../../../router/engine/transport/streams/callback.ts'
import { createHosts } from '../../../router/hosts.ts'
import { freePort } from '../../kit/launch.ts'
import { answerOf, until } from '../supergraph-fixture.ts'
import { shop } from './parts.ts'
import { remoteGraph } from './remote-graph.ts'

interface Begun {
  readonly accept: string
  readonly callbackUrl: string
  readonly subscriptionId: string
  readonly verifier: string
  readonly heartbeatIntervalMs: number
  /** Answers the request that began it. */
  answer(status: number, body?: object): void
}

type Call = (action: string, more?: object, id?: string) => Promise<Response>

/** A graph whose catalogue sends its events by callbacks. */
async function stage(heartbeatMs = 0) {
  const begun: Begun[] = []
  const port = await freePort()
  const publicUrl = `http://127.0.0.1:${port}`
  const door = await createApp({ publicUrl, hosts: createHosts(publicUrl, []), trustProxy: false, log: pino({ level: 'silent' }) })
  const callbacks = createCallbacks({ url: `${publicUrl}/subscriptions/callback`, heartbeatMs })
  serveCallbacks(door, callbacks, 100_000)
  await door.listen({ port, host: '127.0.0.1' })
  const graph = await remoteGraph(shop, { subscriptions: 'callback', callbacks })
  onTestFinished(async () => {
    await graph[Symbol.asyncDispose]()
    await door.close()
  })
  graph.servers.catalogue!.fault = (request, response, body) => {
    const { subscription } = JSON.parse(body).extensions
    begun.push({
      ...{ accept: request.headers.accept!, ...subscription },
      answer: (status, answered) => void response.writeHead(status, { 'content-type': 'application/json' }).end(answered && JSON.stringify(answered)),
    })
  }
  const callOf =
    ({ callbackUrl, subscriptionId, verifier }: Begun): Call =>
    (action, more = {}) =>
      fetch(callbackUrl, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ kind: 'subscription', action, id: subscriptionId, verifier, ...more }),
      })
  const asked = () => graph.subscribe('subscription { twice }')
  return {
    ...{ graph, begun, callOf, asked, callbacks },
    /** Opens a stream as a subgraph should. */
    async open() {
      const stream = asked()
      await until(() => begun.length > 0)
      const call = callOf(begun.at(-1)!)
      expect((await call('check')).status).toBe(204)
      begun.at(-1)!.answer(200, { data: null })
      return { stream: (await stream) as ResultStream, call, begun: begun.at(-1)! }
    },
  }
}

describe('subscriptions by callbacks', () => {
  test('begin with a check, bring events, and end with complete; later calls are refused', async () => {
    const { open } = await stage()
    const { stream, call, begun } = await open()
    expect(begun).toMatchObject({ accept: 'application/json;callbackSpec=1.0, application/json', heartbeatIntervalMs: 0 })
    expect(begun.callbackUrl.endsWith(`/${begun.subscriptionId}`)).toBe(true)
    expect(Buffer.from(begun.verifier, 'base64url')).toHaveLength(32)
    const checked = await call('check')
    expect([checked.status, checked.headers.get('subscription-protocol')]).toEqual([204, 'callback/1.0'])
    expect((await call('next', { payload: { data: { twice: 1 } } })).status).toBe(200)
    expect(answerOf((await stream.next()).value).data).toEqual({ twice: 1 })
    expect((await call('complete')).status).toBe(202)
    expect((await stream.next()).done).toBe(true)
    for (const action of ['check', 'next', 'heartbeat', 'complete']) expect((await call(action)).status).toBe(404)
  })

  test('complete with errors ends the stream with them', async () => {
    const { stream, call } = await (await stage()).open()
    expect((await call('complete', { errors: [{ message: 'closed', extensions: { code: 'NOT_FOUND' } }] })).status).toBe(202)
    expect(answerOf((await stream.next()).value).errors![0]).toMatchObject({ message: 'closed', extensions: { code: 'NOT_FOUND' } })
    expect((await stream.next()).done).toBe(true)
  })

  test('calls with another verifier or id, and what is none, change nothing', async () => {
    const { open, begun } = await stage()
    const { stream, call } = await open()
    const next = { payload: { data: { twice: 8 } } }
    expect((await call('next', { ...next, verifier: 'another' })).status).toBe(401)
    expect((await call('next', { ...next, verifier: `${begun[0]!.verifier.slice(1)}x` })).status).toBe(401)
    expect((await call('next', { ...next, id: crypto.randomUUID() })).status).toBe(404)
    expect((await fetch(begun[0]!.callbackUrl.replace(/[^/]*$/, crypto.randomUUID()), { method: 'POST', body: 'x'.repeat(1000) })).status).toBe(404)
    for (const wrong of [{ kind: 'query' }, { action: 'other' }, { verifier: 7 }, { payload: [1] }])
      expect((await call('next', { ...next, ...wrong })).status).toBe(400)
    expect((await call('next', { payload: { data: { twice: 'x'.repeat(200_000) } } })).status).toBe(413)
    expect((await call('next', { payload: { data: { twice: 2 } } })).status).toBe(200)
    expect(answerOf((await stream.next()).value).data).toEqual({ twice: 2 })
  })

  test('a heartbeat names what is over', async () => {
    const { call, begun } = await (await stage()).open()
    expect((await call('heartbeat', { ids: [begun.subscriptionId] })).status).toBe(204)
    const answer = await call('heartbeat', { ids: [begun.subscriptionId, 'gone'] })
    expect([answer.status, await answer.json()]).toEqual([400, { id: begun.subscriptionId, invalid_ids: ['gone'], verifier: begun.verifier }])
  })

  test('when the last client leaves, the next call is 404', async () => {
    const { stream, call } = await (await stage()).open()
    await stream.return()
    expect((await call('check')).status).toBe(404)
  })

  test('a subgraph that is silent for three heartbeats is lost; signs of life keep it', async () => {
    const { stream, call } = await (await stage(300)).open()
    const next = stream.next()
    const began = performance.now()
    while (performance.now() - began < 2_000) expect((await call('check')).status).toBe(204)
    expect(answerOf((await next).value).errors![0]).toMatchObject({ extensions: { code: 'UPSTREAM_FAILED' } })
    expect(performance.now() - began).toBeGreaterThan(2_000)
    expect((await call('check')).status).toBe(404)
  })

  test.for<[string, (begun: Begun, call: Call) => unknown, string]>([
    ['answers before it has checked', begun => begun.answer(200, { data: null }), 'UPSTREAM_FAILED'],
    ['answers 500 after its check', (begun, call) => call('check').then(() => begun.answer(500, { data: null })), 'UPSTREAM_FAILED'],
    ['rejects it', begun => begun.answer(200, { errors: [{ message: 'no such moment' }] }), 'BAD_USER_INPUT'],
  ])('one that %s is refused', async ([, answer, code]) => {
    const { asked, begun, callOf, callbacks } = await stage()
    const refused = asked()
    await until(() => begun.length > 0)
    await answer(begun[0]!, callOf(begun[0]!))
    const result = await refused
    expect(Symbol.asyncIterator in result).toBe(false)
    expect(answerOf(result as ExecutionResult).errors![0]).toMatchObject({ extensions: { code, service: 'catalogue' } })
    expect(callbacks.knows(begun[0]!.subscriptionId)).toBe(false)
  })

  test('events that come before the answer are kept, and one that answers 202 or nothing else than success begins', async () => {
    const { asked, begun, callOf } = await stage()
    const opening = asked()
    await until(() => begun.length > 0)
    const call = callOf(begun[0]!)
    await call('check')
    await call('next', { payload: { data: { twice: 1 } } })
    begun[0]!.answer(202)
    const stream = (await opening) as ResultStream
    expect(answerOf((await stream.next()).value).data).toEqual({ twice: 1 })
    await stream.return()
  })
})
