import type { Transaction } from 'sequelize'
import { statement } from '../../../../platform/sql/statement.ts'
import { moment, type Row, table, text, uuid } from '../../../../platform/sql/table.ts'
import { type Rows, store } from '../../../store/store.ts'

/** Tokens by which service clients authenticate. Only a hash and the first characters of each are stored. */
export const serviceTokens = table('providers.service_tokens', {
  id: uuid.key,
  clientId: uuid,
  /** SHA-256 of the plain text, hex. */
  hash: text,
  /** First characters, by which people recognise the token. */
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
/** Deletes tokens beyond the maximum of a list: invalid ones first, then the oldest. */
const tidy = statement(
  `delete from providers.service_tokens where client_id = $1 and id in (
     select id from providers.service_tokens where client_id = $1
      order by (revoked_at is null and (expires_at is null or expires_at > $2)) desc, created_at desc, id desc offset $3)`,
)

const tokenSql = (rows: Rows<typeof serviceTokens>) => ({
  /** Counts the valid tokens of a client. */
  async standing(clientId: string, now: Date, transaction: Transaction): Promise<number> {
    const [found] = await rows.read<{ count: number }>(standing, [clientId, now], transaction)
    return found!.count
  },

  /** Deletes a client's tokens above a maximum number: invalid ones first, then the oldest. */
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
