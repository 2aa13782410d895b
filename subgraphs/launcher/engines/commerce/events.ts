import type { Logger } from 'pino'
import type { Ask } from '../../../../platform/ask.ts'
import type { Clock } from '../../../../platform/clock.ts'
import { crash } from '../../../../platform/crash.ts'
import { newId } from '../../../../platform/ids.ts'
import { readEvent } from '../../../http/processor-event.ts'
import { requireSignature } from '../../../http/processor-signature.ts'
import type { WriteTransaction } from '../../../store/books.ts'
import { inTransaction, write } from '../../../store/write.ts'
import type { BillingCheckoutRow, billingCheckoutStore } from '../../stores/commerce/checkout.ts'
import type { BillingPrices } from '../../stores/commerce/price.ts'
import type { IgnoredReason, ProcessorEventRow, ProcessorEvents } from '../../stores/commerce/processor-event.ts'
import type { Leads } from '../../stores/lead.ts'
import type { Alarm } from '../notify/alarm.ts'
import { isOwnerKnown } from './owner.ts'
import type { BillingProcessor } from './processor.ts'
import { type ProcessorObject, readSnapshot, type Snapshot } from './rules.ts'
import { announceTaken, type BillingWriting, type TakenIn, takeIn } from './take-in.ts'

/** What events of the processor are applied with. */
export interface EventWork extends BillingWriting {
  readonly ask: Ask
  readonly clock: Clock
  readonly log: Logger
  readonly leads: Leads
  readonly billingCheckouts: ReturnType<typeof billingCheckoutStore.open>
  readonly billingPrices: BillingPrices
  readonly billingProcessor: BillingProcessor
  readonly processorEvents: ProcessorEvents
}

/** Maximum events under way; how long a try may take in ms; and pauses after a try that failed, after the last of which an event is dead. */
const atOnce = 50
const tryMs = 60_000
const pauses: readonly number[] = [1_000, 5_000, 30_000, 120_000, 600_000, 3_600_000, 10_800_000]

/**
 * Stores an event of the processor before it answers. The same event again is answered alike, and has no effect.
 * @param secrets with which it may be signed; null: no events are taken
 * @throws BAD_USER_INPUT for a signature that is none of ours; nothing is stored then
 */
export async function receiveEvent(
  { processorEvents, clock }: Pick<EventWork, 'processorEvents' | 'clock'>,
  secrets: readonly string[] | null,
  alarm: Alarm,
  request: Request,
): Promise<Response> {
  const body = new Uint8Array(await request.arrayBuffer())
  const now = clock.now()
  requireSignature(request.headers.get('stripe-signature'), body, secrets ?? [], now)
  const isNew = await processorEvents.keep(newId(now), readEvent(body), now)
  crash('billing-event-stored')
  if (isNew) alarm.ring()
  return Response.json({ received: true, duplicate: !isNew }, { headers: { 'cache-control': 'no-store' } })
}

/** Applies events that are due. @returns when the next one is; null while that is not known */
export async function applyEvents(job: () => EventWork, isLive: boolean): Promise<Date | null> {
  const taken = await takeDue(job(), atOnce)
  const again = await Promise.all(groupsOf(taken).map(group => applyGroup(job, group, isLive)))
  if (taken.length === atOnce) return job().clock.now()
  return again.reduce(earlier, null)
}

/** Applies events beside a sweep, so that one for which the processor is asked, and does not answer, holds up no other. */
export interface EventRuns {
  /** Begins with events that are due. @returns when the next one is; null while that is not known */
  start(job: () => EventWork, isLive: boolean): Promise<Date | null>
  /** Resolves when no event is under way any more. */
  ended(): Promise<void>
}

/** @param alarm that of the sweep which starts them */
export function openEventRuns(alarm: Alarm, log: Logger): EventRuns {
  const running = new Set<Promise<void>>()
  return {
    async start(job, isLive) {
      const room = atOnce - running.size
      if (room <= 0) return null
      const taken = await takeDue(job(), room)
      for (const group of groupsOf(taken)) {
        const work: Promise<void> = applyGroup(job, group, isLive)
          .then(next => next && alarm.at(next))
          .catch(error => log.error({ err: error, objectId: group[0]?.objectId }, 'billing events not applied; they are tried again'))
          .finally(() => {
            // Others may wait for the room.
            if (running.size >= atOnce) alarm.ring()
            running.delete(work)
          })
          .then(() => {})
        running.add(work)
      }
      return taken.length === room ? job().clock.now() : null
    },
    ended: async () => void (await Promise.all(running)),
  }
}

/** Events by their object: those of one are applied one after the other. */
const groupsOf = (taken: readonly ProcessorEventRow[]) => [...Map.groupBy(taken, ({ objectId }) => objectId).values()]

/** Applies events of one object as they happened. @returns when one of them is tried again; null: none */
async function applyGroup(job: () => EventWork, group: readonly ProcessorEventRow[], isLive: boolean): Promise<Date | null> {
  let next: Date | null = null
  for (const event of group.toSorted((a, b) => a.occurredAt.getTime() - b.occurredAt.getTime())) next = earlier(next, await applyEvent(job(), event, isLive))
  return next
}

const earlier = (one: Date | null, other: Date | null): Date | null => (one === null || (other !== null && other < one) ? other : one)

/** Counts a try of each event that is due: others leave it alone until the time of the try is over. */
const takeDue = (job: EventWork, limit: number): Promise<readonly ProcessorEventRow[]> =>
  inTransaction(job, async ({ transaction, now }) => {
    const taken: ProcessorEventRow[] = []
    for (const event of await job.processorEvents.takeDue(now, limit, transaction)) {
      const changes = { attempts: event.attempts + 1, nextAttemptAt: new Date(now.getTime() + tryMs), updatedAt: now }
      taken.push(await job.processorEvents.update(event, changes, transaction))
    }
    return taken
  })

/** What is to be taken in of an event. */
interface Found {
  readonly snapshot: Snapshot
  readonly isAnswer: boolean
}

/** Applies one event, with what it changes in one transaction. @returns when it is tried again; null: it is over */
async function applyEvent(job: EventWork, event: ProcessorEventRow, isLive: boolean): Promise<Date | null> {
  crash('billing-event-taken')
  try {
    const found = (event.payload.livemode === true) === isLive ? await find(job, event) : ignored('MODE')
    if ((await conclude(job, event, found)) === 'ASK' && 'snapshot' in found) {
      const asked = await job.billingProcessor.subscription(found.snapshot.processorSubscriptionId, job.billingPrices)
      await conclude(job, event, asked ? { snapshot: asked, isAnswer: true } : ignored('STALE'))
    }
    return null
  } catch (error) {
    job.log.error({ err: error, eventId: event.id, type: event.type, attempts: event.attempts }, 'billing event failed')
    return postpone(job, event)
  }
}

const ignored = (reason: IgnoredReason) => ({ ignored: reason }) as const

const objectOf = ({ payload }: ProcessorEventRow): ProcessorObject => Object(Object(payload.data ?? {}).object ?? {}) as ProcessorObject

/** Finds what an event says of a subscription, and asks the processor where it says too little. */
async function find(job: EventWork, event: ProcessorEventRow): Promise<Found | { readonly ignored: IgnoredReason }> {
  const object = objectOf(event)
  if (event.type.startsWith('customer.subscription.')) {
    const snapshot = readSnapshot(object)
    if (!snapshot) return ignored('NOT_OURS')
    return checkOwner(job, { snapshot: event.type.endsWith('.deleted') ? { ...snapshot, status: 'CANCELED' } : snapshot, isAnswer: false })
  }
  if (event.type === 'checkout.session.completed' || event.type === 'checkout.session.expired') return findByPage(job, event, object)
  if (event.type === 'invoice.paid' || event.type === 'invoice.payment_failed') return findByInvoice(job, event, object)
  return ignored('TYPE')
}

/** Checks the owner of a subscription that is not known yet. */
async function checkOwner(job: EventWork, found: Found): Promise<Found | { readonly ignored: IgnoredReason }> {
  const { processorSubscriptionId: id, owner } = found.snapshot
  if (await isKnown(job, id)) return found
  return owner && (await isOwnerKnown(job.ask, job.leads, owner)) ? found : ignored('NO_OWNER')
}

const knownOf = ({ billingSubscriptions, workspaceVerifications }: EventWork, id: string) =>
  Promise.all([billingSubscriptions.ofProcessorId(id), workspaceVerifications.ofProcessorId(id)]).then(([paid, verification]) => paid ?? verification)
const isKnown = async (job: EventWork, id: string): Promise<boolean> => (await knownOf(job, id)) !== null

async function findByPage(job: EventWork, event: ProcessorEventRow, object: ProcessorObject): Promise<Found | { readonly ignored: IgnoredReason }> {
  const isPaid = event.type === 'checkout.session.completed'
  const page = await write(job, {
    async run({ transaction, now }) {
      const checkout = await job.billingCheckouts.lockBySession(event.objectId, transaction)
      if (checkout?.status !== 'OPEN') return checkout
      const changes = { status: isPaid ? ('COMPLETE' as const) : ('EXPIRED' as const), url: null, updatedAt: now, version: checkout.version + 1 }
      return job.billingCheckouts.update(checkout, changes, transaction)
    },
  })
  if (!page) return ignored('NOT_OURS')
  if (!isPaid) return ignored('SAME')
  await closeOthers(job, page)
  const id = typeof object.subscription === 'string' ? object.subscription : await job.billingProcessor.subscriptionOfPage(event.objectId)
  if (id === null || (await isKnown(job, id))) return ignored('SAME')
  const snapshot = await job.billingProcessor.subscription(id, job.billingPrices)
  return snapshot ? checkOwner(job, { snapshot, isAnswer: true }) : ignored('NOT_OURS')
}

/** Closes the other pages of an owner for the same: nobody is to pay twice. */
async function closeOthers(job: EventWork, page: BillingCheckoutRow): Promise<void> {
  for (const other of await job.billingCheckouts.openOf(page, page.kind)) {
    if (other.id === page.id || !other.processorSessionId) continue
    // One that was paid in the meantime is refused; its own event says so.
    await job.billingProcessor
      .closePage(other.processorSessionId)
      .catch(error => job.log.warn({ err: error, checkoutId: other.id }, 'checkout page not closed'))
  }
}

/** A paid or failed invoice says little of its subscription: where it means a change, the processor is asked. */
async function findByInvoice(job: EventWork, event: ProcessorEventRow, object: ProcessorObject): Promise<Found | { readonly ignored: IgnoredReason }> {
  const named = Object(Object(object.parent ?? {}).subscription_details ?? {}).subscription ?? object.subscription
  if (typeof named !== 'string') return ignored('NOT_OURS')
  const known = await knownOf(job, named)
  if (!known) return ignored('NOT_OURS')
  if (known.status === 'CANCELED') return ignored('FINAL')
  if (event.occurredAt < known.learnedAt) return ignored('STALE')
  const isPaid = event.type === 'invoice.paid'
  if (isPaid ? known.status === 'ACTIVE' || known.status === 'TRIALING' : known.status === 'PAST_DUE' || known.status === 'UNPAID') return ignored('SAME')
  const snapshot = await job.billingProcessor.subscription(named, job.billingPrices)
  return snapshot ? { snapshot, isAnswer: true } : ignored('STALE')
}

/** Writes what an event came to. @returns ASK: nothing was written yet */
async function conclude(job: EventWork, event: ProcessorEventRow, found: Found | { readonly ignored: IgnoredReason }): Promise<'DONE' | 'ASK'> {
  const result = await write<TakenIn | null>(job, {
    async run(unit) {
      const present = await job.processorEvents.lock(event.id, unit.transaction)
      // Another process took it when the time of this try was over.
      if (!present || present.attempts !== event.attempts || present.nextAttemptAt === null) return null
      const taken = 'ignored' in found ? found : await takeIn(job, found.snapshot, event.occurredAt, unit, found.isAnswer)
      if (taken !== 'ASK') await end(job, present, 'ignored' in taken ? taken.ignored : null, unit)
      return taken
    },
    announce: announceTaken,
  })
  crash('billing-event-applied')
  return result === 'ASK' ? 'ASK' : 'DONE'
}

const end = (job: EventWork, event: ProcessorEventRow, reason: IgnoredReason | null, { transaction, now }: WriteTransaction) =>
  job.processorEvents.update(
    event,
    { status: reason ? 'IGNORED' : 'APPLIED', reason, nextAttemptAt: null, updatedAt: now, version: event.version + 1 },
    transaction,
  )

/** Has an event tried again later, or gives it up. */
async function postpone(job: EventWork, event: ProcessorEventRow): Promise<Date | null> {
  return inTransaction(job, async ({ transaction, now }) => {
    const present = await job.processorEvents.lock(event.id, transaction)
    if (!present || present.attempts !== event.attempts || present.nextAttemptAt === null) return null
    const pause = pauses[event.attempts - 1]
    const nextAttemptAt = pause === undefined ? null : new Date(now.getTime() + pause)
    await job.processorEvents.update(present, { nextAttemptAt, ...(nextAttemptAt === null && { status: 'DEAD' as const }), updatedAt: now }, transaction)
    return nextAttemptAt
  })
}
