import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { newId } from '../../../../platform/ids.ts'
import { beginCall, recordCall, releaseCall } from '../../../../subgraphs/agents/engines/model/spend.ts'
import { type Supergraph, supergraph } from '../../../kit/supergraph.ts'
import { seedAgent } from './seed.ts'

let graph: Supergraph
let organizationId: string
let userId: string

beforeAll(async () => {
  graph = await supergraph()
  const { owner } = await graph.seed.owner()
  organizationId = owner.organizationId!
  userId = owner.userId!
})
afterAll(() => graph[Symbol.asyncDispose]())

/** An agent with a limit, whose latest calls cost so much. */
async function agentWith(monthlyLimitMicros: bigint, costs: readonly bigint[] = []) {
  const id = await seedAgent(graph, { organizationId, userId, monthlyLimitMicros })
  const agent = { id, organizationId, monthlyLimitMicros }
  const job = () => graph.platform.agents.job('models')
  const used = (costMicros: bigint) => ({ callId: newId(), costMicros, inputTokens: 1n, outputTokens: 1n })
  for (const cost of costs) await recordCall(job(), agent, used(cost), { reservation: null })
  const spent = async () =>
    Number((await graph.rows<{ sum: string }>('select coalesce(sum(cost_micros), 0) as sum from agents.model_calls where agent_id = $1', [id]))[0]!.sum)
  const reserved = () => graph.rows('select 1 from agents.reserved_calls where agent_id = $1', [id])
  return {
    ...{ job, agent, spent, reserved },
    begin: (timeoutMs = 10_000) => beginCall(job(), agent, timeoutMs),
    record: async (begun: { reservation: string | null }, cost: bigint) => recordCall(job(), agent, used(cost), begun),
  }
}

describe('calls of an agent near its monthly limit', () => {
  it('begin of twenty at once as many as of twenty in turn, whichever of them are under way', { timeout: 60_000 }, async () => {
    // 100 are spent; each further call costs 100, and the limit leaves room for three and a half.
    const { begin, record, spent, reserved } = await agentWith(450n, [100n])
    const outcomes = await Promise.all(
      Array.from({ length: 20 }, async () => {
        const begun = await begin()
        if (begun) await record(begun, 100n)
        return begun !== null
      }),
    )
    expect(outcomes.filter(Boolean)).toHaveLength(4)
    expect([await spent(), await reserved()]).toEqual([500, []])
  })

  it('run one by one while nobody knows what one costs', { timeout: 60_000 }, async () => {
    const { begin, record, spent } = await agentWith(100n)
    let [underWay, most] = [0, 0]
    const outcomes = await Promise.all(
      Array.from({ length: 20 }, async () => {
        const begun = await begin()
        if (!begun) return false
        underWay += 1
        most = Math.max(most, underWay)
        underWay -= 1
        await record(begun, 150n)
        return true
      }),
    )
    expect([outcomes.filter(Boolean).length, most, await spent()]).toEqual([1, 1, 150])
  })

  it('go on when a call under way ends without a cost, or its time is over', async () => {
    const { job, begin, reserved } = await agentWith(100n)
    const first = await begin()
    expect(first?.reservation).toEqual(expect.any(String))
    const second = begin()
    await releaseCall(job(), first!)
    expect((await second)?.reservation).toEqual(expect.any(String))
    expect(await reserved()).toHaveLength(1)
    expect(await begin(1)).toBeNull()
    await graph.clock.advance(60_000)
    expect(await begin(1)).not.toBeNull()
  })

  it('reserve nothing far from the limit, and without one', async () => {
    const far = await agentWith(1_000_000n, [100n])
    expect(await far.begin()).toEqual({ reservation: null })
    const { job } = far
    expect(await beginCall(job(), { ...far.agent, monthlyLimitMicros: null }, 1)).toEqual({ reservation: null })
    expect(await far.reserved()).toEqual([])
  })
})
