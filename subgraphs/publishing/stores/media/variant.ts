import type { Transaction } from 'sequelize'
import { rows, statement } from '../../../../platform/sql/statement.ts'
import { integer, moment, type Row, selectList, table, text, uuid } from '../../../../platform/sql/table.ts'
import { createLoader } from '../../../store/loader.ts'
import type { StoreContext } from '../../../store/store.ts'
import type { Platform } from '../../network/network.ts'

/** A picture in the format of one network. */
export const mediaVariants = table('publishing.media_variants', {
  brandId: uuid.key,
  assetId: uuid.key,
  platform: text.of<Platform>().key,
  mimeType: text,
  width: integer.maybe,
  height: integer.maybe,
  bytes: integer,
  createdAt: moment,
})

export type MediaVariantRow = Row<typeof mediaVariants>

const columns = selectList(mediaVariants, 'v')
const ofAssets = statement(`select ${columns} from publishing.media_variants v where v.asset_id = any($1::uuid[]) order by v.platform`)
const keep = statement(
  `insert into publishing.media_variants (brand_id, asset_id, platform, mime_type, width, height, bytes, created_at)
     select $1, $2, $3, $4, $5, $6, $7, $8 where exists (select from publishing.media_assets where brand_id = $1 and id = $2)
   on conflict (brand_id, asset_id, platform) do update set mime_type = excluded.mime_type, width = excluded.width, height = excluded.height,
     bytes = excluded.bytes returning platform`,
)

export const variantStore = {
  table: mediaVariants,
  lists: {},
  open: ({ sequelize, reading }: StoreContext) => ({
    /** Loads an asset's variants by its id, without a check: the caller must have checked the right to the asset. */
    ofAsset: createLoader<string, MediaVariantRow[]>(reading, async ids => {
      const found = Map.groupBy(await rows<MediaVariantRow>(sequelize, ofAssets, [ids]), ({ assetId }) => assetId)
      return ids.map(id => found.get(id) ?? [])
    }),
    /** Stores a created variant in place of an older one. @returns whether its asset still exists */
    async keep({ brandId, assetId, platform, mimeType, width, height, bytes, createdAt }: MediaVariantRow, transaction: Transaction): Promise<boolean> {
      const kept = await rows(sequelize, keep, [brandId, assetId, platform, mimeType, width, height, bytes, createdAt], transaction)
      return kept.length > 0
    },
  }),
}
