import { expect, it } from 'vitest'
import { send, stage } from './stage.ts'

it('accepts the decisions of a project once each, and rejects contradictions', async () => {
  await using world = await stage()
  const all = (value: boolean) => ({ analytics: value, personalization: value, advertising: value })
  const made = { id: 'd1', subjectId: 's1', action: 'decline', purposes: all(false), policyVersion: '2026-10', decidedAt: '2026-03-01T11:00:00.000Z' }
  const ask = async (body: object, key = 'd1', path = '/v1/projects/marketing/decisions') =>
    (
      await send(`${world.sandbox.origin}/consent${path}`, {
        ...{ method: 'POST', headers: { 'content-type': 'application/json', 'idempotency-key': key }, body: JSON.stringify(body) },
      })
    ).status
  expect(await ask(made, 'another')).toBe(400)
  expect(await ask({ ...made, purposes: all(true) })).toBe(400)
  expect(await ask({ ...made, action: 'perhaps' })).toBe(400)
  expect(await ask({ ...made, subjectId: '' })).toBe(400)
  expect(await ask(made, 'd1', '/v1/decisions')).toBe(404)
  await world.arm({ network: 'consent', fault: 'status', status: 503 })
  expect([await ask(made), await ask(made), await ask(made)]).toEqual([503, 201, 200])
  expect(await ask({ ...made, subjectId: 's2' })).toBe(409)
  expect((await send(`${world.sandbox.origin}/_control/received?network=consent`)).body).toEqual([
    {
      ...{ receivedAt: world.clock.now().toISOString(), project: 'marketing', id: 'd1', subjectId: 's1', action: 'decline' },
      ...{ purposes: all(false), text: JSON.stringify(made) },
    },
  ])
})
