import type { Logger } from 'pino'
import type { Sweep } from '../../../../platform/jobs/queue.ts'
import type { RetentionRule } from '../../../../platform/jobs/retention.ts'
import type { Writing } from '../../../store/books.ts'
import { inTransaction } from '../../../store/write.ts'
import type { Foundation } from '../../../subgraph.ts'
import type { SpendLimitRow } from '../../stores/spend/limit.ts'
import { createBooksNews, factsOf } from './announce.ts'
import { createCalls } from './calls.ts'
import { createDefaultLimits, type DefaultLimitsGround } from './default-limits.ts'
import type { Calls, Prices } from './order.ts'

/** Configured fixed prices, in whole micro-dollars. */
export type PriceSettings = { readonly [Name in keyof Prices]: number }

/** The record of calls and their limits, ready to be used by a subgraph. */
export interface Spending {
  readonly calls: Calls
  /** Sweeps for overdue calls, ended periods, and expired prompts. */
  readonly sweeps: readonly Sweep[]
  /** Retention of calls: 400 days. */
  readonly retentionRules: readonly RetentionRule[]
  /**
   * Adds the spending before a limit's creation to its figures, to the last call. @returns the limit after the change;
   * null if it was deleted
   */
  count(limit: SpendLimitRow): Promise<SpendLimitRow | null>
  stop(): Promise<void>
}

export interface SpendingOptions extends Pick<DefaultLimitsGround, 'platformOrganization'> {
  readonly prices: PriceSettings
  /** Creates a context for each piece of work. */
  job(): Writing
  readonly log: Logger
  /** Default limit of an organization's spending with platform credentials in a month; null for none. */
  readonly platformMicros: bigint | null
}

/** Opens the ledger of calls. */
export function openSpending(
  { sequelize, clock, events, publicUrl }: Pick<Foundation, 'sequelize' | 'clock' | 'events' | 'publicUrl'>,
  { prices, job, log, platformMicros, platformOrganization }: SpendingOptions,
): Spending {
  const news = createBooksNews(events)
  const tellsOf = (before: SpendLimitRow | null, after: SpendLimitRow | null, at: Date) => factsOf(before, after, publicUrl, at)
  const { announce } = news
  const defaults = createDefaultLimits({ sequelize, clock, micros: platformMicros, platformOrganization, job, factsOf: tellsOf, announce })
  const { calls, expire, lookAfter, forgetPrompts, forgetDoubts, count, settled } = createCalls({
    sequelize,
    clock,
    log,
    prices: { email: BigInt(prices.email), payment: BigInt(prices.payment), videoUnit: BigInt(prices.videoUnit) },
    job,
    factsOf: tellsOf,
    announce,
    publicUrl,
    defaults,
  })
  return {
    calls,
    sweeps: [
      { name: 'calls that nobody has ended', everyMs: 15_000, run: expire },
      { name: 'limits that wait', everyMs: 15_000, run: lookAfter },
      { name: 'limits that follow a setting', everyMs: 15_000, run: defaults.follow },
      { name: 'models that report nothing strange any more', everyMs: 60_000, run: forgetDoubts },
      { name: 'prompts whose time is over', everyMs: 60_000, run: forgetPrompts },
    ],
    retentionRules: [{ table: 'providers.calls', days: 400, old: 'o.created_at < $1', order: 'o.created_at' }],
    count: limit => inTransaction(job(), unit => count(limit, unit)),
    async stop() {
      await settled()
      news.stop()
    },
  }
}
