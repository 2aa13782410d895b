import type { Transaction } from 'sequelize'
import { transactionLock } from '../../../../platform/sql/lock.ts'
import { statement } from '../../../../platform/sql/statement.ts'
import { integer, type Row, selectList, stamps, table, text, uuid } from '../../../../platform/sql/table.ts'
import { type Rows, store } from '../../../store/store.ts'

export const favourites = table('launcher.favourites', {
  id: uuid.key,
  /** The organization in which the person wants it at hand; null in personal context. */
  organizationId: uuid.maybe,
  userId: uuid,
  /** Slug of the app; null for an address. */
  app: text.maybe,
  /** Of an address: the app's title is that of the catalogue. */
  title: text.maybe,
  url: text.maybe,
  position: integer,
  ...stamps,
})

export type FavouriteRow = Row<typeof favourites>

/** Whose favourites they are: a person's in one context. */
export type FavouriteOwner = Pick<FavouriteRow, 'organizationId' | 'userId'>

const lockOwner = transactionLock('launcher.favourites', 2)
const ofOwner = statement(
  `select ${selectList(favourites, 't')} from launcher.favourites t
    where t.user_id = $1 and t.organization_id is not distinct from $2::uuid order by t.position, t.created_at, t.id`,
)
const arrange = statement(
  `update launcher.favourites t set position = array_position($1::uuid[], t.id) - 1, updated_at = $2
    where t.id = any($1::uuid[]) and t.position <> array_position($1::uuid[], t.id) - 1 returning t.id`,
)

const ownSql = (rows: Rows<typeof favourites>) => ({
  /** Returns a person's favourites in one context, in their order. */
  of: ({ organizationId, userId }: FavouriteOwner): Promise<FavouriteRow[]> => rows.read(ofOwner, [userId, organizationId]),

  /** Returns the same, and keeps everybody else from changing them. */
  async lockOf({ organizationId, userId }: FavouriteOwner, transaction: Transaction): Promise<FavouriteRow[]> {
    await rows.read(lockOwner, [organizationId ?? '', userId], transaction)
    return rows.read(ofOwner, [userId, organizationId], transaction)
  },

  /** Gives favourites their places. */
  async arrange(ids: readonly string[], now: Date, transaction: Transaction): Promise<void> {
    await rows.read(arrange, [ids, now], transaction)
  },
})

export const favouriteStore = store(
  favourites,
  { what: 'favourite', tenancy: { where: 't.user_id = :person and t.organization_id is not distinct from :organization::uuid' } },
  ownSql,
)
