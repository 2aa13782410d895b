import type { Transaction } from 'sequelize'
import { statement } from '../../../../platform/sql/statement.ts'
import { moment, type Row, selectList, stamps, table, text, texts, truth, uuid } from '../../../../platform/sql/table.ts'
import { type Rows, store } from '../../../store/store.ts'

/** OAuth clients: they belong to the platform, so each row's organization is `admin`. */
export const oauthClients = table('identity.oauth_clients', {
  organizationId: uuid.key,
  id: uuid.key,
  clientId: text,
  name: text,
  type: text.of<'public' | 'confidential'>(),
  /** SHA-256 of the secret, hex; null for public clients. */
  secretHash: text.maybe,
  redirectUris: texts,
  /** Maximum scopes that the client may request. */
  scopes: texts,
  trusted: truth,
  disabledAt: moment.maybe,
  ...stamps,
})

export type OAuthClientRow = Row<typeof oauthClients>

const standing = `select ${selectList(oauthClients, 't')} from identity.oauth_clients t where t.client_id = $1 and t.disabled_at is null`
const find = statement(standing)
const hold = statement(`${standing} for share`)
const lockOrganization = statement('select from identity.organizations where id = $1 for no key update')
const count = statement('select count(*)::int as count from identity.oauth_clients where organization_id = $1 and disabled_at is null')
const narrow = statement(
  `update identity.sessions set scopes = (select coalesce(array_agg(s), '{}') from unnest(scopes) s where s = any($2::text[]))
    where client_id = $1 and not scopes <@ $2::text[]`,
)

const clientSql = (rows: Rows<typeof oauthClients>) => ({
  /**
   * Returns an enabled client, for any caller.
   * @param transaction within which it cannot be disabled
   */
  async standing(clientId: string, transaction?: Transaction): Promise<OAuthClientRow | null> {
    const [client] = await rows.read(transaction ? hold : find, [clientId], transaction)
    return client ?? null
  },

  /** Counts the enabled clients. Nobody creates another before the transaction ends. */
  async standingIn(organizationId: string, transaction: Transaction): Promise<number> {
    // A separate statement, so that of two concurrent calls the second sees the first one's row.
    await rows.read(lockOrganization, [organizationId], transaction)
    const [found] = await rows.read<{ count: number }>(count, [organizationId], transaction)
    return found!.count
  },

  /** Removes scopes from grants that the client may no longer request. */
  narrow: async (clientId: string, scopes: readonly string[], transaction: Transaction): Promise<void> =>
    void (await rows.read(narrow, [clientId, scopes], transaction)),
})

/** Platform administrators in `admin` see all clients; a person sees those that they have consented to. */
export const oauthClientStore = store(
  oauthClients,
  {
    what: 'OAuth client',
    tenancy: {
      where: `t.organization_id = :organization
        or exists (select from identity.oauth_consents c where c.client_id = t.client_id and c.user_id = :person)`,
    },
    lists: { all: { below: 'organizationId', order: 'newest first' } },
    manyBy: { clientId: 't.id' },
  },
  clientSql,
)
