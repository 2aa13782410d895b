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

/** What of uploads is under way. */
interface Open {
  /** How many of the brand are. */
  readonly ofBrand: number
  /** How many bytes those of the organization will have. */
  readonly bytes: number
}

/** What only uploads are asked. */
const uploadSql = (rows: Rows<typeof mediaUploads>) => ({
  /** What is under way. Nobody begins another upload of the organization before the transaction ends. */
  async openOf({ id, organizationId }: Pick<BrandRow, 'id' | 'organizationId'>, now: Date, transaction: Transaction): Promise<Open> {
    await rows.read(lockMaking, [organizationId], transaction)
    const [found] = await rows.read<Open>(countOpen, [organizationId, id, now], transaction)
    return found!
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
