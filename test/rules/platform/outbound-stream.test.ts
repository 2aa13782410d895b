import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { describe, expect, test } from 'vitest'
import type { OutboundFailure } from '../../../platform/outbound/failure.ts'
import { createOutbound } from '../../../platform/outbound/outbound.ts'
import type { StreamedAnswer } from '../../../platform/outbound/stream.ts'

/** A server on loopback that knows which of its requests are open, sockets included, and a way out that may call it. */
async function served(answer: (response: ServerResponse, request: IncomingMessage) => unknown) {
  const open = new Set<ServerResponse>()
  const listener: RequestListener = (request, response) => {
    open.add(response)
    response.on('close', () => open.delete(response)).on('error', () => {})
    void answer(response, request)
  }
  const server = createServer(listener)
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const outbound = createOutbound([origin])
  let closing: Promise<void> | undefined
  const close = () => (closing ??= outbound.close())
  return {
    origin,
    open,
    stream: outbound.stream,
    close,
    async [Symbol.asyncDispose]() {
      await close()
      server.closeAllConnections()
      await new Promise(resolve => server.close(resolve))
    },
  }
}

const read = async ({ body }: StreamedAnswer) => {
  const parts: Uint8Array[] = []
  for await (const part of body) parts.push(part)
  return Buffer.concat(parts).toString()
}

const failing = (promise: Promise<unknown>) =>
  promise.then(
    () => expect.fail('it was answered'),
    error => error as OutboundFailure,
  )

/** Timers that would still fire, and connections that stand. */
const timers = () => process.getActiveResourcesInfo().filter(each => each === 'Timeout').length

describe('a streamed call to a third party', () => {
  test('resolves with status and headers first, then yields the body as it arrives', async () => {
    const gate = Promise.withResolvers<void>()
    await using server = await served(async response => {
      response.writeHead(201, { 'x-own': 'yes', 'set-cookie': ['a=1', 'b=2'] }).write('one ')
      await gate.promise
      response.end('two')
    })
    const answer = await server.stream(server.origin, { method: 'POST', body: '{}' })
    expect([answer.status, answer.headers.get('x-own'), answer.headers.getSetCookie()]).toEqual([201, 'yes', ['a=1', 'b=2']])
    const body = answer.body[Symbol.asyncIterator]()
    expect(Buffer.from((await body.next()).value!).toString()).toBe('one ')
    gate.resolve()
    expect(Buffer.from((await body.next()).value!).toString()).toBe('two')
    expect(await body.next()).toEqual({ value: undefined, done: true })
    expect(await body.next()).toEqual({ value: undefined, done: true })
  })

  test.each([
    ['text', 'wörds'],
    ['bytes', new TextEncoder().encode('wörds')],
    [
      'pieces',
      (async function* () {
        for (const piece of ['wör', 'ds']) yield new TextEncoder().encode(piece)
      })(),
    ],
    ['a web stream', new Blob(['wör', 'ds']).stream()],
  ])('sends %s', async (_what, body) => {
    await using server = await served(async (response, request) => response.end(`${request.method} ${await text(request)}`))
    expect(await read(await server.stream(server.origin, { method: 'PUT', body }))).toBe('PUT wörds')
  })

  test('reaches no private address', async () => {
    await using server = await served(response => response.end('secret'))
    await using other = await served(response => response.end('secret'))
    const failure = await failing(server.stream(other.origin))
    expect(failure).toMatchObject({ name: 'OutboundFailure', sent: false })
    expect(other.open.size).toBe(0)
  })

  test('follows no redirect', async () => {
    await using server = await served(response => response.writeHead(302, { location: 'http://127.0.0.1:1/' }).end())
    expect((await server.stream(server.origin)).status).toBe(302)
  })

  test('that gets no first byte in its time is late, with headers or without, and its socket is closed', async () => {
    await using server = await served((response, request) => request.url === '/headers' && response.writeHead(200).flushHeaders())
    const before = timers()
    expect(await failing(server.stream(`${server.origin}/none`, { firstByteMs: 40 }))).toMatchObject({
      kind: 'late',
      sent: true,
      message: expect.stringContaining('40 ms'),
    })
    const answer = await server.stream(`${server.origin}/headers`, { firstByteMs: 40 })
    expect(await failing(read(answer))).toMatchObject({ kind: 'late', sent: true })
    await expect.poll(() => server.open.size).toBe(0)
    expect(timers()).toBeLessThanOrEqual(before)
  })

  test('that stops in the middle, or drips for ever, is late', async () => {
    await using server = await served((response, request) => {
      response.write('first')
      if (request.url !== '/drips') return
      const drip = setInterval(() => response.write('.'), 5)
      response.on('close', () => clearInterval(drip))
    })
    expect(await failing(read(await server.stream(server.origin, { idleMs: 40 })))).toMatchObject({
      kind: 'late',
      message: expect.stringContaining('nothing more came within 40 ms'),
    })
    expect(await failing(read(await server.stream(`${server.origin}/drips`, { idleMs: 2000, totalMs: 60 })))).toMatchObject({
      kind: 'late',
      message: expect.stringContaining('not done within 60 ms'),
    })
    await expect.poll(() => server.open.size).toBe(0)
  })

  test('that is cut reports it, after the received part', async () => {
    await using server = await served(response => response.write('half', () => response.socket!.resetAndDestroy()))
    const answer = await server.stream(server.origin)
    let got = ''
    const failure = await failing(
      (async () => {
        for await (const part of answer.body) got += Buffer.from(part).toString()
      })(),
    )
    expect([got, failure.kind, failure.sent]).toEqual(['half', 'broken', true])
  })

  test('that was refused or never connected was not sent', async () => {
    const outbound = createOutbound(['http://127.0.0.1:1'])
    expect(await failing(outbound.stream('http://127.0.0.1:1/'))).toMatchObject({
      kind: 'broken',
      sent: false,
      message: expect.stringContaining('ECONNREFUSED'),
    })
    await outbound.close()
  })

  test('reads up to its maximum of bytes and not one more', async () => {
    await using server = await served((response, request) => response.end(Buffer.alloc(Number(request.url!.slice(1)), 'x')))
    expect(await read(await server.stream(`${server.origin}/1000`, { mostBytes: 1000 }))).toHaveLength(1000)
    expect(await failing(read(await server.stream(`${server.origin}/1001`, { mostBytes: 1000 })))).toMatchObject({ kind: 'large' })
    await expect.poll(() => server.open.size).toBe(0)
  })

  test.each([
    ['its signal, before the headers', '/silent', undefined],
    ['its signal, in the middle', '/', 'abort'],
    ['cancel', '/', 'cancel'],
    ['leaving the loop', '/', 'break'],
  ] as const)('that is left by %s closes its socket at once and leaves no listener', async (_what, path, way) => {
    await using server = await served((response, request) => request.url === '/' && response.write('first'))
    const before = timers()
    const leaving = new AbortController()
    let listeners = 0
    const { addEventListener, removeEventListener } = leaving.signal
    leaving.signal.addEventListener = (...given: Parameters<AbortSignal['addEventListener']>) => {
      listeners++
      addEventListener.apply(leaving.signal, given)
    }
    leaving.signal.removeEventListener = (...given: Parameters<AbortSignal['removeEventListener']>) => {
      listeners--
      removeEventListener.apply(leaving.signal, given)
    }
    const asked = server.stream(`${server.origin}${path}`, { signal: leaving.signal })
    if (way === undefined) {
      await expect.poll(() => server.open.size).toBe(1)
      leaving.abort()
      expect(await failing(asked)).toMatchObject({ kind: 'left' })
    } else {
      const answer = await asked
      if (way === 'break') for await (const _part of answer.body) break
      else {
        const reading = failing(read(answer))
        await new Promise(setImmediate)
        if (way === 'abort') leaving.abort()
        else answer.cancel()
        expect(await reading).toMatchObject({ kind: 'left' })
      }
      answer.cancel()
    }
    await expect.poll(() => server.open.size).toBe(0)
    expect(listeners).toBe(0)
    expect(timers()).toBeLessThanOrEqual(before)
  })

  test('with an aborted signal sends no request', async () => {
    await using server = await served(response => response.end('x'))
    expect(await failing(server.stream(server.origin, { signal: AbortSignal.abort() }))).toMatchObject({ kind: 'left', sent: false })
    expect(server.open.size).toBe(0)
  })

  test('reads no further ahead of a slow reader than a little, and is not late meanwhile', async () => {
    let written = 0
    let isFull = false
    const piece = Buffer.alloc(64 * 1024, 'x')
    const pieces = 1000
    await using server = await served(async response => {
      for (let at = 0; at < pieces; at++) {
        written += piece.length
        if (!response.write(piece)) {
          isFull = true
          await new Promise(resolve => response.once('drain', resolve))
        }
      }
      response.end()
    })
    const answer = await server.stream(server.origin, { idleMs: 150, mostBytes: Number.POSITIVE_INFINITY })
    await expect.poll(() => isFull).toBe(true)
    // Longer than the allowed pause, but caused by the reader, not the sender.
    const held = await new Promise<number>(resolve => setTimeout(() => resolve(written), 300))
    expect(held).toBeLessThan((pieces * piece.length) / 2)
    let taken = 0
    for await (const part of answer.body) taken += part.byteLength
    expect(taken).toBe(pieces * piece.length)
  })

  test('reads no more once it is over, and times out when the sender stops', async () => {
    let asked = 0
    let isLeft = false
    const endless = {
      [Symbol.asyncIterator]: () => ({
        async next() {
          asked++
          if (asked > 3) await new Promise(() => {})
          return { value: new TextEncoder().encode('x'), done: false as const }
        },
        async return() {
          isLeft = true
          return { value: undefined, done: true as const }
        },
      }),
    }
    await using server = await served((_response, request) => void request.resume())
    expect(await failing(server.stream(server.origin, { method: 'POST', body: endless, idleMs: 40 }))).toMatchObject({ kind: 'late' })
    expect(isLeft).toBe(true)
    await expect.poll(() => server.open.size).toBe(0)
  })

  test('is cut when the way out closes', async () => {
    await using server = await served(response => response.write('first'))
    const answer = await server.stream(server.origin)
    const reading = failing(read(answer))
    await server.close()
    expect((await reading).name).toBe('OutboundFailure')
    await expect.poll(() => server.open.size).toBe(0)
  })
})
