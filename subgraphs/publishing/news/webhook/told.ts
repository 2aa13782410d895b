import type { Transaction } from 'sequelize'
import { tryAt } from '../../../../platform/outbound/webhooks/queue.ts'
import { bodyOf } from '../../../../platform/outbound/webhooks/send.ts'
import type { FactBody, NewFact } from '../../../store/fact-kinds.ts'
import type { Job } from '../../context.ts'
import type { ConnectionRow } from '../../stores/connection.ts'
import type { WebhookEvent } from '../../stores/news/webhook.ts'
import type { PostRow } from '../../stores/post.ts'

type Event = FactBody<'webhook.event'>

/** The webhook event of a post's present state; null for none. */
function stateOf(post: PostRow | null): readonly [WebhookEvent, string] | null {
  if (!post) return null
  const { status, deliveryPhase, scheduledAt, failedAt } = post
  if (status === 'SCHEDULED') return ['post.scheduled', String(scheduledAt?.getTime())]
  if (status === 'PUBLISHED') return ['post.published', '']
  if (status === 'FAILED') return [deliveryPhase === 'UNKNOWN' ? 'post.outcome_unknown' : 'post.failed', String(failedAt?.getTime())]
  return null
}

const dataOf = (post: PostRow) => ({
  brandId: post.brandId,
  postId: post.id,
  threadId: post.threadId,
  platform: post.platform,
  status: post.status,
  platformPostId: post.platformPostId,
  permalink: post.permalink,
  failure: post.failureCode && post.failureMessage ? { code: post.failureCode, message: post.failureMessage } : null,
  approval: post.approval,
  version: post.version,
})

/** Returns the webhook events of a change of a post. @param after null for a deleted post, which has no events */
export function eventsOfPost(before: PostRow | null, after: PostRow | null): readonly NewFact[] {
  if (!after) return []
  const [was, is] = [stateOf(before), stateOf(after)]
  const events: WebhookEvent[] = []
  if (is && (was?.[0] !== is[0] || was[1] !== is[1])) events.push(is[0])
  if (after.approval !== (before?.approval ?? 'NONE')) events.push('post.approval_changed')
  const { brandId, id: postId } = after
  return events.map(event => ({ kind: 'webhook.event', body: { brandId, event, postId, connectionId: null, data: dataOf(after) } }))
}

/**
 * Returns the webhook events of a change of a connection: its health, if that has changed. A deleted connection has
 * none.
 */
export function eventsOfConnection(before: ConnectionRow | null, after: ConnectionRow | null): readonly NewFact[] {
  if (!after) return []
  const { brandId, id, platform, health } = after
  if ((before?.health ?? 'HEALTHY') === health) return []
  const data = { brandId, connectionId: id, platform, health }
  return [{ kind: 'webhook.event', body: { brandId, event: 'connection.health_changed', postId: null, connectionId: id, data } }]
}

/**
 * Writes a delivery for each endpoint that subscribes to an event, in the transaction of the event, with the wake-ups
 * of the first attempts.
 */
export async function keepEvents({ analytics, webhookDeliveries, jobs }: Job, made: readonly NewFact[], now: Date, transaction: Transaction): Promise<void> {
  const events = made.flatMap((fact): readonly Event[] => (fact.kind === 'webhook.event' ? [fact.body] : []))
  if (events.length === 0) return
  const told = await webhookDeliveries.tell(
    events.map(({ data, ...event }) => ({ ...event, body: bodyOf(event.event, data, now) })),
    now,
    transaction,
  )
  const published = events.flatMap(({ event, postId }) => (event === 'post.published' && postId ? [postId] : []))
  if (published.length > 0) await analytics.begin(published, transaction)
  for (const delivery of told) await tryAt(jobs, delivery, now, transaction)
}
