import type { Transaction } from 'sequelize'
import { transactionLock } from '../../../../platform/sql/lock.ts'
import { rows, statement } from '../../../../platform/sql/statement.ts'
import type { WriteTransaction } from '../../../store/books.ts'
import type { SealedColumn } from '../../../store/sealed.ts'
import type { StoreContext } from '../../../store/store.ts'

/** The algorithm of tokens: EdDSA over Ed25519 (RFC 8037). */
export const keyPair = { alg: 'EdDSA', crv: 'Ed25519' } as const

/** Seconds for which a key signs; then the next token creates a new one. Tokens name their key by `kid`. */
export const keyLifetime = 90 * 24 * 3600

/** Seconds for which a retired key is still published: far longer than its last token lives. */
export const keyGracePeriod = 24 * 3600

/** Takes the lock under which keys are made, retired and sealed. */
export const lockSigningKeys = transactionLock('identity.signing_keys', 0)

/** Returns the context that a private key's ciphertext is bound to. */
export const signingKeyPlace = (id: string): string => `signing-key:${id}`

/** Column of encrypted private keys. */
export const sealedSigningKeys: readonly SealedColumn[] = [{ table: 'identity.signing_keys', key: 'id', column: 'private_key', about: signingKeyPlace }]

/** A key in stored form. */
export interface NewSigningKey {
  readonly id: string
  /** JWK (RFC 7517), as text. */
  readonly publicKey: string
  /** JWK, sealed by the cipher. */
  readonly privateKey: string
}

/** A key without its private half. */
export interface SigningKeyRow {
  readonly kid: string
  readonly algorithm: string
  readonly createdAt: Date
  /** Since when the key signs nothing; null while it may. */
  readonly retiredAt: Date | null
  /** Whether new tokens are signed with the key. */
  readonly current: boolean
}

export const insertSigningKey = `insert into identity.signing_keys (id, public_key, private_key, created_at, expires_at, alg, crv)
  values ($1, $2, $3, $4, $5, '${keyPair.alg}', '${keyPair.crv}')`
export const valuesOf = ({ id, publicKey, privateKey }: NewSigningKey, now: Date) => [
  id,
  publicKey,
  privateKey,
  now,
  new Date(now.getTime() + keyLifetime * 1000),
]

const list = statement(
  `select id as kid, coalesce(alg, '${keyPair.alg}') as algorithm, created_at as "createdAt", case when expires_at <= $2 then expires_at end as "retiredAt"
     from identity.signing_keys where expires_at is null or expires_at > $1 order by created_at desc, id desc limit 100`,
)
const countSince = statement('select count(*)::int as count from identity.signing_keys where created_at > $1')
const retire = statement('update identity.signing_keys set expires_at = $1 where expires_at is null or expires_at > $1')
const removeAll = statement('delete from identity.signing_keys')
const insert = statement(insertSigningKey)

/** Signing keys of access tokens, for listing and rotation. */
export const signingKeyStore = {
  open: ({ sequelize }: StoreContext) => ({
    /** Returns the published keys, the newest first. */
    async published(now: Date): Promise<SigningKeyRow[]> {
      const found = await rows<Omit<SigningKeyRow, 'current'>>(sequelize, list, [new Date(now.getTime() - keyGracePeriod * 1000), now])
      const current = found.find(({ retiredAt }) => retiredAt === null)
      return found.map(key => ({ ...key, current: key === current }))
    },

    /** Locks the rotation of keys. @returns number of keys created since a moment */
    async hold(since: Date, transaction: Transaction): Promise<number> {
      await rows(sequelize, lockSigningKeys, [], transaction)
      const [made] = await rows<{ count: number }>(sequelize, countSince, [since], transaction)
      return made!.count
    },

    /**
     * Replaces the signing keys by a new one. @param distrust whether earlier tokens are rejected from the commit on
     */
    async turn(key: NewSigningKey, distrust: boolean, { now, transaction }: WriteTransaction): Promise<SigningKeyRow> {
      if (distrust) await rows(sequelize, removeAll, [], transaction)
      else await rows(sequelize, retire, [now], transaction)
      await rows(sequelize, insert, valuesOf(key, now), transaction)
      return { kid: key.id, algorithm: keyPair.alg, createdAt: now, retiredAt: null, current: true }
    },
  }),
}
