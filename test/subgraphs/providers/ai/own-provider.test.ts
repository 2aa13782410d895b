import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import type { Spending } from '../../../../subgraphs/providers/engines/spend/open.ts'
import { seedCredential } from '../credential/seed.ts'
import { aiWorld } from './world.ts'

const secret = 'sk-Zx9-of-their-own-provider'

/** A provider of an organization's own that answers as it likes. */
async function ownProvider(answer: (authorization: string) => { readonly status: number; readonly body: unknown }) {
  const server = createServer((request, response) => {
    request.resume().on('end', () => {
      const { status, body } = answer(String(request.headers.authorization))
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
    })
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const world = await aiWorld({ trusts: [origin] })
  onTestFinished(() => world[Symbol.asyncDispose]())
  const { id } = await seedCredential(world.graph, { organizationId: world.owner.organizationId!, provider: 'custom', name: 'own', secret })
  await world.graph.rows('update providers.credentials set base_url = $2 where id = $1', [id, `${origin}/v1`])
  return world
}

test.each([400, 422])('an error of a provider with status %i never repeats the secret of the request', async status => {
  const world = await ownProvider(authorization => ({
    status,
    body: { error: { message: `${'Long words. '.repeat(30)} Not with ${authorization}, that is ${secret}`, param: authorization } },
  }))
  for (const stream of [false, true]) {
    const answer = await world.chat('Hello', { model: 'own/any', stream }, { headers: { 'x-gateway-fallback': 'off' } })
    const text = await answer.text()
    expect(answer.status).toBe(400)
    expect(text).toContain('Long words.')
    expect(text).not.toContain('sk-')
  }
})

/** An answer with this usage. */
const answerWith = (usage: unknown) => ({
  status: 200,
  body: {
    ...{ id: 'one', object: 'chat.completion', created: 1, model: 'any' },
    choices: [{ index: 0, message: { role: 'assistant', content: 'Hello there, who asks?' }, finish_reason: 'stop' }],
    usage,
  },
})
const pinned = { headers: { 'x-gateway-fallback': 'off' } }

test('an answer of a provider that leaves its moment out, or says 0, is of the moment at which it came', async () => {
  for (const created of [undefined, 0, 1_700_000_000]) {
    const { body, status } = answerWith({ prompt_tokens: 3, completion_tokens: 4 })
    const world = await ownProvider(() => ({ status, body: { ...body, created } }))
    const answered = await (await world.chat('Hello', { model: 'own/any' }, pinned)).json()
    expect(answered.created).toBe(created || Math.floor(world.graph.clock.now().getTime() / 1000))
  }
})

test('a provider that reports impossible usage is booked at the bound, and managers are notified once', async () => {
  const world = await ownProvider(() => answerWith({ prompt_tokens: 1e300, completion_tokens: Number.MAX_SAFE_INTEGER }))
  const facts = () =>
    world.graph.rows(`select kind, body->>'kind' as item, body->>'title' as title from providers.facts where kind like 'attention.%' order by seq`)
  const sweep = async () => {
    for (const { run } of (world.graph.platform.providers.job('test').spending as Spending).sweeps) await run()
  }
  for (let count = 0; count < 2; count++) {
    const answer = await world.chat('Hello', { model: 'own/any' }, pinned)
    expect(answer.status).toBe(200)
    const call = await world.callOf(answer)
    expect(call).toMatchObject({ status: 'SUCCEEDED', output_tokens: 60, doubtful: true })
    expect(call.input_tokens).toBeLessThan(200)
  }
  const shown = '{ providerCalls { nodes { doubtful } } }'
  expect((await world.graph.execute(shown, {}, { as: world.owner })).data().providerCalls.nodes).toEqual([{ doubtful: true }, { doubtful: true }])
  const opened = { kind: 'attention.opened', item: 'USAGE_DOUBTFUL', title: expect.stringContaining('own/any') }
  expect(await facts()).toEqual([opened])
  await world.graph.clock.advance(23 * 3_600_000)
  await sweep()
  expect(await facts()).toEqual([opened])
  await world.graph.clock.advance(2 * 3_600_000)
  await sweep()
  expect(await facts()).toEqual([opened, { kind: 'attention.closed', item: null, title: null }])
})

test('a provider that reports more than was held passes no hard limit', async () => {
  const world = await ownProvider(() => answerWith({ prompt_tokens: 2_000_000_000, completion_tokens: 2_000_000_000 }))
  await world.graph.rows(
    `insert into providers.models (id, name, provider, capability, configured, input_micros_per_million, output_micros_per_million, first_seen_at, created_at, updated_at, created_by)
     values (gen_random_uuid(), 'own/any', 'custom', 'CHAT', true, 250000, 2000000, now(), now(), now(), 'test')`,
  )
  await world.limit(100_000)
  const answer = await world.chat('Hello', { model: 'own/any' }, pinned)
  expect(await world.callOf(answer)).toMatchObject({ doubtful: true, output_tokens: 60 })
  const { spent, reserved } = await world.spent()
  expect(spent).toBeGreaterThan(120)
  expect([spent < 1_000, reserved]).toEqual([true, 0])
})

test.each([
  ['texts', { prompt_tokens: '12', completion_tokens: '7' }],
  ['numbers below nothing', { prompt_tokens: -1, completion_tokens: -7 }],
  ['nothing at all', {}],
  ['null', { prompt_tokens: null, completion_tokens: null }],
])('usage that a provider reports as %s is estimated', async (_what, usage) => {
  const world = await ownProvider(() => answerWith(usage))
  const call = await world.callOf(await world.chat('Hello '.repeat(40), { model: 'own/any' }, pinned))
  expect(call.input_tokens).toBeGreaterThan(30)
  expect(call.output_tokens).toBeGreaterThan(3)
  expect(call.doubtful).toBe(false)
})
