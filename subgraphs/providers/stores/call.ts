import { keptStatements } from '../../../platform/sql/statement.ts'
import { integer, json, moment, type Row, table, text, truth, uuid, whole } from '../../../platform/sql/table.ts'
import type { FilterSql } from '../../store/filter/filters.ts'
import type { Asked } from '../../store/filter/pages.ts'
import { createEachLoader } from '../../store/loader.ts'
import { type Rows, type StoreContext, store } from '../../store/store.ts'

export type CallFamily = 'AI' | 'EMAIL' | 'PAYMENTS' | 'VIDEO' | 'NETWORK'
export type CallStatus = 'RUNNING' | 'SUCCEEDED' | 'FAILED' | 'REFUSED' | 'ABORTED'

/** Maximum number of attempts listed for a call: the first ones. */
export const mostAttempts = 20

/** One attempt of a call. */
export interface CallAttempt {
  readonly provider: string
  readonly model: string | null
  readonly status: number | null
  readonly failure: string | null
  readonly latencyMs: number
  /**
   * Set only for an attempt whose answer never arrived although its provider may have worked: the booked amount in
   * whole micro-US-dollars, as digits; null when no price is known. It is part of the call's cost.
   */
  readonly costMicros?: string | null
}

/** The amount that a call reserves in a spend limit, and the start of the period in which it counts. */
export interface Held {
  readonly limitId: string
  /** Whole micro-US-dollars, as digits. */
  readonly micros: string
  readonly since: string
}

/** All calls made through the gateway. */
export const calls = table('providers.calls', {
  organizationId: uuid.key,
  id: uuid.key,
  family: text.of<CallFamily>(),
  operation: text,
  status: text.of<CallStatus>(),
  appId: text,
  userId: uuid.maybe,
  requestedModel: text.maybe,
  model: text.maybe,
  provider: text.maybe,
  inputTokens: integer.maybe,
  /** Input tokens read from the vendor's cache. */
  cachedTokens: integer.maybe,
  cacheWriteTokens: integer.maybe,
  outputTokens: integer.maybe,
  units: integer.maybe,
  /** Null while the call runs, and when no price is known. */
  costMicros: whole.maybe,
  /** Part of the cost that was paid with the platform's credentials. */
  platformMicros: whole.maybe,
  /** Whether the provider reported more usage than possible: the maximum is stored then. */
  doubtful: truth.or(false),
  latencyMs: integer.maybe,
  firstByteMs: integer.maybe,
  attempts: json.of<readonly CallAttempt[]>().or([]),
  prompt: text.maybe,
  promptUntil: moment.maybe,
  held: json.of<readonly Held[]>().or([]),
  hasNewLimit: truth.or(false),
  expired: truth.or(false),
  expiresAt: moment.maybe,
  /**
   * Amounts that stay reserved after the call has ended, because a provider that never answered may still charge them.
   */
  pending: json.of<readonly Held[]>().or([]),
  pendingUntil: moment.maybe,
  createdAt: moment,
  endedAt: moment.maybe,
})

export type CallRow = Row<typeof calls>

/** Name of the type in the graph. */
export type ProviderCallRow = CallRow

/** Builds the condition for calls that a model answered, or that requested it. */
function ofModel(model: string, { bind }: FilterSql): string {
  const given = bind(model)
  return `(t.model = ${given} or t.requested_model = ${given})`
}

/** Dimensions by which usage is grouped: the row's attribute, and the expression that reads it from a call. */
export const usageKeys = {
  APP: { name: 'appId', sql: 'c.app_id' },
  USER: { name: 'userId', sql: 'c.user_id' },
  MODEL: { name: 'model', sql: 'c.model' },
  PROVIDER: { name: 'provider', sql: 'c.provider' },
  FAMILY: { name: 'family', sql: 'c.family' },
  DAY: { name: 'day', sql: `to_char(c.created_at at time zone 'UTC', 'YYYY-MM-DD')` },
} as const
export type UsageKey = keyof typeof usageKeys

/** Maximum rows of a usage query. */
export const mostUsage = 1_000
/** Maximum number of apps in an answer, larger than the number of apps that can be known. */
export const mostApps = 250

/** Filter of usage: the organization, the period, and the grouping keys, each at most once, in their order. */
export interface UsageFilter {
  readonly organizationId: string
  readonly by: readonly UsageKey[]
  readonly appId: string | null
  readonly since: string
  readonly until: string | null
}

/** Sums are returned as digits. */
export interface UsageFound {
  readonly appId?: string
  readonly userId?: string | null
  readonly model?: string | null
  readonly provider?: string | null
  readonly family?: CallFamily
  readonly day?: string
  readonly calls: number
  readonly failedCalls: number
  readonly inputTokens: string
  readonly cachedTokens: string
  readonly cacheWriteTokens: string
  readonly outputTokens: string
  readonly units: string
  readonly costMicros: string
}

function usageOf({ organizationId, by, appId, since, until }: UsageFilter): Asked {
  const values: unknown[] = [organizationId, since]
  const bind = (value: unknown): string => `$${values.push(value)}`
  const narrowed = [appId !== null && ` and c.app_id = ${bind(appId)}`, until !== null && ` and c.created_at < ${bind(until)}`].filter(Boolean).join('')
  const keys = by.map(key => usageKeys[key])
  const order = [...(by.includes('DAY') ? ['"day" desc'] : []), 'sum(c.cost_micros) desc nulls last', 'count(*) desc', ...keys.map((_, at) => `${at + 1}`)]
  const text = `select ${keys.map(({ name, sql }) => `${sql} as "${name}"`).join(', ')},
         count(*)::int as calls, count(*) filter (where c.status = 'FAILED')::int as "failedCalls",
         coalesce(sum(c.cached_tokens), 0)::text as "cachedTokens", coalesce(sum(c.cache_write_tokens), 0)::text as "cacheWriteTokens",
         coalesce(sum(c.input_tokens), 0)::text as "inputTokens", coalesce(sum(c.output_tokens), 0)::text as "outputTokens",
         coalesce(sum(c.units), 0)::text as units, coalesce(sum(c.cost_micros), 0)::text as "costMicros"
    from providers.calls c where c.organization_id = $1 and c.created_at >= $2${narrowed}
   group by ${keys.map((_, at) => at + 1).join(', ')} order by ${order.join(', ')} limit ${mostUsage}`
  return { text, values }
}

const summed = keptStatements(100)

/** An app with calls. */
export interface AppFound {
  readonly appId: string
  /** Name of its client; null without one. */
  readonly name: string | null
  readonly lastUsedAt: Date
  readonly calls: number
  readonly costMicros: string
}

const appsSince = `select c.app_id as "appId", s.name, max(c.created_at) as "lastUsedAt", count(*)::int as calls, coalesce(sum(c.cost_micros), 0)::text as "costMicros"
    from providers.calls c left join providers.service_clients s on s.app_id = c.app_id
   where c.organization_id = $1 and c.created_at >= $2 group by 1, 2 order by 3 desc, 1 limit ${mostApps}`

/** Queries of calls only. */
const callSql = (rows: Rows<typeof calls>, { reading }: StoreContext) => ({
  /** Returns summed usage; the same sum under several aliases is computed once. */
  usage: createEachLoader<UsageFilter, readonly UsageFound[]>(
    reading,
    filter => {
      const { text, values } = usageOf(filter)
      return rows.read<UsageFound>(summed(text), values)
    },
    JSON.stringify,
  ),

  /** Returns apps that called for an organization since a moment. */
  appsSince: (organizationId: string, since: Date): Promise<readonly AppFound[]> => rows.read<AppFound>(summed(appsSince), [organizationId, since]),
})

/** An organization sees its own calls. */
export const callStore = store(
  calls,
  {
    what: 'call',
    tenancy: { by: 'organizationId' },
    filters: { family: 'eq', appId: 'eq', userId: 'eq', model: ofModel, status: 'eq', createdAt: 'range' },
    lists: { all: { below: 'organizationId', order: 'newest first' } },
  },
  callSql,
)
