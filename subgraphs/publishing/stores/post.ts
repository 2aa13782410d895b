import type { Transaction } from 'sequelize'
import { DomainError } from '../../../platform/errors.ts'
import { isId } from '../../../platform/ids.ts'
import { type Connection, isMoment, type Order, type PageRequest } from '../../../platform/page.ts'
import { transactionLock } from '../../../platform/sql/lock.ts'
import { keptStatements, statement } from '../../../platform/sql/statement.ts'
import { integer, json, moment, type Row, selectList, stamps, table, text, texts, truth, uuid } from '../../../platform/sql/table.ts'
import { comparisonsOf, containing } from '../../store/filter/filters.ts'
import { type Asked, filteredPages } from '../../store/filter/pages.ts'
import { createLoader } from '../../store/loader.ts'
import { type Rows, type StoreContext, store } from '../../store/store.ts'
import { countByCaller } from '../../store/usage.ts'
import type { Platform } from '../network/network.ts'
import { platforms } from '../network/networks.ts'
import type { Handle, Target } from '../network/publication.ts'
import { brands } from './brand.ts'
import { rarePartStore } from './rare-part.ts'

/** Returns tags without duplicates that differ only by letter case. */
export function eachOnce(tags: readonly string[]): readonly string[] {
  const known = new Set<string>()
  return tags.filter(tag => {
    const isNew = !known.has(tag.toLowerCase())
    known.add(tag.toLowerCase())
    return isNew
  })
}

/** Builds the condition that a row has a tag, regardless of letter case; an index supports it. */
export const hasTag = (table: string, tag: string): string => `publishing.folded(${table}.tags) @> array[lower(${tag})] and ${table}.tags <> '{}'`

export const postStatuses = ['DRAFT', 'SCHEDULED', 'FAILED', 'PUBLISHED'] as const
export type PostStatus = (typeof postStatuses)[number]
export type DeliveryPhase = 'NONE' | 'CLAIMED' | 'SENDING' | 'UNKNOWN'
export type PostApproval = 'NONE' | 'PENDING' | 'APPROVED' | 'CHANGES_REQUESTED' | 'REJECTED'

export type PostVisibility = 'PUBLIC' | 'UNLISTED' | 'PRIVATE'
export type FirstCommentStatus = 'PENDING' | 'SENT' | 'FAILED' | 'UNKNOWN'
export type PostOrigin = 'PERSON' | 'API_KEY' | 'SERVICE' | 'IMPORT'

/** State of a network's preparation before a post can be published. */
export interface Prepared {
  /** Hash of the content and account for which the media were prepared: they are valid for nothing else. */
  readonly of: string
  readonly handle: Handle
  /** Start of the network's processing, ISO 8601. */
  readonly since: string
}

/** A picture or video of a post, with its alternative text. */
export interface PostMedium {
  readonly assetId: string
  readonly altText: string | null
}

export const posts = table('publishing.posts', {
  brandId: uuid.key,
  id: uuid.key,
  threadId: uuid,
  position: integer,
  platform: text.of<Platform>(),
  copy: text,
  target: json.of<Target>().maybe,
  status: text.of<PostStatus>(),
  approval: text.of<PostApproval>().or('NONE'),
  scheduledAt: moment.maybe,
  publishedAt: moment.maybe,
  platformPostId: text.maybe,
  permalink: text.maybe,
  failureCode: text.maybe,
  failureMessage: text.maybe,
  failedAt: moment.maybe,
  attempts: integer.or(0),
  deliveryPhase: text.of<DeliveryPhase>().or('NONE'),
  claimId: uuid.maybe,
  claimUntil: moment.maybe,
  /**
   * Whether the post is marked as waiting for the earlier post of its thread. The transaction that publishes or deletes
   * the earlier post removes the mark.
   */
  heldBack: truth.or(false),
  connectionId: uuid.maybe,
  /** The network's account of the last attempt; the network's id of the post is unique within it. */
  externalAccountId: text.maybe,
  /** Time of the next attempt for a due post that could not be sent; null when it does not wait. */
  waitsUntil: moment.maybe,
  waitingSince: moment.maybe,
  /** Number of postponements since then. */
  waits: integer.or(0),
  /** State of the network's preparation; null when none is known. */
  prepared: json.of<Prepared>().maybe,
  /** When the network is next asked whether it has processed the media. */
  prepareAt: moment.maybe,
  /** Null for a post that was created with an API key, which belongs to no person. */
  authorId: uuid.maybe,
  title: text.maybe,
  link: text.maybe,
  tags: texts.or([]),
  visibility: text.of<PostVisibility>().maybe,
  media: json.of<readonly PostMedium[]>().or([]),
  firstComment: text.maybe,
  firstCommentStatus: text.of<FirstCommentStatus>().maybe,
  firstCommentId: text.maybe,
  firstCommentMessage: text.maybe,
  /** Common id of posts that were composed together, one for each network. */
  groupId: uuid.maybe,
  campaignId: uuid.maybe,
  origin: text.of<PostOrigin>().or('PERSON'),
  /** Blocked by approvers: not sent until released. */
  held: truth.or(false),
  ...stamps,
})

export type PostRow = Row<typeof posts>

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

/** Filter of an organization's posts; null and undefined fields do not restrict it. */
export interface PostFilter {
  readonly organizationId: string | null
  readonly brandId?: string | null
  readonly threadId?: string | null
  readonly status?: string | null
  readonly platform?: string | null
  readonly authorId?: string | null
  readonly scheduledAfter?: Date | null
  readonly scheduledBefore?: Date | null
  readonly approval?: string | null
  readonly deliveryPhase?: string | null
  readonly campaignId?: string | null
  readonly groupId?: string | null
  readonly tag?: string | null
  /** Words contained in the text or the title, regardless of letter case. */
  readonly search?: string | null
  /** The rarest part of these words, if known. */
  readonly rarePart?: string | null
}

/** Collects the values of a statement, and returns a placeholder for each. */
function binding() {
  const values: unknown[] = []
  return { values, bind: (value: unknown): string => `$${values.push(value)}` }
}

type Bind = ReturnType<typeof binding>['bind']

const brandsOf = ({ organizationId, brandId }: PostFilter, bind: Bind): string =>
  `b.organization_id = ${bind(organizationId)}${brandId ? ` and b.id = ${bind(brandId)}` : ''}`

const compared = { threadId: 'eq', status: 'eq', platform: 'eq', authorId: 'eq', approval: 'eq', campaignId: 'eq', groupId: 'eq' } as const

/**
 * Builds the conditions of a filter other than the brand, each as `and …`. Unused fields add nothing, so that
 * PostgreSQL can choose an index.
 */
function conditionsOf(filter: PostFilter, bind: Bind): string {
  const { scheduledAfter, scheduledBefore, deliveryPhase, tag, search, rarePart } = filter
  const found = isFoundAlone(filter) ? 'p' : 'f'
  const words = search && !rarePart && bind(containing(search))
  const part = search && rarePart && { first: bind(`%${rarePart}%`), whole: bind(search) }
  return [
    ...comparisonsOf(compared, filter, bind, 'p'),
    scheduledAfter && `p.scheduled_at >= ${bind(scheduledAfter)}`,
    scheduledBefore && `p.scheduled_at < ${bind(scheduledBefore)}`,
    // Frequent values are in no index.
    deliveryPhase && (deliveryPhase === 'NONE' ? `p.delivery_phase = 'NONE'` : `p.delivery_phase = ${bind(deliveryPhase)} and p.delivery_phase <> 'NONE'`),
    tag && hasTag(found, bind(tag)),
    words && `${found}.words like lower(${words})`,
    part && `${found}.words like lower(${part.first}) and strpos(${found}.words, lower(${part.whole})) <> 0`,
  ]
    .flatMap(condition => (condition ? [` and ${condition}`] : []))
    .join('')
}

/** Whether the filter contains only a tag or words, the brand and the organization. */
const isFoundAlone = ({ organizationId: _, brandId: __, rarePart: ___, tag, search, ...others }: PostFilter): boolean =>
  Boolean(tag || search) && Object.values(others).every(asked => !asked)

/**
 * Builds the FROM clause: posts `p`, with the rows that tags or words find as `f` where the filter uses them, or only
 * those.
 */
function postsOf(filter: PostFilter): string {
  if (isFoundAlone(filter)) return '(select brand_id, post_id as id, created_at, words, tags from publishing.post_search) p'
  return `publishing.posts p${filter.tag || filter.search ? ' join publishing.post_search f on f.brand_id = p.brand_id and f.post_id = p.id' : ''}`
}

/** Whether the filter contains a field with an index of its own, other than status, network and author. */
const isNarrowed = ({ tag, search, scheduledAfter, scheduledBefore, approval, deliveryPhase, campaignId, groupId }: PostFilter): boolean =>
  Boolean(tag || search || scheduledAfter || scheduledBefore || approval || deliveryPhase || campaignId || groupId)

/**
 * Whether the best plan depends on the values: words, tags and times may match few posts or all of them, and the
 * shorter of two indexes differs.
 */
const isDifferentEachTime = (filter: PostFilter): boolean => {
  const { tag, search, scheduledAfter, scheduledBefore, status, platform, authorId } = filter
  return Boolean(tag || search || scheduledAfter || scheduledBefore) || (isNarrowed(filter) && Boolean(status || platform || authorId))
}

const columns = selectList(posts, 'p')

/**
 * Builds the statement for one page, newest first, or in thread order when the filter names a thread. For each brand
 * (and each status and network, if the filter contains only one of these) it reads at most a page along an index, and
 * then merges them: the cost of a page does not depend on the number of posts.
 */
function pageOf(filter: PostFilter, { after, limit }: PageRequest): Asked {
  const { values, bind } = binding()
  const brands = brandsOf(filter, bind)
  const most = bind(limit)
  if (filter.threadId)
    return {
      text: `select ${columns} from publishing.brands b cross join lateral (
         select p.* from ${postsOf(filter)} where p.brand_id = b.id${conditionsOf(filter, bind)} ${after ? `and p.position > ${bind(after[0])}` : ''}
         order by p.position limit ${most}) p
       where ${brands} order by p.position limit ${most}`,
      values,
    }
  const { status, platform, authorId } = filter
  const isWalked = !isNarrowed(filter)
  const walked = [
    isWalked && !status && (platform || authorId) ? { table: `unnest(${bind(postStatuses)}::text[]) s(status)`, condition: 'p.status = s.status' } : null,
    isWalked && !platform && (status || authorId) ? { table: `unnest(${bind(platforms)}::text[]) n(platform)`, condition: 'p.platform = n.platform' } : null,
  ].filter(each => each !== null)
  const kinds = walked.map(({ table }) => ` cross join ${table}`).join('')
  const ofKind = walked.map(({ condition }) => ` and ${condition}`).join('')
  const behind = after ? `and (p.created_at, p.id) < (${bind(after[0])}::timestamptz, ${bind(after[1])}::uuid)` : ''
  return {
    text: `select ${columns} from (
       select w.brand_id, w.id from publishing.brands b${kinds} cross join lateral (
         select p.brand_id, p.id, p.created_at from ${postsOf(filter)} where p.brand_id = b.id${ofKind}${conditionsOf(filter, bind)} ${behind}
         order by p.created_at desc, p.id desc limit ${most}) w
       where ${brands} order by w.created_at desc, w.id desc limit ${most}) page
     join publishing.posts p on p.brand_id = page.brand_id and p.id = page.id
     order by p.created_at desc, p.id desc`,
    values,
    depends: isDifferentEachTime(filter),
  }
}

function countOf(filter: PostFilter): Asked {
  const { values, bind } = binding()
  const text = `select count(*)::int as count from publishing.brands b join ${postsOf(filter)} on p.brand_id = b.id where ${brandsOf(filter, bind)}${conditionsOf(filter, bind)}`
  return { text, values, depends: isDifferentEachTime(filter) }
}

const predecessors = statement(
  `select q.id as before, ${columns} from publishing.posts q
       join lateral (select * from publishing.posts e where e.brand_id = q.brand_id and e.thread_id = q.thread_id and e.position < q.position
         order by e.position desc limit 1) p on true
     where q.id = any($1::uuid[])`,
)
const successor = statement(
  `select ${columns} from publishing.posts p where p.brand_id = $1 and p.thread_id = $2 and p.position > $3 order by p.position limit 1 for update`,
)
/** Takes the lock of a thread, `<brand id>:<thread id>`, under which posts join and leave it. */
export const lockThreadKey = transactionLock('publishing.threads')
const lastPosition = statement('select max(position) as position from publishing.posts where brand_id = $1 and thread_id = $2')
const sameWords = statement(`select ${columns} from publishing.posts p where p.brand_id = $1 and p.created_by = $2 and p.copy = any($3::text[]) order by p.id`)
const takeFailedBefore = statement(
  `delete from publishing.failed_before f where (f.brand_id, f.id) in (select brand_id, id from publishing.failed_before limit $1 for update skip locked)
   returning f.id`,
)
const withOrganization = statement(
  `select ${columns}, b.organization_id as "organizationId" from publishing.posts p join publishing.brands b on b.id = p.brand_id
   where p.id = any($1::uuid[]) order by p.id for no key update of p`,
)
const ofGroup = statement(`select ${columns} from publishing.posts p where p.brand_id = $1 and p.group_id = $2 order by p.id`)
// A file has 500 posts at most.
const writtenToday = countByCaller(posts, { rowsAtOnce: 500 })

const changed = statement(
  `select ${columns} from publishing.posts p where p.brand_id = $1 and (p.brand_id, p.id) in (
     (select brand_id, id from publishing.posts where brand_id = $1 and updated_at >= $2 order by updated_at desc limit 500)
     union (select brand_id, id from publishing.posts where brand_id = $1 and delivery_phase in ('CLAIMED', 'SENDING') limit 500))`,
)

/** Each combination of filters has a statement of its own; there are some hundred combinations. */
const filtered = keptStatements(500)

/** Returns the statements that only posts have. */
function postSql(rows: Rows<typeof posts>, { reading, sequelize, viewer }: StoreContext) {
  const rareParts = rarePartStore.open({ sequelize })
  const pages = filteredPages<PostRow, PostFilter>(rows, reading, {
    kept: filtered,
    page: pageOf,
    count: countOf,
    order: ({ threadId }) => (threadId ? threadOrder : newestFirst),
  })
  return {
    /** Returns a page of posts. A viewer only gets posts of the viewer's organization, whatever the filter contains. */
    filtered(filter: PostFilter, request: PageRequest): Promise<Connection<PostRow>> {
      // With further filters another index may be faster: PostgreSQL decides by all the words.
      const rarePart = filter.search && isFoundAlone(filter) ? rareParts.of(filter.search) : null
      return pages({ ...filter, ...(viewer && { organizationId: viewer.organizationId }), rarePart }, request)
    },

    /** Loads the earlier post of the thread by the later post's id, for one operation. */
    predecessorOf: createLoader<string, PostRow | null>(reading, async ids => {
      const found = new Map((await rows.read<PostRow & { before: string }>(predecessors, [ids])).map(row => [row.before, row]))
      return ids.map(id => found.get(id) ?? null)
    }),

    /** Returns the earlier post of the thread, in its state within the transaction; null for the first post. */
    async predecessor(id: string, transaction: Transaction): Promise<PostRow | null> {
      const [found] = await rows.read(predecessors, [[id]], transaction)
      return found ?? null
    },

    /**
     * Locks and returns the next post of the thread, if there is one; waits for a transaction that is marking it as
     * held back.
     */
    async successor(post: PostRow, transaction: Transaction): Promise<PostRow | null> {
      const [found] = await rows.read(successor, [post.brandId, post.threadId, post.position], transaction)
      return found ?? null
    },

    /**
     * Returns the position behind the last post of a thread, and locks it: no other transaction gets it.
     * @throws NOT_FOUND when the brand has no such thread
     */
    async placeIn(brandId: string, threadId: string, transaction: Transaction): Promise<number> {
      await rows.read(lockThreadKey, [`${brandId}:${threadId}`], transaction)
      const [last] = await rows.read<{ position: number | null }>(lastPosition, [brandId, threadId], transaction)
      if (last!.position !== null) return last!.position + 1
      throw new DomainError('NOT_FOUND', `The brand has no thread ${threadId}: leave threadId out to start one.`, { field: 'threadId' })
    },

    /**
     * Removes posts from the list of failures that happened before failures were reported, and locks them.
     * @returns null when the list is empty
     */
    async takeFailedBefore(limit: number, transaction: Transaction): Promise<(PostRow & { organizationId: string })[] | null> {
      const taken = await rows.read<{ id: string }>(takeFailedBefore, [limit], transaction)
      if (taken.length === 0) return null
      return rows.read<PostRow & { organizationId: string }>(withOrganization, [taken.map(({ id }) => id)], transaction)
    },

    madeBy: writtenToday(rows),

    /** Returns the posts that were composed together, in their present state. */
    ofGroup: ({ brandId, groupId }: Pick<PostRow, 'brandId' | 'groupId'>) => rows.read<PostRow>(ofGroup, [brandId, groupId]),

    /** Returns a caller's posts in a brand with one of these texts, the oldest first. */
    withWords: (brandId: string, createdBy: string, copies: readonly string[], transaction: Transaction) =>
      rows.read(sameWords, [brandId, createdBy, copies], transaction),

    /**
     * Returns posts of a brand that have changed since a moment, the last 500, and those that are being sent, because
     * steps of a delivery do not change that time.
     */
    changedSince: (brandId: string, since: Date) => rows.read<PostRow>(changed, [brandId, since]),

    /**
     * Removes the mark of being held back from a post, if it has one, after the earlier post was published or deleted.
     */
    async release(post: PostRow | null, transaction: Transaction): Promise<void> {
      if (post?.heldBack) await rows.update(post, { heldBack: false }, transaction)
    },
  }
}

export const postStore = store(
  posts,
  {
    what: 'post',
    tenancy: { through: brands, owner: 'organizationId', by: 'brandId' },
    lists: { ofCampaign: { below: 'campaignId', order: 'newest first' } },
    writtenOften: true,
  },
  postSql,
)
