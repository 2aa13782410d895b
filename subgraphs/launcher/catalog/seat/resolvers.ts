import { DomainError } from '../../../../platform/errors.ts'
import { newId, requireId } from '../../../../platform/ids.ts'
import { record } from '../../../store/books.ts'
import { checkVersion, write } from '../../../store/write.ts'
import { actorOf, requireApp } from '../../../viewer.ts'
import type { Context } from '../../context.ts'
import { hasSeats, reconcile } from '../../engines/commerce/seats.ts'
import { announceTaken, takeIn } from '../../engines/commerce/take-in.ts'
import { membersOf } from '../../engines/people/people.ts'
import { registration } from '../../registration.ts'
import type { ChangeSeatsInput, Resolvers } from '../../resolvers.generated.ts'
import type { SeatRow } from '../../stores/commerce/seat.ts'
import type { BillingSubscriptionRow } from '../../stores/commerce/subscription.ts'
import { requireBillingManager, requireSeatManager } from '../billing/billing-manager.ts'
import { keyAtProcessor, notSubscribed, readSeats } from '../billing/rules.ts'

const inUse = (message: string): DomainError => new DomainError('CONFLICT', message, { reason: 'SEATS_IN_USE' })

async function changeSeats(context: Context, { quantity: given, expectedVersion, idempotencyKey }: ChangeSeatsInput): Promise<BillingSubscriptionRow> {
  const { viewer, clock, seats, billingSubscriptions, billingPrices, billingProcessor } = context
  const organizationId = requireSeatManager(viewer)
  const quantity = readSeats(given, 'quantity')
  const repeated = keyAtProcessor({ idempotencyKey })
  const [standing] = await billingSubscriptions.standingOf({ ownerType: 'ORGANIZATION', ownerId: organizationId })
  if (!standing) throw notSubscribed()
  checkVersion(standing.version, expectedVersion, billingSubscriptions.what)
  const held = await seats.countHeld(organizationId)
  if (quantity < held) throw inUse(`${held} seats are held: release some of them first.`)
  const key = `launcher-seats:${standing.id}:${repeated ?? newId(clock.now())}`
  const { processorSubscriptionId: subscriptionId, processorItemId: itemId } = standing
  const answered = await billingProcessor.changeQuantity({ subscriptionId, itemId, quantity, key }, billingPrices)
  // A repeated key is answered with what was true when it came first.
  const snapshot = (repeated && (await billingProcessor.subscription(subscriptionId, billingPrices))) || answered
  await write(context, {
    run: unit => takeIn(context, snapshot, standing.learnedAt, unit, true),
    announce: announceTaken,
  })
  context.entitlements.forget()
  return (await billingSubscriptions.ofProcessorId(subscriptionId)) ?? standing
}

async function assignSeat(context: Context, given: string): Promise<SeatRow> {
  const { viewer, ask, seats, entitlements } = context
  const organizationId = requireSeatManager(viewer)
  const userId = requireId(given, 'userId')
  const member = (await membersOf(ask, organizationId)).find(each => each.userId === userId)
  if (!member) throw new DomainError('NOT_FOUND', `${userId} is no member of the active organization.`, { field: 'userId' })
  return write(context, {
    async run(unit) {
      const { transaction, now } = unit
      const owner = { organizationId, userId: null }
      await entitlements.lockOwner(owner, transaction)
      const present = (await seats.allOf(organizationId, transaction)).find(each => each.userId === userId)
      if (present && present.releasedAt === null) return present
      const rights = await entitlements.rightsOf(owner, transaction)
      if ((await seats.countHeld(organizationId, transaction)) >= (hasSeats(rights) ? rights.seats : 0))
        throw inUse('No seat is free: buy more of them, or release one first.')
      const row = present
        ? await seats.update(present, { releasedAt: null, assignedAt: now, updatedAt: now, version: present.version + 1 }, transaction)
        : await seats.insert(
            { id: newId(now), organizationId, userId, kind: member.kind, assignedAt: now, createdAt: now, updatedAt: now, createdBy: actorOf(viewer) },
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

async function reconcileSeats(context: Context, given: string | null | undefined) {
  requireApp(context.viewer, registration.appId, 'what seats and subscriptions are')
  const job = () => context.jobOf('reconciliation')
  const wanted = given ? [requireId(given, 'organizationId')] : await job().seats.unreconciled(context.clock.now(), 10_000)
  const total = { organizations: 0, released: 0, assigned: 0, corrected: 0 }
  for (const organizationId of wanted) {
    const { released, assigned, corrected } = await reconcile(job(), organizationId)
    total.organizations += 1
    total.released += released
    total.assigned += assigned
    total.corrected += corrected
  }
  return total
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
