import type { Logger } from 'pino'
import type { Clock } from '../../../../platform/clock.ts'
import { crash } from '../../../../platform/crash.ts'
import type { Sweep } from '../../../../platform/jobs/queue.ts'
import type { Writing } from '../../../store/books.ts'
import type { NewFact } from '../../../store/fact-kinds.ts'
import { inTransaction, step } from '../../../store/write.ts'
import type { WebhookEventRow, WebhookEvents } from '../../stores/events/webhook-event.ts'
import { type EventHandlers, objectIn, type ProcessorEvent, type Subject } from './event.ts'
import { deadKey, isStale, outcomeOf, type Tried, tryMs } from './rules.ts'

/** What events are processed with. */
export interface EventWork extends Writing {
  readonly webhookEvents: WebhookEvents
  readonly clock: Clock
  readonly log: Logger
  /** Origin under which people reach the platform. */
  readonly publicUrl: string
}

/** How often events are looked for that are due, in ms, and how many one round takes. */
const [everyMs, atOnce] = [5_000, 20]

/** The job that processes events. */
export interface EventProcessing {
  readonly sweep: Sweep
  /** Has it look at once: an event was stored. */
  wake(): void
}

/**
 * Processes events that were stored, each by the handler of its type. The rows alone say what is due, so any number of processes may look at
 * the same time, and an event whose process died is begun anew.
 * @param isLive whether events of live mode count here, or those of test mode
 */
export function processing<Work extends EventWork>(job: () => Work, handlers: EventHandlers<Work>, isLive: boolean): EventProcessing {
  let wake: (ms?: number) => void = () => {}
  return {
    wake: () => wake(),
    sweep: {
      name: 'events of the payment processor',
      everyMs,
      asksOthers: true,
      wakes(given) {
        wake = given
      },
      async run() {
        const looking = job()
        // Most rounds find nothing, and then need no transaction.
        if (!(await looking.webhookEvents.isDue(looking.clock.now()))) return
        const taken = await takeDue(job())
        await Promise.all(taken.map(event => processEvent(job(), event, handlers, isLive)))
        if (taken.length === atOnce) wake()
      },
    },
  }
}

/** Counts a try of each event that is due: others leave it alone until its time is over. */
const takeDue = (job: EventWork): Promise<readonly WebhookEventRow[]> =>
  inTransaction(job, async ({ transaction, now }) => {
    const due = await job.webhookEvents.takeDue(now, atOnce, transaction)
    const taken: WebhookEventRow[] = []
    for (const event of due) {
      const changes = { attempts: event.attempts + 1, nextAttemptAt: new Date(now.getTime() + tryMs), updatedAt: now }
      taken.push(await job.webhookEvents.update(event, changes, transaction))
    }
    return taken
  })

/** Makes one try of an event, and writes what it came to. */
async function processEvent<Work extends EventWork>(job: Work, row: WebhookEventRow, handlers: EventHandlers<Work>, isLive: boolean): Promise<void> {
  crash('event-taken')
  let subject: Subject | null = null
  let tried: Tried
  try {
    const { type, occurredAt, payload } = row
    const event = { type, occurredAt, object: objectIn(objectIn(payload, 'data'), 'object') }
    const handler = Object.hasOwn(handlers, type) ? handlers[type]! : null
    if ((payload.livemode === true) !== isLive) tried = { ignored: 'MODE' }
    else if (!handler) tried = { ignored: 'UNHANDLED_TYPE' }
    else {
      const found = await handler.whose(job, event)
      if (found === 'NOT_YET') tried = found
      else {
        subject = found
        tried = await apply(job, row, event, subject, handler)
      }
    }
  } catch (error) {
    job.log.error(
      { err: error, eventId: row.id, type: row.type, attempts: row.attempts },
      'an event of the processor could not be processed; it is tried again',
    )
    tried = 'THREW'
  }
  crash('event-applied')
  await record(job, row, subject, tried)
}

async function apply<Work extends EventWork>(
  job: Work,
  row: WebhookEventRow,
  event: ProcessorEvent,
  subject: Subject | null,
  handler: EventHandlers<Work>[string],
): Promise<Tried> {
  if (!subject) return { ignored: 'NOT_OURS' }
  if (!subject.isKnown) return 'NOT_YET'
  if (isStale(event.occurredAt, await job.webhookEvents.lastLearned(row))) return { ignored: 'STALE' }
  return handler.apply(job, event, subject)
}

async function record(job: EventWork, taken: WebhookEventRow, subject: Subject | null, tried: Tried): Promise<void> {
  const nobodys = subject ? null : await job.webhookEvents.platform()
  await step(job, {
    of: job.webhookEvents,
    hold: taken.id,
    decide(held, { now }) {
      // Another process took it when the time of this try was over.
      if (held.attempts !== taken.attempts || held.nextAttemptAt === null) return null
      const changes = outcomeOf(held, tried, now)
      const organizationId = subject?.organizationId ?? (changes.nextAttemptAt ? held.organizationId : (held.organizationId ?? nobodys))
      return { changes: { ...changes, organizationId, orderId: subject?.orderId ?? held.orderId }, isNews: true }
    },
    tell: ({ after }) => deadFacts(after, job.publicUrl),
  })
}

/** Returns the notice to managers about an event that is not tried again. */
function deadFacts({ id, organizationId, status, type, processorEventId, processedAt }: WebhookEventRow, publicUrl: string): readonly NewFact[] {
  if (status !== 'DEAD' || organizationId === null) return []
  const body = {
    ...{ key: deadKey(id), kind: 'WEBHOOK_DEAD', organizationId, subjectId: id, audience: 'managers' as const, severity: 'HIGH' as const },
    title: `The processor's event ${type} (${processorEventId}) could not be processed`.slice(0, 300),
    url: `${publicUrl}/payments/api/webhook-events/${id}`,
    at: processedAt!.toISOString(),
  }
  return [{ kind: 'attention.opened', body }]
}
