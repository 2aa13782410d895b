import type { JSONWebKeySet, JWK } from 'jose'
import type pg from 'pg'

/** For how many seconds a retired key is still published: far longer than the last token that it signed. */
export const keyGracePeriod = 24 * 3600

/** The public halves of the keys whose tokens may still be good, by `kid`, the newest first. */
export async function readPublicKeys(pool: pg.Pool, now: Date): Promise<JSONWebKeySet> {
  const { rows } = await pool.query<{ id: string; public_key: string; alg: string }>({
    name: 'public keys',
    text: `select id, public_key, coalesce(alg, 'EdDSA') as alg from identity.signing_keys
            where expires_at is null or expires_at > $1 order by created_at desc, id desc`,
    values: [new Date(now.getTime() - keyGracePeriod * 1000)],
  })
  return { keys: rows.map(row => ({ ...(JSON.parse(row.public_key) as JWK), alg: row.alg, kid: row.id, use: 'sig' })) }
}

/**
 * Ends the keys in use: the next token is signed with a new one.
 * @param distrust whether their tokens are refused from now on, as after a leak; otherwise they stay good until they expire
 */
export async function endSigningKeys(pool: pg.Pool, now: Date, distrust: boolean): Promise<void> {
  if (distrust) await pool.query('delete from identity.signing_keys')
  else await pool.query('update identity.signing_keys set expires_at = $1 where expires_at is null or expires_at > $1', [now])
}
