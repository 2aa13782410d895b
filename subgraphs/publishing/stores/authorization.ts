import { Op, type Sequelize, type Transaction } from 'sequelize'
import type { Cipher } from '../../../platform/cipher.ts'
import { rows, statement } from '../../../platform/sql/statement.ts'
import { modelOf, moment, type Row, selectList, stamps, table, text, uuid } from '../../../platform/sql/table.ts'
import { fingerprintOf } from '../../http/browser.ts'
import type { SealedColumn } from '../../store/sealed.ts'
import type { Opening } from '../../store/store.ts'
import type { Platform } from '../network/network.ts'

/** Authorizations that were begun at a network and not yet answered. */
export const authorizations = table('publishing.authorizations', {
  brandId: uuid.key,
  /** SHA-256 of the state: a database dump gives nobody a state that works. */
  stateHash: text.key,
  platform: text.of<Platform>(),
  userId: uuid,
  /** PKCE verifier, sealed. */
  verifier: text,
  expiresAt: moment,
  /** Fingerprint of the browser that began it, or that confirmed it; null while none has. */
  browserHash: text.maybe,
  /** Fingerprint of what the latest confirmation page has to bring back. */
  confirmHash: text.maybe,
  /** Until when one request alone exchanges the code. */
  claimUntil: moment.maybe,
  usedAt: moment.maybe,
  /** What it has connected; null as long as it is not used, and when it was used in vain. */
  connectionId: uuid.maybe,
  /** Names at the time when it was begun, for the confirmation page. */
  begunBy: text.maybe,
  organizationName: text.maybe,
  ...stamps,
})

export type AuthorizationRow = Row<typeof authorizations>

/** How long a person has to agree at the network, in ms. */
export const authorizationLifeMs = 10 * 60_000
/** How long one request may exchange a code before another takes over, in ms: the network's two answers take at most 18 s. */
export const exchangeMs = 30_000

/** What must be remembered while a person is at the network. */
export interface Begun {
  readonly state: string
  readonly verifier: string
  readonly brandId: string
  readonly platform: Platform
  readonly userId: string
  /** Fingerprint of the browser that began; null for a program. */
  readonly browserHash: string | null
  readonly begunBy: string | null
  readonly organizationName: string | null
}

type Key = Pick<AuthorizationRow, 'brandId' | 'stateHash'>

const place = (stateHash: string) => `publishing.authorization:${stateHash}`

/** The verifiers of authorizations as they are kept. */
export const sealedVerifiers: readonly SealedColumn[] = [{ table: authorizations.name, key: 'state_hash', column: 'verifier', about: place }]

/** SQL of authorizations. A state connects once, within ten minutes, and is stored as its hash. */
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

    /** What was begun with a state, used or not; null when that was not here, at another network, or is more than ten minutes ago. */
    async find(state: string, platform: Platform, now: Date): Promise<AuthorizationRow | null> {
      const [found] = await rows<AuthorizationRow>(sequelize, byState, [fingerprintOf(state), platform, now])
      return found ?? null
    },

    /** PKCE's verifier, in clear text. */
    verifierOf: ({ verifier, stateHash }: AuthorizationRow): string => cipher.open(verifier, place(stateHash)),

    /** Remembers what a confirmation page has to bring back; a page that was shown before is worth nothing then. */
    async askToConfirm(row: Key, confirmHash: string, now: Date): Promise<void> {
      await Authorization.update({ confirmHash, updatedAt: now }, { where: { ...keyOf(row), usedAt: null } })
    },

    /** Takes a confirmation, once: from then on the authorization belongs to that browser. */
    async confirm(row: Key, confirmHash: string, browserHash: string, now: Date): Promise<boolean> {
      const [count] = await Authorization.update({ browserHash, confirmHash: null, updatedAt: now }, { where: { ...keyOf(row), confirmHash, usedAt: null } })
      return count === 1
    },

    /** Takes it up for one request, if it is not used and nobody else is at it. A claim that ends farther away than any is one of a clock that was set back. */
    async claim(row: Key, now: Date): Promise<boolean> {
      const until = new Date(now.getTime() + exchangeMs)
      const free = { [Op.or]: [null, { [Op.lte]: now }, { [Op.gt]: until }] }
      const [count] = await Authorization.update({ claimUntil: until, updatedAt: now }, { where: { ...keyOf(row), usedAt: null, claimUntil: free } })
      return count === 1
    },

    /**
     * Lets it be taken up again: nothing was stored, and nothing refused for good.
     * @param verifier a new one, when the person is sent to the network once more
     */
    async release(row: Key, verifier?: string): Promise<void> {
      const renewed = verifier !== undefined && { verifier: cipher.seal(verifier, place(row.stateHash)) }
      await Authorization.update({ claimUntil: null, ...renewed }, { where: { ...keyOf(row), usedAt: null } })
    },

    /** Uses it up. @param connectionId what it has connected; null: it was refused for good */
    async use(row: Key, connectionId: string | null, now: Date, transaction?: Transaction): Promise<void> {
      await Authorization.update(
        { usedAt: now, connectionId, claimUntil: null, confirmHash: null, updatedAt: now },
        { where: keyOf(row), ...(transaction && { transaction }) },
      )
    },
  }
}

/** Not a tenant's to see: they are found by a state that only the browser knows. */
export const authorizationStore = (cipher: Cipher) => ({
  table: authorizations,
  lists: {},
  open: ({ sequelize }: Opening) => openAuthorizations(sequelize, cipher),
})
