import { json, moment, type Row, stamps, table, text, truth, uuid, whole } from '../../../../platform/sql/table.ts'
import type { CallFamily } from '../call.ts'
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

/** When the period begins in which a moment lies, in UTC; of TOTAL there is one, which begins with the limit. */
export function sinceOf(period: SpendPeriod, now: Date, createdAt: Date): Date {
  if (period === 'TOTAL') return createdAt
  return new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), period === 'DAY' ? now.getUTCDate() : 1))
}

/** When the next period begins; null when there is none. */
export function resetsAt(period: SpendPeriod, since: Date): Date | null {
  if (period === 'TOTAL') return null
  const [year, month] = [since.getUTCFullYear(), since.getUTCMonth()]
  return new Date(period === 'DAY' ? Date.UTC(year, month, since.getUTCDate() + 1) : Date.UTC(year, month + 1))
}

/** The scope of limits in which a call counts. */
export interface Scope {
  readonly type: SpendScopeType
  readonly value: string
}

/** Where a call counts, whatever answers it. */
export interface Counted {
  readonly organizationId: string
  readonly appId: string
  readonly userId: string | null
  readonly family: CallFamily
}

/** The scopes of a call, besides those of models. */
export const scopesOf = ({ organizationId, appId, userId, family }: Counted): readonly Scope[] => [
  { type: 'PLATFORM', value: 'platform' },
  { type: 'ORGANIZATION', value: organizationId },
  { type: 'APP', value: appId },
  ...(userId === null ? [] : [{ type: 'USER' as const, value: userId }]),
  { type: 'PROVIDER_FAMILY', value: family.toLowerCase() },
]

export const scopeOfModel = (model: string): Scope => ({ type: 'MODEL', value: model })

/** The scope of what an organization spends with credentials of the platform. */
export const scopeOfPlatformCredentials = (organizationId: string): Scope => ({ type: 'PLATFORM_CREDENTIALS', value: organizationId })
