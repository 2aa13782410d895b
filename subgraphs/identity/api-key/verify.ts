import type pg from 'pg'
import type { Logger } from 'pino'
import type { Clock } from '../../../platform/clock.ts'
import type { ValidKey } from '../../authority.ts'
import { scopesOf } from '../../scopes.ts'

/** Precision of "last used" in milliseconds. */
const touchEvery = 60_000

/**
 * Maximum number of keys whose last update is remembered; beyond it the least recent is dropped and may be updated
 * early.
 */
const mostRemembered = 10_000

interface KeyFound {
  /** The looked-up hash. */
  readonly given: string
  readonly id: string
  readonly organization_id: string
  readonly scopes: string[]
  readonly rate_limit: number
  readonly expires_at: Date | null
  readonly service_account_id: string | null
  readonly roles: string[] | null
}

/** Selects the keys with a secret; a key of a service account is valid while the account is an active member. */
const keysBy = (hash: string, endsAt: string) =>
  `select k.${hash} as given, k.id, k.organization_id, k.scopes, k.rate_limit, ${endsAt} as expires_at, k.service_account_id, m.roles
     from identity.api_keys k
     left join (identity.memberships m join identity.users u on u.id = m.user_id and u.suspended_at is null)
            on m.organization_id = k.organization_id and m.user_id = k.service_account_id
    where k.${hash} = any($1::text[]) and k.revoked_at is null and (k.expires_at is null or k.expires_at > $2)
      and (k.service_account_id is null or m.user_id is not null)`

/** Statement for both secrets that a key may have. */
const findValid = {
  name: 'keys by hash',
  text: `${keysBy('hash', 'k.expires_at')} union all ${keysBy('previous_hash', 'k.previous_ends_at')} and k.previous_ends_at > $2`,
}

/** Verifies keys for every request: prepared statements on a separate pool, without models. */
export function createKeyVerifier(pool: pg.Pool, clock: Clock, log: Logger) {
  const written = new Map<string, number>()
  const writing = new Set<Promise<unknown>>()

  return {
    async byHash(hashes: readonly string[]): Promise<ReadonlyMap<string, ValidKey>> {
      if (hashes.length === 0) return new Map()
      const { rows } = await pool.query<KeyFound>({ ...findValid, values: [hashes, clock.now()] })
      return new Map(rows.map(row => [row.given, toValidKey(row)]))
    },

    /** Records the use of keys; each is written at most once a minute, in the background. */
    touch(ids: readonly string[]): void {
      const now = clock.now()
      const due = [...new Set(ids)].filter(id => now.getTime() - (written.get(id) ?? -Infinity) >= touchEvery)
      if (due.length === 0) return
      for (const id of due) remember(written, id, now.getTime())
      const done = pool
        .query({
          name: 'touch keys',
          text: `update identity.api_keys set last_used_at = $2 where id = any($1::uuid[]) and (last_used_at is null or last_used_at < $2)`,
          values: [due, now],
        })
        .catch(error => log.warn({ err: error }, 'last use of API keys could not be stored'))
        .finally(() => writing.delete(done))
      writing.add(done)
    },

    /** Resolves when all writes have finished. */
    async settle(): Promise<void> {
      await Promise.all(writing)
    },
  }
}

function toValidKey(row: KeyFound): ValidKey {
  const given: readonly string[] | null = row.service_account_id === null ? null : scopesOf(row.roles ?? [])
  return {
    keyId: row.id,
    organizationId: row.organization_id,
    userId: row.service_account_id,
    scopes: given ? row.scopes.filter(scope => given.includes(scope)) : row.scopes,
    rateLimit: row.rate_limit,
    expiresAt: row.expires_at,
  }
}

function remember(written: Map<string, number>, id: string, at: number): void {
  written.delete(id)
  written.set(id, at)
  if (written.size > mostRemembered) written.delete(written.keys().next().value!)
}
