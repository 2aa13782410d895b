import type { Transaction } from 'sequelize'
import type { Usage } from '../../../../platform/limit.ts'
import type { PageRequest } from '../../../../platform/page.ts'
import { transactionLock } from '../../../../platform/sql/lock.ts'
import { statement } from '../../../../platform/sql/statement.ts'
import { integer, json, type Row, selectList, stamps, table, text, texts, truth, uuid } from '../../../../platform/sql/table.ts'
import { containing, type FilterSql } from '../../../store/filter/filters.ts'
import { createLoader } from '../../../store/loader.ts'
import { type Rows, type StoreContext, store } from '../../../store/store.ts'
import type { MediumKind } from '../../network/publication.ts'
import { brands } from '../brand.ts'
import { hasTag, type PostRow, posts } from '../post.ts'

export type MediaType = 'image/jpeg' | 'image/png' | 'image/webp' | 'image/gif' | 'video/mp4' | 'video/quicktime'
export type MediaSource = 'UPLOAD' | 'GENERATED' | 'IMPORT'
export type MediaStatus = 'PROCESSING' | 'READY' | 'FAILED'

/** An object that contains one part of a file. */
export interface Part {
  readonly key: string
  readonly bytes: number
}

export const mediaAssets = table('publishing.media_assets', {
  brandId: uuid.key,
  id: uuid.key,
  kind: text.of<MediumKind>(),
  filename: text,
  mimeType: text.of<MediaType>(),
  bytes: integer,
  width: integer.maybe,
  height: integer.maybe,
  durationMs: integer.maybe,
  sha256: text.maybe,
  altText: text.maybe,
  title: text.maybe,
  tags: texts.or([]),
  folderId: uuid.maybe,
  source: text.of<MediaSource>(),
  status: text.of<MediaStatus>(),
  previewBroken: truth.or(false),
  /** Whether a picture moves, as some in WebP and PNG do. */
  animated: truth.or(false),
  /** Codec as the video names it, such as `avc1`; null if it names none. */
  videoCodec: text.maybe,
  audioCodec: text.maybe,
  /** First and last positions of the bytes in which a video states where it was recorded. */
  hidden: json.of<readonly (readonly [number, number])[]>().or([]),
  /** The objects of the uploaded parts, until they are joined. */
  parts: json.of<readonly Part[]>().or([]),
  authorId: uuid.maybe,
  ...stamps,
})

export type MediaAssetRow = Row<typeof mediaAssets>

const columns = selectList(mediaAssets, 'a')

/** The searched text of an asset; an index supports it. */
const words = `lower(t.filename || ' ' || coalesce(t.title, '') || ' ' || coalesce(t.alt_text, ''))`

/** A tag or word may match few assets or all of them, so these statements are planned each time. */
const [withTag, withWords] = [
  { where: (tag: string, { bind }: FilterSql) => hasTag('t', bind(tag)), depends: true },
  { where: (search: string, { bind }: FilterSql) => `${words} like lower(${bind(containing(search))})`, depends: true },
] as const

/** Condition that a post contains an asset. */
const carries = `p.media @> jsonb_build_array(jsonb_build_object('assetId', a.id::text))`

const usages = statement(
  `select a.id, count(p.id)::int as count from unnest($1::uuid[]) a (id) join publishing.posts p on p.media <> '[]' and ${carries} group by a.id`,
)
const users = statement(
  `select p.id, p.status from unnest($2::uuid[]) a (id) join publishing.posts p on p.brand_id = $1 and p.media <> '[]' and ${carries} and p.status <> 'PUBLISHED'
    order by p.id limit 100`,
)
const postColumns = selectList(posts, 'p')
const usingPage = (after: boolean) =>
  statement(
    `select ${postColumns} from unnest($1::uuid[]) a (id) join publishing.posts p on p.brand_id = $2 and p.media <> '[]' and ${carries}
      ${after ? 'where (p.created_at, p.id) < ($4::timestamptz, $5::uuid)' : ''} order by p.created_at desc, p.id desc limit $3`,
  )
const [usingFirst, usingNext] = [usingPage(false), usingPage(true)]
const lockMaking = transactionLock('publishing.media_assets')
const countMade = statement('select count(*)::int as "inAll" from publishing.media_assets where brand_id = $1')
const waiting = statement(`select ${columns} from publishing.media_assets a where a.status = 'PROCESSING' and a.updated_at < $1 order by a.updated_at limit $2`)
const several = statement(`select ${columns} from publishing.media_assets a where a.brand_id = $1 and a.id = any($2::uuid[]) order by a.id for share`)

/** Returns the statements that only assets have. */
function assetSql(rows: Rows<typeof mediaAssets>, { reading }: StoreContext) {
  return {
    /** Loads the number of posts that contain an asset, by its id. */
    usageOf: createLoader<string, number>(reading, async ids => {
      const found = new Map((await rows.read<{ id: string; count: number }>(usages, [ids])).map(({ id, count }) => [id, count]))
      return ids.map(id => found.get(id) ?? 0)
    }),

    /** Returns unpublished posts of a brand that contain one of these assets, at most a hundred. */
    usedBy: (brandId: string, ids: readonly string[], transaction: Transaction) => rows.read<{ id: string }>(users, [brandId, ids], transaction),

    /** Returns posts that contain an asset, newest first. */
    postsWith: ({ id, brandId }: Pick<MediaAssetRow, 'id' | 'brandId'>, { limit, after }: PageRequest) =>
      after ? rows.read<PostRow>(usingNext, [[id], brandId, limit, ...after]) : rows.read<PostRow>(usingFirst, [[id], brandId, limit]),

    /** Counts a brand's assets, and locks the count: no other asset is created for it before the transaction ends. */
    async madeFor(brandId: string, transaction: Transaction): Promise<Usage> {
      await rows.read(lockMaking, [brandId], transaction)
      const [made] = await rows.read<{ inAll: number }>(countMade, [brandId], transaction)
      return { inAll: made!.inAll, today: 0, todaySince: null }
    },

    /** Returns assets whose preparation began before a moment. */
    waiting: (before: Date, limit: number) => rows.read(waiting, [before, limit]),

    /** Returns assets of a brand by their ids, and locks them against deletion until the transaction ends. */
    held: (brandId: string, ids: readonly string[], transaction: Transaction) => rows.read(several, [brandId, ids], transaction),
  }
}

export const assetStore = store(
  mediaAssets,
  {
    what: 'media asset',
    tenancy: { through: brands, owner: 'organizationId', by: 'brandId' },
    filters: { brandId: 'eq', folderId: 'eq', kind: 'eq', tag: withTag, search: withWords },
  },
  assetSql,
)
