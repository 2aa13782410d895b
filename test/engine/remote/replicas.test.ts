import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { afterEach, expect, test } from 'vitest'
import { WebSocketServer } from 'ws'
import type { ResultStream } from '../../../router/engine/engine.ts'
import { UpstreamFailure } from '../../../router/engine/transport/exchange.ts'
import { createReplicas, notReadyStatus, openOrigins } from '../../../router/engine/transport/replicas.ts'
import { freePort } from '../../kit/launch.ts'
import { http, okay, type RawRequest, type RawServer, serveRaw, transportTo } from './raw-server.ts'

let open: RawServer[] = []
afterEach(async () => {
  for (const server of open) await server[Symbol.asyncDispose]()
  open = []
})
const serve = async (answer: (request: RawRequest) => void) => {
  const server = await serveRaw(answer)
  open.push(server)
  return server
}
const answers = ({ socket }: RawRequest) => void socket.write(http(okay))
const refuses = ({ socket }: RawRequest) => void socket.write(http('{"code":"NOT_READY"}', `${notReadyStatus} Service Unavailable`))
const cuts = ({ socket }: RawRequest) => void socket.destroy()
const nobody = async () => `http://127.0.0.1:${await freePort()}/graphql`
const name = { data: { name: 'x' } }

test('distributes work in turn', async () => {
  const servers = [await serve(answers), await serve(answers)]
  await using remote = transportTo(servers.map(({ url }) => url))
  for (let question = 0; question < 10; question++) expect(await remote.ask()).toMatchObject(name)
  expect(servers.map(({ requests }) => requests.length)).toEqual([5, 5])
})

test.for(['query', 'mutation'] as const)('a %s goes to the other when one cannot be reached, or says that it is not ready', async kind => {
  const [draining, well] = [await serve(refuses), await serve(answers)]
  await using remote = transportTo([await nobody(), draining.url, well.url])
  for (let question = 0; question < 10; question++) expect(await remote.ask(kind)).toMatchObject(name)
  expect(well.requests).toHaveLength(10)
  // Asked once and then left alone for a while.
  expect(draining.requests.length).toBeLessThanOrEqual(2)
})

test('repeats a query whose connection broke at the other replica, but not a mutation, which may have been done', async () => {
  const [broken, well] = [await serve(cuts), await serve(answers)]
  const urls = [broken.url, well.url]
  for (let turn = 0; turn < 2; turn++) {
    await using queries = transportTo(turn ? urls : [...urls].reverse())
    expect(await queries.ask('query')).toMatchObject(name)
  }
  let failed = 0
  for (let turn = 0; turn < 2; turn++) {
    await using mutations = transportTo(turn ? urls : [...urls].reverse())
    const before = well.requests.length
    await mutations.ask('mutation').catch(error => {
      failed++
      expect(error).toMatchObject({ stage: 'cut' })
      expect(well.requests.length).toBe(before)
    })
  }
  expect(failed).toBe(1)
})

test('reports when no replica can be reached', async () => {
  await using remote = transportTo([await nobody(), await nobody()])
  await expect(remote.ask()).rejects.toMatchObject({ stage: 'unsent' })
})

const says = ({ socket }: RawRequest) => void socket.write(http('{}'))

test('sends a read to another replica when one is silent, after a moment', async () => {
  const [silent, well] = [await serve(() => {}), await serve(says)]
  const limits = { connections: 4, mostWaiting: 4, mostBytes: 1000 }
  const originsOf = (...servers: RawServer[]) => servers.map(({ url }) => new URL(url).origin)
  const question = { path: '/', headers: [], body: '{}' }
  await using stack = new AsyncDisposableStack()
  for (const origins of [originsOf(silent, well), originsOf(well, silent)]) {
    const reading = openOrigins(origins, { ...limits, elsewhereMs: 50 })
    stack.defer(() => reading.close())
    for (let turn = 0; turn < 4; turn++) expect(await reading.ask(question).answer).toMatchObject({ status: 200 })
  }
  const asked = silent.requests.length
  expect(asked).toBeGreaterThan(0)
  // A request that may have had an effect is sent only once.
  const writing = openOrigins(originsOf(silent, silent), limits)
  stack.defer(() => writing.close())
  const exchange = writing.ask(question)
  await expect.poll(() => silent.requests.length).toBe(asked + 1)
  exchange.cancel(new UpstreamFailure('late', 'nobody waits'))
  await expect(exchange.answer).rejects.toMatchObject({ stage: 'late' })
  expect(silent.requests).toHaveLength(asked + 1)
})

test('a stream starts at another replica when one is silent, and a replica that stays silent is avoided', async () => {
  const silent = await serve(() => {})
  await using well = await listens()
  await using remote = transportTo([silent.url, well.url], { timeoutMs: 400 })
  for (let turn = 0; turn < 12; turn++) {
    const stream = (await remote.subscribe()) as ResultStream
    await stream.return!()
  }
  expect(silent.requests.length).toBeGreaterThan(0)
  expect(silent.requests.length).toBeLessThanOrEqual(4)
})

/** A subgraph that takes every subscription. */
async function listens() {
  const sockets = new WebSocketServer({ port: 0, host: '127.0.0.1', handleProtocols: () => 'graphql-transport-ws' })
  await once(sockets, 'listening')
  sockets.on('connection', socket =>
    socket.on('message', text => {
      if (JSON.parse(String(text)).type === 'connection_init') socket.send('{"type":"connection_ack"}')
    }),
  )
  return {
    url: `http://127.0.0.1:${(sockets.address() as AddressInfo).port}/graphql`,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets.clients) socket.terminate()
      await new Promise(resolve => sockets.close(resolve))
    },
  }
}

const down = async (): Promise<never> => {
  throw new UpstreamFailure('unsent', 'nobody listens')
}

test('tries an unreachable replica again after a quarter of a second, then after twice as long, up to five seconds', async () => {
  let now = 0
  const replicas = createReplicas(['a', 'b'], () => now)
  const tries: number[] = []
  for (; now < 20_000; now += 50)
    await replicas.ask(async url => {
      if (url === 'b') return
      tries.push(now)
      await down()
    })
  const pauses = tries.slice(1).map((at, index) => at - tries[index]!)
  expect(pauses.every((pause, index) => pause >= Math.min(5_000, 250 * 2 ** index))).toBe(true)
  expect(pauses.at(-1)).toBeLessThan(5_200)
  // Once it answers it is one of both again.
  now += 5_000
  const asked: string[] = []
  for (let question = 0; question < 4; question++) await replicas.ask(async url => void asked.push(url))
  expect(asked.filter(url => url === 'a')).toHaveLength(2)
})

test('sends less to a replica with more in progress', async () => {
  const replicas = createReplicas(['slow', 'quick'])
  const asked: string[] = []
  const held = Promise.withResolvers<void>()
  const ask = () =>
    replicas.ask(async url => {
      asked.push(url)
      if (url === 'slow') await held.promise
    })
  const both = [ask(), ask()]
  for (let question = 0; question < 8; question++) await ask()
  expect(asked.filter(url => url === 'slow')).toHaveLength(1)
  held.resolve()
  await Promise.all(both)
})

test('avoids a replica after three late answers in a row', async () => {
  const late = createReplicas(['late', 'well'], () => 0)
  let given = 0
  for (let question = 0; question < 40; question++)
    await late
      .ask(async url => {
        if (url === 'well') return
        given++
        throw new UpstreamFailure('late', 'No answer within 10 ms')
      })
      .catch(() => {})
  expect(given).toBe(3)
})
