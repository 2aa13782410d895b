import { json, moment, type Row, stamps, table, text, truth, uuid, whole } from '../../../../platform/sql/table.ts'
import type { Level } from '../credential/credential.ts'

export type SpendScopeType = 'PLATFORM' | 'ORGANIZATION' | 'APP' | 'USER' | 'PROVIDER_FAMILY' | 'MODEL' | 'PLATFORM_CREDENTIALS'
export type SpendPeriod = 'DAY' | 'MONTH' | 'TOTAL'
export type SpendAlertKind = 'SOFT' | 'PERCENT_50' | 'PERCENT_80' | 'PERCENT_95' | 'EXHAUSTED'
export type UnpricedPolicy = 'ALLOW' | 'BLOCK'
export type BudgetAttention = 'BUDGET_NEAR_LIMIT' | 'BUDGET_EXHAUSTED'

export interface SpendAlert {
  readonly kind: SpendAlertKind
  readonly at: string
}

/** How much may be spent in a scope, and how much was: its figures are those of the period that begins at `since`. */
export const spendLimits = table('providers.spend_limits', {
  id: uuid.key,
  level: text.of<Level>(),
  organizationId: uuid.maybe,
  tenantId: uuid,
  scopeType: text.of<SpendScopeType>(),
  scopeValue: text,
  period: text.of<SpendPeriod>(),
  softLimitMicros: whole.maybe,
  hardLimitMicros: whole.maybe,
  unpriced: text.of<UnpricedPolicy>().or('BLOCK'),
  note: text.maybe,
  since: moment,
  spentMicros: whole.or(0n),
  reservedMicros: whole.or(0n),
  overdrawnMicros: whole.or(0n),
  isCounted: truth.or(true),
  alerts: json.of<readonly SpendAlert[]>().or([]),
  attention: text.of<BudgetAttention>().maybe,
  /** Whether it follows the setting; false: somebody has set it. */
  isDefault: truth.or(false),
  ...stamps,
})

export type SpendLimitRow = Row<typeof spendLimits>
