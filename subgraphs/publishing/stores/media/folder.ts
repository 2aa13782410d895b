import type { Transaction } from 'sequelize'
import { transactionLock } from '../../../../platform/sql/lock.ts'
import { statement } from '../../../../platform/sql/statement.ts'
import { type Row, stamps, table, text, uuid } from '../../../../platform/sql/table.ts'
import { createLoader } from '../../../store/loader.ts'
import { type Rows, type StoreContext, store } from '../../../store/store.ts'
import { brands } from '../brand.ts'

export const mediaFolders = table('publishing.media_folders', { brandId: uuid.key, id: uuid.key, name: text, parentId: uuid.maybe, ...stamps })

export type MediaFolderRow = Row<typeof mediaFolders>

const assetCounts = statement(
  `select a.folder_id as id, count(*)::int as count from publishing.media_folders f
     join publishing.media_assets a on a.brand_id = f.brand_id and a.folder_id = f.id where f.id = any($1::uuid[]) group by 1`,
)
const lockMaking = transactionLock('publishing.media_folders')
const ofBrand = statement('select id, parent_id as "parentId" from publishing.media_folders where brand_id = $1')
const contents = statement(
  `select exists (select from publishing.media_folders where brand_id = $1 and parent_id = $2)
       or exists (select from publishing.media_assets where brand_id = $1 and folder_id = $2) as "isUsed"`,
)

/** Returns the statements that only folders have. */
const folderSql = (rows: Rows<typeof mediaFolders>, { reading }: StoreContext) => ({
  /** Loads the number of assets directly in a folder, by its id. */
  countOf: createLoader<string, number>(reading, async ids => {
    const found = new Map((await rows.read<{ id: string; count: number }>(assetCounts, [ids])).map(({ id, count }) => [id, count]))
    return ids.map(id => found.get(id) ?? 0)
  }),

  /**
   * Returns all folders of a brand, each with its parent, and locks them: none is created or moved before the
   * transaction ends.
   */
  async tree(brandId: string, transaction: Transaction): Promise<readonly { readonly id: string; readonly parentId: string | null }[]> {
    await rows.read(lockMaking, [brandId], transaction)
    return rows.read<{ id: string; parentId: string | null }>(ofBrand, [brandId], transaction)
  },

  /** Whether something lies in it. */
  async isUsed({ brandId, id }: MediaFolderRow, transaction: Transaction): Promise<boolean> {
    const [found] = await rows.read<{ isUsed: boolean }>(contents, [brandId, id], transaction)
    return found!.isUsed
  },
})

export const folderStore = store(
  mediaFolders,
  { what: 'media folder', tenancy: { through: brands, owner: 'organizationId', by: 'brandId' }, manyBy: { brandId: 't.name, t.id' } },
  folderSql,
)
