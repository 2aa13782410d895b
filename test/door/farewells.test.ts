import { afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest'
import { WebSocket } from 'ws'
import { createMemoryEvents } from '../../platform/events.ts'
import type { Engine } from '../../router/engine/engine.ts'
import { smallGraph } from './graph.ts'
import { openRouter, schemaEngine } from './platform.ts'

let platform: Awaited<ReturnType<typeof openRouter>>
/** The names of operations that were run. */
let run: (string | undefined)[]
/** A word for each that was told to end. */
let ended: string[]
beforeEach(async () => {
  run = []
  ended = []
  const engine = schemaEngine(smallGraph(createMemoryEvents(), ended))
  const counting: Engine = {
    ...engine,
    execute(request) {
      run.push(request.operationName)
      return engine.execute(request)
    },
  }
  platform = await openRouter(counting, { sockets: { perViewer: 1 } })
  platform.signIn('one')
})
afterEach(() => platform.close())

/** A socket, greeted unless its greeting is another. */
async function dial() {
  const socket = new WebSocket(`ws://127.0.0.1:${platform.port}/graphql`, 'graphql-transport-ws')
  onTestFinished(() => socket.terminate())
  const types: string[] = []
  const codes: number[] = []
  socket.on('message', data => types.push((JSON.parse(String(data)) as { type: string }).type)).on('close', code => codes.push(code))
  await new Promise((resolve, reject) => socket.on('open', resolve).on('error', reject))
  const send = (message: unknown) => socket.send(JSON.stringify(message))
  return {
    socket,
    types,
    codes,
    send,
    ask: (operationName: string, query: string) => send({ id: operationName, type: 'subscribe', payload: { operationName, query } }),
    async greet(payload = {}) {
      send({ type: 'connection_init', payload })
      await expect.poll(() => [...types, ...codes], { timeout: 5000 }).not.toEqual([])
      return types[0] ?? codes[0]
    },
  }
}
const open = async () => Number(/^websockets_open (\d+)/m.exec((await platform.ask('/metrics')).text)?.[1])

test('does not run messages that follow one for which the socket is closed', async () => {
  const { ask, greet, socket, codes } = await dial()
  await greet()
  ask('Before', 'query Before { hello }')
  socket.send('no JSON')
  ask('Behind', 'mutation Behind { rename(name: "n") }')
  await expect.poll(() => codes, { timeout: 5000 }).toEqual([4400])
  expect(run).toEqual(['Before'])
})

test('ends the operations of a closed socket at once, and cuts a client that does not answer the close frame', async () => {
  const { terminate } = WebSocket.prototype
  const endedBy: number[] = []
  const cutting = vi.spyOn(WebSocket.prototype, 'terminate').mockImplementation(function (this: WebSocket) {
    endedBy.push(ended.length)
    terminate.call(this)
  })
  onTestFinished(() => cutting.mockRestore())
  const { ask, greet, socket } = await dial()
  await greet()
  ask('Hanging', 'query Hanging { hang }')
  await expect.poll(() => run).toEqual(['Hanging'])
  socket.pause()
  socket.send('no JSON')
  await expect.poll(open, { timeout: 5000 }).toBe(0)
  expect(endedBy).toEqual([1])
})

test('sends no more pings on a closed socket', async () => {
  await platform.close()
  platform = await openRouter(schemaEngine(smallGraph()), { pingMs: 50 })
  const [gone, stays] = [await dial(), await dial()]
  gone.socket.terminate()
  await expect.poll(open, { timeout: 5000 }).toBe(1)
  const pinging = vi.spyOn(WebSocket.prototype, 'ping')
  onTestFinished(() => pinging.mockRestore())
  let pings = 0
  stays.socket.on('ping', () => {
    pings += 1
  })
  await expect.poll(() => pings, { timeout: 10_000 }).toBeGreaterThan(3)
  expect(pinging.mock.contexts.filter(each => (each as WebSocket).readyState === WebSocket.CLOSED)).toEqual([])
})

test('a socket that disconnects during its authentication counts for no caller', async () => {
  const authorization = `Bearer ${await platform.token('one')}`
  const answering = Promise.withResolvers<void>()
  platform.hold(answering.promise)
  const { send, socket } = await dial()
  const { sessions } = platform.asked
  send({ type: 'connection_init', payload: { authorization } })
  await expect.poll(() => platform.asked.sessions).toBe(sessions + 1)
  socket.terminate()
  await expect.poll(open, { timeout: 5000 }).toBe(0)
  answering.resolve()
  expect(await (await dial()).greet({ authorization })).toBe('connection_ack')
  expect(platform.router.openStreams()).toBe(1)
})

test('a subscription that is completed while it waits to start releases its slot', async () => {
  const gate = Promise.withResolvers<void>()
  await platform.close()
  platform = await openRouter(schemaEngine(smallGraph(createMemoryEvents(), [], gate.promise)))
  const [first, second, third] = [await dial(), await dial(), await dial()]
  // A message is answered after those before it.
  const subscribe = async ({ ask, greet, send, types }: Awaited<ReturnType<typeof dial>>, isCompleted: boolean) => {
    await greet()
    const names = Array.from({ length: 100 }, (_, number) => `Own${number}`)
    for (const name of names) ask(name, `subscription ${name} { late }`)
    if (isCompleted) for (const id of names) send({ id, type: 'complete' })
    send({ type: 'ping' })
    await expect.poll(() => types.includes('pong'), { timeout: 5000 }).toBe(true)
    expect(types.filter(type => type === 'error')).toEqual([])
  }
  await subscribe(first, false)
  await subscribe(second, true)
  await subscribe(third, false)
  gate.resolve()
})

test('accepts a burst of messages of a socket up to the limit, however long it was quiet', async () => {
  await platform.close()
  platform = await openRouter(schemaEngine(smallGraph()), { sockets: { messages: 10 } })
  const { greet, send, codes } = await dial()
  await greet()
  for (let sent = 0; sent < 110; sent++) send({ type: 'ping' })
  await expect.poll(() => codes, { timeout: 5000 }).toEqual([4429])
})

test('one key may open as many sockets as a person, independently of other callers', async () => {
  for (const key of ['one', 'other'])
    platform.keys.set(`hash of ${key}`, { keyId: key, organizationId: 'org-1', userId: null, rateLimit: 600, scopes: [], expiresAt: null })
  const greeted = async (key: string) => (await dial()).greet({ 'x-api-key': key })
  expect([await greeted('one'), await greeted('one'), await greeted('other')]).toEqual(['connection_ack', 4429, 'connection_ack'])
})
