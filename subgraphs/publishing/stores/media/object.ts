import type { Transaction } from 'sequelize'
import { rows, statement } from '../../../../platform/sql/statement.ts'
import { moment, table, text, uuid } from '../../../../platform/sql/table.ts'
import type { StoreContext } from '../../../store/store.ts'

/** Stored objects that are to be removed. */
export const mediaObjects = table('publishing.media_objects', { key: text.key, brandId: uuid, removeAt: moment })

const doom = statement(
  `insert into publishing.media_objects (key, brand_id, remove_at) select key, $2, $3 from unnest($1::text[]) key
   on conflict (key) do update set remove_at = excluded.remove_at`,
)
const spare = statement('delete from publishing.media_objects where key = any($1::text[])')
const due = statement('select key from publishing.media_objects where remove_at <= $1 order by remove_at limit $2')
/**
 * Statement that registers all stored objects of brands for removal when their rows are deleted; a sweep removes the
 * objects later. Its values are the brands, the names of variants, and the time of the removal.
 */
export const doomOfBrands = `
  insert into publishing.media_objects (key, brand_id, remove_at)
    select 'media/' || a.id || '/' || form, a.brand_id, $3::timestamptz from publishing.media_assets a cross join unnest($2::text[]) form where a.brand_id = any($1::uuid[])
    union select part->>'key', a.brand_id, $3::timestamptz from publishing.media_assets a cross join jsonb_array_elements(a.parts) part where a.brand_id = any($1::uuid[])
    union select part->>'key', u.brand_id, $3::timestamptz from publishing.media_uploads u cross join jsonb_array_elements(u.parts) part where u.brand_id = any($1::uuid[])
    union select o.key, o.brand_id, $3::timestamptz from publishing.media_objects o where o.brand_id = any($1::uuid[])
  on conflict (key) do update set remove_at = excluded.remove_at`
/**
 * Checks that the register exists and does not depend on brands: a database may have the schema of an earlier version.
 */
export const canOutliveBrands = `
  select to_regclass('publishing.media_objects') is not null
     and not exists (select from pg_constraint where conname = 'media_objects_brand_id_fkey') as there`
const gone = statement('delete from publishing.media_objects where key = any($1::text[]) and remove_at <= $2')

/**
 * Register of objects without a row. An object is entered before it is written, and struck out in the transaction that
 * stores its row, so that no crash leaves an object behind.
 */
export const objectStore = {
  table: mediaObjects,
  lists: {},
  open: ({ sequelize }: StoreContext) => ({
    /** Registers objects for removal at a moment, unless they are spared before. */
    doom: async (brandId: string, keys: readonly string[], removeAt: Date, transaction: Transaction): Promise<void> =>
      void (await rows(sequelize, doom, [keys, brandId, removeAt], transaction)),
    /** Removes objects from the register, so that they stay. */
    spare: async (keys: readonly string[], transaction: Transaction): Promise<void> => void (await rows(sequelize, spare, [keys], transaction)),
    /** Returns objects that are due for removal, the oldest first. */
    due: async (now: Date, limit: number): Promise<readonly string[]> => (await rows<{ key: string }>(sequelize, due, [now, limit])).map(({ key }) => key),
    /** Removes deleted objects from the register. */
    forget: async (keys: readonly string[], now: Date, transaction: Transaction): Promise<void> => void (await rows(sequelize, gone, [keys, now], transaction)),
  }),
}
