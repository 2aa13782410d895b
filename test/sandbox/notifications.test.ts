import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Webhook } from 'standardwebhooks'
import { expect, it } from 'vitest'
import { send, stage } from './stage.ts'

it('sends items and notifications with a signature, lists open items, and completes one once', async () => {
  const taken: { type: string; data: { id: string; title: string } }[] = []
  let secret = ''
  const server = createServer(async (request, response) => {
    const body = (await Array.fromAsync(request as AsyncIterable<Buffer>)).join('')
    const at = new Date(Number(request.headers['webhook-timestamp']) * 1000)
    const isGood = request.headers['webhook-signature'] === new Webhook(secret).sign(String(request.headers['webhook-id']), at, body)
    if (isGood) taken.push(JSON.parse(body))
    response.writeHead(isGood ? 204 : 401).end()
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  try {
    await using world = await stage(undefined, { endpoints: { notifications: { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/` } } })
    secret = world.sandbox.endpoints.notifications.secret
    const { origin } = world.sandbox
    const post = (path: string, body: object) =>
      send(`${origin}${path}`, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) })
    const emit = (more: object) => post('/_control/emit', { network: 'notifications', title: 'Sign', organizationId: 'o1', userId: 'u1', ...more })
    const listed = async () => (await send(`${origin}/notifications/v1/items?open=true`)).body.items
    expect((await emit({ event: 'item-opened', id: 'forged', signature: 'bad' })).body).toEqual({ status: 401, id: 'forged' })
    expect((await emit({ event: 'item-opened', id: 'one' })).body).toEqual({ status: 204, id: 'one' })
    expect((await emit({ event: 'item-opened', id: 'two' })).body.status).toBe(204)
    expect((await emit({ event: 'item-closed', id: 'two' })).body.status).toBe(204)
    expect((await emit({ event: 'notification-sent', scope: 's1' })).body.status).toBe(204)
    expect((await emit({ event: 'item-eaten' })).status).toBe(400)
    expect(taken.map(({ type }) => type)).toEqual(['item.opened', 'item.opened', 'item.closed', 'notification.sent'])
    expect(taken[3]!.data).toMatchObject({ title: 'Sign', organizationId: 'o1', userId: 'u1', scope: 's1' })
    expect(await listed()).toMatchObject([{ id: 'one', title: 'Sign', status: 'open' }])
    const complete = async (id: string, body: object = { userId: 'u1' }) => (await post(`/notifications/v1/items/${id}/complete`, body)).status
    expect([await complete('none'), await complete('one', {})]).toEqual([404, 400])
    await world.arm({ network: 'notifications', fault: 'status', status: 503 })
    expect([await complete('one'), await complete('one'), await complete('one')]).toEqual([503, 200, 200])
    expect(await listed()).toEqual([])
    expect((await send(`${origin}/_control/received?network=notifications`)).body).toEqual([
      { receivedAt: world.clock.now().toISOString(), id: 'one', userId: 'u1' },
    ])
  } finally {
    server.closeAllConnections()
    await new Promise(resolve => server.close(resolve))
  }
})
