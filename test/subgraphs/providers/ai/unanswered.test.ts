import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Spending } from '../../../../subgraphs/providers/engines/spend/open.ts'
import { type AiWorld, aiWorld, chatModel, secondModel } from './world.ts'

const long = 'the quick brown fox jumps over the lazy dog '.repeat(40)
const silent = { fault: 'timeout-after-accept' }
const hurried = { 'x-gateway-timeout-ms': '500' }
const pinned = { ...hurried, 'x-gateway-fallback': 'off' }

/** What is on record of the latest call. */
async function latest({ graph }: AiWorld): Promise<Record<string, unknown>> {
  const [call] = await graph.rows('select status, cost_micros::int as cost, attempts, pending from providers.calls order by created_at desc, id desc limit 1')
  return call!
}

/** Has calls whose time is over looked for. */
const sweep = async ({ graph }: AiWorld, afterMs: number) => {
  await graph.clock.advance(afterMs)
  for (const { run } of (graph.platform.providers.job('test').spending as Spending).sweeps) await run()
}

describe('a call without an answer', () => {
  it('costs at least its input, and what its provider may still charge stays reserved for 15 minutes', async () => {
    await using world = await aiWorld()
    await world.limit(1_000_000)
    await world.arm('openai', silent)
    expect((await world.chat(long, {}, { headers: pinned })).status).toBe(502)
    const { cost, attempts } = await latest(world)
    expect(cost).toBeGreaterThan(80)
    expect(attempts).toMatchObject([{ failure: 'timeout', costMicros: `${cost}` }])
    const { spent, reserved } = await world.spent()
    expect(spent).toBe(cost)
    expect(reserved).toBeGreaterThan(0)
    await sweep(world, 14 * 60_000)
    expect(await world.spent()).toEqual({ spent, reserved })
    await sweep(world, 2 * 60_000)
    expect(await world.spent()).toEqual({ spent, reserved: 0 })
  })

  it.each([true, false])('costs at least its input when its caller leaves before the first byte (streamed: %s)', async stream => {
    await using world = await aiWorld()
    await world.arm('anthropic', silent)
    const leaving = new AbortController()
    const asked = world.chat(long, { model: secondModel, stream }, { signal: leaving.signal, headers: { 'x-gateway-fallback': 'off' } })
    await expect.poll(async () => (await world.received('anthropic')).length).toBe(1)
    leaving.abort()
    await asked
    expect((await latest(world)).cost).toBeGreaterThan(300)
  })

  it('is paid for beside the answer of the next candidate, each in the limit of its model', async () => {
    await using world = await aiWorld()
    await world.limit(1_000_000)
    await world.arm('openai', silent)
    const answer = await world.chat(long, {}, { headers: hurried })
    expect([answer.status, answer.headers.get('x-gateway-model')]).toEqual([200, secondModel])
    const call = await latest(world)
    const [lost] = call.attempts as { model: string; costMicros: string }[]
    expect(lost).toMatchObject({ model: chatModel })
    expect(answer.headers.get('x-gateway-cost-micros')).toBe(`${call.cost}`)
    expect(call.cost).toBeGreaterThan(Number(lost!.costMicros) + 300)
    const create = 'mutation($input: CreateSpendLimitInput!) { createSpendLimit(input: $input) { spentMicros } }'
    const spentBy = async (scopeValue: string) => {
      const input = { scopeType: 'MODEL', scopeValue, period: 'MONTH', hardLimitMicros: 1_000_000 }
      return Number((await world.graph.execute(create, { input }, { as: world.owner })).data().createSpendLimit.spentMicros)
    }
    expect([await spentBy(chatModel), await spentBy(secondModel)]).toEqual([Number(lost!.costMicros), (call.cost as number) - Number(lost!.costMicros)])
  })

  it('is the end of its chain where the limit does not cover the next candidate beside it', async () => {
    await using world = await aiWorld()
    await world.limit(2_500)
    await world.arm('openai', silent)
    const answer = await world.chat(long, {}, { headers: hurried })
    expect([answer.status, answer.headers.get('x-gateway-attempts'), await world.received('anthropic')]).toEqual([502, '1', []])
    const { spent, reserved } = await world.spent()
    expect(spent + reserved).toBeLessThanOrEqual(2_500)
  })

  it('costs nothing when the provider rejected it, or it never reached one', async () => {
    await using world = await aiWorld()
    for (const fault of [
      { fault: 'status', status: 503 },
      { fault: 'status', status: 429 },
    ]) {
      await world.arm('openai', fault)
      await world.chat(long, {}, { headers: { 'x-gateway-fallback': 'off' } })
      expect((await latest(world)).cost).toBe(0)
    }
  })
})

describe('a hard limit', () => {
  it('is never exceeded by spent and reserved amounts, with late, lost and aborted answers', async () => {
    await using world = await aiWorld({ aiTimes: { firstByteMs: 60 } })
    const hard = 4_000
    await world.limit(hard)
    const faults = fc.constantFrom(null, silent, { fault: 'status', status: 503 }, { fault: 'accept-then-reset' })
    const step = fc.record({ openai: faults, anthropic: faults, words: fc.integer({ min: 1, max: 120 }), stream: fc.boolean(), leaves: fc.boolean() })
    await fc.assert(
      fc
        .asyncProperty(fc.array(step, { minLength: 3, maxLength: 6 }), async steps => {
          for (const { openai, anthropic, words, stream, leaves } of steps) {
            if (openai) await world.arm('openai', openai)
            if (anthropic) await world.arm('anthropic', anthropic)
            const leaving = new AbortController()
            if (leaves) setTimeout(() => leaving.abort(), 20)
            await (await world.chat('word '.repeat(words), { stream }, { signal: leaving.signal })).text().catch(() => '')
            const { spent, reserved } = await world.spent()
            expect(spent + reserved).toBeLessThanOrEqual(hard)
            for (const network of ['openai', 'anthropic']) await world.arm(network)
            await world.graph.clock.advance(20_000)
          }
        })
        .afterEach(async () => {
          await world.graph.rows('delete from providers.calls')
          await world.graph.rows(
            'update providers.spend_limits set spent_micros = 0, reserved_micros = 0, overdrawn_micros = 0, alerts = $1, attention = null',
            ['[]'],
          )
          await world.graph.clock.advance(60_000)
        }),
      { numRuns: 12, interruptAfterTimeLimit: 40_000, markInterruptAsFailure: false },
    )
  }, 80_000)
})
