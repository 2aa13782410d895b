import { createHmac } from 'node:crypto'
import { exportJWK, generateKeyPair, importJWK, type JSONWebKeySet, type JWK, SignJWT } from 'jose'
import type pg from 'pg'
import type { Logger } from 'pino'
import type { Cipher } from '../../../../platform/cipher.ts'
import type { Clock } from '../../../../platform/clock.ts'
import { newId } from '../../../../platform/ids.ts'
import {
  insertSigningKey,
  keyGracePeriod,
  keyPair,
  lockSigningKeys,
  type NewSigningKey,
  signingKeyPlace,
  valuesOf,
} from '../../stores/credentials/signing-key.ts'

/** Maximum number of current keys that are tried: there are several while processes have different encryption keys. */
const mostLookedAt = 5

/** Generates a key pair with an encrypted private half. */
export async function newSigningKey(cipher: Cipher, now: Date): Promise<NewSigningKey> {
  const pair = await generateKeyPair(keyPair.alg, { crv: keyPair.crv, extractable: true })
  const [publicKey, privateKey] = await Promise.all([exportJWK(pair.publicKey), exportJWK(pair.privateKey)])
  const id = newId(now)
  return { id, publicKey: JSON.stringify(publicKey), privateKey: cipher.seal(JSON.stringify(privateKey), signingKeyPlace(id)) }
}

/** The public halves of the keys whose tokens may still be good, by `kid`, the newest first. */
export async function readPublicKeys(pool: pg.Pool, now: Date): Promise<JSONWebKeySet> {
  const { rows } = await pool.query<{ id: string; public_key: string; alg: string }>({
    name: 'public keys',
    text: `select id, public_key, coalesce(alg, '${keyPair.alg}') as alg from identity.signing_keys
            where expires_at is null or expires_at > $1 order by created_at desc, id desc limit 100`,
    values: [new Date(now.getTime() - keyGracePeriod * 1000)],
  })
  return { keys: rows.map(row => ({ ...(JSON.parse(row.public_key) as JWK), alg: row.alg, kid: row.id, use: 'sig' })) }
}

interface SignerParts {
  readonly pool: pg.Pool
  readonly clock: Clock
  readonly cipher: Cipher
  readonly issuer: string
  readonly secret: string
  readonly log: Pick<Logger, 'warn'>
}

interface StoredKey {
  readonly id: string
  readonly private_key: string
}

interface InUse {
  readonly kid: string
  readonly key: CryptoKey
}

/**
 * Signs tokens. The key is looked up for each token, in one statement, so that a replaced or distrusted one signs
 * nothing more.
 */
export function createSigner({ pool, clock, cipher, issuer, secret, log }: SignerParts) {
  const fingerprint = fingerprintOf(secret)
  /** Decrypted keys, by id; null for those that cannot be decrypted. */
  let opened = new Map<string, CryptoKey | null>()

  async function open({ id, private_key }: StoredKey): Promise<CryptoKey | null> {
    const known = opened.get(id)
    if (known) return known
    const key = await openKey(id, private_key).catch(() => null)
    if (!key && known === undefined)
      log.warn({ kid: id }, 'signing key unusable: the key that encrypted it is missing in ENCRYPTION_KEYS; another signing key is used')
    opened.set(id, key)
    return key
  }
  const openKey = async (id: string, sealed: string) => (await importJWK(JSON.parse(cipher.open(sealed, signingKeyPlace(id))) as JWK, keyPair.alg)) as CryptoKey

  async function inUse(ask: Pick<pg.Pool, 'query'>): Promise<InUse | 'none' | 'new database'> {
    const { rows } = await ask.query<{ fingerprint: string } & { [Name in keyof StoredKey]: StoredKey[Name] | null }>({
      name: 'keys to sign with',
      text: `select s.fingerprint, k.id, k.private_key from identity.secret_in_use s left join lateral (
               select id, private_key from identity.signing_keys where expires_at is null or expires_at > $1
                order by created_at desc, id desc limit ${mostLookedAt}) k on true`,
      values: [clock.now()],
    })
    if (rows.length === 0) return 'new database'
    if (rows[0]!.fingerprint !== fingerprint) throw new Error('sessions are begun with another AUTH_SECRET by now: nothing is signed here')
    for (const { id, private_key } of rows) {
      const key = id === null || private_key === null ? null : await open({ id, private_key })
      if (id !== null && key) return { kid: id, key }
    }
    return 'none'
  }

  /** Creates a key, unless another process has done so meanwhile. */
  const make = (): Promise<InUse> =>
    holding(pool, async client => {
      const present = await inUse(client)
      if (typeof present === 'object') return present
      const now = clock.now()
      const made = await newSigningKey(cipher, now)
      await client.query(insertSigningKey, valuesOf(made, now))
      opened = new Map()
      return { kid: made.id, key: (await open({ id: made.id, private_key: made.privateKey }))! }
    })

  async function present(): Promise<InUse> {
    let found = await inUse(pool)
    if (found === 'new database') {
      await settleSecret({ pool, clock, cipher, secret })
      found = await inUse(pool)
    }
    return typeof found === 'object' ? found : make()
  }

  return {
    /**
     * Signs a token.
     * @param audience its `aud`
     */
    async sign(claims: object, audience: string): Promise<string> {
      const { kid, key } = await present()
      return new SignJWT({ ...claims }).setProtectedHeader({ alg: keyPair.alg, kid }).setIssuer(issuer).setAudience(audience).sign(key)
    },
    /** Ensures that there is a key. Rejects while nothing can be signed. */
    ready: (): Promise<void> => present().then(() => {}),
  }
}

const fingerprintOf = (secret: string): string => createHmac('sha256', secret).update('which AUTH_SECRET sessions are begun with').digest('base64url')

/**
 * Ensures that stored keys belong to this secret and are encrypted. After a change of AUTH_SECRET all sessions end and
 * all keys are deleted, because the secret signs cookies; keys that an earlier version encrypted with the secret are
 * encrypted with the cipher. Of several processes one does it.
 * @returns whether the secret has changed
 */
export function settleSecret({ pool, clock, cipher, secret }: Pick<SignerParts, 'pool' | 'clock' | 'cipher' | 'secret'>): Promise<boolean> {
  const own = fingerprintOf(secret)
  return holding(pool, async client => {
    const { rows: known } = await client.query<{ fingerprint: string }>('select fingerprint from identity.secret_in_use')
    if (known[0]?.fingerprint === own) return false
    const { rows: keys } = await client.query<StoredKey>('select id, private_key from identity.signing_keys')
    const legacy = known[0] ? null : await openedBySecret(keys, secret)
    if (legacy)
      for (const { id, private_key } of legacy)
        await client.query('update identity.signing_keys set private_key = $2 where id = $1', [id, cipher.seal(private_key, signingKeyPlace(id))])
    else {
      await client.query('delete from identity.signing_keys')
      await client.query('delete from identity.sessions')
      const now = clock.now()
      await client.query(insertSigningKey, valuesOf(await newSigningKey(cipher, now), now))
    }
    await client.query('insert into identity.secret_in_use (fingerprint) values ($1) on conflict (only_one) do update set fingerprint = excluded.fingerprint', [
      own,
    ])
    return legacy === null
  })
}

/** Decrypts keys that an earlier version stored; null when one of them belongs to another secret. */
async function openedBySecret(keys: readonly StoredKey[], secret: string): Promise<readonly StoredKey[] | null> {
  if (keys.length === 0) return []
  const { symmetricDecrypt } = await import('better-auth/crypto')
  try {
    return await Promise.all(
      keys.map(async ({ id, private_key }) => ({ id, private_key: await symmetricDecrypt({ key: secret, data: JSON.parse(private_key) as string }) })),
    )
  } catch {
    return null
  }
}

/** Runs work in a transaction that holds the lock of the keys. */
async function holding<Result>(pool: pg.Pool, work: (client: pg.PoolClient) => Promise<Result>): Promise<Result> {
  const client = await pool.connect()
  try {
    await client.query('begin')
    await client.query(lockSigningKeys.text)
    const result = await work(client)
    await client.query('commit')
    client.release()
    return result
  } catch (error) {
    // Closing the connection ends the transaction in any case.
    client.release(true)
    throw error
  }
}
