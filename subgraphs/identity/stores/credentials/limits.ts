import { createHmac } from 'node:crypto'
import type pg from 'pg'

/** What was counted under one key. */
export interface Count {
  readonly count: number
  /** When the window began; some keys move it with each count. Milliseconds since 1970. */
  readonly since: number
  /** From then on nothing is known of the key. Milliseconds since 1970. */
  readonly endsAt: number
}

/** How many of a kind one subject may have within a window that begins with the first. */
export interface Bound {
  readonly kind: string
  readonly most: number
  readonly windowMs: number
}

/** Counts that every process of identity shares, in one table. A method rejects while the database is away. */
export interface Limits {
  /** The key of a subject: a keyed hash, so that the table holds neither addresses nor names. */
  keyOf(kind: string, subject: string): string
  /** Counts one atomically. @returns 0 when it was counted, else the milliseconds until there is room again */
  take(bound: Bound, subject: string, now: Date): Promise<number>
  /**
   * Changes several counts at once while nobody else does.
   * @param decide is given the counts that stand, and says what becomes of them: null forgets one, what is left out stays
   */
  change<Result>(
    keys: readonly string[],
    now: Date,
    decide: (counts: ReadonlyMap<string, Count>) => { readonly result: Result; readonly counts: ReadonlyMap<string, Count | null> },
  ): Promise<Result>
}

const take = {
  name: 'take of limit',
  text: `with taken as (
           insert into identity.limits as l (key, count, since, ends_at) values ($1, 1, $2, $3)
           on conflict (key) do update set
             count = case when l.ends_at <= $2 then 1 else l.count + 1 end,
             since = case when l.ends_at <= $2 then $2 else l.since end,
             ends_at = case when l.ends_at <= $2 then $3 else l.ends_at end
           where l.ends_at <= $2 or l.count < $4
           returning 1)
         select exists (select from taken) as "isTaken", (select ends_at from identity.limits where key = $1) as "endsAt"`,
}
// Writing each row, even unchanged, locks it and makes it if it is missing. The order keeps two who share keys from waiting for each other.
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

/** @param secret keys the hashes */
export function openLimits(pool: pg.Pool, secret: string): Limits {
  const keyOf = (kind: string, subject: string) => `${kind} ${createHmac('sha256', `limits ${secret}`).update(`${kind} ${subject}`).digest('base64url')}`
  return {
    keyOf,

    async take({ kind, most, windowMs }, subject, now) {
      const values = [keyOf(kind, subject), now, new Date(now.getTime() + windowMs), most]
      const { rows } = await pool.query<{ isTaken: boolean; endsAt: Date | null }>({ ...take, values })
      const { isTaken, endsAt } = rows[0]!
      return isTaken ? 0 : Math.max(1, (endsAt?.getTime() ?? now.getTime() + windowMs) - now.getTime())
    },

    async change(keys, now, decide) {
      const client = await pool.connect()
      try {
        await client.query('begin')
        const { rows } = await client.query<{ key: string; count: number; since: Date; endsAt: Date }>({ ...lock, values: [keys.toSorted(), now] })
        const standing = rows
          .filter(({ endsAt }) => endsAt > now)
          .map(({ key, count, since, endsAt }) => [key, { count, since: since.getTime(), endsAt: endsAt.getTime() }] as const)
        const known = new Map<string, Count>(standing)
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
        // Its transaction is in an unknown state, so the pool makes another connection.
        client.release(true)
        throw error
      }
    },
  }
}
