import { once } from 'node:events'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { pino } from 'pino'
import { afterEach, expect, test } from 'vitest'
import { createApp } from '../../router/door/app.ts'
import { rememberCaller, type SendingLimits } from '../../router/door/sending.ts'
import { type BytesLimits, createBytesInFlight } from '../../router/engine/data/in-flight.ts'
import { createHosts } from '../../router/hosts.ts'
import { anonymous } from '../../subgraphs/viewer.ts'

const mebibyte = 1024 * 1024
const open: AsyncDisposable[] = []
afterEach(async () => {
  for (const each of open.splice(0)) await each[Symbol.asyncDispose]()
})

/** A door whose `/text/N` answers N MiB, and whose caller is the one whom `x-caller` names. */
async function door({ ofCaller = 40 * mebibyte, ...limits }: Partial<SendingLimits & BytesLimits> = {}) {
  const sending = { stuckMs: 60_000, lookMs: 20, ...limits }
  const app = await createApp({
    publicUrl: 'http://localhost:4000',
    hosts: createHosts('http://localhost:4000', []),
    trustProxy: false,
    sending,
    inFlight: createBytesInFlight({ ofCaller, ofOrganization: 50 * mebibyte, all: 60 * mebibyte }),
    log: pino({ level: 'silent' }),
  })
  app.get('/text/:size', async (request, reply) => {
    const name = request.headers['x-caller']
    if (typeof name === 'string') rememberCaller(request, { ...anonymous, userId: name })
    return reply.type('text/plain').send('ä'.repeat((Number((request.params as { size: string }).size) * mebibyte) / 2))
  })
  await app.listen({ host: '127.0.0.1', port: 0 })
  const { port } = app.server.address() as AddressInfo
  const sockets: Socket[] = []
  open.push({
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy()
      await app.close()
    },
  })
  const ask = (size: number, caller?: string, method = 'GET') => {
    const socket = connect(port, '127.0.0.1')
    socket.on('error', () => {})
    sockets.push(socket)
    socket.write(`${method} /text/${size} HTTP/1.1\r\nhost: localhost:4000\r\n${caller ? `x-caller: ${caller}\r\n` : ''}connection: close\r\n\r\n`)
    return socket
  }
  return {
    /** Asks, takes the first piece and reads no further. */
    async unread(size: number, caller?: string) {
      const socket = ask(size, caller)
      await once(socket, 'readable')
      return socket
    },
    async read(size: number, caller?: string, method = 'GET') {
      let text = ''
      let bytes = 0
      for await (const piece of ask(size, caller, method)) {
        bytes += piece.length
        if (text.length < 2000) text += String(piece)
      }
      const [head = ''] = text.split('\r\n\r\n')
      return { status: Number(head.split(' ')[1]), head: head.toLowerCase(), bytes, text }
    },
  }
}

test('answers HEAD with the length at once, whatever the caller’s unread answers', async () => {
  const { read } = await door({ ofCaller: mebibyte })
  expect((await read(8)).status).toBe(429)
  const { status, head } = await read(8, undefined, 'HEAD')
  expect([status, head]).toEqual([200, expect.stringContaining(`content-length: ${8 * mebibyte}\r\n`)])
})

test('a large answer arrives whole, with its length', async () => {
  const { read } = await door()
  const { status, head, bytes } = await read(8)
  expect(status).toBe(200)
  expect(head).toContain(`content-length: ${8 * mebibyte}`)
  expect(bytes).toBe(head.length + 4 + 8 * mebibyte)
})

test('sends no more answers to a caller with too many unread ones, from any address, and resumes once they are read', async () => {
  const { read, unread } = await door()
  const waiting = await unread(24, 'ada')
  const refused = await read(24, 'ada')
  expect(refused.status).toBe(429)
  expect(refused.head).toContain('retry-after: 5')
  expect(refused.text).toContain('RATE_LIMITED')
  expect((await read(24, 'bob')).status).toBe(200)
  waiting.destroy()
  await expect.poll(async () => (await read(24, 'ada')).status).toBe(200)
})

test('counts anonymous callers by their address', async () => {
  const { read, unread } = await door()
  await unread(24)
  expect((await read(24)).status).toBe(429)
  expect((await read(0.03)).status).toBe(200)
})

test('limits the unread answers of all callers together', async () => {
  const { read, unread } = await door()
  for (const caller of ['a', 'b']) await unread(24, caller)
  const refused = await read(24, 'c')
  expect(refused.status).toBe(503)
  expect(refused.head).toContain('retry-after: 5')
})

test('cuts a client that reads nothing of its answer, and releases the memory', async () => {
  const { read, unread } = await door({ stuckMs: 300 })
  const stuck = await unread(24, 'ada')
  await expect.poll(async () => (await read(24, 'ada')).status, { timeout: 10_000 }).toBe(200)
  stuck.resume()
  await once(stuck, 'close')
  expect(stuck.bytesRead).toBeLessThan(24 * mebibyte)
})

test('sends a slow reader the whole answer', async () => {
  const { unread } = await door({ stuckMs: 1000 })
  const slow = await unread(24, 'ada')
  let bytes = 0
  for await (const piece of slow) {
    bytes += piece.length
    // Each pause is short, but together they are longer than a client may stand still.
    if (bytes % (2 * mebibyte) < piece.length) await new Promise(resolve => setTimeout(resolve, 150))
  }
  expect(bytes).toBeGreaterThan(24 * mebibyte)
})
