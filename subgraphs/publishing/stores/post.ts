import type { Transaction } from 'sequelize'
import { Refusal } from '../../../platform/errors.ts'
import { isId } from '../../../platform/ids.ts'
import { type Connection, isMoment, type Order, type PageRequest } from '../../../platform/page.ts'
import { transactionLock } from '../../../platform/sql/lock.ts'
import { keptStatements, statement } from '../../../platform/sql/statement.ts'
import { integer, json, moment, type Row, selectList, stamps, table, text, texts, truth, uuid } from '../../../platform/sql/table.ts'
import { comparisonsOf, containing } from '../../store/filter/filters.ts'
import { type Asked, filteredPages } from '../../store/filter/pages.ts'
import { createLoader } from '../../store/loader.ts'
import { type Opening, type Rows, store } from '../../store/store.ts'
import { countByCaller } from '../../store/usage.ts'
import type { Handle, Platform, Target } from '../network/network.ts'
import { platforms } from '../network/networks.ts'
import { brands } from './brand.ts'
import { rarePartStore } from './rare-part.ts'

/** Tags without those that differ from an earlier one by the case of their letters alone. */
export function eachOnce(tags: readonly string[]): readonly string[] {
  const known = new Set<string>()
  return tags.filter(tag => {
    const isNew = !known.has(tag.toLowerCase())
    known.add(tag.toLowerCase())
    return isNew
  })
}

/** The condition that a row has a tag, whatever the case of its letters; an index has it. */
export const hasTag = (table: string, tag: string): string => `publishing.folded(${table}.tags) @> array[lower(${tag})] and ${table}.tags <> '{}'`

export const postStatuses = ['DRAFT', 'SCHEDULED', 'FAILED', 'PUBLISHED'] as const
export type PostStatus = (typeof postStatuses)[number]
export type DeliveryPhase = 'NONE' | 'CLAIMED' | 'SENDING' | 'UNKNOWN'
export type PostApproval = 'NONE' | 'PENDING' | 'APPROVED' | 'CHANGES_REQUESTED' | 'REJECTED'

export type PostVisibility = 'PUBLIC' | 'UNLISTED' | 'PRIVATE'
export type FirstCommentStatus = 'PENDING' | 'SENT' | 'FAILED' | 'UNKNOWN'
export type PostOrigin = 'PERSON' | 'API_KEY' | 'SERVICE' | 'IMPORT'

/** What a network works on before a post can be published there. */
export interface Prepared {
  /** Of what was prepared: of another content, or for another account, it is worth nothing. */
  readonly of: string
  readonly handle: Handle
  /** Since when the network works on it, as an ISO text. */
  readonly since: string
}

/** A picture or film that a post carries, and what it shows for people who cannot see it. */
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
  /** Known to wait for the earlier post of its thread: whoever publishes or deletes that one takes the mark away. */
  heldBack: truth.or(false),
  connectionId: uuid.maybe,
  /** The network's account of the last attempt: its id for the post is told apart within it. */
  externalAccountId: text.maybe,
  /** When a due post that could not be sent is tried again; null when it does not wait. */
  waitsUntil: moment.maybe,
  waitingSince: moment.maybe,
  /** How often it was put back since then. */
  waits: integer.or(0),
  /** What a network works on before the post can be published there; null: nothing that is known. */
  prepared: json.of<Prepared>().maybe,
  /** When the network is asked again how far it is. */
  prepareAt: moment.maybe,
  /** Null for a post that was written with a key: no person stands behind it. */
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
  /** Posts that were composed together, one a network. */
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

/** Which posts of an organization; what is null or left out does not narrow. */
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
  /** Words that the text or the title holds, whatever the case of their letters. */
  readonly search?: string | null
  /** What of these words is rare, where that is known. */
  readonly rarePart?: string | null
}

/** Collects what a statement is told, and hands back the placeholder of each. */
function binding() {
  const values: unknown[] = []
  return { values, bind: (value: unknown): string => `$${values.push(value)}` }
}

type Bind = ReturnType<typeof binding>['bind']

const brandsOf = ({ organizationId, brandId }: PostFilter, bind: Bind): string =>
  `b.organization_id = ${bind(organizationId)}${brandId ? ` and b.id = ${bind(brandId)}` : ''}`

const compared = { threadId: 'eq', status: 'eq', platform: 'eq', authorId: 'eq', approval: 'eq', campaignId: 'eq', groupId: 'eq' } as const

/** What a filter asks of a post beside its brand, each as `and …`; only what is asked stands there, so that an index can be chosen for it. */
function conditionsOf(filter: PostFilter, bind: Bind): string {
  const { scheduledAfter, scheduledBefore, deliveryPhase, tag, search, rarePart } = filter
  const found = isFoundAlone(filter) ? 'p' : 'f'
  const words = search && !rarePart && bind(containing(search))
  const part = search && rarePart && { first: bind(`%${rarePart}%`), whole: bind(search) }
  return [
    ...comparisonsOf(compared, filter, bind, 'p'),
    scheduledAfter && `p.scheduled_at >= ${bind(scheduledAfter)}`,
    scheduledBefore && `p.scheduled_at < ${bind(scheduledBefore)}`,
    // What most posts have stands in no index.
    deliveryPhase && (deliveryPhase === 'NONE' ? `p.delivery_phase = 'NONE'` : `p.delivery_phase = ${bind(deliveryPhase)} and p.delivery_phase <> 'NONE'`),
    tag && hasTag(found, bind(tag)),
    words && `${found}.words like lower(${words})`,
    part && `${found}.words like lower(${part.first}) and strpos(${found}.words, lower(${part.whole})) <> 0`,
  ]
    .flatMap(condition => (condition ? [` and ${condition}`] : []))
    .join('')
}

/** Whether posts are asked for by nothing but what they are found by, their brand and their age. */
const isFoundAlone = ({ organizationId: _, brandId: __, rarePart: ___, tag, search, ...others }: PostFilter): boolean =>
  Boolean(tag || search) && Object.values(others).every(asked => !asked)

/** Posts `p`; with what they are found by as `f` where that is asked for, or only that. */
function postsOf(filter: PostFilter): string {
  if (isFoundAlone(filter)) return '(select brand_id, post_id as id, created_at, words, tags from publishing.post_search) p'
  return `publishing.posts p${filter.tag || filter.search ? ' join publishing.post_search f on f.brand_id = p.brand_id and f.post_id = p.id' : ''}`
}

/** Whether something is asked that has an index of its own, beside those of status, network and author. */
const isNarrowed = ({ tag, search, scheduledAfter, scheduledBefore, approval, deliveryPhase, campaignId, groupId }: PostFilter): boolean =>
  Boolean(tag || search || scheduledAfter || scheduledBefore || approval || deliveryPhase || campaignId || groupId)

/** Whether the short way depends on what is asked for: words, tags and times are of few posts or of all, and of two indexes one is shorter. */
const isDifferentEachTime = (filter: PostFilter): boolean => {
  const { tag, search, scheduledAfter, scheduledBefore, status, platform, authorId } = filter
  return Boolean(tag || search || scheduledAfter || scheduledBefore) || (isNarrowed(filter) && Boolean(status || platform || authorId))
}

const columns = selectList(posts, 'p')

/**
 * One page, newest first, or in thread order when the filter names a thread. Each brand (and, where one of them and nothing else is
 * asked for, each status and network) is walked in the order of an index for no more than a page, and what they give is merged: so a page
 * costs the same however many posts there are.
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
const writtenToday = countByCaller(posts)

const changed = statement(
  `select ${columns} from publishing.posts p where p.brand_id = $1 and (p.brand_id, p.id) in (
     (select brand_id, id from publishing.posts where brand_id = $1 and updated_at >= $2 order by updated_at desc limit 500)
     union (select brand_id, id from publishing.posts where brand_id = $1 and delivery_phase in ('CLAIMED', 'SENDING') limit 500))`,
)

/** Each combination of filters is a statement of its own; there are some hundred that differ. */
const filtered = keptStatements(500)

/** What only posts are asked. */
function postSql(rows: Rows<typeof posts>, { reading, sequelize, viewer }: Opening) {
  const rareParts = rarePartStore.open({ sequelize })
  const pages = filteredPages<PostRow, PostFilter>(rows, reading, {
    kept: filtered,
    page: pageOf,
    count: countOf,
    order: ({ threadId }) => (threadId ? threadOrder : newestFirst),
  })
  return {
    /** A page of posts. A viewer's are those of the viewer's organization, whatever is asked. */
    filtered(filter: PostFilter, request: PageRequest): Promise<Connection<PostRow>> {
      // Where more is asked, another index may serve, and which one is shorter is weighed by all of the words.
      const rarePart = filter.search && isFoundAlone(filter) ? rareParts.of(filter.search) : null
      return pages({ ...filter, ...(viewer && { organizationId: viewer.organizationId }), rarePart }, request)
    },

    /** The earlier post of the thread by the later one's id, for one operation. */
    predecessorOf: createLoader<string, PostRow | null>(reading, async ids => {
      const found = new Map((await rows.read<PostRow & { before: string }>(predecessors, [ids])).map(row => [row.before, row]))
      return ids.map(id => found.get(id) ?? null)
    }),

    /** The post before this one in its thread, as it stands in the transaction; null at the head of a thread. */
    async predecessor(id: string, transaction: Transaction): Promise<PostRow | null> {
      const [found] = await rows.read(predecessors, [[id]], transaction)
      return found ?? null
    },

    /** The post behind this one in its thread, if there is one, under lock: whoever is about to find it held back is waited for. */
    async successor(post: PostRow, transaction: Transaction): Promise<PostRow | null> {
      const [found] = await rows.read(successor, [post.brandId, post.threadId, post.position], transaction)
      return found ?? null
    },

    /**
     * The place behind the last post of a thread; nobody else is given it before the transaction ends.
     * @throws NOT_FOUND when the brand has no such thread
     */
    async placeIn(brandId: string, threadId: string, transaction: Transaction): Promise<number> {
      await rows.read(lockThreadKey, [`${brandId}:${threadId}`], transaction)
      const [last] = await rows.read<{ position: number | null }>(lastPosition, [brandId, threadId], transaction)
      if (last!.position !== null) return last!.position + 1
      throw new Refusal('NOT_FOUND', `The brand has no thread ${threadId}: leave threadId out to start one.`, { field: 'threadId' })
    },

    /**
     * Takes posts from the list of those that failed before anybody was told of it, under lock.
     * @returns null when the list is empty
     */
    async takeFailedBefore(limit: number, transaction: Transaction): Promise<(PostRow & { organizationId: string })[] | null> {
      const taken = await rows.read<{ id: string }>(takeFailedBefore, [limit], transaction)
      if (taken.length === 0) return null
      return rows.read<PostRow & { organizationId: string }>(withOrganization, [taken.map(({ id }) => id)], transaction)
    },

    madeBy: writtenToday(rows),

    /** The posts that were composed with one, as they stand. */
    ofGroup: ({ brandId, groupId }: Pick<PostRow, 'brandId' | 'groupId'>) => rows.read<PostRow>(ofGroup, [brandId, groupId]),

    /** What a caller has written in a brand with one of these texts, the oldest first. */
    withWords: (brandId: string, createdBy: string, copies: readonly string[], transaction: Transaction) =>
      rows.read(sameWords, [brandId, createdBy, copies], transaction),

    /** Posts of a brand that were changed since, the last 500; and those that are being sent, whose steps change no more than that. */
    changedSince: (brandId: string, since: Date) => rows.read<PostRow>(changed, [brandId, since]),

    /** Takes the mark of being held back from a post, if it has it: what held it is published or gone. */
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
