import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, test } from 'vitest'
import type { CallService } from '../../platform/ask.ts'
import { newId } from '../../platform/ids.ts'
import { createRemoteCall } from '../../router/apart/call.ts'
import { createCall } from '../../router/within/call.ts'
import { freePort } from '../kit/launch.ts'
import { supergraph } from '../kit/supergraph.ts'

const path = '/providers/platform/youtube/youtube/v3/channels?mine=true'

test('a service that calls a route of another service in this process is rejected there without a client at the gateway', async () => {
  await using graph = await supergraph()
  const organizationId = newId()
  const answer = await graph.job.call!(path, { appId: 'app_publishing', organizationId })
  expect([answer.status, JSON.parse(answer.text)]).toMatchObject([403, { code: 'FORBIDDEN', detail: expect.stringContaining('app_publishing') }])
  await expect(graph.job.call!(path, { appId: 'app_nobody', organizationId })).rejects.toThrow('app_nobody is not registered')
})

test('a call within this process ends when its time is over, and its work is aborted', async () => {
  const ended = Promise.withResolvers<void>()
  const registration = { slug: 'providers', appId: 'app_providers', asks: [] }
  const http = (request: Request) => new Promise<Response>(() => request.signal.addEventListener('abort', () => ended.resolve()))
  const call = createCall([{ registration, http }] as unknown as Parameters<typeof createCall>[0], 'http://localhost:4000', async () => true)
  await expect(call(path, { appId: 'app_providers', organizationId: null }, { timeoutMs: 20 })).rejects.toMatchObject({ kind: 'late', sent: true })
  await ended.promise
})

test('a distributed service calls a router with its token, and the next router when one certainly received nothing', async () => {
  const heard: object[] = []
  await using router = createServer(async (request, response) => {
    let body = ''
    for await (const part of request) body += part
    const { 'x-service-token': token, 'x-app-id': app, 'x-organization-id': organization } = request.headers
    heard.push({ method: request.method, url: request.url, token, app, organization, body })
    response.writeHead(200, { 'x-quota-cost': '1' }).end('{}')
  })
  await new Promise<void>(resolve => router.listen(0, '127.0.0.1', resolve))
  const urls = [`http://127.0.0.1:${await freePort()}`, `http://127.0.0.1:${(router.address() as AddressInfo).port}`]
  const { call, close } = createRemoteCall(urls, slug => (slug === 'providers' ? 'a token' : null))
  const answer = await call(path, { appId: 'app_publishing', organizationId: 'one' }, { method: 'POST', body: 'film' })
  expect([answer.status, answer.headers.get('x-quota-cost'), answer.text]).toEqual([200, '1', '{}'])
  expect(heard).toEqual([{ method: 'POST', url: path, token: 'a token', app: 'app_publishing', organization: 'one', body: 'film' }])
  await expect(call('/payments/any', { appId: 'app_publishing', organizationId: null })).rejects.toMatchObject({ sent: false })
  await close()
})

describe('a route whose answer is streamed', () => {
  const registration = { slug: 'providers', appId: 'app_agents', asks: [] }
  const as = { appId: 'app_agents', organizationId: 'one', forUser: 'ada' }
  const encode = (text: string) => new TextEncoder().encode(text)

  interface Row {
    readonly call: CallService
    /** Says the next word of the answer. */
    say(word: string): void
    end(): void
    /** Resolves when the row hears that nobody waits any more. */
    readonly left: Promise<void>
    close(): Promise<void>
  }

  function embedded(): Row {
    const left = Promise.withResolvers<void>()
    let controller!: ReadableStreamDefaultController<Uint8Array>
    const body = new ReadableStream<Uint8Array>({
      start(given) {
        controller = given
      },
      cancel: () => left.resolve(),
    })
    const http = async (request: Request) => {
      request.signal.addEventListener('abort', () => left.resolve())
      return new Response(body, { headers: { 'content-type': 'text/event-stream' } })
    }
    const call = createCall([{ registration, http }] as unknown as Parameters<typeof createCall>[0], 'http://localhost:4000', async () => true)
    // Members are identified by id.
    const stream: CallService['stream'] = (path, { forUser: _, ...who }, options) => call.stream(path, who, options)
    return {
      call: Object.assign(call.bind(null), { stream }),
      say: word => controller.enqueue(encode(word)),
      end: () => controller.close(),
      left: left.promise,
      close: async () => {},
    }
  }

  async function apart(): Promise<Row> {
    const left = Promise.withResolvers<void>()
    const asked = Promise.withResolvers<ServerResponse>()
    const router = createServer((request, response) => {
      response.on('close', () => left.resolve())
      response.writeHead(request.headers['x-for-user'] === 'ada' ? 200 : 403, { 'content-type': 'text/event-stream' }).flushHeaders()
      asked.resolve(response)
    })
    await new Promise<void>(resolve => router.listen(0, '127.0.0.1', resolve))
    const { call, close } = createRemoteCall([`http://127.0.0.1:${(router.address() as AddressInfo).port}`], () => 'a token')
    const then = (work: (response: ServerResponse) => void) => void asked.promise.then(work)
    return {
      call,
      say: word => then(response => void response.write(word)),
      end: () => then(response => void response.end()),
      left: left.promise,
      async close() {
        await close()
        router.closeAllConnections()
        await new Promise(resolve => router.close(resolve))
      },
    }
  }

  describe.each([
    ['embedded', async () => embedded()],
    ['apart', apart],
  ] as const)('%s', (_mode, open) => {
    test('hands each word over before the next one is said', async () => {
      const row = await open()
      const answer = await row.call.stream(path, as)
      expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'text/event-stream'])
      const pieces = answer.body[Symbol.asyncIterator]()
      for (const word of ['One ', 'two ', 'three']) {
        row.say(word)
        expect(Buffer.from((await pieces.next()).value!).toString()).toBe(word)
      }
      row.end()
      expect((await pieces.next()).done).toBe(true)
      await row.close()
    })

    test('hears at once that its caller has left', async () => {
      const row = await open()
      const leaving = new AbortController()
      const answer = await row.call.stream(path, as, { signal: leaving.signal })
      const pieces = answer.body[Symbol.asyncIterator]()
      row.say('One')
      await pieces.next()
      const next = pieces.next()
      leaving.abort()
      await expect(next).rejects.toMatchObject({ kind: 'left' })
      await row.left
      await row.close()
    })

    test('hears that its answer is not read on', async () => {
      const row = await open()
      const answer = await row.call.stream(path, as)
      row.say('One')
      for await (const _ of answer.body) break
      await row.left
      await row.close()
    })

    test('is late when its first word does not come in time', async () => {
      const row = await open()
      const answer = await row.call.stream(path, as, { idleMs: 500 }).catch((error: unknown) => Promise.reject(error))
      await expect(answer.body[Symbol.asyncIterator]().next()).rejects.toMatchObject({ kind: 'late' })
      await row.left
      await row.close()
    })
  })
})
