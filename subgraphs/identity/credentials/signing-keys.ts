import type { JSONWebKeySet, JWK } from 'jose'
import type pg from 'pg'
import { newId } from '../../../platform/ids.ts'

/** EdDSA over Ed25519 (RFC 8037). */
export const keyPair = { alg: 'EdDSA', crv: 'Ed25519' } as const

/** A new signing key is made after this many seconds; access tokens name theirs by `kid`. */
export const keyLifetime = 90 * 24 * 3600

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

/** Serialises those who look whether the keys are theirs; any number that nothing else in this database locks. */
const foreignKeysLock = 7_301_444

/**
 * Sees to it that what is stored can sign. Keys that another secret has encrypted go, a new one comes in the same transaction, and every session
 * ends, for that secret signed them. Any number of processes with the same secret may do it at once: one of them does.
 * @returns whether there were such keys
 */
export async function replaceForeignKeys(pool: pg.Pool, secret: string, now: Date): Promise<boolean> {
  const stored = 'select id, private_key from identity.signing_keys'
  const { rows } = await pool.query<StoredKey>(stored)
  if (rows.length === 0 || (await foreignIds(rows, secret)).length === 0) return false
  const client = await pool.connect()
  try {
    await client.query('begin')
    await client.query('select pg_advisory_xact_lock($1::bigint)', [foreignKeysLock])
    const foreign = await foreignIds((await client.query<StoredKey>(stored)).rows, secret)
    if (foreign.length > 0) {
      await client.query('delete from identity.signing_keys where id = any($1::uuid[])', [foreign])
      await client.query('delete from identity.sessions')
      await client.query(
        `insert into identity.signing_keys (id, public_key, private_key, created_at, expires_at, alg, crv) values ($1, $2, $3, $4, $5, $6, $7)`,
        [newId(now), ...(await newKey(secret)), now, new Date(now.getTime() + keyLifetime * 1000), keyPair.alg, keyPair.crv],
      )
    }
    await client.query('commit')
    client.release()
    return foreign.length > 0
  } catch (error) {
    // Ends the transaction with the connection, whatever became of it.
    client.release(true)
    throw error
  }
}

interface StoredKey {
  readonly id: string
  readonly private_key: string
}

async function foreignIds(keys: readonly StoredKey[], secret: string): Promise<string[]> {
  const { symmetricDecrypt } = await import('better-auth/crypto')
  const opens = async ({ private_key }: StoredKey) => {
    try {
      await symmetricDecrypt({ key: secret, data: JSON.parse(private_key) as string })
      return true
    } catch {
      return false
    }
  }
  const opened = await Promise.all(keys.map(opens))
  return keys.filter((_, place) => !opened[place]).map(({ id }) => id)
}

/** A new pair as the credential library stores it: the public half, and the private one encrypted. */
async function newKey(secret: string): Promise<[publicKey: string, privateKey: string]> {
  const [{ symmetricEncrypt }, { exportJWK, generateKeyPair }] = await Promise.all([import('better-auth/crypto'), import('jose')])
  const pair = await generateKeyPair(keyPair.alg, { crv: keyPair.crv, extractable: true })
  const [publicKey, privateKey] = await Promise.all([exportJWK(pair.publicKey), exportJWK(pair.privateKey)])
  return [JSON.stringify(publicKey), JSON.stringify(await symmetricEncrypt({ key: secret, data: JSON.stringify(privateKey) }))]
}
