import { QueryTypes, type Sequelize, type Transaction } from 'sequelize'
import type { Cipher } from '../../../platform/cipher.ts'
import { newId } from '../../../platform/ids.ts'
import { createLoader, type Reading } from '../../loader.ts'
import { columnsOf } from '../mapping.ts'
import { type Account, type Grant, GrantFailure, type Platform } from '../network/network.ts'
import { type ConnectionRow, defineConnectionTable } from './table.ts'

/** Who authorized which account for which brand. */
export interface Authorized {
  readonly brandId: string
  readonly platform: Platform
  readonly userId: string
  readonly account: Account
  readonly grant: Grant
  readonly now: Date
}

/** Tokens in clear text: handed to an adapter, never kept. */
export interface OpenTokens {
  readonly accessToken: string
  readonly refreshToken: string | null
}

const noRenewal = { renewalId: null, renewalUntil: null, renewalBeats: 0 } as const

/** SQL of connections, and the only place where their tokens are sealed and opened. */
export function createConnectionStore(sequelize: Sequelize, cipher: Cipher) {
  const Connection = defineConnectionTable(sequelize)
  const columns = columnsOf(Connection, 'c')
  const place = (id: string, which: 'access' | 'refresh') => `publishing.connection:${id}:${which}`

  /** What a grant changes in a row. A network that hands out no new refresh token keeps the old one valid. */
  const sealed = (id: string, grant: Grant, now: Date) => ({
    accessToken: cipher.seal(grant.accessToken, place(id, 'access')),
    ...(grant.refreshToken && { refreshToken: cipher.seal(grant.refreshToken, place(id, 'refresh')) }),
    tokenExpiresAt: grant.expiresIn === null ? null : new Date(now.getTime() + grant.expiresIn * 1000),
    active: true,
    deactivatedReason: null,
    ...noRenewal,
    updatedAt: now,
  })

  return {
    /** The connections of these brands, the latest authorized first. */
    byBrands: (brandIds: readonly string[]) =>
      sequelize.query<ConnectionRow>(`select ${columns} from publishing.connections c where c.brand_id = any($1::uuid[]) order by c.connected_at desc, c.id`, {
        bind: [brandIds],
        type: QueryTypes.SELECT,
      }),

    byIds: (ids: readonly string[]) =>
      sequelize.query<ConnectionRow>(`select ${columns} from publishing.connections c where c.id = any($1::uuid[])`, { bind: [ids], type: QueryTypes.SELECT }),

    /** Locks one row until the transaction ends: for statements, never for as long as a network takes. */
    async lock(brandId: string, id: string, transaction: Transaction): Promise<ConnectionRow | null> {
      const rows = await sequelize.query<ConnectionRow>(`select ${columns} from publishing.connections c where c.brand_id = $1 and c.id = $2 for update`, {
        bind: [brandId, id],
        type: QueryTypes.SELECT,
        transaction,
      })
      return rows[0] ?? null
    },

    /**
     * Opens the tokens of a row.
     * @throws GrantFailure, for now, when they were sealed with a key that is not configured: the fault is ours, and the key may come back
     */
    open(row: Pick<ConnectionRow, 'id' | 'accessToken' | 'refreshToken'>): OpenTokens {
      try {
        return {
          accessToken: row.accessToken ? cipher.open(row.accessToken, place(row.id, 'access')) : '',
          refreshToken: row.refreshToken ? cipher.open(row.refreshToken, place(row.id, 'refresh')) : null,
        }
      } catch (error) {
        throw new GrantFailure('the platform cannot read the stored access: its encryption key is not configured', false, error)
      }
    },

    /** Stores an authorization: a new connection, or new tokens, author and time for the one that this account has. */
    async authorize({ brandId, platform, userId, account, grant, now }: Authorized, transaction: Transaction): Promise<ConnectionRow> {
      const where = { brandId, platform, externalAccountId: account.externalId }
      await sequelize.query('select pg_advisory_xact_lock(hashtextextended($1, 2))', { bind: [`${brandId}:${platform}:${account.externalId}`], transaction })
      const present = await Connection.findOne({ where, raw: true, transaction })
      const id = present?.id ?? newId(now)
      const changes = { ...sealed(id, grant, now), accountName: account.name, authorId: userId, connectedAt: now, scopes: [...grant.scopes] }
      if (present) await Connection.update({ ...changes, version: present.version + 1 }, { where: { brandId, id }, transaction })
      else await Connection.create({ refreshToken: null, ...changes, ...where, id, createdAt: now, createdBy: `user:${userId}` }, { transaction })
      return (await Connection.findOne({ where: { brandId, id }, raw: true, transaction }))!
    },

    /** Says in a locked row who renews its tokens from now on, and until when. */
    async claimRenewal(row: ConnectionRow, renewalId: string, renewalUntil: Date, transaction: Transaction): Promise<void> {
      await Connection.update({ renewalId, renewalUntil, renewalBeats: 1 }, { where: { brandId: row.brandId, id: row.id }, transaction })
    },

    /** Shows that whoever made this claim on renewing is alive, if the claim still stands. */
    async beat({ brandId, id }: ConnectionRow, renewalId: string): Promise<void> {
      await Connection.increment('renewalBeats', { where: { brandId, id, renewalId }, silent: true })
    },

    /** Gives a claim on renewing back, if it still is this one. */
    async releaseRenewal({ brandId, id }: ConnectionRow, renewalId: string): Promise<void> {
      await Connection.update(noRenewal, { where: { brandId, id, renewalId } })
    },

    /** Keeps renewed tokens of a locked row. */
    async renew(row: ConnectionRow, grant: Grant, now: Date, transaction: Transaction): Promise<void> {
      await Connection.update(sealed(row.id, grant, now), { where: { brandId: row.brandId, id: row.id }, transaction })
    },

    /** Takes a connection out of use and drops its tokens; it stays, so that people see what to authorize again. */
    async deactivate(row: ConnectionRow, reason: string, now: Date, transaction: Transaction): Promise<void> {
      await Connection.update(
        {
          active: false,
          deactivatedReason: reason,
          accessToken: null,
          refreshToken: null,
          tokenExpiresAt: null,
          ...noRenewal,
          updatedAt: now,
          version: row.version + 1,
        },
        { where: { brandId: row.brandId, id: row.id }, transaction },
      )
    },
  }
}

export type ConnectionStore = ReturnType<typeof createConnectionStore>

/** Many by key, for one operation. */
export const connectionsByBrand = (store: ConnectionStore, reading: Reading) =>
  createLoader<string, ConnectionRow[]>(reading, async brandIds => {
    const found = Map.groupBy(await store.byBrands(brandIds), row => row.brandId)
    return brandIds.map(id => found.get(id) ?? [])
  })

/** One by key, for one operation. */
export const connectionById = (store: ConnectionStore, reading: Reading) =>
  createLoader<string, ConnectionRow | null>(reading, async ids => {
    const found = new Map((await store.byIds(ids)).map(row => [row.id, row]))
    return ids.map(id => found.get(id) ?? null)
  })
