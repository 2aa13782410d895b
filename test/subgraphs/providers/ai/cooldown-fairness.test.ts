import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createBoundClock } from '../../../../platform/clock.ts'
import { OutboundFailure } from '../../../../platform/outbound/failure.ts'
import { createAttempts } from '../../../../subgraphs/providers/ai/attempt/attempts.ts'
import { createCooldowns } from '../../../../subgraphs/providers/ai/attempt/cooldown.ts'
import { failureOf } from '../../../../subgraphs/providers/ai/attempt/failure.ts'
import { aiWorld, chatModel } from './world.ts'

const who = (organizationId: string) => ({ credentialId: 'platform', model: 'openai/first', organizationId })
const failing = (status: number) => failureOf(status, new Headers({ 'retry-after': '20' }), '{}', 0)
const timeout = () => new OutboundFailure('x', true, undefined, 'late')

/** What a call of an organization meets. */
const outcomes = { well: null, limited: failing(429), broken: failing(503), late: timeout() }
type Outcome = keyof typeof outcomes

/** Calls of several organizations with one credential of the platform; each meets what it is told. */
function gateway() {
  const clock = createBoundClock(new Date('2027-03-01T09:00:00.000Z'))
  const runAttempts = createAttempts({ clock, credentials: { note() {} }, counted() {} })
  const cooldowns = createCooldowns()
  const credential = { id: 'platform', level: 'PLATFORM', provider: 'openai', name: 'one', baseUrl: null, plain: {}, secrets: ['secret'] } as const
  const call = async (organizationId: string, outcome: Outcome, isHurried = false) => {
    const end = await runAttempts({
      candidates: [{ name: 'openai/first', provider: 'openai' }],
      credentialOf: async () => credential,
      async attempt() {
        const failure = outcomes[outcome]
        if (failure) throw failure
        return 'answer'
      },
      signal: new AbortController().signal,
      cooldowns,
      organizationId,
      isHurried,
      leastCostOf: async () => null,
      isCovered: async () => true,
    })
    return `${end.kind} after ${end.attempts.length}`
  }
  return { call, clock }
}

describe('cooldowns of a model with a platform credential', () => {
  it('give an organization the same answers whatever a single other organization meets', async () => {
    const outcome = fc.constantFrom<Outcome>('well', 'limited', 'broken', 'late')
    const step = fc.record({ mine: fc.boolean(), outcome, isHurried: fc.boolean(), laterMs: fc.constantFrom(0, 500, 15_000, 61_000) })
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 30 }), async steps => {
        const [beside, alone] = [gateway(), gateway()]
        const [seen, expected]: [string[], string[]] = [[], []]
        for (const { mine, outcome, isHurried, laterMs } of steps) {
          await Promise.all([beside.clock.advance(laterMs), alone.clock.advance(laterMs)])
          if (mine) {
            seen.push(await beside.call('mine', outcome))
            expected.push(await alone.call('mine', outcome))
          } else await beside.call('other', outcome, isHurried)
        }
        expect(seen).toEqual(expected)
      }),
      { numRuns: 200 },
    )
  })

  it('ignores time-outs that the caller has chosen, for the caller too', async () => {
    const { call } = gateway()
    for (let at = 0; at < 5; at++) expect(await call('mine', 'late', true)).toBe('refused after 1')
    expect(await call('mine', 'well')).toBe('answered after 1')
    for (let at = 0; at < 3; at++) await call('mine', 'late')
    expect(await call('mine', 'well')).toBe('refused after 0')
  })

  it('apply to everyone while two organizations have one', () => {
    const cooldowns = createCooldowns()
    cooldowns.limited(who('one'), 20_000, 0)
    expect(cooldowns.restOf(who('three'), 1)).toBeNull()
    for (const at of [1, 2, 3]) cooldowns.failed(who('two'), at)
    expect(cooldowns.restOf(who('three'), 4)).toEqual({ until: 15_003, isLimit: false })
    expect(cooldowns.restOf(who('one'), 4)).toEqual({ until: 20_000, isLimit: true })
    cooldowns.worked(who('two'))
    expect(cooldowns.restOf(who('three'), 5)).toBeNull()
  })

  it.each([true, false])('keep a model for patient calls after calls with too little time (alone: %s)', async isAlone => {
    await using world = await aiWorld({ isAlone })
    await world.arm('openai', { fault: 'slow', delayMs: 1_500, times: 6 })
    const hurried = { headers: { 'x-gateway-fallback': 'off', 'x-gateway-timeout-ms': '500' } }
    for (let at = 0; at < 4; at++) expect((await world.chat('hi', {}, hurried)).status).toBe(502)
    await world.arm('openai', { fault: 'none' })
    const answer = await world.chat('hi', {}, { headers: { 'x-gateway-fallback': 'off' } })
    expect([answer.status, answer.headers.get('x-gateway-attempts'), answer.headers.get('x-gateway-model')]).toEqual([200, '1', chatModel])
  })
})
