import type { Transaction } from 'sequelize'
import { newId } from '../../../platform/ids.ts'
import { statement } from '../../../platform/sql/statement.ts'
import { integer, json, modelOf, moment, type Row, selectList, stamps, table, text, uuid } from '../../../platform/sql/table.ts'
import type { Unit } from '../../store/books.ts'
import { createLoader } from '../../store/loader.ts'
import { type Opening, type Rows, store } from '../../store/store.ts'
import type { Handle, Platform, RefusalReason, Target } from '../network/network.ts'
import { brands } from './brand.ts'
import { farthestClaimMs, farthestPauseMs, farthestWaitMs, hasComeInSql as hasCome, sentAtOnce } from './pace.ts'
import { type PostRow, type PostVisibility, posts } from './post.ts'

/** NOT_DELIVERED: the call was made, and the network does not have the post. NOT_SENT: the call surely was not made. */
export type AttemptOutcome = 'DELIVERED' | 'REFUSED' | 'UNKNOWN' | 'NOT_DELIVERED' | 'NOT_SENT'

/** Attempts to deliver: one row before each call that cannot be taken back. */
export const attempts = table('publishing.attempts', {
  brandId: uuid.key,
  id: uuid.key,
  /** Null once the post is deleted: what was sent with its text still counts for the account. */
  postId: uuid.maybe,
  number: integer,
  connectionId: uuid.maybe,
  platform: text.of<Platform>(),
  /** The account that it was made for: several brands may publish there. */
  externalAccountId: text,
  copy: text,
  inReplyTo: text.maybe,
  startedAt: moment,
  finishedAt: moment.maybe,
  /** Null: interrupted, or under way. */
  outcome: text.of<AttemptOutcome>().maybe,
  platformPostId: text.maybe,
  detail: text.maybe,
  /** With which code the network refused the call, also when the outcome is in doubt for all that. */
  refusal: text.of<RefusalReason>().maybe,
  /** How often the network was asked about it. */
  reconciled: integer.or(0),
  /** When to ask next; null: not to be asked. */
  reconcileAt: moment.maybe,
  /** What preparing left at the network: a container, an upload. */
  handle: json.of<Handle>().maybe,
  target: json.of<Target>().maybe,
  content: json.of<SentContent>().or({ title: null, link: null, visibility: null, mediaIds: [] }),
  ...stamps,
})

/** What an attempt sends beside its text. */
export interface SentContent {
  readonly title: string | null
  readonly link: string | null
  readonly visibility: PostVisibility | null
  readonly mediaIds: readonly string[]
}

export type AttemptRow = Row<typeof attempts>

/** An attempt without a known end, as far as it decides whose a listed post is. */
export type Claimant = Pick<AttemptRow, 'id' | 'outcome' | 'refusal' | 'startedAt'>

/** A post that delivery has to look at, by key. */
export interface PostKey {
  readonly brandId: string
  readonly postId: string
}

/** What is about to be sent, by which connection, for which account. */
export type NewAttempt = Pick<AttemptRow, 'connectionId' | 'externalAccountId' | 'copy' | 'inReplyTo'> &
  Partial<Pick<AttemptRow, 'handle' | 'target' | 'content'>> & { readonly post: PostRow }

/** Other attempts with the text of attempt $2 of brand $1, for the same account. */
const sameText = `from publishing.attempts mine join publishing.attempts a
    on a.platform = mine.platform and a.external_account_id = mine.external_account_id and a.text_key = mine.text_key and a.id <> mine.id
  where mine.brand_id = $1 and mine.id = $2`

/** Joins to `p` the earlier post of its thread as `e`. */
const predecessor = `left join lateral (select e.status, e.platform_post_id from publishing.posts e
  where p.position > 1 and e.brand_id = p.brand_id and e.thread_id = p.thread_id and e.position < p.position order by e.position desc limit 1) e on true`
/** Whether that one holds `p` back, as `isHeldBy` says. */
const heldBack = `(e.status is not null and not (e.status = 'PUBLISHED' and e.platform_post_id is not null))`

/** Whether the brand of `p` sends nothing: it is out of use, or paused. */
const brandStopped = 'exists (select from publishing.brands b where b.id = p.brand_id and (b.archived_at is not null or b.paused_at is not null))'

const postColumns = selectList(posts, 'p')
const attemptColumns = selectList(attempts, 'a')

const lockPost = statement(
  `select ${postColumns}, ${brandStopped} as "brandStopped" from publishing.posts p where p.brand_id = $1 and p.id = $2 for update skip locked`,
)
// Which connections are busy, and which brands send nothing, is found once and not for each post.
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
/** How many attempts are told of a post: the last ones. */
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
function attemptSql(rows: Rows<typeof attempts>, { sequelize, reading }: Opening) {
  return {
    /** Locks a post if nobody else has it under lock; null when somebody has, or it is gone. */
    async lockIfFree({ brandId, postId }: PostKey, transaction: Transaction): Promise<(PostRow & { brandStopped: boolean }) | null> {
      const [post] = await rows.read<PostRow & { brandStopped: boolean }>(lockPost, [brandId, postId], transaction)
      return post ?? null
    },

    /** Whether nothing is sent for a brand by this connection at this moment: the one is archived or paused, or the other was ended. */
    async isStopped({ brandId, connectionId }: Pick<PostRow, 'brandId' | 'connectionId'>, transaction: Transaction): Promise<boolean> {
      const [found] = await rows.read<{ stopped: boolean }>(stopped, [brandId, connectionId], transaction)
      return found?.stopped ?? true
    },

    /** Published posts whose comment is to be sent since a moment before `before`, the oldest first: their job was lost. */
    uncommented: (before: Date, limit: number) => rows.read<PostKey>(uncommentedPosts, [before, limit]),

    /** The last 50 attempts of a post, the earliest first; by `brandId:postId`, for one operation. */
    ofPost: createLoader<string, readonly AttemptRow[]>(reading, async keys => {
      const [brandIds, ids] = [keys.map(key => key.split(':')[0]), keys.map(key => key.split(':')[1])]
      const found = Map.groupBy(await rows.read(attemptsOfPosts, [brandIds, ids]), ({ postId }) => postId)
      return ids.map(id => found.get(id!) ?? [])
    }),

    /**
     * Posts whose time came before `before` and that nobody holds, the longest waiting first; behind them those that the earlier post
     * of their thread holds back, unless that is known of them already. Left out are those whose connection is busy: they have their
     * wake-up, and wait for job.
     * @param perConnection how many posts of a brand for one network are sent at once
     */
    overdue: (before: Date, now: Date, limit: number, perConnection = sentAtOnce) =>
      rows.read<PostKey & { platform: Platform; held: boolean }>(overduePosts, [before, now, limit, perConnection]),

    /**
     * Marks due posts that are held back, so that no sweep meets them before the earlier post is published or deleted. They are locked
     * first and looked at then: whoever publishes the earlier one at the same moment waits for the mark, and takes it away.
     */
    async markHeldBack(before: Date, limit: number, transaction: Transaction): Promise<void> {
      const found = await rows.read<{ id: string }>(lockHeldBack, [before, limit], transaction)
      await rows.read(markHeldBack, [found.map(({ id }) => id)], transaction)
    },

    /** Posts whose call was interrupted: recorded, never concluded, and its worker's time is over. */
    interrupted: (now: Date, limit: number) => rows.read<PostKey>(interruptedPosts, [now, limit]),

    /** Posts of unknown outcome about which the network is to be asked now. */
    unknown: (now: Date, limit: number) => rows.read<PostKey>(unknownPosts, [now, limit]),

    /** The last attempt of a post; null before the first. */
    async lastAttempt(post: PostRow, transaction?: Transaction): Promise<AttemptRow | null> {
      const [attempt] = await rows.read(lastAttempt, [post.brandId, post.id], transaction)
      return attempt ?? null
    },

    /**
     * Attempts for the same account with the same text, by whichever post and brand, whose calls may have published it though they
     * were taken for failed: what the network shows, or calls a duplicate, may be one of them. The earliest first.
     * @param since earlier ones are past: the network does not compare with them any more
     */
    doubtful: (attempt: AttemptRow, since: Date) => rows.read(doubtfulAttempts, [attempt.brandId, attempt.id, since]),

    /** Attempts of other posts for the same account with the same text that are open: under way, interrupted, or being asked about. */
    rivals: (attempt: AttemptRow) => rows.read<Claimant>(rivalAttempts, [attempt.brandId, attempt.id, attempt.postId]),

    /**
     * Writes the attempt that follows the post's last one, and hands it back. One that surely was not sent is not counted again:
     * it is the same attempt still.
     */
    async begin({ post, ...values }: NewAttempt, { now, transaction }: Unit): Promise<AttemptRow> {
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

    /** The network's ids that other posts for the attempt's account have carried since: none of them can be this post. */
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
