import type { Transaction } from 'sequelize'
import { dayBefore, type Usage } from '../../../platform/limit.ts'
import { statement } from '../../../platform/sql/statement.ts'
import { integer, moment, type Row, stamps, table, text, texts, uuid } from '../../../platform/sql/table.ts'
import type { WriteTransaction } from '../../store/books.ts'
import type { FilterSql } from '../../store/filter/filters.ts'
import { type Rows, store } from '../../store/store.ts'

export const apiKeys = table('identity.api_keys', {
  organizationId: uuid.key,
  id: uuid.key,
  name: text,
  /** Slug of the scopes' service; null for older keys with scopes of several. */
  service: text.maybe,
  /** SHA-256 of the clear text, hex. */
  hash: text,
  /** The first characters of the clear text, by which people recognise a key. */
  prefix: text,
  scopes: texts,
  /** Maximum requests in any minute. */
  rateLimit: integer.or(600),
  /** Service account that the key acts as. */
  serviceAccountId: uuid.maybe,
  /** Former secret; all three columns are null when there is none. */
  previousHash: text.maybe,
  previousPrefix: text.maybe,
  previousEndsAt: moment.maybe,
  rotatedAt: moment.maybe,
  expiresAt: moment.maybe,
  revokedAt: moment.maybe,
  lastUsedAt: moment.maybe,
  ...stamps,
})

export type ApiKeyRow = Row<typeof apiKeys>

export type KeyState = 'ACTIVE' | 'EXPIRED' | 'REVOKED'

/** Conditions for keys in a state at a moment. */
const inState: Readonly<Record<KeyState, (sql: FilterSql) => string>> = {
  ACTIVE: ({ bind, now }) => `t.revoked_at is null and (t.expires_at is null or t.expires_at > ${bind(now)})`,
  EXPIRED: ({ bind, now }) => `t.revoked_at is null and t.expires_at <= ${bind(now)}`,
  REVOKED: () => 't.revoked_at is not null',
}

/** Maximum length of a chain of keys that created each other: the maker of the first counts as maker of all. */
const mostMakers = 20
const findMaker = statement(
  `with recursive made as (
     select k.created_by, 1 as step from identity.api_keys k where k.id = $1 and ($2::uuid is null or k.organization_id = $2)
     union all
     select k.created_by, made.step + 1 from made join identity.api_keys k
         on k.id = case when made.created_by like 'key:%' then substr(made.created_by, 5)::uuid end
      where made.step < ${mostMakers})
   select created_by as "createdBy" from made order by step desc limit 1`,
)
const lockOrganization = statement('select from identity.organizations where id = $1 for no key update')
const countMade = statement(
  `select count(*) filter (where revoked_at is null and (expires_at is null or expires_at > $2))::int as "inAll",
          count(*) filter (where created_at > $3)::int as today, min(created_at) filter (where created_at > $3) as "todaySince"
     from identity.api_keys where organization_id = $1 and (revoked_at is null or created_at > $3)`,
)
const findAccount = statement(
  `select u.id from identity.memberships m join identity.users u on u.id = m.user_id
    where m.organization_id = $1 and m.user_id = $2 and u.kind = 'service_account' for share of m`,
)
const endOfAccount = statement(
  `update identity.api_keys set revoked_at = $2, updated_at = $2, version = version + 1 where service_account_id = $1 and revoked_at is null`,
)

const apiKeySql = (rows: Rows<typeof apiKeys>) => ({
  /** Counts an organization's keys. Nobody creates another one before the transaction ends. */
  async madeFor(organizationId: string, now: Date, transaction: Transaction): Promise<Usage> {
    // A separate statement, so that of two concurrent calls the second sees the first one's row.
    await rows.read(lockOrganization, [organizationId], transaction)
    const [made] = await rows.read<Usage>(countMade, [organizationId, now, dayBefore(now)], transaction)
    return made!
  },

  /**
   * Returns the person who created a key, through any keys between, in the form of audit entries; null for an unknown
   * key. @param organizationId null for any organization
   */
  async makerOf(id: string, organizationId: string | null): Promise<string | null> {
    const [found] = await rows.read<{ createdBy: string }>(findMaker, [id, organizationId])
    return found?.createdBy ?? null
  },

  /** Whether an organization has this service account, which stays in it until the transaction ends. */
  async hasAccount(organizationId: string, id: string, transaction: Transaction): Promise<boolean> {
    return (await rows.read(findAccount, [organizationId, id], transaction)).length > 0
  },

  /** Ends the keys of a deleted service account. */
  async endOfAccount(id: string, { transaction, now }: WriteTransaction): Promise<void> {
    await rows.read(endOfAccount, [id, now], transaction)
  },
})

export const apiKeyStore = store(
  apiKeys,
  {
    what: 'API key',
    tenancy: { by: 'organizationId' },
    filters: { service: 'any', state: (state: KeyState, sql) => inState[state](sql) },
  },
  apiKeySql,
)
