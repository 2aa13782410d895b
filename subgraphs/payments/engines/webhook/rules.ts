import type { IgnoredReason, WebhookEventRow } from '../../stores/events/webhook-event.ts'
import type { Effect } from './event.ts'

/** How long after a try that failed the next one comes, in ms; after the last one the event is dead. */
export const pauses: readonly number[] = [5_000, 30_000, 120_000, 600_000, 1_800_000, 3_600_000, 10_800_000]

/** How long a try may take before it counts as interrupted, in ms: then another process begins it anew. */
export const tryMs = 20_000

/** What a try came to: what its handler did, or why nothing was done. */
export type Tried = Effect | { readonly ignored: IgnoredReason } | 'THREW'

/** What changes in an event by a try that was begun. */
export function outcomeOf({ attempts }: Pick<WebhookEventRow, 'attempts'>, tried: Tried, now: Date): Partial<WebhookEventRow> {
  const over = { nextAttemptAt: null, processedAt: now, reason: null }
  if (tried === 'DONE') return { ...over, status: 'PROCESSED' }
  if (tried === 'BACKWARDS') return { ...over, status: 'IGNORED', reason: 'STALE' }
  if (typeof tried === 'object') return { ...over, status: 'IGNORED', reason: tried.ignored }
  const pause = pauses[attempts - 1]
  if (pause === undefined) return { ...over, status: 'DEAD' }
  return { status: 'FAILED', nextAttemptAt: new Date(now.getTime() + pause) }
}

/** Whether an event is older than what was learned of its object since: both count in seconds. */
export const isStale = (occurredAt: Date, learnedAt: Date | null): boolean => learnedAt !== null && occurredAt < learnedAt

/** The key under which managers are to see to an event that is dead. */
export const deadKey = (id: string): string => `webhook_dead:${id}`
