import fc from 'fast-check'
import { expect, test } from 'vitest'
import { newId } from '../../../../platform/ids.ts'
import type { Spending } from '../../../../subgraphs/providers/engines/spend/open.ts'
import type { OpenCall } from '../../../../subgraphs/providers/engines/spend/order.ts'
import { inTransaction } from '../../../../subgraphs/store/write.ts'
import type { Viewer } from '../../../../subgraphs/viewer.ts'
import { type Supergraph, supergraph } from '../../../kit/supergraph.ts'
import { person } from '../../../kit/viewers.ts'
import { Model, type ModelCall, type ModelLimit } from './model.ts'

const models = ['openai/gpt-5-mini', 'anthropic/claude-haiku-4-5']
const apps = ['app_agents', 'app_publishing']
const create = 'mutation($input: CreateSpendLimitInput!) { createSpendLimit(input: $input) { id } }'
const update = 'mutation($input: UpdateSpendLimitInput!) { updateSpendLimit(input: $input) { id } }'
const remove = 'mutation($input: DeleteSpendLimitInput!) { deleteSpendLimit(input: $input) { id } }'
const figuresOf = '{ spendLimits(first: 100) { nodes { id spentMicros reservedMicros alerts { kind } } } }'

/** The platform itself: two organizations with a member each, and whoever administers the platform. */
interface Real {
  readonly graph: Supergraph
  readonly owners: readonly Viewer[]
  readonly boss: Viewer
  readonly open: Map<string, OpenCall>
}

type Step = fc.AsyncCommand<Model, Real>

/** A step that moves the clock by a moment first, as every real one does. */
const step = (name: string, run: (model: Model, real: Real) => Promise<void>): Step => ({
  check: () => true,
  async run(model, real) {
    await real.graph.clock.advance(1)
    model.now = real.graph.clock.now().getTime()
    await run(model, real)
    model.look()
    await compare(model, real)
  },
  toString: () => name,
})

/** What the platform tells of its limits is what one finds by adding up. */
async function compare(model: Model, { graph, owners, boss }: Real): Promise<void> {
  const told: Record<string, string> = {}
  for (const [viewer, document] of [...owners.map(owner => [owner, figuresOf] as const), [boss, figuresOf.replace('(', '(level: PLATFORM, ')] as const])
    for (const { id, spentMicros, reservedMicros, alerts } of (await graph.execute(document, {}, { as: viewer })).data().spendLimits.nodes)
      told[id] = `${spentMicros} ${reservedMicros} ${alerts
        .map(({ kind }: { kind: string }) => kind)
        .sort()
        .join(',')}`
  expect(told).toEqual(model.figures())
}

const someone = fc.record({ who: fc.nat(1), app: fc.nat(1) })
const serviceOf = ({ graph }: Real) => graph.platform.providers.job('test')
const callerOf = ({ owners }: Real, { who, app }: { who: number; app: number }) => ({
  organizationId: owners[who]!.organizationId!,
  userId: owners[who]!.userId!,
  appId: apps[app]!,
})

const scopes = fc.constantFrom('PLATFORM', 'ORGANIZATION', 'APP', 'USER', 'PROVIDER_FAMILY', 'MODEL')
const createLimit = fc
  .record({
    scopeType: scopes,
    who: fc.nat(1),
    which: fc.nat(1),
    byPlatform: fc.boolean(),
    period: fc.constantFrom('DAY' as const, 'MONTH' as const, 'TOTAL' as const),
    hard: fc.option(fc.nat(2_000), { freq: 5 }),
    soft: fc.option(fc.nat(500), { freq: 1 }),
    unpriced: fc.constantFrom('ALLOW' as const, 'BLOCK' as const),
  })
  .filter(({ hard, soft }) => hard !== null || soft !== null)
  .map(({ scopeType, who, which, byPlatform, period, hard, soft, unpriced }) =>
    step(`limit ${scopeType} ${who} ${which} ${byPlatform} ${period} ${hard} ${soft} ${unpriced}`, async (model, real) => {
      const owner = real.owners[who]!
      const isPlatforms = byPlatform || scopeType === 'PLATFORM'
      const values = {
        ...{ PLATFORM: 'platform', ORGANIZATION: owner.organizationId!, APP: apps[which]!, USER: owner.userId! },
        ...{ PROVIDER_FAMILY: which ? 'ai' : 'email', MODEL: models[which]! },
      }
      const scopeValue = values[scopeType as keyof typeof values]
      const organizationId = isPlatforms ? null : owner.organizationId
      const input = { level: isPlatforms ? 'PLATFORM' : 'ORGANIZATION', scopeType, scopeValue, period, hardLimitMicros: hard, softLimitMicros: soft, unpriced }
      const answer = await real.graph.execute(create, { input }, { as: isPlatforms ? real.boss : owner })
      const isThere = model.limits.some(
        limit => limit.organizationId === organizationId && limit.scopeType === scopeType && limit.scopeValue === scopeValue && limit.period === period,
      )
      if (isThere) return void answer.refused('CONFLICT')
      const { id } = answer.data().createSpendLimit
      const limit: ModelLimit = {
        ...{ id, organizationId, scopeType, scopeValue, period, hard, soft, unpriced, createdAt: model.now, alerts: new Set(), alertsOf: 0 },
      }
      model.limits.push(limit)
    }),
  )

/** One of those that there are. */
const oneOf = <Thing>(things: readonly Thing[], which: number): Thing | undefined => things[which % Math.max(1, things.length)]
const byOwner = ({ owners, boss }: Real, { organizationId }: ModelLimit) => owners.find(owner => owner.organizationId === organizationId) ?? boss

const updateLimit = fc.record({ which: fc.nat(20), hard: fc.nat(3_000) }).map(({ which, hard }) =>
  step(`set limit ${which} to ${hard}`, async (model, real) => {
    const limit = oneOf(model.limits, which)
    if (!limit) return
    ;(await real.graph.execute(update, { input: { id: limit.id, hardLimitMicros: hard } }, { as: byOwner(real, limit) })).data()
    limit.hard = hard
  }),
)

const deleteLimit = fc.nat(20).map(which =>
  step(`remove limit ${which}`, async (model, real) => {
    const limit = oneOf(model.limits, which)
    if (!limit) return
    ;(await real.graph.execute(remove, { input: { id: limit.id } }, { as: byOwner(real, limit) })).data()
    model.limits.splice(model.limits.indexOf(limit), 1)
  }),
)

const begin = fc
  .record({ caller: someone, uppers: fc.array(fc.option(fc.nat(600), { freq: 6 }), { minLength: 1, maxLength: 2 }), first: fc.nat(1) })
  .map(({ caller, uppers, first }) =>
    step(`begin ${JSON.stringify({ caller, uppers, first })}`, async (model, real) => {
      const place = callerOf(real, caller)
      const candidates = uppers.map((upper, index) => ({ model: models[(first + index) % 2]!, upper }))
      const expected = model.admit({ ...place, family: 'ai' }, candidates)
      const order = {
        ...{ family: 'AI' as const, operation: 'chat.completions', requestedModel: null },
        candidates: candidates.map(({ model: name, upper }) => ({ model: name, provider: 'test', upperMicros: upper === null ? null : BigInt(upper) })),
      }
      const outcome = await serviceOf(real)
        .calls.begin(place, order)
        .catch((error: { extensions: { code: string } }) => error.extensions.code)
      if (typeof outcome === 'string') return void expect([outcome, expected]).toEqual([expect.stringMatching(/^(BUDGET_EXCEEDED|FORBIDDEN)$/), null])
      expect(outcome.allowed).toEqual(expected?.allowed)
      const call: ModelCall = {
        ...place,
        id: outcome.id,
        family: 'ai',
        createdAt: model.now,
        state: 'RUNNING',
        model: null,
        cost: 0,
        held: expected!.held,
        lost: [],
        pending: new Map(),
      }
      model.calls.push(call)
      real.open.set(outcome.id, outcome)
      for (const limit of model.limits)
        if (limit.hard !== null && expected!.held.has(limit.id)) expect(model.spent(limit) + model.reserved(limit)).toBeLessThanOrEqual(limit.hard)
    }),
  )

const settle = fc.record({ which: fc.nat(20), by: fc.nat(1), cost: fc.option(fc.nat(600), { freq: 8 }) }).map(({ which, by, cost }) =>
  step(`settle ${which} by ${by} at ${cost}`, async (model, real) => {
    const call = oneOf(
      model.calls.filter(({ state, family }) => state !== 'OVER' && family === 'ai'),
      which,
    )
    if (!call) return
    const lost = call.lost.reduce((sum, each) => sum + each.cost, 0)
    const end = {
      ...{ model: models[by]!, provider: 'test', costMicros: cost === null && lost === 0 ? null : BigInt((cost ?? 0) + lost) },
      attempts: call.lost.map(each => ({ provider: 'test', model: each.model, status: null, failure: 'timeout', latencyMs: 1, costMicros: `${each.cost}` })),
      unclear: call.lost.map(each => ({ model: each.model, micros: BigInt(each.upper - each.cost) })),
    }
    const open = real.open.get(call.id)!
    await Promise.all([open.settle({ status: 'SUCCEEDED', ...end }), open.settle({ status: 'FAILED', ...end, costMicros: 7n })])
    model.end(call, models[by]!, cost ?? 0)
  }),
)

const lose = fc.record({ which: fc.nat(20), by: fc.nat(1), cost: fc.nat(100), more: fc.nat(300), next: fc.nat(400) }).map(({ which, by, cost, more, next }) =>
  step(`lose an answer of call ${which} by ${by} at ${cost} of ${cost + more}, then ${next}`, async (model, real) => {
    const call = oneOf(
      model.calls.filter(({ state, family }) => state === 'RUNNING' && family === 'ai'),
      which,
    )
    if (!call) return
    call.lost.push({ model: models[by]!, cost, upper: cost + more })
    const micros = call.lost.reduce((sum, { upper }) => sum + upper, next)
    const covered = await real.open.get(call.id)!.cover(BigInt(micros))
    expect(covered).toBe(model.cover(call, micros))
  }),
)

const charge = fc.record({ caller: someone, micros: fc.nat(300) }).map(({ caller, micros }) =>
  step(`charge ${JSON.stringify(caller)} ${micros}`, async (model, real) => {
    const place = callerOf(real, caller)
    const job = serviceOf(real)
    const mail = { family: 'EMAIL' as const, operation: 'email.send', provider: 'smtp', micros: BigInt(micros) }
    const limits = model.limits.filter(limit => model.applies(limit, { ...place, family: 'email' }, null))
    const isCovered = limits.every(limit => model.covers(limit, micros))
    const refused = () => real.graph.rows(`select from providers.calls where status = 'REFUSED' and family = 'EMAIL'`)
    const before = (await refused()).length
    const outcome = await inTransaction(job, unit => job.calls.charge(place, mail, unit)).catch(
      (error: { extensions: { code: string } }) => error.extensions.code,
    )
    expect(outcome === 'BUDGET_EXCEEDED').toBe(!isCovered)
    if (!isCovered) {
      // It is written after the transaction that it was refused in.
      await expect.poll(async () => (await refused()).length, { interval: 5 }).toBe(before + 1)
      model.exhaust(limits, micros)
    } else
      model.calls.push({
        ...place,
        id: outcome,
        family: 'email',
        createdAt: model.now,
        state: 'OVER',
        model: null,
        cost: micros,
        held: new Map(),
        lost: [],
        pending: new Map(),
      })
  }),
)

const forward = fc.constantFrom(60_000, 16 * 60_000, 5 * 3_600_000, 25 * 3_600_000, 20 * 86_400_000).map(ms =>
  step(`wait ${ms / 60_000} minutes`, async (model, real) => {
    await real.graph.clock.advance(ms)
    model.now = real.graph.clock.now().getTime()
    for (const sweep of (serviceOf(real).spending as Spending).sweeps) await sweep.run()
    for (const call of model.calls) {
      if (call.createdAt + 15 * 60_000 >= model.now) continue
      if (call.state === 'RUNNING') call.state = 'EXPIRED'
      call.pending = new Map()
    }
  }),
)

test('G-04 limits equal the sum of calls after any sequence of events, and no uncovered call begins', async () => {
  await using graph = await supergraph({ quotas: { spendLimitsAnOrganization: 100 } })
  const steps = [createLimit, createLimit, updateLimit, deleteLimit, begin, begin, begin, lose, settle, settle, charge, forward]
  await fc.assert(
    fc
      .asyncProperty(fc.commands(steps, { maxCommands: 60, size: 'max' }), async commands => {
        await fc.asyncModelRun(async () => {
          const [one, other] = [await graph.seed.owner(), await graph.seed.owner()]
          const real: Real = { graph, owners: [one.owner, other.owner], boss: person(newId(), newId(), ['platform_super_admin']), open: new Map() }
          return { model: new Model(), real }
        }, commands)
      })
      .afterEach(async () => {
        await graph.rows('delete from providers.calls')
        await graph.rows('delete from providers.spend_limits')
      }),
    { numRuns: Number(process.env.SPEND_RUNS ?? 25), endOnFailure: false, interruptAfterTimeLimit: 60_000, markInterruptAsFailure: false },
  )
}, 120_000)
