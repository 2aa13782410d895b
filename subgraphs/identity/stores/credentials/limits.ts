import { createHmac } from 'node:crypto'
import type pg from 'pg'

/** The count of one key. */
export interface Count {
  readonly count: number
  /** Start of the window in ms since 1970; some keys move it with each count. */
  readonly since: number
  /** End of the count in ms since 1970. */
  readonly endsAt: number
}

/** Maximum count of a subject within a window that begins with the first. */
export interface Bound {
  readonly kind: string
  readonly most: number
  readonly windowMs: number
}

/** Result of counting: how many were granted. */
export interface Taken {
  readonly granted: number
  /** Milliseconds until there is room again; 0 when all were granted. */
  readonly waitMs: number
}

/** Decides on changes of counts. */
type Decide<Result> = (counts: ReadonlyMap<string, Count>) => { readonly result: Result; readonly counts: ReadonlyMap<string, Count | null> }

/** Counters shared by all processes of identity, in one table. A method rejects while the database is unavailable. */
export interface Limits {
  /** The key of a subject: a keyed hash, so that the table holds neither addresses nor names. */
  keyOf(kind: string, subject: string): string
  /** Counts several occurrences atomically, as many as there is room for. @param many how many @default 1 */
  take(bound: Bound, subject: string, now: Date, many?: number): Promise<Taken>
  /** Reads the current counts, without waiting for writers. */
  read(keys: readonly string[], now: Date): Promise<ReadonlyMap<string, Count>>
  /**
   * Changes several counts under a lock.
   * @param decide receives the current counts and returns changes: null deletes one, omitted ones stay
   */
  change<Result>(keys: readonly string[], now: Date, decide: Decide<Result>): Promise<Result>
}

/**
 * Number of own changes after which a process removes ended rows, and their maximum: more than that many changes
 * create.
 */
export const sweeping = { every: 256, most: 4_096 }

// Counts beyond the limit too: the former count says how many were granted.
const take = {
  name: 'take of limit',
  text: `insert into identity.limits as l (key, count, since, ends_at) values ($1, $4, $2, $3)
         on conflict (key) do update set
           count = case when l.ends_at <= $2 then $4 else least(l.count::bigint + $4, 2000000000)::integer end,
           since = case when l.ends_at <= $2 then $2 else l.since end,
           ends_at = case when l.ends_at <= $2 then $3 else l.ends_at end
         returning count, ends_at as "endsAt"`,
}
const read = {
  name: 'read limits',
  text: `select key, count, since, ends_at as "endsAt" from identity.limits where key = any($1::text[]) and ends_at > $2`,
}
const sweep = {
  name: 'sweep limits',
  text: `delete from identity.limits where key = any(array(
           select key from identity.limits where ends_at < $1 order by ends_at limit ${sweeping.most} for update skip locked))`,
}
// Writing each row, even unchanged, locks it and creates a missing one. The fixed order prevents deadlocks between callers that share keys.
const lock = {
  name: 'lock limits',
  text: `insert into identity.limits as l (key, count, since, ends_at) select key, 0, $2, $2 from unnest($1::text[]) key order by key
         on conflict (key) do update set key = excluded.key
         returning key, count, since, ends_at as "endsAt"`,
}
const keep = {
  name: 'keep limits',
  text: `with gone as (delete from identity.limits where key = any($1::text[]))
         update identity.limits l set count = n.count, since = n.since, ends_at = n.ends_at
           from unnest($2::text[], $3::integer[], $4::timestamptz[], $5::timestamptz[]) as n (key, count, since, ends_at) where l.key = n.key`,
}

interface StoredCount {
  readonly key: string
  readonly count: number
  readonly since: Date
  readonly endsAt: Date
}

const countOf = ({ count, since, endsAt }: StoredCount): Count => ({ count, since: since.getTime(), endsAt: endsAt.getTime() })

/**
 * Opens the counters. Writers remove ended ones, so the table holds hardly more than the longest window's counts.
 * @param secret keys the hashes
 */
export function openLimits(pool: pg.Pool, secret: string): Limits {
  let changes = 0
  const keyOf = (kind: string, subject: string) => `${kind} ${createHmac('sha256', `limits ${secret}`).update(`${kind} ${subject}`).digest('base64url')}`

  async function removeEnded(now: Date): Promise<void> {
    changes += 1
    if (changes % sweeping.every !== 0) return
    // The counts stay; the next caller removes expired ones.
    await pool.query({ ...sweep, values: [now] }).catch(() => {})
  }

  return {
    keyOf,

    async take({ kind, most, windowMs }, subject, now, many = 1) {
      const values = [keyOf(kind, subject), now, new Date(now.getTime() + windowMs), many]
      const { rows } = await pool.query<{ count: number; endsAt: Date }>({ ...take, values })
      await removeEnded(now)
      const { count, endsAt } = rows[0]!
      const granted = Math.min(many, Math.max(0, most - (count - many)))
      return { granted, waitMs: granted === many ? 0 : Math.max(1, endsAt.getTime() - now.getTime()) }
    },

    async read(keys, now) {
      const { rows } = await pool.query<StoredCount>({ ...read, values: [keys, now] })
      return new Map(rows.map(row => [row.key, countOf(row)]))
    },

    async change(keys, now, decide) {
      const result = await changed(pool, keys, now, decide)
      await removeEnded(now)
      return result
    },
  }
}

async function changed<Result>(pool: pg.Pool, keys: readonly string[], now: Date, decide: Decide<Result>): Promise<Result> {
  const client = await pool.connect()
  try {
    await client.query('begin')
    const { rows } = await client.query<StoredCount>({ ...lock, values: [keys, now] })
    const known = new Map(rows.filter(({ endsAt }) => endsAt > now).map(row => [row.key, countOf(row)]))
    const { result, counts } = decide(known)
    const after = new Map<string, Count | null>(rows.map(({ key }) => [key, known.get(key) ?? null]))
    for (const [key, count] of counts) after.set(key, count)
    const kept = [...after].flatMap(([key, count]) => (count ? [{ key, ...count }] : []))
    const gone = [...after].flatMap(([key, count]) => (count ? [] : [key]))
    await client.query({
      ...keep,
      values: [
        gone,
        kept.map(({ key }) => key),
        kept.map(({ count }) => count),
        kept.map(({ since }) => new Date(since)),
        kept.map(({ endsAt }) => new Date(endsAt)),
      ],
    })
    await client.query('commit')
    client.release()
    return result
  } catch (error) {
    // The transaction's state is unknown, so the pool opens another connection.
    client.release(true)
    throw error
  }
}
