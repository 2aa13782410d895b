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

/** Limits of spending in a scope, with the spending of the period that begins at `since`. */
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
  /** Whether the limit follows the setting; false once a person has set it. */
  isDefault: truth.or(false),
  /** Whether a limit that follows the setting has its amount; false: it allows nothing. */
  hasAllowance: truth.or(true),
  ...stamps,
})

export type SpendLimitRow = Row<typeof spendLimits>

/**
 * Returns the start of the period that contains a moment, in UTC; TOTAL has one period, which begins with the limit.
 */
export function sinceOf(period: SpendPeriod, now: Date, createdAt: Date): Date {
  if (period === 'TOTAL') return createdAt
  return new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), period === 'DAY' ? now.getUTCDate() : 1))
}

/** Returns the start of the next period; null when there is none. */
export function resetsAt(period: SpendPeriod, since: Date): Date | null {
  if (period === 'TOTAL') return null
  const [year, month] = [since.getUTCFullYear(), since.getUTCMonth()]
  return new Date(period === 'DAY' ? Date.UTC(year, month, since.getUTCDate() + 1) : Date.UTC(year, month + 1))
}

/** A scope of limits. */
export interface Scope {
  readonly type: SpendScopeType
  readonly value: string
}

/** The properties of a call that determine its limits, apart from the model. */
export interface Counted {
  readonly organizationId: string
  readonly appId: string
  readonly userId: string | null
  readonly family: CallFamily
}

/** Returns the scopes of a call, except those of models. */
export const scopesOf = ({ organizationId, appId, userId, family }: Counted): readonly Scope[] => [
  { type: 'PLATFORM', value: 'platform' },
  { type: 'ORGANIZATION', value: organizationId },
  { type: 'APP', value: appId },
  ...(userId === null ? [] : [{ type: 'USER' as const, value: userId }]),
  { type: 'PROVIDER_FAMILY', value: family.toLowerCase() },
]

export const scopeOfModel = (model: string): Scope => ({ type: 'MODEL', value: model })

/** Returns the scope of an organization's spending with the platform's credentials. */
export const scopeOfPlatformCredentials = (organizationId: string): Scope => ({ type: 'PLATFORM_CREDENTIALS', value: organizationId })
