import type DataLoader from 'dataloader'
import type { Transaction } from 'sequelize'
import type { Reading } from '../../../../platform/sql/reading.ts'
import { statement } from '../../../../platform/sql/statement.ts'
import { createLoader } from '../../../store/loader.ts'
import type { PostRow } from '../post.ts'
import type { PostReads } from './of-brand.ts'

/** The part of a post that versions store: text, media and target. */
export type Content = Pick<PostRow, 'copy' | 'title' | 'link' | 'visibility' | 'media' | 'firstComment' | 'target'>

/** Returns the part of a post that versions store. */
export const contentOf = ({ copy, title, link, visibility, media, firstComment, target }: Content): Content => ({
  copy,
  title,
  link,
  visibility,
  media,
  firstComment,
  target,
})

/** A version of a post's content. */
export interface PostVersionRow extends Content {
  readonly brandId: string
  readonly postId: string
  /** Version of the post that introduced this content. */
  readonly version: number
  readonly createdAt: Date
  /** The author, as in audit entries. */
  readonly createdBy: string
}

/** Maximum number of stored versions of a post, the present one included. */
export const mostVersions = 50

const columns = 'brand_id, post_id, version, content, created_at, created_by'
const keep = statement(`insert into publishing.post_versions (${columns}) values ($1, $2, $3, $4, $5, $6)`)
const keepBoth = statement(
  `insert into publishing.post_versions (${columns})
   select $1::uuid, $2::uuid, $3::int, $4::jsonb, $5::timestamptz, $6::text
     where not exists (select from publishing.post_versions where brand_id = $1 and post_id = $2)
   union all select $1::uuid, $2::uuid, $7::int, $8::jsonb, $9::timestamptz, $10::text`,
)
const forget = statement(
  `delete from publishing.post_versions where brand_id = $1 and post_id = $2 and version < (
     select version from publishing.post_versions where brand_id = $1 and post_id = $2 order by version desc offset ${mostVersions - 1} limit 1)`,
)
const ofPosts = statement(
  `select v.brand_id as "brandId", v.post_id as "postId", v.version, v.content, v.created_at as "createdAt", v.created_by as "createdBy"
     from unnest($1::uuid[], $2::uuid[]) as asked(brand_id, post_id)
     join lateral (select * from publishing.post_versions k where k.brand_id = asked.brand_id and k.post_id = asked.post_id
       order by k.version desc limit ${mostVersions}) v on true
    order by v.version desc`,
)

type Stored = Omit<PostVersionRow, keyof Content> & { readonly content: Content }

/** Number of posts whose versions one statement reads, because versions may be long. */
const atOnce = 10

/**
 * Loads the versions of posts, the newest first, for one operation; none for a post that was last changed before
 * versions existed.
 */
export const versionLoader = (reading: Reading, rows: PostReads): DataLoader<Pick<PostRow, 'brandId' | 'id'>, readonly PostVersionRow[]> =>
  createLoader<Pick<PostRow, 'brandId' | 'id'>, readonly PostVersionRow[]>(
    reading,
    async asked => {
      const stored = await rows.read<Stored>(ofPosts, [asked.map(({ brandId }) => brandId), asked.map(({ id }) => id)])
      const found = Map.groupBy(stored, ({ postId }) => postId)
      return asked.map(({ id }) => (found.get(id) ?? []).map(({ content, ...version }) => ({ ...content, ...version })))
    },
    atOnce,
  )

/** Stores the first version of a post. */
export async function keepVersion(rows: PostReads, post: PostRow, transaction: Transaction): Promise<void> {
  await rows.read(keep, valuesOf(post, post.createdBy), transaction)
}

/**
 * Stores a new version of a changed post, and its former version if none is stored yet; deletes versions beyond the
 * last fifty.
 */
export async function keepChange(rows: PostReads, before: PostRow, after: PostRow, createdBy: string, transaction: Transaction): Promise<void> {
  await rows.read(keepBoth, [...valuesOf(before, before.createdBy), ...valuesOf(after, createdBy).slice(2)], transaction)
  if (after.version > mostVersions) await rows.read(forget, [after.brandId, after.id], transaction)
}

const valuesOf = (post: PostRow, createdBy: string): readonly unknown[] => [
  post.brandId,
  post.id,
  post.version,
  JSON.stringify(contentOf(post)),
  post.updatedAt,
  createdBy,
]
