import type { Sequelize } from 'sequelize'
import { lockingStatement, rows, statement } from '../../../platform/sql/statement.ts'

/** An app, and who sees it fail: an organization, or a person in personal context. */
export interface AppScope {
  readonly entryId: string
  readonly scopeId: string
}

/** What is known of an app's failures. */
export interface AppFailing {
  /** Whether its latest answer to this scope was a failure. */
  readonly isFailing: boolean
  /** Until when this scope leaves it alone, also in the past; null where it did not fail often enough. */
  readonly pausedUntil: Date | null
  /** Whether two scopes or more leave it alone now: then it is the app that fails, for everybody. */
  readonly isPausedForMany: boolean
}

/** Failures in a row that pause an app, the time in ms in which they happen, and for how long it is left alone. */
export const pausing = { failures: 5, withinMs: 60_000, ms: 30_000 } as const

/** Counts failures of apps for all processes. */
export interface AppFailureStore {
  /** Returns what is known of each app, in order. */
  read(scopes: readonly AppScope[], now: Date): Promise<AppFailing[]>
  /** Takes the one trial after a pause; false when another request has it. Without an answer the app stays paused. */
  takeTrial(scope: AppScope, now: Date): Promise<boolean>
  /** Counts a failure. The last one of a row and a failed trial pause the app. */
  add(scope: AppScope, now: Date): Promise<void>
  /** Forgets an app's failures, because it answered. */
  end(scope: AppScope): Promise<void>
}

const readAll = statement(
  `select f.entry_id is not null as "isFailing", f.paused_until as "pausedUntil",
     exists (select from launcher.app_failures o where o.entry_id = w.entry_id and o.paused_until > $3 offset 1) as "isPausedForMany"
   from unnest($1::uuid[], $2::uuid[]) with ordinality as w (entry_id, scope_id, place)
   left join launcher.app_failures f on f.entry_id = w.entry_id and f.scope_id = w.scope_id
   order by w.place`,
)
const takeOne = lockingStatement(
  'update launcher.app_failures t set paused_until = $4, changed_at = $3 where t.entry_id = $1 and t.scope_id = $2 and t.paused_until <= $3 returning 1',
)
const addOne = lockingStatement(
  `insert into launcher.app_failures as t (entry_id, scope_id, failed_at, changed_at) values ($1, $2, array[$3::timestamptz], $3)
   on conflict (entry_id, scope_id) do update set (failed_at, paused_until, changed_at) = (
     select case when is_last then '{}' else recent end, case when is_last then $4::timestamptz end, $3
       from (select array(select f from unnest(t.failed_at) as f where f > $5) || $3::timestamptz as recent) as r
       cross join lateral (select t.paused_until is not null or cardinality(recent) >= $6 as is_last) as l)`,
)
const endOne = statement('delete from launcher.app_failures t where t.entry_id = $1 and t.scope_id = $2')

const after = (now: Date, ms: number): Date => new Date(now.getTime() + ms)

/** Opens the failures that lie in PostgreSQL. */
export const openAppFailures = (sequelize: Sequelize): AppFailureStore => ({
  async read(scopes, now) {
    if (!scopes.length) return []
    return rows<AppFailing>(sequelize, readAll, [scopes.map(({ entryId }) => entryId), scopes.map(({ scopeId }) => scopeId), now])
  },
  async takeTrial({ entryId, scopeId }, now) {
    return (await rows(sequelize, takeOne, [entryId, scopeId, now, after(now, pausing.ms)])).length > 0
  },
  async add({ entryId, scopeId }, now) {
    await rows(sequelize, addOne, [entryId, scopeId, now, after(now, pausing.ms), after(now, -pausing.withinMs), pausing.failures])
  },
  async end({ entryId, scopeId }) {
    await rows(sequelize, endOne, [entryId, scopeId])
  },
})
