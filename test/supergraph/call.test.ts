import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, test } from 'vitest'
import { newId } from '../../platform/ids.ts'
import { createRemoteCall } from '../../router/apart/call.ts'
import { createCall } from '../../router/ask.ts'
import { freePort } from '../kit/launch.ts'
import { supergraph } from '../kit/supergraph.ts'

const path = '/providers/platform/youtube/youtube/v3/channels?mine=true'

test('a service calls a row of another one within this process as itself: without a client at the gateway it is refused there', async () => {
  await using graph = await supergraph()
  const organizationId = newId()
  const answer = await graph.job.call!(path, { appId: 'app_publishing', organizationId })
  expect([answer.status, JSON.parse(answer.text)]).toMatchObject([403, { code: 'FORBIDDEN', detail: expect.stringContaining('app_publishing') }])
  await expect(graph.job.call!(path, { appId: 'app_nobody', organizationId })).rejects.toThrow('app_nobody is not registered')
})

test('a call within this process ends when its time is over, and what it was about is aborted', async () => {
  const ended = Promise.withResolvers<void>()
  const registration = { slug: 'providers', appId: 'app_providers', asks: [] }
  const http = (request: Request) => new Promise<Response>(() => request.signal.addEventListener('abort', () => ended.resolve()))
  const call = createCall([{ registration, http }] as unknown as Parameters<typeof createCall>[0], 'http://localhost:4000')
  await expect(call(path, { appId: 'app_providers', organizationId: null }, { timeoutMs: 20 })).rejects.toMatchObject({ kind: 'late', sent: true })
  await ended.promise
})

test('a service apart calls at a router with its token, and at the next one where one surely heard nothing', async () => {
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
