import { expect, test } from 'vitest'
import { aiWorld, secondModel } from './world.ts'

test('G-04 skips a model of the chain whose own limit does not cover the call', async () => {
  await using world = await aiWorld()
  const { graph, owner } = world
  const now = graph.clock.now()
  await graph.rows(
    `insert into providers.spend_limits (id, level, organization_id, tenant_id, scope_type, scope_value, period, hard_limit_micros, since, created_at, updated_at, created_by)
     values (gen_random_uuid(), 'ORGANIZATION', $1::uuid, $1::uuid, 'MODEL', $2, 'TOTAL', 1, $3, $3, $3, 'test')`,
    [owner.organizationId, secondModel, now],
  )
  await world.arm('openai', { fault: 'status', status: 503 })
  const answer = await world.chat('hi')
  expect([answer.status, answer.headers.get('x-gateway-attempts'), await world.received('anthropic')]).toEqual([502, '1', []])
  expect([await world.spent(), (await world.callOf(answer)).status]).toEqual([{ spent: 0, reserved: 0 }, 'FAILED'])
})

test('G-04 a call that has an accident on its way is over at once, and holds nothing', async () => {
  await using world = await aiWorld()
  await world.limit(1_000_000)
  // Sealed with a key that nobody has.
  await world.graph.rows(`update providers.credentials set secret = 'v1.nobody.knows'`)
  const outcome = await world.chat('hi').then(
    ({ status }) => status,
    () => 500,
  )
  expect(outcome).toBe(500)
  expect(await world.graph.rows('select status, held, cost_micros::int as cost from providers.calls')).toEqual([{ status: 'FAILED', held: [], cost: 0 }])
  expect(await world.spent()).toEqual({ spent: 0, reserved: 0 })
})

test('G-02 an organization at its limit of calls in a minute gets the time to wait, and nothing is called or written', async () => {
  await using world = await aiWorld()
  const { graph, owner } = world
  const minute = new Date(Math.floor(graph.clock.now().getTime() / 60_000) * 60_000)
  await graph.rows('insert into providers.ai_call_rates (organization_id, minute, lent, granted) values ($1, $2, 6000, 0)', [owner.organizationId, minute])
  const answer = await world.chat('hi')
  expect(answer.status).toBe(429)
  expect(Number(answer.headers.get('retry-after'))).toBeGreaterThanOrEqual(1)
  expect([await world.received('openai'), await graph.rows('select from providers.calls')]).toEqual([[], []])
  await graph.clock.advance(60_000)
  expect((await world.chat('hi')).status).toBe(200)
})
