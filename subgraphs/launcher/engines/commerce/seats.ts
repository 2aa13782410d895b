import type { Logger } from 'pino'
import type { Ask } from '../../../../platform/ask.ts'
import type { Clock } from '../../../../platform/clock.ts'
import { newId } from '../../../../platform/ids.ts'
import { record } from '../../../store/books.ts'
import { write } from '../../../store/write.ts'
import type { Rights } from '../../stores/commerce/entitlement.ts'
import type { BillingPrices } from '../../stores/commerce/price.ts'
import type { SeatRow } from '../../stores/commerce/seat.ts'
import { membersOf } from '../people/people.ts'
import type { BillingProcessor } from './processor.ts'
import { type Joined, planSeats } from './rules.ts'
import { type BillingWriting, changesOf, takeIn } from './take-in.ts'

/** What seats are given with. */
export interface SeatWork extends BillingWriting {
  readonly ask: Ask
  readonly clock: Clock
  readonly log: Logger
  readonly billingPrices: BillingPrices
  readonly billingProcessor: BillingProcessor
}

/** Maximum organizations of one run; how long one is left alone after an error; and how often each is compared with the processor, in ms. */
const atOnce = 50
const pauseMs = 30_000
const dayMs = 86_400_000

/** Whether a plan comes with seats. */
export const hasSeats = ({ plan }: Pick<Rights, 'plan'>): boolean => plan !== 'NONE' && plan !== 'FREE_WORKSPACE'

export interface GivenSeats {
  readonly released: number
  readonly assigned: number
}

/** Gives the free seats of an organization in order of joining, and releases those of members who left. */
export async function giveSeats(job: SeatWork, organizationId: string): Promise<GivenSeats> {
  const owner = { organizationId, userId: null }
  const turn = await job.seats.turnOf(organizationId)
  const members = await membersOf(job.ask, organizationId)
  return write(job, {
    async run(unit) {
      const { transaction } = unit
      await job.entitlements.lockOwner(owner, transaction)
      const rights = await job.entitlements.rightsOf(owner, transaction)
      const plan = planSeats(hasSeats(rights) ? rights.seats : 0, members, await job.seats.allOf(organizationId, transaction))
      for (const seat of [...plan.release, ...plan.forget]) await job.seats.remove(seat, transaction)
      for (const seat of plan.release) await recordSeat(job, 'seat.released', seat, unit)
      for (const member of plan.assign) await assign(job, organizationId, member, unit)
      const announce = await job.billingItems.exhausted(job, organizationId, hasSeats(rights) ? plan.waiting : 0, unit)
      if (turn !== null) await job.seats.noteGiven(organizationId, turn, transaction)
      return { released: plan.release.length, assigned: plan.assign.length, announce }
    },
    announce: ({ announce }) => announce?.(),
  })
}

type Unit = Parameters<typeof record>[2]

const recordSeat = (job: SeatWork, action: 'seat.assigned' | 'seat.released', { id, organizationId, userId, kind }: SeatRow, unit: Unit) =>
  record(job, { tenantId: organizationId, action, subjectId: id, details: { userId, kind } }, unit)

async function assign(job: SeatWork, organizationId: string, { userId, kind }: Joined, unit: Unit): Promise<void> {
  const { now } = unit
  const row = { id: newId(now), organizationId, userId, kind, assignedAt: now, createdAt: now, updatedAt: now, createdBy: 'seats' }
  await recordSeat(job, 'seat.assigned', await job.seats.insert(row, unit.transaction), unit)
}

/** Gives seats in organizations where something has changed. @returns when the next run is due; null while that is not known */
export async function giveDueSeats(job: () => SeatWork): Promise<Date | null> {
  const looking = job()
  const due = await looking.seats.due(looking.clock.now(), atOnce)
  let next: Date | null = null
  for (const organizationId of due) {
    try {
      await giveSeats(job(), organizationId)
    } catch (error) {
      looking.log.error({ err: error, organizationId }, 'seats not given')
      next = new Date(looking.clock.now().getTime() + pauseMs)
      await looking.seats.postpone(organizationId, next)
    }
  }
  return due.length === atOnce ? looking.clock.now() : next
}

/** What reconciliation changed in an organization. */
export interface Reconciled extends GivenSeats {
  /** Subscriptions that the processor describes otherwise than they were known. */
  readonly corrected: number
}

/** Takes the processor's word for what an organization has, and gives its seats anew. */
export async function reconcile(job: SeatWork, organizationId: string): Promise<Reconciled> {
  // The sweep of seats is woken at the end, so that what is released here is counted here.
  const announcements: (() => void)[] = []
  let corrected = 0
  try {
    for (const known of await job.billingSubscriptions.standingOf({ ownerType: 'ORGANIZATION', ownerId: organizationId })) {
      const snapshot = await job.billingProcessor.subscription(known.processorSubscriptionId, job.billingPrices)
      if (!snapshot) continue
      const taken = await write(job, { run: unit => takeIn(job, snapshot, known.learnedAt, unit, true) })
      announcements.push(...changesOf(taken))
      if (typeof taken === 'object' && 'changed' in taken) corrected += 1
    }
    const given = await giveSeats(job, organizationId)
    await job.seats.noteReconciled(organizationId, job.clock.now())
    return { ...given, corrected }
  } finally {
    for (const announce of announcements) announce()
  }
}

/** Reconciles organizations that were not compared with the processor for a day. */
export async function reconcileOld(job: () => SeatWork): Promise<void> {
  const looking = job()
  for (const organizationId of await looking.seats.unreconciled(new Date(looking.clock.now().getTime() - dayMs), atOnce))
    await reconcile(job(), organizationId).catch(async error => {
      looking.log.error({ err: error, organizationId }, 'seats not reconciled')
      await looking.seats.noteReconciled(organizationId, new Date(looking.clock.now().getTime() - dayMs + 3_600_000))
    })
}
