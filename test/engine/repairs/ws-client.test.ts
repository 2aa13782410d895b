import { execFile } from 'node:child_process'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { promisify } from 'node:util'
import { createClient } from 'graphql-ws/client'
import { describe, expect, test } from 'vitest'
import { WebSocket, WebSocketServer } from 'ws'
import { until } from '../supergraph-fixture.ts'
import { stillThere } from './still.ts'

/** A server that accepts every connection, and does with the one operation of each as it is told. */
async function serve(subscribed: (socket: WebSocket, id: unknown) => void) {
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1', handleProtocols: () => 'graphql-transport-ws' })
  await once(server, 'listening')
  let connections = 0
  server.on('connection', socket => {
    connections++
    socket.on('message', data => {
      const { type, id } = JSON.parse(String(data))
      if (type === 'connection_init') socket.send('{"type":"connection_ack"}')
      else if (type === 'subscribe') subscribed(socket, id)
    })
  })
  return {
    url: `ws://127.0.0.1:${(server.address() as AddressInfo).port}`,
    connections: () => connections,
    async [Symbol.asyncDispose]() {
      for (const socket of server.clients) socket.terminate()
      await new Promise(resolve => server.close(resolve))
    },
  }
}

describe('the client (graphql-ws), used directly,', () => {
  test('reconnects after a normal closure, although it has no attempts left', async () => {
    let closed = 0
    await using server = await serve((socket, id) => {
      if (closed++ === 0) socket.close(1000)
      else socket.send(JSON.stringify({ id, type: 'complete' }))
    })
    const client = createClient({ url: server.url, webSocketImpl: WebSocket, retryAttempts: 0, shouldRetry: () => false })
    await new Promise<void>(ended => client.subscribe({ query: '{ a }' }, { next() {}, error: () => ended(), complete: ended }))
    stillThere('repairs/ws-client-socket', server.connections() === 2)
  })

  test('passes on what follows an operation’s end in the same packet', async () => {
    const results: unknown[] = []
    await using server = await serve((socket, id) => {
      const complete = JSON.stringify({ id, type: 'complete' })
      const next = JSON.stringify({ id, type: 'next', payload: { data: {} } })
      const cork = socket as unknown as { _socket: { cork(): void; uncork(): void } }
      cork._socket.cork()
      for (const message of [complete, next]) socket.send(message)
      cork._socket.uncork()
    })
    const client = createClient({ url: server.url, webSocketImpl: WebSocket, retryAttempts: 0 })
    let over = false
    client.subscribe({ query: '{ a }' }, { next: result => void results.push(result), error() {}, complete: () => (over = true) })
    await until(() => over)
    stillThere('repairs/ws-client-socket', results.length === 1)
  })

  test('crashes the process where no socket can be created', async () => {
    const program = `
      const { createClient } = await import('graphql-ws/client')
      class Refusing { static CONNECTING = 0; static OPEN = 1; static CLOSING = 2; static CLOSED = 3; constructor() { throw new Error('no socket') } }
      createClient({ url: 'ws://127.0.0.1:1', webSocketImpl: Refusing, retryAttempts: 0 })
        .subscribe({ query: '{ a }' }, { next() {}, error: () => console.log('told'), complete() {} })`
    const ended = await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', program]).catch(
      (cause: { code: number; stdout: string }) => cause,
    )
    stillThere('repairs/ws-client-socket', 'code' in ended && ended.code === 1 && !ended.stdout.includes('told'))
    expect(String((ended as { stderr?: string }).stderr)).toContain('no socket')
  })
})
