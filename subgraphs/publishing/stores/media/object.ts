import type { Transaction } from 'sequelize'
import { rows, statement } from '../../../../platform/sql/statement.ts'
import { moment, table, text, uuid } from '../../../../platform/sql/table.ts'
import type { Opening } from '../../../store/store.ts'

/** Objects of the storage that are to go at some time. */
export const mediaObjects = table('publishing.media_objects', { key: text.key, brandId: uuid, removeAt: moment })

const doom = statement(
  `insert into publishing.media_objects (key, brand_id, remove_at) select key, $2, $3 from unnest($1::text[]) key
   on conflict (key) do update set remove_at = excluded.remove_at`,
)
const spare = statement('delete from publishing.media_objects where key = any($1::text[])')
const due = statement('select key from publishing.media_objects where remove_at <= $1 order by remove_at limit $2')
/**
 * Enters everything that is stored of brands, for whoever removes their rows: the objects outlive them until somebody comes round.
 * Bound to the brands, the names of forms, and when they are to go.
 */
export const doomOfBrands = `
  insert into publishing.media_objects (key, brand_id, remove_at)
    select 'media/' || a.id || '/' || form, a.brand_id, $3::timestamptz from publishing.media_assets a cross join unnest($2::text[]) form where a.brand_id = any($1::uuid[])
    union select part->>'key', a.brand_id, $3::timestamptz from publishing.media_assets a cross join jsonb_array_elements(a.parts) part where a.brand_id = any($1::uuid[])
    union select part->>'key', u.brand_id, $3::timestamptz from publishing.media_uploads u cross join jsonb_array_elements(u.parts) part where u.brand_id = any($1::uuid[])
    union select o.key, o.brand_id, $3::timestamptz from publishing.media_objects o where o.brand_id = any($1::uuid[])
  on conflict (key) do update set remove_at = excluded.remove_at`
/** Asks whether objects are entered here, and without the brand: a database may stand where an earlier version left it. */
export const canOutliveBrands = `
  select to_regclass('publishing.media_objects') is not null
     and not exists (select from pg_constraint where conname = 'media_objects_brand_id_fkey') as there`
const gone = statement('delete from publishing.media_objects where key = any($1::text[]) and remove_at <= $2')

/**
 * An object is entered here before it is written, and struck out in the transaction that makes a row name it: so none is left over, whatever
 * dies in between.
 */
export const objectStore = {
  table: mediaObjects,
  lists: {},
  open: ({ sequelize }: Opening) => ({
    /** Has objects removed at a moment, unless they are spared before. */
    doom: async (brandId: string, keys: readonly string[], removeAt: Date, transaction: Transaction): Promise<void> =>
      void (await rows(sequelize, doom, [keys, brandId, removeAt], transaction)),
    /** Has objects stay. */
    spare: async (keys: readonly string[], transaction: Transaction): Promise<void> => void (await rows(sequelize, spare, [keys], transaction)),
    /** Due ones, the oldest first. */
    due: async (now: Date, limit: number): Promise<readonly string[]> => (await rows<{ key: string }>(sequelize, due, [now, limit])).map(({ key }) => key),
    /** Forgets objects that were removed. */
    forget: async (keys: readonly string[], now: Date, transaction: Transaction): Promise<void> => void (await rows(sequelize, gone, [keys, now], transaction)),
  }),
}
