import { QueryTypes, type Sequelize, type Transaction } from 'sequelize'
import { Refusal } from '../../../platform/errors.ts'
import { checkSameContent, type Idempotency } from '../../../platform/idempotency.ts'
import { isId } from '../../../platform/ids.ts'
import { dayBefore, type Made } from '../../../platform/limit.ts'
import { type Connection, isMoment, type Order, type PageRequest, toConnection } from '../../../platform/page.ts'
import { createEachLoader, createLoader, type Reading } from '../../loader.ts'
import { columnsOf } from '../mapping.ts'
import { networkFacts } from '../network/network.ts'
import { transitions } from './rules.ts'
import { definePostTable, type PostRow } from './table.ts'

/** Newest first. */
export const newestFirst: Order<PostRow> = {
  name: 'posts.newest',
  position: post => [post.createdAt.toISOString(), post.id],
  parts: [isMoment, isId],
}

/** The order in which a thread is read and sent. */
export const threadOrder: Order<PostRow> = {
  name: 'posts.thread',
  position: post => [String(post.position)],
  parts: [value => /^\d{1,9}$/.test(value)],
}

/** Which posts of an organization; what is null or left out does not narrow. */
export interface PostFilter {
  readonly organizationId: string
  readonly brandId?: string | null
  readonly threadId?: string | null
  readonly status?: string | null
  readonly platform?: string | null
  readonly authorId?: string | null
  readonly scheduledAfter?: Date | null
  readonly scheduledBefore?: Date | null
}

/** Collects what a statement is told, and hands back the placeholder of each. */
function binding() {
  const values: unknown[] = []
  return { values, bind: (value: unknown): string => `$${values.push(value)}` }
}

type Bind = ReturnType<typeof binding>['bind']

const brandsOf = ({ organizationId, brandId }: PostFilter, bind: Bind): string =>
  `b.organization_id = ${bind(organizationId)}${brandId ? ` and b.id = ${bind(brandId)}` : ''}`

/** What a filter asks of a post beside its brand, each as `and …`; only what is asked stands there, so that an index can be chosen for it. */
function conditionsOf(filter: PostFilter, bind: Bind): string {
  const { threadId, status, platform, authorId, scheduledAfter, scheduledBefore } = filter
  return [
    threadId && `p.thread_id = ${bind(threadId)}`,
    status && `p.status = ${bind(status)}`,
    platform && `p.platform = ${bind(platform)}`,
    authorId && `p.author_id = ${bind(authorId)}`,
    scheduledAfter && `p.scheduled_at >= ${bind(scheduledAfter)}`,
    scheduledBefore && `p.scheduled_at < ${bind(scheduledBefore)}`,
  ]
    .flatMap(condition => (condition ? [` and ${condition}`] : []))
    .join('')
}

/** A new post as the resolver hands it over: its place in the thread is the store's to find. */
export type NewPost = Pick<PostRow, 'id' | 'brandId' | 'platform' | 'copy' | 'target' | 'status' | 'scheduledAt' | 'authorId' | 'createdAt' | 'createdBy'> & {
  /** Null: a thread of its own. */
  readonly threadId: string | null
  readonly idempotency: Idempotency | null
}

const statuses = Object.keys(transitions)
const platforms = Object.keys(networkFacts)

/** SQL of posts. */
export function createPostStore(sequelize: Sequelize) {
  const Post = definePostTable(sequelize)
  const columns = columnsOf(Post, 'p')
  const select = <Row extends object = PostRow>(sql: string, bind: unknown[], transaction?: Transaction) =>
    sequelize.query<Row>(sql, { bind, type: QueryTypes.SELECT, ...(transaction && { transaction }) })

  return {
    columns,
    /** The posts with these ids, whoever owns them. */
    byIds: (ids: readonly string[]) => select(`select ${columns} from publishing.posts p where p.id = any($1::uuid[])`, [ids]),

    /**
     * One page, newest first, or in thread order when the filter names a thread. Each brand (and, where one of them is asked for,
     * each status and network) is walked in the order of an index for no more than a page, and what they give is merged: so a page
     * costs the same however many posts there are.
     */
    page(filter: PostFilter, { after, limit }: PageRequest): Promise<PostRow[]> {
      const { values, bind } = binding()
      const brands = brandsOf(filter, bind)
      const most = bind(limit)
      if (filter.threadId)
        return select(
          `select ${columns} from publishing.brands b cross join lateral (
             select * from publishing.posts p where p.brand_id = b.id${conditionsOf(filter, bind)} ${after ? `and p.position > ${bind(after[0])}` : ''}
             order by p.position limit ${most}) p
           where ${brands} order by p.position limit ${most}`,
          values,
        )
      const { status, platform, authorId, scheduledAfter, scheduledBefore } = filter
      const isTimed = Boolean(scheduledAfter || scheduledBefore)
      const walked = [
        !status && (platform || authorId || isTimed) ? { table: `unnest(${bind(statuses)}::text[]) s(status)`, condition: 'p.status = s.status' } : null,
        !platform && (status || authorId) && !isTimed
          ? { table: `unnest(${bind(platforms)}::text[]) n(platform)`, condition: 'p.platform = n.platform' }
          : null,
      ].filter(each => each !== null)
      const kinds = walked.map(({ table }) => ` cross join ${table}`).join('')
      const ofKind = walked.map(({ condition }) => ` and ${condition}`).join('')
      const behind = after ? `and (p.created_at, p.id) < (${bind(after[0])}::timestamptz, ${bind(after[1])}::uuid)` : ''
      return select(
        `select ${columns} from (
           select w.brand_id, w.id from publishing.brands b${kinds} cross join lateral (
             select p.brand_id, p.id, p.created_at from publishing.posts p where p.brand_id = b.id${ofKind}${conditionsOf(filter, bind)} ${behind}
             order by p.created_at desc, p.id desc limit ${most}) w
           where ${brands} order by w.created_at desc, w.id desc limit ${most}) page
         join publishing.posts p on p.brand_id = page.brand_id and p.id = page.id
         order by p.created_at desc, p.id desc`,
        values,
      )
    },

    async count(filter: PostFilter): Promise<number> {
      const { values, bind } = binding()
      const [row] = await select<{ count: string }>(
        `select count(*) from publishing.brands b join publishing.posts p on p.brand_id = b.id where ${brandsOf(filter, bind)}${conditionsOf(filter, bind)}`,
        values,
      )
      return Number(row?.count ?? 0)
    },

    /** For each post the one before it in its thread, by the post's id; posts at the head of a thread are missing. */
    predecessors: (ids: readonly string[], transaction?: Transaction) =>
      select<PostRow & { before: string }>(
        `select q.id as before, ${columns} from publishing.posts q
           join lateral (select * from publishing.posts e where e.brand_id = q.brand_id and e.thread_id = q.thread_id and e.position < q.position
             order by e.position desc limit 1) p on true
         where q.id = any($1::uuid[])`,
        [ids],
        transaction,
      ),

    /** The post behind this one in its thread, if there is one, under lock: whoever is about to find it held back is waited for. */
    async successor(post: PostRow, transaction: Transaction): Promise<PostRow | null> {
      const rows = await select(
        `select ${columns} from publishing.posts p where p.brand_id = $1 and p.thread_id = $2 and p.position > $3 order by p.position limit 1 for update`,
        [post.brandId, post.threadId, post.position],
        transaction,
      )
      return rows[0] ?? null
    },

    /** Locks one row until the transaction ends, and reads it as it is now; null when it is gone. */
    async lock(brandId: string, id: string, transaction: Transaction): Promise<PostRow | null> {
      const rows = await select(`select ${columns} from publishing.posts p where p.brand_id = $1 and p.id = $2 for update`, [brandId, id], transaction)
      return rows[0] ?? null
    },

    /**
     * Writes a post at the end of its thread, or hands back the one that the same key wrote before.
     * @throws NOT_FOUND when the brand has no such thread; CONFLICT when the key was used with another input
     */
    async create(post: NewPost, transaction: Transaction): Promise<{ row: PostRow; repeated: boolean }> {
      const { idempotency, threadId, ...values } = post
      if (idempotency) {
        await select('select pg_advisory_xact_lock(hashtextextended($1, 0))', [`${post.brandId}:${post.createdBy}:${idempotency.key}`], transaction)
        const earlier = await Post.findOne({
          where: { brandId: post.brandId, createdBy: post.createdBy, idempotencyKey: idempotency.key },
          raw: true,
          transaction,
        })
        if (earlier) checkSameContent(earlier.idempotencyHash, idempotency, 'post')
        if (earlier) return { row: earlier, repeated: true }
      }
      let position = 1
      if (threadId) {
        await select('select pg_advisory_xact_lock(hashtextextended($1, 1))', [`${post.brandId}:${threadId}`], transaction)
        const last = await Post.max<number | null, InstanceType<typeof Post>>('position', { where: { brandId: post.brandId, threadId }, transaction })
        if (last === null) throw new Refusal('NOT_FOUND', `The brand has no thread ${threadId}: leave threadId out to start one.`, { field: 'threadId' })
        position = last + 1
      }
      const created = await Post.create(
        {
          ...values,
          threadId: threadId ?? post.id,
          position,
          updatedAt: post.createdAt,
          idempotencyKey: idempotency?.key ?? null,
          idempotencyHash: idempotency?.hash ?? null,
        },
        { transaction },
      )
      return { row: created.get({ plain: true }), repeated: false }
    },

    /** How many other posts the writer of this one has written within a day; beyond `most` they are not counted. */
    async madeBy({ createdBy, createdAt }: Pick<PostRow, 'createdBy' | 'createdAt'>, most: number, transaction: Transaction): Promise<Made> {
      const [made] = await select<{ today: number; since: Date | null }>(
        `select count(*)::int as today, min(created_at) as since from (
           select created_at from publishing.posts where created_by = $1 and created_at > $2 order by created_at desc limit $3) made`,
        [createdBy, dayBefore(createdAt), most + 1],
        transaction,
      )
      return { standing: 0, today: (made?.today ?? 1) - 1, todaySince: made?.since ?? null }
    },

    /** Writes what changed in a locked row and hands back the whole. */
    async update(post: PostRow, changes: Partial<PostRow>, transaction: Transaction): Promise<PostRow> {
      await Post.update(changes, { where: { brandId: post.brandId, id: post.id }, transaction })
      return { ...post, ...changes }
    },

    /** Takes the mark of being held back from a post, if it has it: what held it is published or gone. */
    async release(post: PostRow | null, transaction: Transaction): Promise<void> {
      if (post?.heldBack) await Post.update({ heldBack: false }, { where: { brandId: post.brandId, id: post.id }, transaction })
    },

    async remove(post: PostRow, transaction: Transaction): Promise<void> {
      await Post.destroy({ where: { brandId: post.brandId, id: post.id }, transaction })
    },
  }
}

export type PostStore = ReturnType<typeof createPostStore>

/** One by key, for one operation. */
export const postById = (store: PostStore, reading: Reading) =>
  createLoader<string, PostRow | null>(reading, async ids => {
    const found = new Map((await store.byIds(ids)).map(post => [post.id, post]))
    return ids.map(id => found.get(id) ?? null)
  })

/** The earlier post of the thread by the later one's id, for one operation. */
export const predecessorOf = (store: PostStore, reading: Reading) =>
  createLoader<string, PostRow | null>(reading, async ids => {
    const found = new Map((await store.predecessors(ids)).map(row => [row.before, row]))
    return ids.map(id => found.get(id) ?? null)
  })

/** Pages of posts, for one operation: the same page under several aliases is read once, and so is its total. */
export function postPages(store: PostStore, reading: Reading) {
  const rows = createEachLoader<{ filter: PostFilter; request: PageRequest }, readonly PostRow[]>(
    reading,
    ({ filter, request }) => store.page(filter, request),
    JSON.stringify,
  )
  const counts = createEachLoader<PostFilter, number>(reading, store.count, JSON.stringify)
  return {
    async load(filter: PostFilter, request: PageRequest): Promise<Connection<PostRow>> {
      return toConnection(await rows.load({ filter, request }), request, filter.threadId ? threadOrder : newestFirst, () => counts.load(filter))
    },
  }
}
