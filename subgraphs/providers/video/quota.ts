import { DomainError } from '../../../platform/errors.ts'
import { requireId } from '../../../platform/ids.ts'
import { inTransaction, write } from '../../store/write.ts'
import { activeOrganization, actorOf } from '../../viewer.ts'
import type { Context } from '../context.ts'
import type { SetVideoQuotaInput } from '../resolvers.generated.ts'
import type { QuotaState, QuotaUsed } from '../stores/video/quota.ts'
import { pacificDay } from './day.ts'

/** Returns the remaining quota of an organization in a bucket with this limit. */
export const remainingOf = (limit: number, { used, organizationUsed, organizationLimit }: QuotaUsed): number =>
  Math.max(0, Math.min(limit - used, organizationLimit === null ? Number.POSITIVE_INFINITY : organizationLimit - organizationUsed))

/** A call to count. */
export interface Counted {
  readonly bucket: string
  readonly units: number
  readonly organizationId: string
  readonly appId: string
}

/** State of a bucket after a call is counted. */
export interface Standing {
  readonly remaining: number
  readonly resetsAt: Date
}

/**
 * Counts a call in its bucket, for the platform and its organization, in both or in neither. A call without cost only
 * reads the state.
 * @throws RATE_LIMITED, reason QUOTA_EXHAUSTED, with `resetsAt` and `retryAfter`
 */
export async function countCall(context: Context, { bucket, units, organizationId, appId }: Counted): Promise<Standing> {
  const { clock, quotaTable, videoQuota } = context
  const limit = quotaTable.buckets[bucket]!
  const { date: day, resetsAt } = pacificDay(clock.now())
  if (units === 0) {
    const [state] = await videoQuota.state([bucket], day, organizationId)
    return { remaining: remainingOf(limit, state!), resetsAt }
  }
  return inTransaction(context, async ({ transaction }) => {
    const used = await videoQuota.take({ bucket, day, units, limit, organizationId, appId }, transaction)
    // Throwing rolls back the count for the platform.
    if (typeof used === 'string') throw exhausted(bucket, used, resetsAt, clock.now())
    return { remaining: remainingOf(limit, used), resetsAt }
  })
}

/** Releases the quota of a call of which nothing was sent. */
export const uncountCall = (context: Context, { bucket, units, organizationId, appId }: Counted): Promise<void> =>
  inTransaction(context, ({ transaction }) =>
    context.videoQuota.release({ bucket, day: pacificDay(context.clock.now()).date, units, organizationId, appId }, transaction),
  )

const whose = { platform: "the platform's", organization: "the organization's", network: "the network's" } as const

/** Creates the error for a call beyond a quota. */
export function exhausted(bucket: string, of: keyof typeof whose, resetsAt: Date, now: Date): DomainError {
  const retryAfter = Math.max(1, Math.ceil((resetsAt.getTime() - now.getTime()) / 1_000))
  return new DomainError(
    'RATE_LIMITED',
    `The day's quota ${bucket} of the video network is used up, ${whose[of]} part of it: wait until ${resetsAt.toISOString()}.`,
    {
      reason: 'QUOTA_EXHAUSTED',
      resetsAt: resetsAt.toISOString(),
      retryAfter,
    },
  )
}

const shown = (context: Context, { bucket: name, ...state }: QuotaState, resetsAt: Date) => {
  const dailyLimit = context.quotaTable.buckets[name]!
  return { name, dailyLimit, ...state, remaining: remainingOf(dailyLimit, state), resetsAt }
}

/** Returns every bucket's state for the active organization. */
export async function quotaOf(context: Context) {
  const { viewer, clock, quotaTable, videoQuota } = context
  const { date, resetsAt } = pacificDay(clock.now())
  const found = await videoQuota.state(Object.keys(quotaTable.buckets), date, activeOrganization(viewer, 'Quotas'))
  return found.map(state => shown(context, state, resetsAt))
}

/** The largest number that GraphQL and the column support. */
const mostUnits = 1_000_000_000

/** Sets the daily maximum of an organization in a bucket. @throws BAD_USER_INPUT */
export async function setQuota(context: Context, { bucket, organizationId: given, dailyLimit }: SetVideoQuotaInput) {
  const { viewer, clock, quotaTable, videoQuota } = context
  const tenantId = activeOrganization(viewer, 'Quotas')
  const organizationId = requireId(given, 'organizationId')
  if (!Object.hasOwn(quotaTable.buckets, bucket))
    throw new DomainError('BAD_USER_INPUT', `bucket names none that is counted here: give one of ${Object.keys(quotaTable.buckets).join(', ')}.`, {
      field: 'bucket',
    })
  const limit = dailyLimit ?? null
  if (limit !== null && (limit < 0 || limit > mostUnits))
    throw new DomainError('BAD_USER_INPUT', `dailyLimit takes 0 to ${mostUnits}, or null for no limit.`, { field: 'dailyLimit' })
  const { date, resetsAt } = pacificDay(clock.now())
  const state = await write(context, {
    async run({ transaction, now }) {
      await videoQuota.cap(organizationId, bucket, limit, { now, actor: actorOf(viewer) }, transaction)
      return (await videoQuota.state([bucket], date, organizationId, transaction))[0]!
    },
    audit: () => ({ tenantId, action: 'video_quota.updated', subjectId: organizationId, details: { bucket, dailyLimit: limit } }),
  })
  return shown(context, state, resetsAt)
}
