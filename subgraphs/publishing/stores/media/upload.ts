import type { Transaction } from 'sequelize'
import { transactionLock } from '../../../../platform/sql/lock.ts'
import { statement } from '../../../../platform/sql/statement.ts'
import { integer, json, moment, type Row, selectList, stamps, table, text, uuid } from '../../../../platform/sql/table.ts'
import { type Rows, store } from '../../../store/store.ts'
import { type BrandRow, brands } from '../brand.ts'
import type { MediaType, Part } from './asset.ts'

export const mediaUploads = table('publishing.media_uploads', {
  brandId: uuid.key,
  id: uuid.key,
  filename: text,
  altText: text.maybe,
  folderId: uuid.maybe,
  /** Announced length. */
  bytes: integer,
  received: integer.or(0),
  /** First bytes in base64, stored until they reveal the file's type. */
  head: text.or(''),
  mimeType: text.of<MediaType>().maybe,
  parts: json.of<readonly Part[]>().or([]),
  assetId: uuid.maybe,
  expiresAt: moment,
  authorId: uuid.maybe,
  ...stamps,
})

export type UploadRow = Row<typeof mediaUploads>

const lockMaking = transactionLock('publishing.media_uploads')
const countOpen = statement(
  `select count(*) filter (where u.brand_id = $2)::int as "ofBrand", coalesce(sum(u.bytes), 0)::float8 as bytes
    from publishing.media_uploads u join publishing.brands b on b.id = u.brand_id
    where b.organization_id = $1 and u.asset_id is null and u.expires_at > $3`,
)
const columns = selectList(mediaUploads, 'u')
const takePart = statement(
  `update publishing.media_uploads u set received = $4, parts = u.parts || $5::jsonb, head = $6, mime_type = $7, updated_at = $8, expires_at = $9
    where u.brand_id = $1 and u.id = $2 and u.received = $3 and u.asset_id is null returning ${columns}`,
)

/** Uploads in progress. */
interface Open {
  /** Number of the brand's uploads. */
  readonly ofBrand: number
  /** Total bytes of the organization's uploads when complete. */
  readonly bytes: number
}

/** Returns the statements that only uploads have. */
const uploadSql = (rows: Rows<typeof mediaUploads>) => ({
  /**
   * Counts the uploads in progress, and locks the count: no other upload of the organization begins before the
   * transaction ends.
   */
  async openOf({ id, organizationId }: Pick<BrandRow, 'id' | 'organizationId'>, now: Date, transaction: Transaction): Promise<Open> {
    await rows.read(lockMaking, [organizationId], transaction)
    const [found] = await rows.read<Open>(countOpen, [organizationId, id, now], transaction)
    return found!
  },

  /**
   * Records bytes received since the upload had the length of `upload.received`.
   * @returns the changed upload; null when another request changed it first
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
