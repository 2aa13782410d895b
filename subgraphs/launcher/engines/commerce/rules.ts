import { isId } from '../../../../platform/ids.ts'
import type { CheckoutKind } from '../../stores/commerce/checkout.ts'
import type { IgnoredReason } from '../../stores/commerce/processor-event.ts'
import type {
  BillingInterval,
  BillingOwner,
  BillingPackage,
  BillingStatus,
  BillingSubscriptionRow,
  OwnerType,
  WorkspaceVerificationRow,
} from '../../stores/commerce/subscription.ts'
import { packages } from './plans.ts'

/** An object of the processor, as an event carries it. */
export type ProcessorObject = Readonly<Record<string, unknown>>

/** A subscription as the processor describes it at one moment. Null stands for what is not said, or not known here. */
export interface Snapshot {
  readonly processorSubscriptionId: string
  readonly processorCustomerId: string
  readonly processorItemId: string
  readonly status: BillingStatus
  readonly seats: number
  readonly unitMinor: bigint | null
  readonly currency: string | null
  readonly interval: BillingInterval | null
  readonly currentPeriodEnd: Date | null
  readonly cancelAtPeriodEnd: boolean
  readonly kind: CheckoutKind | null
  readonly package: BillingPackage | null
  readonly owner: BillingOwner | null
}

const statuses: Readonly<Record<string, BillingStatus>> = {
  incomplete: 'INCOMPLETE',
  incomplete_expired: 'CANCELED',
  trialing: 'TRIALING',
  active: 'ACTIVE',
  past_due: 'PAST_DUE',
  unpaid: 'UNPAID',
  paused: 'PAUSED',
  canceled: 'CANCELED',
}
const owners: Readonly<Record<string, OwnerType>> = { organization: 'ORGANIZATION', user: 'USER', lead: 'LEAD' }
const kinds: Readonly<Record<string, CheckoutKind>> = { bundle: 'BUNDLE', free_workspace: 'FREE_WORKSPACE' }

const of = <Value>(values: Readonly<Record<string, Value>>, name: unknown): Value | null =>
  typeof name === 'string' && Object.hasOwn(values, name) ? values[name]! : null
const textOf = (value: unknown): string | null => (typeof value === 'string' ? value : null)
const wholeOf = (value: unknown): number | null => (Number.isSafeInteger(value) && Number(value) >= 0 ? Number(value) : null)

/** Returns the bundle that a name in lower case stands for; null for none. */
export const packageOf = (name: unknown): BillingPackage | null => packages.find(each => each.toLowerCase() === name) ?? null

/** Returns the status that the processor names, in either case; null for an unknown one. */
export const statusOf = (name: unknown): BillingStatus | null => of(statuses, textOf(name)?.toLowerCase())

/** Returns the owner that metadata of the processor name; null for none. */
export function ownerIn(metadata: ProcessorObject): BillingOwner | null {
  const [ownerType, ownerId] = [of(owners, metadata.owner_type), textOf(metadata.owner_id)]
  return ownerType && ownerId && isId(ownerId) ? { ownerType, ownerId } : null
}

/** Returns what is subscribed to by metadata of the processor; null for anything else. */
export const kindIn = (metadata: ProcessorObject): CheckoutKind | null => of(kinds, metadata.kind)

/** Reads a subscription of an event; null for anything that is none. */
export function readSnapshot(object: ProcessorObject): Snapshot | null {
  const [id, customer, status] = [textOf(object.id), textOf(object.customer) ?? textOf(Object(object.customer).id), statusOf(object.status)]
  const item = Object((Object(object.items).data as readonly unknown[] | undefined)?.[0] ?? {}) as ProcessorObject
  const price = Object(item.price ?? {}) as ProcessorObject
  const metadata = Object(object.metadata ?? {}) as ProcessorObject
  const itemId = textOf(item.id)
  if (!id || !customer || !status || !itemId) return null
  const [unit, end] = [wholeOf(price.unit_amount), wholeOf(item.current_period_end) ?? wholeOf(object.current_period_end)]
  const interval = Object(price.recurring).interval as unknown
  return {
    ...{ processorSubscriptionId: id, processorCustomerId: customer, processorItemId: itemId, status, seats: wholeOf(item.quantity) ?? 1 },
    unitMinor: unit === null ? null : BigInt(unit),
    currency: textOf(price.currency)?.toUpperCase() ?? null,
    interval: interval === 'month' ? 'MONTH' : interval === 'year' ? 'YEAR' : null,
    currentPeriodEnd: end === null ? null : new Date(end * 1000),
    cancelAtPeriodEnd: object.cancel_at_period_end === true,
    kind: kindIn(metadata),
    // The portal changes the price; what was bought at first stays in the metadata.
    package: packageOf(Object(price.metadata).package) ?? packageOf(metadata.package),
    owner: ownerIn(metadata),
  }
}

/** A subscription of either kind, as it is known. */
export type Known = BillingSubscriptionRow | WorkspaceVerificationRow

/** What an event comes to. ASK: two of one second say different things, so the processor is asked. */
export type Judgement<Changes> = { readonly write: Changes } | { readonly ignore: IgnoredReason } | 'ASK'

/** Columns that follow from a subscription of the processor. */
type Common = Pick<
  WorkspaceVerificationRow,
  'status' | 'unitMinor' | 'currency' | 'currentPeriodEnd' | 'cancelAtPeriodEnd' | 'pastDueSince' | 'endedAt' | 'processorCustomerId' | 'learnedAt'
>

const isSame = (one: unknown, other: unknown): boolean => (one instanceof Date && other instanceof Date ? one.getTime() === other.getTime() : one === other)

/** Moments that the processor does not tell: they follow from when a status was learned. */
const derived = ['learnedAt', 'pastDueSince', 'endedAt', 'verifiedAt']

/**
 * Judges what a subscription of the processor changes.
 * @param learned what it says, as columns of the present record
 * @param occurredAt when it was so, to the second
 * @param isAnswer whether the processor was asked for it: then nothing of that second is newer
 */
export function judge<Row extends Known>(present: Row | null, learned: Partial<Row> & Common, occurredAt: Date, isAnswer = false): Judgement<Partial<Row>> {
  if (!present) return { write: learned }
  if (present.status === 'CANCELED') return { ignore: 'FINAL' }
  const differs = Object.entries(learned).some(([name, value]) => !derived.includes(name) && !isSame(value, present[name as keyof Row]))
  // An end is final at the processor, so it is never outdated.
  if (learned.status !== 'CANCELED') {
    if (occurredAt < present.learnedAt) return { ignore: 'STALE' }
    if (differs && !isAnswer && occurredAt.getTime() === present.learnedAt.getTime()) return 'ASK'
  }
  if (!differs) return occurredAt > present.learnedAt ? { write: { learnedAt: occurredAt } as Partial<Row> } : { ignore: 'SAME' }
  const learnedAt = occurredAt > present.learnedAt ? occurredAt : present.learnedAt
  return { write: { ...learned, learnedAt } }
}

/** Returns the columns that both kinds of subscriptions have, from what the processor says. @param since when a new status began */
export const commonOf = (present: Known | null, snapshot: Snapshot, occurredAt: Date, since = occurredAt): Common => ({
  status: snapshot.status,
  unitMinor: snapshot.unitMinor ?? present?.unitMinor ?? 0n,
  currency: snapshot.currency ?? present?.currency ?? 'USD',
  currentPeriodEnd: snapshot.currentPeriodEnd ?? present?.currentPeriodEnd ?? null,
  cancelAtPeriodEnd: snapshot.cancelAtPeriodEnd,
  pastDueSince: snapshot.status === 'PAST_DUE' ? (present?.pastDueSince ?? since) : null,
  endedAt: snapshot.status === 'CANCELED' ? since : null,
  processorCustomerId: snapshot.processorCustomerId,
  learnedAt: occurredAt,
})

/** A member of an organization, in order of joining. */
export interface Joined {
  readonly userId: string
  readonly kind: 'HUMAN' | 'AGENT'
}

interface Given {
  readonly userId: string
  readonly assignedAt: Date
  readonly releasedAt: Date | null
}

/** How seats are to change. */
export interface SeatPlan<Seat extends Given> {
  /** Held by those who left, or more than there are. */
  readonly release: readonly Seat[]
  /** No longer held, and no longer needed to remember that a manager released it. */
  readonly forget: readonly Seat[]
  readonly assign: readonly Joined[]
  /** Number of members who wait for a seat. */
  readonly waiting: number
}

/**
 * Plans who holds seats: those who left hold none, and of too many held the latest are released; free ones are given in
 * order of joining. A member whose seat a manager released waits until one is assigned.
 */
export function planSeats<Seat extends Given>(total: number, members: readonly Joined[], seats: readonly Seat[]): SeatPlan<Seat> {
  const order = new Map(members.map(({ userId }, at) => [userId, at]))
  const [staying, gone] = [seats.filter(({ userId }) => order.has(userId)), seats.filter(({ userId }) => !order.has(userId))]
  const held = staying
    .filter(({ releasedAt }) => releasedAt === null)
    .sort((a, b) => a.assignedAt.getTime() - b.assignedAt.getTime() || order.get(a.userId)! - order.get(b.userId)!)
  const known = new Set(staying.map(({ userId }) => userId))
  const without = members.filter(({ userId }) => !known.has(userId))
  const assign = without.slice(0, Math.max(0, total - held.length))
  const surplus = held.slice(total)
  return {
    release: [...gone.filter(({ releasedAt }) => releasedAt === null), ...surplus],
    forget: gone.filter(({ releasedAt }) => releasedAt !== null),
    assign,
    waiting: without.length - assign.length + surplus.length,
  }
}
