import type { Transaction } from 'sequelize'
import { statement } from '../../../../platform/sql/statement.ts'
import { selectList } from '../../../../platform/sql/table.ts'
import type { Rows } from '../../../store/store.ts'
import { type PostRow, posts } from '../post.ts'

/** The store's rows in any context that can read posts. */
export type PostReads = Pick<Rows<typeof posts>, 'read'>

const columns = selectList(posts, 'p')

/** Number of posts that are read at once when all posts of a brand are changed. */
export const atATime = 500

const overdue = statement(
  `select ${columns} from publishing.posts p
    where p.brand_id = $1 and p.status = 'SCHEDULED' and p.scheduled_at <= $2 and p.delivery_phase <> 'SENDING' and ($3::uuid is null or p.id > $3::uuid)
    order by p.id limit ${atATime} for no key update of p`,
)

const attentive = statement(
  `select ${columns} from publishing.posts p
    where p.brand_id = $1 and p.id in (
      select id from publishing.posts where brand_id = $1 and status = 'FAILED'
      union select id from publishing.posts where brand_id = $1 and approval = 'PENDING') and ($2::uuid is null or p.id > $2::uuid)
    order by p.id limit ${atATime} for no key update of p`,
)

const withApproval = statement(
  `select ${columns} from publishing.posts p
    where p.brand_id = $1 and p.status <> 'PUBLISHED' and p.approval = $2 and (p.approval = 'PENDING' or p.status = 'SCHEDULED')
      and ($3::uuid is null or p.id > $3::uuid)
    order by p.id limit ${atATime} for no key update of p`,
)

/** Work on a row while it is locked. */
type Handle = (post: PostRow) => Promise<void>

/**
 * Locks the rows of a statement, some hundred at once in the order of their ids, and passes each to a handler. The
 * statement's last value is the id of the row before.
 */
async function each(
  rows: PostReads,
  wanted: ReturnType<typeof statement>,
  values: readonly unknown[],
  transaction: Transaction,
  handle: Handle,
): Promise<void> {
  for (let after: string | null = null; ; ) {
    const found: PostRow[] = await rows.read<PostRow>(wanted, [...values, after], transaction)
    for (const post of found) await handle(post)
    if (found.length < atATime) return
    after = found.at(-1)!.id
  }
}

/** Locks and handles the due posts of a brand, except posts that are being sent. */
export const eachOverdue = (rows: PostReads, brandId: string, now: Date, transaction: Transaction, handle: Handle): Promise<void> =>
  each(rows, overdue, [brandId, now], transaction, handle)

/** Locks and handles the posts of a brand that need a person: failed posts, and posts that wait for approval. */
export const eachAttentive = (rows: PostReads, brandId: string, transaction: Transaction, handle: Handle): Promise<void> =>
  each(rows, attentive, [brandId], transaction, handle)

/**
 * Locks and handles the scheduled posts of a brand without an approval request (`NONE`), or all posts that wait for a
 * decision (`PENDING`).
 */
export const eachOfApproval = (rows: PostReads, brandId: string, approval: 'NONE' | 'PENDING', transaction: Transaction, handle: Handle): Promise<void> =>
  each(rows, withApproval, [brandId, approval], transaction, handle)
