import type { Clock } from '../../../../platform/clock.ts'
import { newId } from '../../../../platform/ids.ts'
import { modelOf } from '../../../../platform/sql/table.ts'
import type { CallEnd, CallOrder } from '../../../../subgraphs/providers/engines/spend/order.ts'
import { type SpendLimitRow, sinceOf, spendLimits } from '../../../../subgraphs/providers/stores/spend/limit.ts'
import type { Supergraph } from '../../../kit/supergraph.ts'

export type LimitSeed = Partial<Omit<SpendLimitRow, 'id'>> & Pick<SpendLimitRow, 'organizationId'>

/** A limit, past every rule: of the organization at all times, unless said otherwise. */
export async function seedLimit({ clock, database }: { readonly clock: Clock } & Pick<Supergraph, 'database'>, seed: LimitSeed): Promise<string> {
  const now = clock.now()
  const id = newId(now)
  const { organizationId, period = 'TOTAL' } = seed
  const scope = organizationId === null ? { scopeType: 'PLATFORM', scopeValue: 'platform' } : { scopeType: 'ORGANIZATION', scopeValue: organizationId }
  await modelOf(database.sequelize, spendLimits).create({
    ...{ id, level: organizationId === null ? 'PLATFORM' : 'ORGANIZATION', tenantId: organizationId ?? newId(), ...scope, period },
    ...{ since: sinceOf(period, now, now), createdAt: now, updatedAt: now, createdBy: 'test', ...seed },
  })
  return id
}

export const model = 'openai/gpt-5-mini'

/** A call of one model that costs at most so much. */
export const order = (upperMicros: bigint | null, more: Partial<CallOrder> = {}): CallOrder => ({
  family: 'AI',
  operation: 'chat.completions',
  requestedModel: model,
  candidates: [{ model, provider: 'openai', upperMicros }],
  ...more,
})

/** A call that was answered, for so much. */
export const ended = (costMicros: bigint | null, more: Partial<CallEnd> = {}): CallEnd => ({
  status: 'SUCCEEDED',
  model,
  provider: 'openai',
  costMicros,
  ...more,
})

/** The figures of a limit. */
export const figures = async (graph: Supergraph, id: string) =>
  (
    await graph.rows<{ spent: bigint; reserved: bigint; overdrawn: bigint; alerts: { kind: string }[] }>(
      'select spent_micros as spent, reserved_micros as reserved, overdrawn_micros as overdrawn, alerts from providers.spend_limits where id = $1',
      [id],
    )
  ).map(({ spent, reserved, overdrawn, alerts }) => [Number(spent), Number(reserved), Number(overdrawn), alerts.map(({ kind }) => kind).join()])[0]
