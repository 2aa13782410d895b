import type { Logger } from 'pino'
import type { Ask } from '../../../../platform/ask.ts'
import type { Clock } from '../../../../platform/clock.ts'
import { newId } from '../../../../platform/ids.ts'
import { record, type WriteTransaction } from '../../../store/books.ts'
import { write } from '../../../store/write.ts'
import type { Rights } from '../../stores/commerce/entitlement.ts'
import type { BillingPrices } from '../../stores/commerce/price.ts'
import type { SeatRow } from '../../stores/commerce/seat.ts'
import { membersOf } from '../people/people.ts'
import type { BillingProcessor } from './processor.ts'
import { type Joined, planSeats } from './rules.ts'
import type { BillingWriting } from './take-in.ts'

/** What seats are given with. */
export interface SeatWork extends BillingWriting {
  readonly ask: Ask
  readonly clock: Clock
  readonly log: Logger
  readonly billingPrices: BillingPrices
  readonly billingProcessor: BillingProcessor
}

/** Maximum organizations of one run, and how long one is left alone after an error, in ms. */
const atOnce = 50
const pauseMs = 30_000

/** Whether a plan comes with seats. */
export const hasSeats = ({ plan }: Pick<Rights, 'plan'>): boolean => plan !== 'NONE' && plan !== 'FREE_WORKSPACE'

/** Returns how many seats may be held: those of the plan, or fewer while it is being changed to fewer. Take the owner's lock first. */
export async function seatsOf(
  { seats }: Pick<SeatWork, 'seats'>,
  organizationId: string,
  rights: Pick<Rights, 'plan' | 'seats'>,
  { now, transaction }: Pick<WriteTransaction, 'now' | 'transaction'>,
): Promise<number> {
  const paid = hasSeats(rights) ? rights.seats : 0
  return Math.min(paid, (await seats.fewestChanged(organizationId, now, transaction)) ?? paid)
}

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
      const plan = planSeats(await seatsOf(job, organizationId, rights, unit), members, await job.seats.allOf(organizationId, transaction))
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
