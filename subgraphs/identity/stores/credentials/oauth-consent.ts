import type { Transaction } from 'sequelize'
import { newId } from '../../../../platform/ids.ts'
import { statement } from '../../../../platform/sql/statement.ts'
import { moment, type Row, table, text, texts, uuid } from '../../../../platform/sql/table.ts'
import type { WriteTransaction } from '../../../store/books.ts'
import { type Rows, store } from '../../../store/store.ts'

/** Consents: one row for each person and client, extended by later consents. */
export const oauthConsents = table('identity.oauth_consents', {
  id: uuid.key,
  userId: uuid,
  clientId: text,
  scopes: texts,
  createdAt: moment,
  updatedAt: moment,
})

export type OAuthConsentRow = Row<typeof oauthConsents>

const given = 'select scopes from identity.oauth_consents where user_id = $1 and client_id = $2'
const find = statement(given)
const hold = statement(`${given} for share`)
const grant = statement(
  `insert into identity.oauth_consents as t (id, user_id, client_id, scopes, created_at, updated_at) values ($1, $2, $3, $4, $5, $5)
   on conflict (user_id, client_id) do update
      set scopes = (select array_agg(distinct s order by s) from unnest(t.scopes || excluded.scopes) s), updated_at = excluded.updated_at
   returning id`,
)
const removeOfClient = statement('delete from identity.oauth_consents where client_id = $1')

const consentSql = (rows: Rows<typeof oauthConsents>) => ({
  /**
   * Returns the scopes of a client that a person has consented to.
   * @param transaction within which the consent cannot be withdrawn
   */
  async given(userId: string, clientId: string, transaction?: Transaction): Promise<readonly string[]> {
    const [consent] = await rows.read<{ scopes: string[] }>(transaction ? hold : find, [userId, clientId], transaction)
    return consent?.scopes ?? []
  },

  /** Adds to a person's consent. @returns the consent's id */
  async grant(userId: string, clientId: string, scopes: readonly string[], { now, transaction }: WriteTransaction): Promise<string> {
    const [consent] = await rows.read<{ id: string }>(grant, [newId(now), userId, clientId, [...scopes].sort(), now], transaction)
    return consent!.id
  },

  /** Deletes all consents to a client. */
  removeOfClient: async (clientId: string, transaction: Transaction): Promise<void> => void (await rows.read(removeOfClient, [clientId], transaction)),
})

/** A person sees their own, whatever the context. */
export const oauthConsentStore = store(
  oauthConsents,
  { what: 'consent', tenancy: { where: 't.user_id = :person' }, manyBy: { userId: 't.created_at desc, t.id' } },
  consentSql,
)
