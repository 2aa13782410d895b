import { createServer, get, type IncomingMessage, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { PassThrough, pipeline } from 'node:stream'
import { describe, expect, it } from 'vitest'
import { createDraining, type Draining } from '../../router/door/streaming/draining.ts'

/** What a client reads: its first piece, and all of it. */
function reading(answer: IncomingMessage) {
  let text = ''
  const first = new Promise<void>(resolve => answer.once('data', () => resolve()))
  const whole = new Promise<string>((resolve, reject) =>
    answer
      .on('data', piece => (text += piece))
      .once('end', () => resolve(text))
      .once('error', reject),
  )
  return { first, whole }
}

const farewell = (why: string) => `data: ${why}\n\n`

/** A server whose answer is a stream of events that the test writes. */
async function served(draining: Draining, listener?: RequestListener) {
  const events = new PassThrough()
  const server = createServer(
    listener ??
      ((_request, response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' })
        response.flushHeaders()
        pipeline(draining.pass(events, response, farewell), response, () => {})
      }),
  )
  draining.watch(server)
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const ask = () =>
    new Promise<IncomingMessage>((resolve, reject) => {
      get({ port: (server.address() as AddressInfo).port, host: '127.0.0.1', agent: false }, resolve).on('error', reject)
    })
  const close = async () => {
    const closed = new Promise(resolve => server.close(resolve))
    const drained = draining.begin()
    await closed
    drained()
  }
  return { events, ask, close, [Symbol.asyncDispose]: async () => void server.closeAllConnections() }
}

describe('a stream of events', () => {
  it('is forwarded in whole events, however it arrives, and to its end', async () => {
    await using server = await served(createDraining())
    const { whole } = reading(await server.ask())
    for (const piece of ['data: a\n', '\ndata: b', '\n', '\ndata: c\n\nda', 'ta: d\n\n', 'data: rest']) server.events.write(piece)
    server.events.end()
    expect(await whole).toBe('data: a\n\ndata: b\n\ndata: c\n\ndata: d\n\ndata: rest')
    await server.close()
  })

  it.each([
    ['breaks with an error', (events: PassThrough) => events.destroy(new Error('cut'))],
    ['ends without a word', (events: PassThrough) => events.destroy()],
  ])('ends with the farewell, and no part of an event, when its source %s', async (_how, breaks) => {
    await using server = await served(createDraining())
    server.events.write('data: a\n\ndata: ha')
    const { first, whole } = reading(await server.ask())
    await first
    breaks(server.events)
    expect(await whole).toBe('data: a\n\ndata: broken\n\n')
    await server.close()
  })

  it('ends with the farewell event when its time is over, and leaves its source', async () => {
    await using server = await served(createDraining(0))
    server.events.write('data: a\n\n')
    const { first, whole } = reading(await server.ask())
    await first
    await server.close()
    expect([await whole, server.events.destroyed]).toEqual(['data: a\n\ndata: stopping\n\n', true])
  })

  it('continues past the time of requests, which are cut, and ends by itself', async () => {
    const draining = createDraining(20_000)
    await using server = await served(draining)
    const { promise: hasCome, resolve: comes } = Promise.withResolvers<void>()
    await using requests = await served(draining, () => comes())
    server.events.write('data: a\n\n')
    const { first, whole } = reading(await server.ask())
    await first
    const request = requests.ask().then(
      () => 'answered',
      (error: NodeJS.ErrnoException) => error.code,
    )
    await hasCome
    const closing = Promise.all([server.close(), requests.close()])
    // The requests' connections are cut first.
    expect(await request).toBe('ECONNRESET')
    server.events.end('data: b\n\n')
    expect(await whole).toBe('data: a\n\ndata: b\n\n')
    await closing
  })

  it('leaves its source when its reader leaves', async () => {
    await using server = await served(createDraining())
    server.events.write('data: a\n\n')
    const answer = await server.ask()
    await new Promise(resolve => answer.once('data', resolve))
    const left = new Promise(resolve => server.events.once('close', resolve))
    answer.once('error', () => {}).destroy()
    await left
    await server.close()
  })
})
