import { QueryTypes, type Transaction, UniqueConstraintError } from 'sequelize'
import { isId, newId } from '../../../platform/ids.ts'
import { dayBefore, type Made } from '../../../platform/limit.ts'
import { isMoment, type Order, type PageRequest } from '../../../platform/page.ts'
import type { Reading } from '../../reading.ts'
import { createListLoader } from '../../store/loader.ts'
import { type AuditAction, recordAudit } from '../audit/store.ts'
import type { Tables } from '../tables.ts'
import type { ApiKeyRow } from './table.ts'

export type ApiKeyStore = ReturnType<typeof openApiKeyStore>

/** The newest key first. */
export const apiKeyOrder: Order<ApiKeyRow> = {
  name: 'apiKeys.newest',
  position: row => [row.createdAt.toISOString(), row.id],
  parts: [isMoment, isId],
}

/** What a key is made of; its clear text is not among it. */
export type NewApiKey = Pick<ApiKeyRow, 'organizationId' | 'name' | 'hash' | 'prefix' | 'scopes' | 'expiresAt' | 'idempotencyKey' | 'createdBy'>

export function openApiKeyStore(tables: Tables, reading: Reading) {
  const { apiKeys, sequelize } = tables
  const ofOrganization = createListLoader(reading, apiKeyOrder, tables.apiKeysOfOrganizations)

  const audited = (action: AuditAction, row: ApiKeyRow, by: string | null, at: Date, transaction: Transaction) =>
    recordAudit(tables, { organizationId: row.organizationId, userId: by, action, target: row.id, at }, transaction)

  /** What an organization has. Its row is locked by a statement of its own: of two at once the second sees what the first has made. */
  async function madeFor(organizationId: string, now: Date, transaction: Transaction): Promise<Made> {
    const lock = 'select from identity.organizations where id = $1 for no key update'
    await sequelize.query(lock, { type: QueryTypes.SELECT, bind: [organizationId], transaction })
    const [made] = await sequelize.query<Made>(
      `select count(*) filter (where revoked_at is null and (expires_at is null or expires_at > $2))::int as standing,
              count(*) filter (where created_at > $3)::int as today, min(created_at) filter (where created_at > $3) as "todaySince"
         from identity.api_keys where organization_id = $1 and (revoked_at is null or created_at > $3)`,
      { type: QueryTypes.SELECT, bind: [organizationId, now, dayBefore(now)], transaction },
    )
    return made!
  }

  return {
    /** The keys of an organization. */
    ofOrganization: (organizationId: string, request: PageRequest) => ofOrganization.load(organizationId, request),

    /** The key that the person made before with the same idempotency key. */
    findRepeated: (organizationId: string, createdBy: string | null, idempotencyKey: string): Promise<ApiKeyRow | null> =>
      apiKeys.findOne({ where: { organizationId, createdBy, idempotencyKey }, raw: true }),

    /**
     * Stores a new key; null when a key with its idempotency key is there already.
     * @param requireRoom throws when the organization has too many; nobody makes another one for it meanwhile
     */
    async create(key: NewApiKey, now: Date, requireRoom: (made: Made) => void): Promise<ApiKeyRow | null> {
      const row = { ...key, id: newId(now), revokedAt: null, lastUsedAt: null, version: 1, createdAt: now, updatedAt: now }
      try {
        await sequelize.transaction(async transaction => {
          requireRoom(await madeFor(key.organizationId, now, transaction))
          await apiKeys.create(row, { transaction, returning: false })
          await audited('api_key.created', row, key.createdBy, now, transaction)
        })
        return row
      } catch (error) {
        if (error instanceof UniqueConstraintError) return null
        throw error
      }
    },

    /** Revokes a key, once; null when the organization has no such key. */
    revoke(organizationId: string, id: string, by: string | null, now: Date): Promise<ApiKeyRow | null> {
      return sequelize.transaction(async transaction => {
        const row = await apiKeys.findOne({ where: { organizationId, id }, raw: true, transaction, lock: transaction.LOCK.UPDATE })
        if (!row || row.revokedAt) return row
        const revoked = { ...row, revokedAt: now, updatedAt: now, version: row.version + 1 }
        const { revokedAt, updatedAt, version } = revoked
        await apiKeys.update({ revokedAt, updatedAt, version }, { where: { organizationId, id }, transaction })
        await audited('api_key.revoked', row, by, now, transaction)
        return revoked
      })
    },
  }
}
