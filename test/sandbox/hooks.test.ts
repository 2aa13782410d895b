import { expect, test } from 'vitest'
import { send, stage } from './stage.ts'

test('answers webhooks with 204 and lists them, or acts by a fault', async () => {
  await using world = await stage()
  const hook = (path: string, body = '{"a":1}') =>
    send(`${world.sandbox.origin}/hooks${path}`, { method: 'POST', headers: { 'content-type': 'application/json', 'webhook-id': 'msg_1' }, body })
  expect((await hook('/mine')).status).toBe(204)
  await world.arm({ network: 'hooks', fault: 'status', status: 500 })
  expect((await hook('/mine', 'again')).status).toBe(500)
  expect((await hook('/mine', 'again')).status).toBe(204)
  const { body } = await send(`${world.sandbox.origin}/_control/received?network=hooks`)
  expect(body).toEqual([
    { receivedAt: '2026-03-01T12:00:00.000Z', path: '/hooks/mine', headers: expect.objectContaining({ 'webhook-id': 'msg_1' }), body: '{"a":1}' },
    { receivedAt: '2026-03-01T12:00:00.000Z', path: '/hooks/mine', headers: expect.anything(), body: 'again' },
  ])
  expect((await send(`${world.sandbox.origin}/hooks/mine`)).status).toBe(404)
})
