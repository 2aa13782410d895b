import { expect, test } from 'vitest'
import { newId } from '../../../../platform/ids.ts'
import { decide } from '../../../../subgraphs/providers/engines/spend/decide.ts'
import type { CallRow } from '../../../../subgraphs/providers/stores/call.ts'
import { books, placesOf } from '../../../../subgraphs/providers/stores/spend/books.ts'
import { supergraph } from '../../../kit/supergraph.ts'
import { ended, figures, model, order, seedLimit } from './seed.ts'

const changedMeanwhile = {
  'its terms': 'update providers.spend_limits set version = version + 1',
  'its period': `update providers.spend_limits set since = since - interval '1 day'`,
  'what is spent': 'update providers.spend_limits set spent_micros = spent_micros + 1',
  'what is held': 'update providers.spend_limits set reserved_micros = reserved_micros + 1',
  'what is overdrawn': 'update providers.spend_limits set overdrawn_micros = overdrawn_micros + 1',
  'whether its figures are whole': 'update providers.spend_limits set is_counted = not is_counted',
  'that it is there': 'delete from providers.spend_limits',
  'that the call runs': `update providers.calls set status = 'FAILED', held = '[]', expires_at = null`,
  'that the call is to look for limits once more': 'update providers.calls set has_new_limit = true',
}

test.each(
  Object.entries(changedMeanwhile),
)('G-04 a call that ends by itself is not written where somebody has changed meanwhile: %s', async (_what, change) => {
  await using graph = await supergraph()
  const { organization } = await graph.seed.owner()
  const { sequelize } = graph.database
  const id = await seedLimit(graph, { organizationId: organization.id, hardLimitMicros: 1000n })
  const open = await graph.platform.providers.job('test').calls.begin({ organizationId: organization.id, userId: newId(), appId: 'app_test' }, order(600n))
  const [call] = await sequelize.transaction(transaction => books.lockCalls(sequelize, [{ organizationId: organization.id, id: open.id }], transaction))
  const limits = await books.readLimits(sequelize, [], placesOf(call!, [model], false))
  const now = graph.clock.now()
  const end = { ...call!, ...ended(510n), expired: false, endedAt: now } as never
  const { changes, ended: written } = decide([{ kind: 'end', ended: end, unclear: [] }], limits, [call!], now)
  await graph.rows(change)
  const before = [await figures(graph, id), await graph.rows('select status, cost_micros from providers.calls')]
  expect(await books.writeIf(sequelize, { changes, places: placesOf(call!, [model], false), applying: limits.length, ended: written[0]! })).toBe(false)
  expect([await figures(graph, id), await graph.rows('select status, cost_micros from providers.calls')]).toEqual(before)
})

test('G-04 a single call is not written when a limit has changed meanwhile, and is when none has', async () => {
  await using graph = await supergraph()
  const { organization } = await graph.seed.owner()
  const { sequelize } = graph.database
  const id = await seedLimit(graph, { organizationId: organization.id, hardLimitMicros: 1000n })
  const begin = async (meanwhile: () => Promise<unknown>) => {
    const now = graph.clock.now()
    const call: CallRow = {
      ...{
        organizationId: organization.id,
        id: newId(now),
        family: 'AI',
        operation: 'chat.completions',
        status: 'RUNNING',
        appId: 'app_test',
        userId: newId(),
      },
      ...{
        requestedModel: null,
        model: null,
        provider: null,
        inputTokens: null,
        cachedTokens: null,
        cacheWriteTokens: null,
        outputTokens: null,
        units: null,
        costMicros: null,
        platformMicros: null,
        latencyMs: null,
      },
      ...{ firstByteMs: null, attempts: [], prompt: null, promptUntil: null, held: [], hasNewLimit: false, expired: false },
      ...{ expiresAt: null, doubtful: false, pending: [], pendingUntil: null, createdAt: now, endedAt: null },
    }
    const limits = await books.readLimits(sequelize, [], placesOf(call, [model], false))
    const { changes, begun } = decide([{ kind: 'begin', call, candidates: [{ model, upperMicros: 400n }] }], limits, [], now)
    await meanwhile()
    return books.writeIf(sequelize, { changes, places: placesOf(call, [model], false), applying: limits.length, begun: begun[0]! })
  }
  expect(await begin(async () => {})).toBe(true)
  expect(await begin(() => graph.rows(changedMeanwhile['what is spent']))).toBe(false)
  expect([await figures(graph, id), (await graph.rows('select from providers.calls')).length]).toEqual([[1, 400, 0, ''], 1])
})

test('G-04 a call that ends while a limit is created is in its figures', async () => {
  await using graph = await supergraph()
  const { organization } = await graph.seed.owner()
  const { sequelize } = graph.database
  const caller = { organizationId: organization.id, userId: newId(), appId: 'app_test' }
  const open = await graph.platform.providers.job('test').calls.begin(caller, order(600n))
  const making = await sequelize.transaction()
  const bind = [organization.id, new Date(graph.clock.now().getTime() - 1)]
  await sequelize.query(
    `insert into providers.spend_limits (id, level, organization_id, tenant_id, scope_type, scope_value, period, hard_limit_micros, since, created_at, updated_at, created_by)
     values (gen_random_uuid(), 'ORGANIZATION', $1::uuid, $1::uuid, 'ORGANIZATION', $1::uuid::text, 'TOTAL', 1000, $2, $2, $2, 'test')`,
    { bind, transaction: making },
  )
  await sequelize.query('update providers.calls set has_new_limit = true', { transaction: making })
  const settled = open.settle(ended(510n))
  await expect.poll(() => graph.rows(`select from pg_locks where not granted`), { timeout: 10_000 }).toHaveLength(1)
  await making.commit()
  await settled
  expect(await graph.rows('select spent_micros::int as spent, reserved_micros::int as held from providers.spend_limits')).toEqual([{ spent: 510, held: 0 }])
})
