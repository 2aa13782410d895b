import type DataLoader from 'dataloader'
import type { Transaction } from 'sequelize'
import { newIdInTurn } from '../../../../platform/ids.ts'
import type { Reading } from '../../../../platform/sql/reading.ts'
import { statement } from '../../../../platform/sql/statement.ts'
import { createLoader } from '../../../store/loader.ts'
import type { PostRow } from '../post.ts'
import type { PostReads } from './of-brand.ts'

/** RESET: a change of the post, or of its brand's mode, has reset the approval. */
export type ApprovalAction = 'SUBMIT' | 'APPROVE' | 'REQUEST_CHANGES' | 'REJECT' | 'HOLD' | 'RELEASE' | 'RESET'

/** A step of a post's approval. */
export interface ApprovalEventRow {
  readonly at: Date
  readonly action: ApprovalAction
  readonly comment: string | null
  /** The actor, as in audit entries. */
  readonly createdBy: string
}

/** Maximum number of steps that are listed for a post: the latest ones. */
export const mostEvents = 100

const keep = statement('insert into publishing.approval_events (brand_id, post_id, id, at, action, comment, created_by) values ($1, $2, $3, $4, $5, $6, $7)')
const ofPosts = statement(
  `select e.post_id as "postId", e.at, e.action, e.comment, e.created_by as "createdBy"
     from unnest($1::uuid[], $2::uuid[]) as asked(brand_id, post_id)
     join lateral (select * from publishing.approval_events k where k.brand_id = asked.brand_id and k.post_id = asked.post_id
       order by k.id desc limit ${mostEvents}) e on true
    order by e.id`,
)

/** Number of posts whose steps one statement reads. */
const atOnce = 25

/** Approval entries of posts, oldest first, for one operation. */
export const approvalLoader = (reading: Reading, rows: PostReads): DataLoader<Pick<PostRow, 'brandId' | 'id'>, readonly ApprovalEventRow[]> =>
  createLoader<Pick<PostRow, 'brandId' | 'id'>, readonly ApprovalEventRow[]>(
    reading,
    async asked => {
      const stored = await rows.read<ApprovalEventRow & { postId: string }>(ofPosts, [asked.map(({ brandId }) => brandId), asked.map(({ id }) => id)])
      const found = Map.groupBy(stored, ({ postId }) => postId)
      return asked.map(({ id }) => found.get(id) ?? [])
    },
    atOnce,
  )

/**
 * Records a step of a post with the post's state after it. Each step has a version of its own, so steps of one
 * millisecond keep their order.
 */
export async function keepEvent(
  rows: PostReads,
  { brandId, id, version }: Pick<PostRow, 'brandId' | 'id' | 'version'>,
  { at, action, comment, createdBy }: ApprovalEventRow,
  transaction: Transaction,
): Promise<void> {
  await rows.read(keep, [brandId, id, newIdInTurn(at, version), at, action, comment, createdBy], transaction)
}
