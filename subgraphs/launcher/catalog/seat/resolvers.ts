import { codeOf, DomainError } from '../../../../platform/errors.ts'
import { newId, requireId } from '../../../../platform/ids.ts'
import { record, type WriteTransaction } from '../../../store/books.ts'
import { checkVersion, inTransaction, write } from '../../../store/write.ts'
import { actorOf, requireApp } from '../../../viewer.ts'
import type { Context } from '../../context.ts'
import { reconcile, reconcileAll } from '../../engines/commerce/reconcile.ts'
import { seatsOf } from '../../engines/commerce/seats.ts'
import { announceTaken, takeIn } from '../../engines/commerce/take-in.ts'
import { memberKindOf } from '../../engines/people/people.ts'
import { registration } from '../../registration.ts'
import type { ChangeSeatsInput, Resolvers } from '../../resolvers.generated.ts'
import type { SeatRow } from '../../stores/commerce/seat.ts'
import type { BillingSubscriptionRow } from '../../stores/commerce/subscription.ts'
import { requireBillingManager, requireSeatManager } from '../billing/billing-manager.ts'
import { keyAtProcessor, notSubscribed, readSeats } from '../billing/rules.ts'

const inUse = (message: string): DomainError => new DomainError('CONFLICT', message, { reason: 'SEATS_IN_USE' })

/** How long a change that nobody ended holds seats back, in ms: longer than the processor is waited for. */
const changeMs = 60_000

/** A change of seats that is under way. */
interface Begun {
  readonly standing: BillingSubscriptionRow
  readonly id: string
}

/**
 * Begins a change of seats under the owner's lock: from then on no more seats are given than there are to be, so that a seat that is given while
 * the processor is asked is not one too many.
 * @throws CONFLICT, reason SEATS_IN_USE or NOT_SUBSCRIBED
 */
function beginChange(context: Context, organizationId: string, quantity: number, expectedVersion: ChangeSeatsInput['expectedVersion']): Promise<Begun> {
  const { seats, entitlements, billingSubscriptions } = context
  return inTransaction(context, async ({ transaction, now }) => {
    await entitlements.lockOwner({ organizationId, userId: null }, transaction)
    const [standing] = await billingSubscriptions.standingOf({ ownerType: 'ORGANIZATION', ownerId: organizationId }, transaction)
    if (!standing) throw notSubscribed()
    checkVersion(standing.version, expectedVersion, billingSubscriptions.what)
    const held = await seats.countHeld(organizationId, transaction)
    if (quantity < held) throw inUse(`${held} seats are held: release some of them first.`)
    const id = newId(now)
    await seats.beginChange(organizationId, { id, quantity, until: new Date(now.getTime() + changeMs) }, transaction)
    return { standing, id }
  })
}

/** Ends a change of seats; members who waited meanwhile get what is free. */
async function endChange({ seats }: Context, organizationId: string, id: string, { transaction, now }: WriteTransaction): Promise<void> {
  await seats.endChange(organizationId, id, now, transaction)
  await seats.wake(organizationId, now, transaction)
}

async function changeSeats(context: Context, { quantity: given, expectedVersion, idempotencyKey }: ChangeSeatsInput): Promise<BillingSubscriptionRow> {
  const { viewer, clock, seatAlarm, billingSubscriptions, billingPrices, billingProcessor } = context
  const organizationId = requireSeatManager(viewer)
  const quantity = readSeats(given, 'quantity')
  const repeated = keyAtProcessor({ idempotencyKey })
  const { standing, id } = await beginChange(context, organizationId, quantity, expectedVersion)
  const key = `launcher-seats:${standing.id}:${repeated ?? newId(clock.now())}`
  const { processorSubscriptionId: subscriptionId, processorItemId: itemId } = standing
  try {
    const answered = await billingProcessor.changeQuantity({ subscriptionId, itemId, quantity, key }, billingPrices)
    // A repeated key is answered with what was true when it came first.
    const snapshot = (repeated && (await billingProcessor.subscription(subscriptionId, billingPrices))) || answered
    await write(context, {
      async run(unit) {
        const taken = await takeIn(context, snapshot, standing.learnedAt, unit, true)
        await endChange(context, organizationId, id, unit)
        return taken
      },
      announce: announceTaken,
    })
  } catch (error) {
    // After any other answer nobody knows what the processor did: the change ends by itself.
    if (codeOf(error) === 'CONFLICT' || codeOf(error) === 'BAD_USER_INPUT') await inTransaction(context, unit => endChange(context, organizationId, id, unit))
    throw error
  }
  seatAlarm.ring()
  context.entitlements.forget()
  return (await billingSubscriptions.ofProcessorId(subscriptionId)) ?? standing
}

async function assignSeat(context: Context, given: string): Promise<SeatRow> {
  const { viewer, ask, seats, entitlements } = context
  const organizationId = requireSeatManager(viewer)
  const userId = requireId(given, 'userId')
  const kind = await memberKindOf(ask, organizationId, userId)
  if (kind === null) throw new DomainError('NOT_FOUND', `${userId} is no member of the active organization.`, { field: 'userId' })
  return write(context, {
    async run(unit) {
      const { transaction, now } = unit
      const owner = { organizationId, userId: null }
      await entitlements.lockOwner(owner, transaction)
      const present = (await seats.allOf(organizationId, transaction)).find(each => each.userId === userId)
      if (present && present.releasedAt === null) return present
      const rights = await entitlements.rightsOf(owner, transaction)
      if ((await seats.countHeld(organizationId, transaction)) >= (await seatsOf(context, organizationId, rights, unit)))
        throw inUse('No seat is free: buy more of them, or release one first.')
      const row = present
        ? await seats.update(present, { releasedAt: null, assignedAt: now, updatedAt: now, version: present.version + 1 }, transaction)
        : await seats.insert(
            { id: newId(now), organizationId, userId, kind, assignedAt: now, createdAt: now, updatedAt: now, createdBy: actorOf(viewer) },
            transaction,
          )
      await record(context, { tenantId: organizationId, action: 'seat.assigned', subjectId: row.id, details: { userId, kind: row.kind } }, unit)
      return row
    },
  })
}

async function releaseSeat(context: Context, given: string): Promise<SeatRow> {
  const { viewer, seats, entitlements, seatAlarm } = context
  const organizationId = requireSeatManager(viewer)
  const userId = requireId(given, 'userId')
  return write(context, {
    async run({ transaction, now }) {
      await entitlements.lockOwner({ organizationId, userId: null }, transaction)
      const present = (await seats.allOf(organizationId, transaction)).find(each => each.userId === userId && each.releasedAt === null)
      if (!present) throw new DomainError('NOT_FOUND', `${userId} holds no seat of the active organization.`, { field: 'userId' })
      await seats.wake(organizationId, now, transaction)
      return seats.update(present, { releasedAt: now, updatedAt: now, version: present.version + 1 }, transaction)
    },
    audit: ({ id, kind }) => ({ tenantId: organizationId, action: 'seat.released', subjectId: id, details: { userId, kind } }),
    announce: () => seatAlarm.ring(),
  })
}

/** How long all organizations are reconciled in one request, in ms: the rest is left to the sweep. */
const allMs = 20_000

async function reconcileSeats(context: Context, given: string | null | undefined) {
  requireApp(context.viewer, registration.appId, 'what seats and subscriptions are')
  const job = () => context.jobOf('reconciliation')
  if (given) return { organizations: 1, ...(await reconcile(job(), requireId(given, 'organizationId'))) }
  return reconcileAll(job, AbortSignal.timeout(allMs))
}

export const seatResolvers: Resolvers = {
  Query: {
    async seats(_, page, { viewer, seats }) {
      const { owner } = requireBillingManager(viewer)
      return seats.page('held', owner.ownerId, page)
    },
  },
  Mutation: {
    changeSeats: (_, { input }, context) => changeSeats(context, input),
    assignSeat: (_, { input }, context) => assignSeat(context, input.userId),
    releaseSeat: (_, { input }, context) => releaseSeat(context, input.userId),
    reconcileSeats: (_, { input }, context) => reconcileSeats(context, input.organizationId),
  },
  Seat: {
    user: ({ userId }) => ({ __typename: 'User', id: userId }),
  },
}
