import type { Logger } from 'pino'
import type { Clock } from '../../../../platform/clock.ts'
import { crash } from '../../../../platform/crash.ts'
import type { Sweep } from '../../../../platform/jobs/queue.ts'
import type { Writing } from '../../../store/books.ts'
import type { NewFact } from '../../../store/fact-kinds.ts'
import { step } from '../../../store/write.ts'
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

/** How often events are looked for that are due, in ms, and how many are processed at once. */
const [everyMs, atOnce] = [5_000, 20]

/** The job that processes events. */
export interface EventProcessing {
  readonly sweep: Sweep
  /** Has it look at once: an event was stored. */
  wake(): void
  /** Resolves when no event is being processed any more. */
  ended(): Promise<void>
}

/** A try that is under way. */
interface Running {
  /** Whose order it is about, once that is known. */
  orderId: string | null
  /** Whether it waits for other tries: nobody waits for it then. */
  waits: boolean
  over: Promise<void>
}

/**
 * Processes events that were stored, each by the handler of its type. The rows alone say what is due, so any number of processes may look at
 * the same time, and an event whose process died is begun anew. Tries run beside the sweep: one that is slow holds up no other.
 * @param isLive whether events of live mode count here, or those of test mode
 */
export function processing<Work extends EventWork>(job: () => Work, handlers: EventHandlers<Work>, isLive: boolean): EventProcessing {
  let wake: (ms?: number) => void = () => {}
  const running = new Set<Running>()
  /** Whether more was due than there was room for. */
  let isBehind = false

  /** Waits for the tries of other events of an order. @returns false: there were none */
  async function othersOf(mine: Running): Promise<boolean> {
    const others = [...running].filter(each => each !== mine && each.orderId === mine.orderId && !each.waits)
    if (mine.orderId === null || others.length === 0) return false
    mine.waits = true
    await Promise.all(others.map(({ over }) => over))
    mine.waits = false
    return true
  }

  async function process(row: WebhookEventRow, mine: Running): Promise<void> {
    crash('event-taken')
    const work = job()
    let made = await tryEvent(work, row, handlers, isLive, mine)
    // What it is about may be what another event of the order brings at this moment: of a payment on a page two events come together.
    if (made.tried === 'NOT_YET' && (await othersOf(mine))) made = await tryEvent(job(), row, handlers, isLive, mine)
    crash('event-applied')
    await record(work, row, made.subject, made.tried)
  }

  function start(row: WebhookEventRow): void {
    const mine: Running = { orderId: row.orderId, waits: false, over: Promise.resolve() }
    running.add(mine)
    mine.over = process(row, mine)
      .catch(error => job().log.error({ err: error, eventId: row.id }, 'what an event came to could not be recorded; it is tried again'))
      .finally(() => {
        running.delete(mine)
        if (isBehind) wake()
      })
  }

  return {
    wake: () => wake(),
    ended: async () => void (await Promise.all([...running].map(({ over }) => over))),
    sweep: {
      name: 'events of the payment processor',
      everyMs,
      wakes(given) {
        wake = given
      },
      async run() {
        const room = atOnce - running.size
        isBehind = true
        if (room <= 0) return
        const { webhookEvents, clock } = job()
        const now = clock.now()
        const taken = await webhookEvents.takeDue(now, room, new Date(now.getTime() + tryMs))
        isBehind = taken.length === room
        for (const row of taken) start(row)
      },
    },
  }
}

/** What a try came to. */
interface Made {
  readonly subject: Subject | null
  readonly tried: Tried
}

/** Makes one try of an event. It never throws. */
async function tryEvent<Work extends EventWork>(
  job: Work,
  row: WebhookEventRow,
  handlers: EventHandlers<Work>,
  isLive: boolean,
  running: Running,
): Promise<Made> {
  let subject: Subject | null = null
  try {
    const { type, occurredAt, payload } = row
    const event = { type, occurredAt, object: objectIn(objectIn(payload, 'data'), 'object') }
    const handler = Object.hasOwn(handlers, type) ? handlers[type]! : null
    if ((payload.livemode === true) !== isLive) return { subject, tried: { ignored: 'MODE' } }
    if (!handler) return { subject, tried: { ignored: 'UNHANDLED_TYPE' } }
    const found = await handler.whose(job, event)
    if (found === 'NOT_YET') return { subject, tried: found }
    subject = found
    running.orderId = found?.orderId ?? null
    return { subject, tried: await apply(job, row, event, subject, handler) }
  } catch (error) {
    job.log.error(
      { err: error, eventId: row.id, type: row.type, attempts: row.attempts },
      'an event of the processor could not be processed; it is tried again',
    )
    return { subject, tried: 'THREW' }
  }
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
  const now = job.clock.now()
  const changes = outcomeOf(taken, tried, now)
  const isNobodys = subject === null && taken.organizationId === null && !changes.nextAttemptAt
  const organizationId = subject?.organizationId ?? taken.organizationId ?? (isNobodys ? await job.webhookEvents.platform() : null)
  const all = { ...changes, organizationId, orderId: subject?.orderId ?? taken.orderId }
  if (changes.status !== 'DEAD') return job.webhookEvents.conclude(taken, all, now)
  await step(job, {
    of: job.webhookEvents,
    hold: taken.id,
    // Another process took it when the time of this try was over.
    decide: held => (held.attempts !== taken.attempts || held.nextAttemptAt === null ? null : { changes: all, isNews: true }),
    facts: ({ after }) => deadFacts(after, job.publicUrl),
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
