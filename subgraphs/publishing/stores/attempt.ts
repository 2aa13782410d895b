import type { Transaction } from 'sequelize'
import { newId } from '../../../platform/ids.ts'
import { statement } from '../../../platform/sql/statement.ts'
import { integer, json, modelOf, moment, type Row, selectList, stamps, table, text, uuid } from '../../../platform/sql/table.ts'
import type { WriteTransaction } from '../../store/books.ts'
import { createLoader } from '../../store/loader.ts'
import { type Rows, type StoreContext, store } from '../../store/store.ts'
import type { Platform } from '../network/network.ts'
import type { Handle, RefusalReason, Target } from '../network/publication.ts'
import { brands } from './brand.ts'
import { farthestClaimMs, farthestPauseMs, farthestWaitMs, hasComeInSql as hasCome, sentAtOnce } from './pace.ts'
import { type PostRow, type PostVisibility, posts } from './post.ts'

/**
 * NOT_DELIVERED: the call was made, and the network does not have the post. NOT_SENT: the call was certainly not made.
 */
export type AttemptOutcome = 'DELIVERED' | 'REFUSED' | 'UNKNOWN' | 'NOT_DELIVERED' | 'NOT_SENT'

/** Attempts to deliver: one row before each call that cannot be undone. */
export const attempts = table('publishing.attempts', {
  brandId: uuid.key,
  id: uuid.key,
  /** Null once the post is deleted: the attempt still counts for the account that its text was sent to. */
  postId: uuid.maybe,
  number: integer,
  connectionId: uuid.maybe,
  platform: text.of<Platform>(),
  /** The account of the attempt; several brands may publish to it. */
  externalAccountId: text,
  copy: text,
  inReplyTo: text.maybe,
  startedAt: moment,
  finishedAt: moment.maybe,
  /** Null while the attempt is in progress, and after an interruption. */
  outcome: text.of<AttemptOutcome>().maybe,
  platformPostId: text.maybe,
  detail: text.maybe,
  /** Code with which the network rejected the call, even if the outcome is unknown. */
  refusal: text.of<RefusalReason>().maybe,
  /** Number of requests to the network about the attempt's outcome. */
  reconciled: integer.or(0),
  /** Time of the next request about the outcome; null for none. */
  reconcileAt: moment.maybe,
  /** State that preparing left at the network: a container or an upload. */
  handle: json.of<Handle>().maybe,
  target: json.of<Target>().maybe,
  content: json.of<SentContent>().or({ title: null, link: null, visibility: null, mediaIds: [] }),
  ...stamps,
})

/** Content of an attempt besides its text. */
export interface SentContent {
  readonly title: string | null
  readonly link: string | null
  readonly visibility: PostVisibility | null
  readonly mediaIds: readonly string[]
}

export type AttemptRow = Row<typeof attempts>

/** The fields of an unfinished attempt that decide whose a listed post is. */
export type Claimant = Pick<AttemptRow, 'id' | 'outcome' | 'refusal' | 'startedAt'>

/** Key of a post for delivery. */
export interface PostKey {
  readonly brandId: string
  readonly postId: string
}

/** A new attempt: the post, the connection that sends it, and the account. */
export type NewAttempt = Pick<AttemptRow, 'connectionId' | 'externalAccountId' | 'copy' | 'inReplyTo'> &
  Partial<Pick<AttemptRow, 'handle' | 'target' | 'content'>> & { readonly post: PostRow }

/** Selects other attempts with the text of attempt $2 of brand $1, for the same account. */
const sameText = `from publishing.attempts mine join publishing.attempts a
    on a.platform = mine.platform and a.external_account_id = mine.external_account_id and a.text_key = mine.text_key and a.id <> mine.id
  where mine.brand_id = $1 and mine.id = $2`

/** Joins the earlier post of the thread of `p` as `e`. */
const predecessor = `left join lateral (select e.status, e.platform_post_id from publishing.posts e
  where p.position > 1 and e.brand_id = p.brand_id and e.thread_id = p.thread_id and e.position < p.position order by e.position desc limit 1) e on true`
/** SQL condition under which the earlier post `e` holds `p` back, as `isHeldBy` decides it. */
const heldBack = `(e.status is not null and not (e.status = 'PUBLISHED' and e.platform_post_id is not null))`

/** Whether the brand of `p` sends nothing: it is out of use, or paused. */
const brandStopped = 'exists (select from publishing.brands b where b.id = p.brand_id and (b.archived_at is not null or b.paused_at is not null))'

const postColumns = selectList(posts, 'p')
const attemptColumns = selectList(attempts, 'a')

const lockPost = statement(
  `select ${postColumns}, ${brandStopped} as "brandStopped" from publishing.posts p where p.brand_id = $1 and p.id = $2 for update skip locked`,
)
// Busy connections and stopped brands are found once, not for each post.
const overduePosts = statement(
  `select p.brand_id as "brandId", p.id as "postId", p.platform, ${heldBack} as held from publishing.posts p ${predecessor}
   left join (select f.brand_id, f.platform, count(*) from publishing.posts f
     where f.delivery_phase in ('CLAIMED', 'SENDING') and not ${hasCome('f.claim_until', '$2', farthestClaimMs)} group by f.brand_id, f.platform) busy
     on busy.brand_id = p.brand_id and busy.platform = p.platform
   where p.status = 'SCHEDULED' and not p.held_back and p.scheduled_at <= $1 and p.approval in ('NONE', 'APPROVED') and not p.held
     and p.delivery_phase in ('NONE', 'CLAIMED') and ${hasCome('p.claim_until', '$2', farthestClaimMs)}
     and ${hasCome('p.waits_until', '$2', farthestWaitMs)} and ${hasCome('p.prepare_at', '$2', farthestPauseMs)}
     and p.brand_id not in (select s.id from publishing.brands s where s.archived_at is not null or s.paused_at is not null)
     and coalesce(busy.count, 0) < $4
   order by held, p.scheduled_at limit $3`,
)
const stopped = statement(
  `select b.archived_at is not null or b.paused_at is not null
     or not exists (select from publishing.connections c where c.brand_id = b.id and c.id = $2 and c.active) as stopped
   from publishing.brands b where b.id = $1`,
)
const uncommentedPosts = statement(
  `select p.brand_id as "brandId", p.id as "postId" from publishing.posts p
   where p.status = 'PUBLISHED' and p.first_comment_status = 'PENDING' and p.published_at <= $1 and not ${brandStopped}
   order by p.published_at limit $2`,
)
/** Maximum number of attempts that are listed for a post: the latest ones. */
export const mostAttempts = 50
const attemptsOfPosts = statement(
  `select ${attemptColumns} from unnest($1::uuid[], $2::uuid[]) w(brand_id, id) cross join lateral (
     select * from publishing.attempts a where a.brand_id = w.brand_id and a.post_id = w.id order by a.number desc limit ${mostAttempts}) a
   order by a.number`,
)
const lockHeldBack = statement(
  `select p.id from publishing.posts p ${predecessor}
   where p.status = 'SCHEDULED' and not p.held_back and p.scheduled_at <= $1 and p.approval in ('NONE', 'APPROVED') and not p.held and ${heldBack}
   limit $2 for update of p skip locked`,
)
const markHeldBack = statement(
  `update publishing.posts set held_back = true from (select p.brand_id, p.id from publishing.posts p ${predecessor} where p.id = any($1::uuid[]) and ${heldBack}) h
   where posts.brand_id = h.brand_id and posts.id = h.id`,
)
const interruptedPosts = statement(
  `select p.brand_id as "brandId", p.id as "postId" from publishing.posts p
   where p.delivery_phase = 'SENDING' and ${hasCome('p.claim_until', '$1', farthestClaimMs)} and p.status = 'SCHEDULED' order by p.claim_until limit $2`,
)
const unknownPosts = statement(
  `select p.brand_id as "brandId", p.id as "postId" from publishing.attempts a
   join publishing.posts p on p.brand_id = a.brand_id and p.id = a.post_id and p.attempts = a.number
   where a.reconcile_at is not null and ${hasCome('a.reconcile_at', '$1', farthestPauseMs)} and p.delivery_phase = 'UNKNOWN' order by a.reconcile_at limit $2`,
)
const lastAttempt = statement(`select ${attemptColumns} from publishing.attempts a where a.brand_id = $1 and a.post_id = $2 order by a.number desc limit 1`)
const doubtfulAttempts = statement(
  `select ${attemptColumns} ${sameText} and a.started_at >= $3 and (a.outcome is null or a.outcome not in ('DELIVERED', 'NOT_SENT')) order by a.started_at limit 100`,
)
const rivalAttempts = statement(
  `select a.id, a.outcome, a.refusal, a.started_at as "startedAt" ${sameText} and a.post_id <> $3
     and (a.outcome is null or (a.outcome = 'UNKNOWN' and a.reconcile_at is not null))
     and exists (select from publishing.posts p where p.brand_id = a.brand_id and p.id = a.post_id and p.attempts = a.number
       and p.delivery_phase in ('SENDING', 'UNKNOWN')) limit 100`,
)
const takenIds = statement(
  `select p.platform_post_id as id from publishing.posts p
   where p.platform = $1 and p.external_account_id = $2 and p.platform_post_id is not null and p.published_at >= $3
     and (p.brand_id, p.id) <> ($4::uuid, $5::uuid) order by p.published_at desc limit 5000`,
)

/** Queries of delivery about posts and attempts: due ones, stuck ones, and former attempts. */
function attemptSql(rows: Rows<typeof attempts>, { sequelize, reading }: StoreContext) {
  return {
    /** Locks a post that no other transaction has locked; null when another one has, or when the post is deleted. */
    async lockIfFree({ brandId, postId }: PostKey, transaction: Transaction): Promise<(PostRow & { brandStopped: boolean }) | null> {
      const [post] = await rows.read<PostRow & { brandStopped: boolean }>(lockPost, [brandId, postId], transaction)
      return post ?? null
    },

    /**
     * Whether deliveries for a brand by this connection are stopped: the brand is archived or paused, or the connection
     * has ended.
     */
    async isStopped({ brandId, connectionId }: Pick<PostRow, 'brandId' | 'connectionId'>, transaction: Transaction): Promise<boolean> {
      const [found] = await rows.read<{ stopped: boolean }>(stopped, [brandId, connectionId], transaction)
      return found?.stopped ?? true
    },

    /** Returns published posts whose comment was due before `before`, the oldest first: their job was lost. */
    uncommented: (before: Date, limit: number) => rows.read<PostKey>(uncommentedPosts, [before, limit]),

    /** Loads the last 50 attempts of a post, the earliest first, by `brandId:postId`, for one operation. */
    ofPost: createLoader<string, readonly AttemptRow[]>(reading, async keys => {
      const [brandIds, ids] = [keys.map(key => key.split(':')[0]), keys.map(key => key.split(':')[1])]
      const found = Map.groupBy(await rows.read(attemptsOfPosts, [brandIds, ids]), ({ postId }) => postId)
      return ids.map(id => found.get(id!) ?? [])
    }),

    /**
     * Returns posts that were due before `before` and are unclaimed, the longest waiting first; behind them posts that
     * the earlier post of their thread holds back, unless they are marked as held back already. Posts whose connection
     * is busy are omitted: their own job sends them.
     * @param perConnection maximum number of a brand's posts for one network that are sent at once
     */
    overdue: (before: Date, now: Date, limit: number, perConnection = sentAtOnce) =>
      rows.read<PostKey & { platform: Platform; held: boolean }>(overduePosts, [before, now, limit, perConnection]),

    /**
     * Marks due posts that are held back, so that sweeps skip them until the earlier post is published or deleted. It
     * locks the posts before it reads them: a transaction that publishes the earlier post at the same moment waits for
     * the mark and removes it.
     */
    async markHeldBack(before: Date, limit: number, transaction: Transaction): Promise<void> {
      const found = await rows.read<{ id: string }>(lockHeldBack, [before, limit], transaction)
      await rows.read(markHeldBack, [found.map(({ id }) => id)], transaction)
    },

    /** Returns posts whose publishing call was recorded but never concluded, and whose worker's claim has expired. */
    interrupted: (now: Date, limit: number) => rows.read<PostKey>(interruptedPosts, [now, limit]),

    /** Returns posts of unknown outcome whose network is due to be asked. */
    unknown: (now: Date, limit: number) => rows.read<PostKey>(unknownPosts, [now, limit]),

    /** Returns the last attempt of a post; null before the first. */
    async lastAttempt(post: PostRow, transaction?: Transaction): Promise<AttemptRow | null> {
      const [attempt] = await rows.read(lastAttempt, [post.brandId, post.id], transaction)
      return attempt ?? null
    },

    /**
     * Returns attempts of any post and brand for the same account with the same text that were recorded as failed but
     * may have published it, the earliest first: a listed or duplicate post may be the result of one of them.
     * @param since omits earlier attempts, with which the network compares no more
     */
    doubtful: (attempt: AttemptRow, since: Date) => rows.read(doubtfulAttempts, [attempt.brandId, attempt.id, since]),

    /**
     * Returns open attempts of other posts for the same account with the same text: in progress, interrupted, or of
     * unknown outcome.
     */
    rivals: (attempt: AttemptRow) => rows.read<Claimant>(rivalAttempts, [attempt.brandId, attempt.id, attempt.postId]),

    /**
     * Records the attempt that follows the post's last one, and returns it. A last attempt that was certainly not sent
     * is reused and keeps its number.
     */
    async begin({ post, ...values }: NewAttempt, { now, transaction }: WriteTransaction): Promise<AttemptRow> {
      if (post.waits > 0) {
        const [, [row]] = await modelOf(sequelize, attempts).update(
          { ...values, startedAt: now, finishedAt: null, outcome: null, detail: null, refusal: null, updatedAt: now },
          { where: { brandId: post.brandId, postId: post.id, number: post.attempts, outcome: 'NOT_SENT' }, returning: true, transaction },
        )
        if (row) return row.get({ plain: true }) as AttemptRow
      }
      const attempt = { ...values, brandId: post.brandId, id: newId(now), postId: post.id, number: post.attempts + 1, platform: post.platform, startedAt: now }
      return rows.insert({ ...attempt, createdAt: now, updatedAt: now, createdBy: 'delivery' }, transaction)
    },

    /**
     * Returns the network's ids of other posts for the attempt's account since a moment: none of them can be this post.
     */
    async takenIds(attempt: AttemptRow, since: Date): Promise<ReadonlySet<string>> {
      const { platform, externalAccountId, brandId, postId } = attempt
      const found = await rows.read<{ id: string }>(takenIds, [platform, externalAccountId, since, brandId, postId])
      return new Set(found.map(({ id }) => id))
    },
  }
}

export const attemptStore = store(
  attempts,
  { what: 'attempt', tenancy: { through: brands, owner: 'organizationId', by: 'brandId' }, writtenOften: true },
  attemptSql,
)
