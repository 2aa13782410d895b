import type { Transaction } from 'sequelize'
import { statement } from '../../../../platform/sql/statement.ts'
import { integer, json, moment, type Row, selectList, stamps, table, text, uuid } from '../../../../platform/sql/table.ts'
import { type Rows, store } from '../../../store/store.ts'
import { brands } from '../brand.ts'
import type { MediaType, Part } from './asset.ts'

export const mediaUploads = table('publishing.media_uploads', {
  brandId: uuid.key,
  id: uuid.key,
  filename: text,
  altText: text.maybe,
  folderId: uuid.maybe,
  /** How long it will be. */
  bytes: integer,
  received: integer.or(0),
  /** Its beginning in base64, until that tells what it is. */
  head: text.or(''),
  mimeType: text.of<MediaType>().maybe,
  parts: json.of<readonly Part[]>().or([]),
  assetId: uuid.maybe,
  expiresAt: moment,
  authorId: uuid.maybe,
  ...stamps,
})

export type UploadRow = Row<typeof mediaUploads>

const lockMaking = statement('select pg_advisory_xact_lock(hashtextextended($1, 20))')
const countOpen = statement('select count(*)::int as count from publishing.media_uploads where brand_id = $1 and asset_id is null and expires_at > $2')
const columns = selectList(mediaUploads, 'u')
const takePart = statement(
  `update publishing.media_uploads u set received = $4, parts = u.parts || $5::jsonb, head = $6, mime_type = $7, updated_at = $8, expires_at = $9
    where u.brand_id = $1 and u.id = $2 and u.received = $3 and u.asset_id is null returning ${columns}`,
)

/** What only uploads are asked. */
const uploadSql = (rows: Rows<typeof mediaUploads>) => ({
  /** How many uploads of a brand are under way. Nobody begins another before the transaction ends. */
  async openOf(brandId: string, now: Date, transaction: Transaction): Promise<number> {
    await rows.read(lockMaking, [brandId], transaction)
    const [found] = await rows.read<{ count: number }>(countOpen, [brandId, now], transaction)
    return found!.count
  },

  /**
   * Notes what has come of an upload since it was as long as `upload.received` says.
   * @returns the upload as it stands then; null when somebody else was faster
   */
  async take(
    upload: UploadRow,
    parts: readonly Part[],
    told: Pick<UploadRow, 'head' | 'mimeType' | 'expiresAt'>,
    now: Date,
    transaction: Transaction,
  ): Promise<UploadRow | null> {
    const received = upload.received + parts.reduce((sum, { bytes }) => sum + bytes, 0)
    const [row] = await rows.read(
      takePart,
      [upload.brandId, upload.id, upload.received, received, JSON.stringify(parts), told.head, told.mimeType, now, told.expiresAt],
      transaction,
    )
    return row ?? null
  },
})

export const uploadStore = store(mediaUploads, { what: 'upload', tenancy: { through: brands, owner: 'organizationId', by: 'brandId' } }, uploadSql)
