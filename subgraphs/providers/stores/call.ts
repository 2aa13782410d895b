import { keptStatements } from '../../../platform/sql/statement.ts'
import { integer, json, moment, type Row, table, text, truth, uuid, whole } from '../../../platform/sql/table.ts'
import type { FilterSql } from '../../store/filter/filters.ts'
import type { Asked } from '../../store/filter/pages.ts'
import { createEachLoader } from '../../store/loader.ts'
import { type Opening, type Rows, store } from '../../store/store.ts'

export type CallFamily = 'AI' | 'EMAIL' | 'PAYMENTS' | 'VIDEO' | 'NETWORK'
export type CallStatus = 'RUNNING' | 'SUCCEEDED' | 'FAILED' | 'REFUSED' | 'ABORTED'

/** Tries of one call that are told of at most: the first. */
export const mostAttempts = 20

/** One try to have a call answered. */
export interface CallAttempt {
  readonly provider: string
  readonly model: string | null
  readonly status: number | null
  readonly failure: string | null
  readonly latencyMs: number
  /**
   * Only of an attempt whose answer never came although its provider may have worked: what it is booked at, in whole micro-dollars as digits; null
   * where nobody knows a price. It is part of the cost of its call.
   */
  readonly costMicros?: string | null
}

/** What is held for a call in a limit, and where the period begins in which it counts. */
export interface Held {
  readonly limitId: string
  /** Whole micro-dollars, as digits. */
  readonly micros: string
  readonly since: string
}

/** Every call that was made through providers. */
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
  /** Of these: what the vendor had kept from before, and what it keeps for later. */
  cachedTokens: integer.maybe,
  cacheWriteTokens: integer.maybe,
  outputTokens: integer.maybe,
  units: integer.maybe,
  /** Null: nobody knows a price, or it has not ended. */
  costMicros: whole.maybe,
  /** What of it was paid with credentials of the platform. */
  platformMicros: whole.maybe,
  /** Whether its provider reported more usage than it can have had: what is on record is the bound. */
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
  /** What stays held after the call has ended, because a provider that never answered may still charge it. */
  pending: json.of<readonly Held[]>().or([]),
  pendingUntil: moment.maybe,
  createdAt: moment,
  endedAt: moment.maybe,
})

export type CallRow = Row<typeof calls>

/** What the graph calls it. */
export type ProviderCallRow = CallRow

/** Calls that a model answered, or that asked for it. */
function ofModel(model: string, { bind }: FilterSql): string {
  const given = bind(model)
  return `(t.model = ${given} or t.requested_model = ${given})`
}

/** What usage is told apart by: the attribute of a row, and how it is read of a call. */
export const usageKeys = {
  APP: { name: 'appId', sql: 'c.app_id' },
  USER: { name: 'userId', sql: 'c.user_id' },
  MODEL: { name: 'model', sql: 'c.model' },
  PROVIDER: { name: 'provider', sql: 'c.provider' },
  FAMILY: { name: 'family', sql: 'c.family' },
  DAY: { name: 'day', sql: `to_char(c.created_at at time zone 'UTC', 'YYYY-MM-DD')` },
} as const
export type UsageKey = keyof typeof usageKeys

/** Rows that usage has at most. */
export const mostUsage = 1_000
/** Apps that are told of at most: all that can be known have room. */
export const mostApps = 250

/** Whose usage, since when, and what it is told apart by: each key once, in their order. */
export interface UsageFilter {
  readonly organizationId: string
  readonly by: readonly UsageKey[]
  readonly appId: string | null
  readonly since: string
  readonly until: string | null
}

/** Sums are told as digits. */
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

/** An app that called. */
export interface AppFound {
  readonly appId: string
  /** What its client is called; null for who has none. */
  readonly name: string | null
  readonly lastUsedAt: Date
  readonly calls: number
  readonly costMicros: string
}

const appsSince = `select c.app_id as "appId", s.name, max(c.created_at) as "lastUsedAt", count(*)::int as calls, coalesce(sum(c.cost_micros), 0)::text as "costMicros"
    from providers.calls c left join providers.service_clients s on s.app_id = c.app_id
   where c.organization_id = $1 and c.created_at >= $2 group by 1, 2 order by 3 desc, 1 limit ${mostApps}`

/** Queries of calls only. */
const callSql = (rows: Rows<typeof calls>, { reading }: Opening) => ({
  /** What was used, summed; the same under several aliases is summed once. */
  usage: createEachLoader<UsageFilter, readonly UsageFound[]>(
    reading,
    filter => {
      const { text, values } = usageOf(filter)
      return rows.read<UsageFound>(summed(text), values)
    },
    JSON.stringify,
  ),

  /** Apps that called for an organization since a moment. */
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
