import type { Transaction } from 'sequelize'
import { dayBefore, type Usage } from '../../../platform/limit.ts'
import { statement } from '../../../platform/sql/statement.ts'
import { moment, type Row, stamps, table, text, texts, uuid } from '../../../platform/sql/table.ts'
import { type Rows, store } from '../../store/store.ts'

export const apiKeys = table('identity.api_keys', {
  organizationId: uuid.key,
  id: uuid.key,
  name: text,
  /** SHA-256 of the clear text, hex. */
  hash: text,
  /** The first characters of the clear text, by which people recognise a key. */
  prefix: text,
  scopes: texts,
  expiresAt: moment.maybe,
  revokedAt: moment.maybe,
  lastUsedAt: moment.maybe,
  ...stamps,
})

export type ApiKeyRow = Row<typeof apiKeys>

const lockOrganization = statement('select from identity.organizations where id = $1 for no key update')
const countMade = statement(
  `select count(*) filter (where revoked_at is null and (expires_at is null or expires_at > $2))::int as "inAll",
          count(*) filter (where created_at > $3)::int as today, min(created_at) filter (where created_at > $3) as "todaySince"
     from identity.api_keys where organization_id = $1 and (revoked_at is null or created_at > $3)`,
)

const apiKeySql = (rows: Rows<typeof apiKeys>) => ({
  /** What an organization has. Nobody makes another key for it before the transaction ends. */
  async madeFor(organizationId: string, now: Date, transaction: Transaction): Promise<Usage> {
    // By a statement of its own: of two at once the second sees what the first has made.
    await rows.read(lockOrganization, [organizationId], transaction)
    const [made] = await rows.read<Usage>(countMade, [organizationId, now, dayBefore(now)], transaction)
    return made!
  },
})

export const apiKeyStore = store(
  apiKeys,
  { what: 'API key', tenancy: { by: 'organizationId' }, lists: { ofOrganization: { below: 'organizationId', order: 'newest first' } } },
  apiKeySql,
)
