import type { Transaction } from 'sequelize'
import { statement } from '../../../../platform/sql/statement.ts'
import { moment, type Row, table, text, uuid } from '../../../../platform/sql/table.ts'
import { type Rows, store } from '../../../store/store.ts'

/** What clients show when they call. Of each its hash is kept, and its first characters. */
export const serviceTokens = table('providers.service_tokens', {
  id: uuid.key,
  clientId: uuid,
  /** SHA-256 of the clear text, hex. */
  hash: text,
  /** By which people recognise it. */
  prefix: text,
  createdAt: moment,
  createdBy: text,
  expiresAt: moment.maybe,
  lastUsedAt: moment.maybe,
  revokedAt: moment.maybe,
})

export type ServiceTokenRow = Row<typeof serviceTokens>

const standing = statement(
  `select count(*) filter (where revoked_at is null and (expires_at is null or expires_at > $2))::int as count
     from providers.service_tokens where client_id = $1`,
)
/** Of those that count no more the oldest go, so that as many are left as a list may have. */
const tidy = statement(
  `delete from providers.service_tokens where client_id = $1 and id in (
     select id from providers.service_tokens where client_id = $1
      order by (revoked_at is null and (expires_at is null or expires_at > $2)) desc, created_at desc, id desc offset $3)`,
)

const tokenSql = (rows: Rows<typeof serviceTokens>) => ({
  /** How many of a client count. */
  async standing(clientId: string, now: Date, transaction: Transaction): Promise<number> {
    const [found] = await rows.read<{ count: number }>(standing, [clientId, now], transaction)
    return found!.count
  },

  /** Leaves a client so many, those that count first. */
  tidy: async (clientId: string, most: number, now: Date, transaction: Transaction): Promise<void> =>
    void (await rows.read(tidy, [clientId, now, most], transaction)),
})

export const serviceTokenStore = store(
  serviceTokens,
  {
    what: 'service token',
    tenancy: { everybody: 'they are seen below their client, which platform admins alone ask for' },
    manyBy: { clientId: 't.created_at desc, t.id desc' },
  },
  tokenSql,
)
