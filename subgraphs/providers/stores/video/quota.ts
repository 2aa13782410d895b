import type { Transaction } from 'sequelize'
import { rows, statement } from '../../../../platform/sql/statement.ts'
import type { StoreContext } from '../../../store/store.ts'

/** A use of a bucket. */
export interface QuotaUse {
  readonly bucket: string
  /** Day, as `2026-11-22`. */
  readonly day: string
  readonly units: number
  /** Total quota of the bucket. */
  readonly limit: number
  readonly organizationId: string
  readonly appId: string
}

/** Usage of the whole quota and of the organization's part, and the organization's maximum. */
export interface QuotaUsed {
  readonly used: number
  readonly organizationUsed: number
  /** Null: the organization has no maximum of its own. */
  readonly organizationLimit: number | null
}

/** State of a bucket on a day. */
export interface QuotaState extends QuotaUsed {
  readonly bucket: string
  readonly apps: readonly { readonly appId: string; readonly used: number }[]
}

/** Locks the row until the transaction ends: concurrent uses of the bucket wait, and then count on top of it. */
const take = statement(
  `insert into providers.video_quota_days as d (bucket, day, used) values ($1, $2::date, $3)
   on conflict (bucket, day) do update set used = d.used + excluded.used where d.used + excluded.used <= $4 returning used`,
)
const takeOwn = statement(
  `with cap as (select daily_limit from providers.video_quota_caps where organization_id = $4 and bucket = $1),
        before as (select coalesce(sum(used), 0)::int as used from providers.video_quota_uses where bucket = $1 and day = $2::date and organization_id = $4),
        taken as (
          insert into providers.video_quota_uses as u (bucket, day, organization_id, app_id, used)
          select $1, $2::date, $4, $5, $3 from before where before.used + $3 <= coalesce((select daily_limit from cap), 2147483647)
          on conflict (bucket, day, organization_id, app_id) do update set used = u.used + excluded.used returning 1)
   select before.used as "before", (select daily_limit from cap) as "organizationLimit", exists (select from taken) as "isTaken" from before`,
)
const release = statement('update providers.video_quota_days set used = greatest(0, used - $3) where bucket = $1 and day = $2::date')
const giveBackOwn = statement(
  `update providers.video_quota_uses set used = greatest(0, used - $3)
    where bucket = $1 and day = $2::date and organization_id = $4 and app_id = $5`,
)
const stateOf = statement(
  `select b.bucket, coalesce(d.used, 0) as used, c.daily_limit as "organizationLimit", coalesce(u.used, 0)::int as "organizationUsed", coalesce(u.apps, '[]') as apps
     from unnest($1::text[]) with ordinality b (bucket, at)
     left join providers.video_quota_days d on d.bucket = b.bucket and d.day = $2::date
     left join providers.video_quota_caps c on c.bucket = b.bucket and c.organization_id = $3
     left join lateral (
       select sum(used) as used, json_agg(json_build_object('appId', app_id, 'used', used) order by used desc, app_id) as apps
         from providers.video_quota_uses where bucket = b.bucket and day = $2::date and organization_id = $3) u on true
    order by b.at`,
)
const setCap = statement(
  `insert into providers.video_quota_caps (organization_id, bucket, daily_limit, updated_at, updated_by) values ($1, $2, $3, $4, $5)
   on conflict (organization_id, bucket) do update set daily_limit = excluded.daily_limit, updated_at = excluded.updated_at, updated_by = excluded.updated_by`,
)
const dropCap = statement('delete from providers.video_quota_caps where organization_id = $1 and bucket = $2')

/** Usage of the quotas of video networks. It is not limited to the viewer: each call names the organization. */
export const videoQuotaStore = {
  open: ({ sequelize, reading }: StoreContext) => ({
    /**
     * Takes units from a bucket within a transaction. @returns the owner of the exceeded limit when there is one: the
     * caller must then roll back
     */
    async take(use: QuotaUse, transaction: Transaction): Promise<QuotaUsed | 'platform' | 'organization'> {
      const { bucket, day, units, limit, organizationId, appId } = use
      if (units > limit) return 'platform'
      const [all] = await rows<{ used: number }>(sequelize, take, [bucket, day, units, limit], transaction)
      if (!all) return 'platform'
      const values = [bucket, day, units, organizationId, appId]
      const [own] = await rows<{ before: number; organizationLimit: number | null; isTaken: boolean }>(sequelize, takeOwn, values, transaction)
      if (!own!.isTaken) return 'organization'
      return { used: all.used, organizationUsed: own!.before + units, organizationLimit: own!.organizationLimit }
    },

    /** Releases units on the day of the release. */
    async release({ bucket, day, units, organizationId, appId }: Omit<QuotaUse, 'limit'>, transaction: Transaction): Promise<void> {
      await rows(sequelize, release, [bucket, day, units], transaction)
      await rows(sequelize, giveBackOwn, [bucket, day, units, organizationId, appId], transaction)
    },

    /** Returns the state of buckets on a day, in their order. */
    state: (buckets: readonly string[], day: string, organizationId: string, transaction?: Transaction): Promise<QuotaState[]> =>
      rows<QuotaState>(sequelize, stateOf, [buckets, day, organizationId], transaction, transaction ? undefined : reading),

    /** Sets the daily maximum of an organization in a bucket; null removes it. */
    async cap(organizationId: string, bucket: string, dailyLimit: number | null, by: { readonly now: Date; readonly actor: string }, transaction: Transaction) {
      if (dailyLimit === null) await rows(sequelize, dropCap, [organizationId, bucket], transaction)
      else await rows(sequelize, setCap, [organizationId, bucket, dailyLimit, by.now, by.actor], transaction)
    },
  }),
}

/** Days are deleted after the same time as calls. */
export const videoQuotaAging = ['days', 'uses'].map(what => ({
  table: `providers.video_quota_${what}`,
  key: what === 'days' ? 'bucket, day' : 'bucket, day, organization_id, app_id',
  days: 400,
  old: 'o.day < ($1::timestamptz)::date',
  order: 'o.day',
}))
