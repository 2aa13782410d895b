import { QueryTypes, type Sequelize, type Transaction } from 'sequelize'
import { newId } from '../../../platform/ids.ts'
import { columnsOf } from '../mapping.ts'
import type { Platform } from '../network/network.ts'
import type { PostStore } from '../post/store.ts'
import type { PostRow } from '../post/table.ts'
import { type Claimant, farthestClaimMs, farthestPauseMs, sentAtOnce } from './rules.ts'
import { type AttemptRow, defineAttemptTable } from './table.ts'

/** A post that delivery has to look at, by key. */
export interface PostKey {
  readonly brandId: string
  readonly postId: string
}

/** What is about to be sent, by which connection, for which account. */
export type NewAttempt = Pick<AttemptRow, 'connectionId' | 'externalAccountId' | 'copy' | 'inReplyTo'> & { readonly post: PostRow }

/** Other attempts with the text of attempt $2 of brand $1, for the same account. */
const sameText = `from publishing.attempts mine join publishing.attempts a
    on a.platform = mine.platform and a.external_account_id = mine.external_account_id and a.text_key = mine.text_key and a.id <> mine.id
  where mine.brand_id = $1 and mine.id = $2`

/** Joins to `p` the earlier post of its thread as `e`. */
const predecessor = `left join lateral (select e.status, e.platform_post_id from publishing.posts e
  where e.brand_id = p.brand_id and e.thread_id = p.thread_id and e.position < p.position order by e.position desc limit 1) e on true`
/** Whether that one holds `p` back, as `isHeldBy` says. */
const heldBack = `(e.status is not null and not (e.status = 'PUBLISHED' and e.platform_post_id is not null))`

/** Whether the brand of `p` is out of use. */
const brandArchived = 'exists (select from publishing.brands b where b.id = p.brand_id and b.archived_at is not null)'

/** `hasCome` of the rules, in SQL. */
const hasCome = (column: string, now: string, farthestMs: number): string =>
  `(${column} is null or ${column} <= ${now} or ${column} > ${now}::timestamptz + interval '${farthestMs} milliseconds')`

/** SQL of delivery: what is due, what is stuck, and the attempts. */
export function createDeliveryStore(sequelize: Sequelize, posts: PostStore) {
  const Attempt = defineAttemptTable(sequelize)
  const attemptColumns = columnsOf(Attempt, 'a')
  const keys = (sql: string, bind: unknown[]) => sequelize.query<PostKey>(sql, { bind, type: QueryTypes.SELECT })

  return {
    /** Locks a post if nobody else has it under lock; null when somebody has, or it is gone. */
    async lockIfFree({ brandId, postId }: PostKey, transaction: Transaction): Promise<(PostRow & { brandArchived: boolean }) | null> {
      const rows = await sequelize.query<PostRow & { brandArchived: boolean }>(
        `select ${posts.columns}, ${brandArchived} as "brandArchived" from publishing.posts p where p.brand_id = $1 and p.id = $2 for update skip locked`,
        {
          bind: [brandId, postId],
          type: QueryTypes.SELECT,
          transaction,
        },
      )
      return rows[0] ?? null
    },

    /**
     * Posts whose time came before `before` and that nobody holds, the longest waiting first; behind them those that the earlier post
     * of their thread holds back, unless that is known of them already. Left out are those whose connection is busy: they have their
     * wake-up, and wait for room.
     * @param perConnection how many posts of a brand for one network are sent at once
     */
    overdue: (before: Date, now: Date, limit: number, perConnection = sentAtOnce) =>
      sequelize.query<PostKey & { platform: Platform; held: boolean }>(
        `select p.brand_id as "brandId", p.id as "postId", p.platform, ${heldBack} as held from publishing.posts p ${predecessor}
         where p.status = 'SCHEDULED' and not p.held_back and p.scheduled_at <= $1 and p.approval in ('NONE', 'APPROVED')
           and p.delivery_phase in ('NONE', 'CLAIMED') and ${hasCome('p.claim_until', '$2', farthestClaimMs)}
           and ${hasCome('p.waits_until', '$2', farthestPauseMs)} and not ${brandArchived}
           and (select count(*) from publishing.posts f where f.brand_id = p.brand_id and f.platform = p.platform
             and f.delivery_phase in ('CLAIMED', 'SENDING') and not ${hasCome('f.claim_until', '$2', farthestClaimMs)}) < $4
         order by held, p.scheduled_at limit $3`,
        { bind: [before, now, limit, perConnection], type: QueryTypes.SELECT },
      ),

    /**
     * Marks due posts that are held back, so that no sweep meets them before the earlier post is published or deleted. They are locked
     * first and looked at then: whoever publishes the earlier one at the same moment waits for the mark, and takes it away.
     */
    async markHeldBack(before: Date, limit: number, transaction: Transaction): Promise<void> {
      const found = await sequelize.query<{ id: string }>(
        `select p.id from publishing.posts p ${predecessor}
         where p.status = 'SCHEDULED' and not p.held_back and p.scheduled_at <= $1 and p.approval in ('NONE', 'APPROVED') and ${heldBack}
         limit $2 for update of p skip locked`,
        { bind: [before, limit], type: QueryTypes.SELECT, transaction },
      )
      await sequelize.query(
        `update publishing.posts set held_back = true from (select p.brand_id, p.id from publishing.posts p ${predecessor} where p.id = any($1::uuid[]) and ${heldBack}) h
         where posts.brand_id = h.brand_id and posts.id = h.id`,
        { bind: [found.map(({ id }) => id)], transaction },
      )
    },

    /** Posts whose call was interrupted: recorded, never concluded, and its worker's time is over. */
    interrupted: (now: Date, limit: number) =>
      keys(
        `select p.brand_id as "brandId", p.id as "postId" from publishing.posts p
         where p.delivery_phase = 'SENDING' and ${hasCome('p.claim_until', '$1', farthestClaimMs)} and p.status = 'SCHEDULED' order by p.claim_until limit $2`,
        [now, limit],
      ),

    /** Posts of unknown outcome about which the network is to be asked now. */
    unknown: (now: Date, limit: number) =>
      keys(
        `select p.brand_id as "brandId", p.id as "postId" from publishing.attempts a
         join publishing.posts p on p.brand_id = a.brand_id and p.id = a.post_id and p.attempts = a.number
         where a.reconcile_at is not null and ${hasCome('a.reconcile_at', '$1', farthestPauseMs)} and p.delivery_phase = 'UNKNOWN' order by a.reconcile_at limit $2`,
        [now, limit],
      ),

    /** The last attempt of a post; null before the first. */
    async lastAttempt(post: PostRow, transaction?: Transaction): Promise<AttemptRow | null> {
      const rows = await sequelize.query<AttemptRow>(
        `select ${attemptColumns} from publishing.attempts a where a.brand_id = $1 and a.post_id = $2 order by a.number desc limit 1`,
        { bind: [post.brandId, post.id], type: QueryTypes.SELECT, ...(transaction && { transaction }) },
      )
      return rows[0] ?? null
    },

    /**
     * Attempts for the same account with the same text, by whichever post and brand, whose calls may have published it though they
     * were taken for failed: what the network shows, or calls a duplicate, may be one of them. The earliest first.
     * @param since earlier ones are past: the network does not compare with them any more
     */
    doubtful: (attempt: AttemptRow, since: Date) =>
      sequelize.query<AttemptRow>(
        `select ${attemptColumns} ${sameText} and a.started_at >= $3 and (a.outcome is null or a.outcome not in ('DELIVERED', 'NOT_SENT')) order by a.started_at limit 100`,
        { bind: [attempt.brandId, attempt.id, since], type: QueryTypes.SELECT },
      ),

    /** Attempts of other posts for the same account with the same text that are open: under way, interrupted, or being asked about. */
    rivals: (attempt: AttemptRow) =>
      sequelize.query<Claimant>(
        `select a.id, a.outcome, a.refusal, a.started_at as "startedAt" ${sameText} and a.post_id <> $3
           and (a.outcome is null or (a.outcome = 'UNKNOWN' and a.reconcile_at is not null))
           and exists (select from publishing.posts p where p.brand_id = a.brand_id and p.id = a.post_id and p.attempts = a.number
             and p.delivery_phase in ('SENDING', 'UNKNOWN')) limit 100`,
        { bind: [attempt.brandId, attempt.id, attempt.postId], type: QueryTypes.SELECT },
      ),

    /**
     * Writes the attempt that follows the post's last one, and hands it back. One that surely was not sent is not counted again:
     * it is the same attempt still.
     */
    async begin({ post, ...values }: NewAttempt, now: Date, transaction: Transaction): Promise<AttemptRow> {
      if (post.waits > 0) {
        const [, [row]] = await Attempt.update(
          { ...values, startedAt: now, finishedAt: null, outcome: null, detail: null, refusal: null, updatedAt: now },
          { where: { brandId: post.brandId, postId: post.id, number: post.attempts, outcome: 'NOT_SENT' }, returning: true, transaction },
        )
        if (row) return row.get({ plain: true })
      }
      const attempt = { ...values, brandId: post.brandId, id: newId(now), postId: post.id, number: post.attempts + 1, platform: post.platform, startedAt: now }
      const row = await Attempt.create({ ...attempt, createdAt: now, updatedAt: now, createdBy: 'delivery' }, { transaction })
      return row.get({ plain: true })
    },

    async conclude(attempt: AttemptRow, changes: Partial<AttemptRow>, transaction: Transaction): Promise<void> {
      await Attempt.update(changes, { where: { brandId: attempt.brandId, id: attempt.id }, transaction })
    },

    /** The network's ids that other posts for the attempt's account have carried since: none of them can be this post. */
    async takenIds(attempt: AttemptRow, since: Date): Promise<ReadonlySet<string>> {
      const rows = await sequelize.query<{ id: string }>(
        `select p.platform_post_id as id from publishing.posts p
         where p.platform = $1 and p.external_account_id = $2 and p.platform_post_id is not null and p.published_at >= $3
           and (p.brand_id, p.id) <> ($4::uuid, $5::uuid) order by p.published_at desc limit 5000`,
        { bind: [attempt.platform, attempt.externalAccountId, since, attempt.brandId, attempt.postId], type: QueryTypes.SELECT },
      )
      return new Set(rows.map(row => row.id))
    },
  }
}

export type DeliveryStore = ReturnType<typeof createDeliveryStore>
