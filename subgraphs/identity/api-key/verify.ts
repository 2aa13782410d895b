import type pg from 'pg'
import type { Logger } from 'pino'
import type { Clock } from '../../../platform/clock.ts'
import { isId } from '../../../platform/ids.ts'
import type { ValidKey } from '../../authority.ts'

/** How exact "last used" is, in milliseconds. */
const touchEvery = 60_000

/** For how many keys the last writing is remembered; beyond it the least recent is forgotten and may be written early. */
const mostRemembered = 10_000

interface KeyFound {
  readonly id: string
  readonly hash: string
  readonly organization_id: string
  readonly scopes: string[]
  readonly expires_at: Date | null
}

/** The questions that are asked about keys with every request: prepared statements on a pool of their own, no model between. */
export function createKeyVerifier(pool: pg.Pool, clock: Clock, log: Logger) {
  const written = new Map<string, number>()
  const writing = new Set<Promise<unknown>>()

  const valid = (name: string, column: 'hash' | 'id', type: 'text' | 'uuid') => async (named: readonly string[]) => {
    const values = type === 'uuid' ? named.filter(isId) : named
    if (values.length === 0) return new Map<string, ValidKey>()
    const { rows } = await pool.query<KeyFound>({
      name,
      text: `select id, hash, organization_id, scopes, expires_at from identity.api_keys
              where ${column} = any($1::${type}[]) and revoked_at is null and (expires_at is null or expires_at > $2)`,
      values: [values, clock.now()],
    })
    return new Map(rows.map(row => [row[column], toValidKey(row)]))
  }

  return {
    byHash: valid('keys by hash', 'hash', 'text'),
    byId: valid('keys by id', 'id', 'uuid'),

    /** Notes the use of keys; each is written at most once a minute, in the background. */
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
        .catch(error => log.warn({ err: error }, 'the last use of API keys was not noted'))
        .finally(() => writing.delete(done))
      writing.add(done)
    },

    /** Resolves when nothing is being written any more. */
    async settle(): Promise<void> {
      await Promise.all(writing)
    },
  }
}

const toValidKey = (row: KeyFound): ValidKey => ({
  keyId: row.id,
  organizationId: row.organization_id,
  scopes: row.scopes,
  expiresAt: row.expires_at,
})

function remember(written: Map<string, number>, id: string, at: number): void {
  written.delete(id)
  written.set(id, at)
  if (written.size > mostRemembered) written.delete(written.keys().next().value!)
}
