import { Op, type Sequelize, type Transaction } from 'sequelize'
import type { Cipher } from '../../../platform/cipher.ts'
import { rows, statement } from '../../../platform/sql/statement.ts'
import { modelOf, moment, type Row, selectList, stamps, table, text, uuid } from '../../../platform/sql/table.ts'
import { fingerprintOf } from '../../http/browser.ts'
import type { SealedColumn } from '../../store/sealed.ts'
import type { StoreContext } from '../../store/store.ts'
import type { Platform } from '../network/network.ts'

/** Authorizations that were begun at a network and are not completed yet. */
export const authorizations = table('publishing.authorizations', {
  brandId: uuid.key,
  /** SHA-256 of the state, so that a database dump contains no valid state. */
  stateHash: text.key,
  platform: text.of<Platform>(),
  userId: uuid,
  /** PKCE verifier, encrypted. */
  verifier: text,
  expiresAt: moment,
  /** Hash of the browser that began or confirmed the authorization; null before. */
  browserHash: text.maybe,
  /** Hash of the token that the latest confirmation page must send back. */
  confirmHash: text.maybe,
  /** Time until which a single request may exchange the code. */
  claimUntil: moment.maybe,
  usedAt: moment.maybe,
  /** The resulting connection; null while the authorization is unused, and after a failed one. */
  connectionId: uuid.maybe,
  /** Names at the beginning of the flow, for the confirmation page. */
  begunBy: text.maybe,
  organizationName: text.maybe,
  ...stamps,
})

export type AuthorizationRow = Row<typeof authorizations>

/** Time in ms that a person has to agree at the network. */
export const authorizationLifeMs = 10 * 60_000
/** Time in ms after which another request may exchange a code: the network's two answers take at most 18 s. */
export const exchangeMs = 30_000
/** Maximum distance of the end of a claim, in ms: the longest claim, and a minute for clocks and requests that differ. */
const farthestMs = exchangeMs + 60_000

/** State to store while a person is at the network. */
export interface Begun {
  readonly state: string
  readonly verifier: string
  readonly brandId: string
  readonly platform: Platform
  readonly userId: string
  /** Hash of the browser that began; null for a program. */
  readonly browserHash: string | null
  readonly begunBy: string | null
  readonly organizationName: string | null
}

type Key = Pick<AuthorizationRow, 'brandId' | 'stateHash'>

const place = (stateHash: string) => `publishing.authorization:${stateHash}`

/** Encrypted verifiers of authorizations. */
export const sealedVerifiers: readonly SealedColumn[] = [{ table: authorizations.name, key: 'state_hash', column: 'verifier', about: place }]

/** Queries of authorizations. A state connects once, within ten minutes, and is stored as its hash. */
function openAuthorizations(sequelize: Sequelize, cipher: Cipher) {
  const Authorization = modelOf(sequelize, authorizations)
  const byState = statement(
    `select ${selectList(authorizations, 'a')} from ${authorizations.name} a where a.state_hash = $1 and a.platform = $2 and a.expires_at > $3`,
  )
  const keyOf = ({ brandId, stateHash }: Key) => ({ brandId, stateHash })

  return {
    async begin({ state, verifier, ...begun }: Begun, now: Date): Promise<void> {
      const stateHash = fingerprintOf(state)
      await Authorization.destroy({ where: { brandId: begun.brandId, expiresAt: { [Op.lt]: now } } })
      await Authorization.create({
        ...begun,
        stateHash,
        verifier: cipher.seal(verifier, place(stateHash)),
        expiresAt: new Date(now.getTime() + authorizationLifeMs),
        createdAt: now,
        updatedAt: now,
        createdBy: `user:${begun.userId}`,
      })
    },

    /**
     * Returns the authorization of a state, used or not; null for an unknown state, for another network, and after ten
     * minutes.
     */
    async find(state: string, platform: Platform, now: Date): Promise<AuthorizationRow | null> {
      const [found] = await rows<AuthorizationRow>(sequelize, byState, [fingerprintOf(state), platform, now])
      return found ?? null
    },

    /** Decrypts the PKCE verifier. */
    verifierOf: ({ verifier, stateHash }: AuthorizationRow): string => cipher.open(verifier, place(stateHash)),

    /** Stores the hash of a confirmation page's token; tokens of earlier pages become invalid. */
    async askToConfirm(row: Key, confirmHash: string, now: Date): Promise<void> {
      await Authorization.update({ confirmHash, updatedAt: now }, { where: { ...keyOf(row), usedAt: null } })
    },

    /** Accepts a confirmation, once: from then on the authorization belongs to that browser. */
    async confirm(row: Key, confirmHash: string, browserHash: string, now: Date): Promise<boolean> {
      const [count] = await Authorization.update({ browserHash, confirmHash: null, updatedAt: now }, { where: { ...keyOf(row), confirmHash, usedAt: null } })
      return count === 1
    },

    /**
     * Claims the authorization for one request; false when it is used, or claimed by another one, which may have read
     * the clock later. A claim that ends later than any valid claim was written by a clock that has been set back
     * since, and is ignored.
     */
    async claim(row: Key, now: Date): Promise<boolean> {
      const until = new Date(now.getTime() + exchangeMs)
      const free = { [Op.or]: [null, { [Op.lte]: now }, { [Op.gt]: new Date(now.getTime() + farthestMs) }] }
      const [count] = await Authorization.update({ claimUntil: until, updatedAt: now }, { where: { ...keyOf(row), usedAt: null, claimUntil: free } })
      return count === 1
    },

    /**
     * Releases the claim, so that the authorization can be used again: nothing was stored, and nothing finally
     * rejected.
     * @param verifier a new one, when the person is sent to the network again
     */
    async release(row: Key, verifier?: string): Promise<void> {
      const renewed = verifier !== undefined && { verifier: cipher.seal(verifier, place(row.stateHash)) }
      await Authorization.update({ claimUntil: null, ...renewed }, { where: { ...keyOf(row), usedAt: null } })
    },

    /** Marks the authorization as used. @param connectionId the resulting connection; null after a final rejection */
    async use(row: Key, connectionId: string | null, now: Date, transaction?: Transaction): Promise<void> {
      await Authorization.update(
        { usedAt: now, connectionId, claimUntil: null, confirmHash: null, updatedAt: now },
        { where: keyOf(row), ...(transaction && { transaction }) },
      )
    },
  }
}

/** Authorizations belong to no tenant: they are found by a state that only the browser knows. */
export const authorizationStore = (cipher: Cipher) => ({
  table: authorizations,
  lists: {},
  open: ({ sequelize }: StoreContext) => openAuthorizations(sequelize, cipher),
})
