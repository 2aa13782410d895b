import type { Transaction } from 'sequelize'
import { statement } from '../../../../platform/sql/statement.ts'
import { selectList } from '../../../../platform/sql/table.ts'
import type { Rows } from '../../../store/store.ts'
import { type PostRow, posts } from '../post.ts'

/** What reads posts: the rows of any context. */
export type PostReads = Pick<Rows<typeof posts>, 'read'>

const columns = selectList(posts, 'p')

/** How many posts of a brand are read at a time by whoever changes them all. */
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

/** What is done with a row while it is held. */
type Handle = (post: PostRow) => Promise<void>

/** Hands each row of a statement to somebody, in the order of their ids, some hundred at a time, under lock; its last value is the id before. */
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

/** The posts of a brand whose time has come, but those that are being sent, under lock. */
export const eachOverdue = (rows: PostReads, brandId: string, now: Date, transaction: Transaction, handle: Handle): Promise<void> =>
  each(rows, overdue, [brandId, now], transaction, handle)

/** The posts of a brand that wait for somebody: failed ones, and those to be approved, under lock. */
export const eachAttentive = (rows: PostReads, brandId: string, transaction: Transaction, handle: Handle): Promise<void> =>
  each(rows, attentive, [brandId], transaction, handle)

/** Scheduled posts of a brand that nobody was asked about (`NONE`); or all that wait for a decision (`PENDING`), under lock. */
export const eachOfApproval = (rows: PostReads, brandId: string, approval: 'NONE' | 'PENDING', transaction: Transaction, handle: Handle): Promise<void> =>
  each(rows, withApproval, [brandId, approval], transaction, handle)
