import { newId } from '../../../../platform/ids.ts'
import { record, type WriteTransaction, type Writing, writeFacts } from '../../../store/books.ts'
import type { EntitlementStore } from '../../stores/commerce/entitlement.ts'
import type { IgnoredReason } from '../../stores/commerce/processor-event.ts'
import type { Seats } from '../../stores/commerce/seat.ts'
import type {
  BillingOwner,
  BillingSubscriptionRow,
  BillingSubscriptions,
  WorkspaceVerificationRow,
  WorkspaceVerifications,
} from '../../stores/commerce/subscription.ts'
import type { Owner } from '../../stores/installation.ts'
import type { Alarm } from '../notify/alarm.ts'
import { type ItemWriting, type Notice, postNotice } from '../notify/notify.ts'
import { commonOf, type Judgement, judge, type Known, type Snapshot } from './rules.ts'

/** Opens and resolves action items of subscriptions, in a transaction. @returns a function that notifies their viewers */
export interface BillingItems {
  pastDue(context: BillingItemWriting, row: BillingSubscriptionRow, unit: WriteTransaction): Promise<(() => void) | undefined>
  /** @param waiting number of members without a seat; 0: there is a seat for each */
  exhausted(context: BillingItemWriting, organizationId: string, waiting: number, unit: WriteTransaction): Promise<(() => void) | undefined>
}

/** What action items about subscriptions are written with. */
export interface BillingItemWriting extends ItemWriting {
  readonly dashboardUrl: string
}

/** What subscriptions are written with. */
export interface BillingWriting extends Writing, BillingItemWriting {
  readonly billingSubscriptions: BillingSubscriptions
  readonly workspaceVerifications: WorkspaceVerifications
  readonly entitlements: EntitlementStore
  readonly seats: Seats
  readonly seatAlarm: Alarm
  readonly billingItems: BillingItems
}

/** What became of a snapshot: what is left to do after the commit, why nothing changed, or that the processor is to be asked. */
export type TakenIn = { readonly changed: readonly (() => void)[] } | { readonly ignored: IgnoredReason } | 'ASK'

/** Returns what is left to do after the commit. */
export const changesOf = (taken: TakenIn | null): readonly (() => void)[] =>
  typeof taken === 'object' && taken !== null && 'changed' in taken ? taken.changed : []

/** Does what is left to do after the commit. */
export function announceTaken(taken: TakenIn | null): void {
  for (const announce of changesOf(taken)) announce()
}

/** Returns the owner of entitlements; null for a lead, who uses nothing yet. */
export const entitledOf = ({ ownerType, ownerId }: BillingOwner): Owner | null => {
  if (ownerType === 'LEAD') return null
  return ownerType === 'ORGANIZATION' ? { organizationId: ownerId, userId: null } : { organizationId: null, userId: ownerId }
}

/** Locks what an owner may use, so that an installation under way sees either the former or the new state. */
export async function lockOwner({ entitlements }: Pick<BillingWriting, 'entitlements'>, owner: BillingOwner, unit: WriteTransaction): Promise<void> {
  const entitled = entitledOf(owner)
  if (entitled) await entitlements.lockOwner(entitled, unit.transaction)
}

/**
 * Takes in what the processor says of a subscription: in the transaction the record, its audit entry, its fact, its notice
 * and its action item.
 * @param occurredAt when it was so, to the second
 * @param isAnswer   whether the processor was asked just now
 */
export async function takeIn(job: BillingWriting, snapshot: Snapshot, occurredAt: Date, unit: WriteTransaction, isAnswer = false): Promise<TakenIn> {
  const { transaction } = unit
  const id = snapshot.processorSubscriptionId
  const paid = await job.billingSubscriptions.lockByProcessorId(id, transaction)
  const verification = paid ? null : await job.workspaceVerifications.lockByProcessorId(id, transaction)
  const present: Known | null = paid ?? verification
  const owner = present ?? snapshot.owner
  if (!owner) return { ignored: 'NO_OWNER' }
  const kind = paid ? 'BUNDLE' : verification ? 'FREE_WORKSPACE' : snapshot.kind
  if (kind === null) return { ignored: 'NOT_OURS' }
  return kind === 'BUNDLE'
    ? takeInBundle(job, paid, owner, { snapshot, occurredAt, isAnswer }, unit)
    : takeInVerification(job, verification, owner, { snapshot, occurredAt, isAnswer }, unit)
}

interface Learned {
  readonly snapshot: Snapshot
  readonly occurredAt: Date
  readonly isAnswer: boolean
}

/** Returns why a judgement writes nothing; null when it does. */
const unwritten = <Changes>(judgement: Judgement<Changes>): Exclude<TakenIn, { changed: unknown }> | null => {
  if (judgement === 'ASK') return 'ASK'
  return 'ignore' in judgement ? { ignored: judgement.ignore } : null
}

/**
 * Returns since when a new status counts. An answer of the processor stands at the time of what was learned last, which may
 * be long ago: what it says that is new is so by now.
 */
const sinceOf = (present: Known | null, occurredAt: Date, { now }: WriteTransaction): Date => (present && occurredAt <= present.learnedAt ? now : occurredAt)

const stampsOf = ({ now }: WriteTransaction) => ({ reconciledAt: now, createdAt: now, updatedAt: now, createdBy: 'processor' })

async function takeInBundle(
  job: BillingWriting,
  present: BillingSubscriptionRow | null,
  { ownerType, ownerId }: BillingOwner,
  { snapshot, occurredAt, isAnswer }: Learned,
  unit: WriteTransaction,
): Promise<TakenIn> {
  const name = snapshot.package ?? present?.package
  const interval = snapshot.interval ?? present?.interval
  if (!name || !interval) return { ignored: 'NOT_OURS' }
  const learned = {
    ...commonOf(present, snapshot, occurredAt, sinceOf(present, occurredAt, unit)),
    package: name,
    interval,
    seats: snapshot.seats,
    processorItemId: snapshot.processorItemId,
  }
  const judgement = judge<BillingSubscriptionRow>(present, learned, occurredAt, isAnswer)
  const nothing = unwritten(judgement)
  if (nothing) return nothing
  const { write: changes } = judgement as { readonly write: Partial<BillingSubscriptionRow> }
  await lockOwner(job, { ownerType, ownerId }, unit)
  const row = present
    ? await job.billingSubscriptions.update(present, { ...changes, updatedAt: unit.now, version: present.version + 1 }, unit.transaction)
    : await job.billingSubscriptions.insert(
        { id: newId(unit.now), ownerType, ownerId, processorSubscriptionId: snapshot.processorSubscriptionId, ...learned, ...stampsOf(unit) },
        unit.transaction,
      )
  if (present && !isNews(present, row)) return { changed: [] }
  return { changed: await followBundle(job, present, row, unit) }
}

const isNews = (before: BillingSubscriptionRow, after: BillingSubscriptionRow): boolean =>
  (['status', 'package', 'interval', 'seats', 'cancelAtPeriodEnd', 'unitMinor', 'ownerType', 'ownerId'] as const).some(name => before[name] !== after[name])

/** Writes what follows from a change of a bundle. @returns what is left to do after the commit */
export async function followBundle(
  job: BillingWriting,
  before: BillingSubscriptionRow | null,
  row: BillingSubscriptionRow,
  unit: WriteTransaction,
): Promise<readonly (() => void)[]> {
  const { id, ownerType, ownerId, package: name, status, seats } = row
  await record(
    job,
    { tenantId: ownerId, action: before ? 'billing_subscription.updated' : 'billing_subscription.created', subjectId: id, details: detailsOf(row) },
    unit,
  )
  await writeFacts(job, [{ kind: 'subscription.changed', body: { ownerType, ownerId, package: name, status, seats } }], unit)
  const after: (() => void)[] = []
  if (ownerType !== 'LEAD') after.push(await postNotice(job, subscriptionNotice(row, job.dashboardUrl), unit))
  const item = await job.billingItems.pastDue(job, row, unit)
  if (item) after.push(item)
  if (ownerType === 'ORGANIZATION') {
    await job.seats.request(ownerId, unit.now, unit.transaction)
    after.push(() => job.seatAlarm.ring())
  }
  return after
}

const detailsOf = ({ package: name, interval, status, seats, unitMinor, currency, processorSubscriptionId }: BillingSubscriptionRow) => ({
  ...{ package: name, interval, status, seats, unitMinor: String(unitMinor), currency, processorSubscriptionId },
})

async function takeInVerification(
  job: BillingWriting,
  present: WorkspaceVerificationRow | null,
  { ownerType, ownerId }: BillingOwner,
  { snapshot, occurredAt, isAnswer }: Learned,
  unit: WriteTransaction,
): Promise<TakenIn> {
  const since = sinceOf(present, occurredAt, unit)
  const verifiedAt = present?.verifiedAt ?? (snapshot.status === 'ACTIVE' ? since : null)
  const learned = { ...commonOf(present, snapshot, occurredAt, since), verifiedAt }
  const judgement = judge<WorkspaceVerificationRow>(present, learned, occurredAt, isAnswer)
  const nothing = unwritten(judgement)
  if (nothing) return nothing
  const { write: changes } = judgement as { readonly write: Partial<WorkspaceVerificationRow> }
  await lockOwner(job, { ownerType, ownerId }, unit)
  const row = present
    ? await job.workspaceVerifications.update(present, { ...changes, updatedAt: unit.now, version: present.version + 1 }, unit.transaction)
    : await job.workspaceVerifications.insert(
        { id: newId(unit.now), ownerType, ownerId, processorSubscriptionId: snapshot.processorSubscriptionId, ...learned, ...stampsOf(unit) },
        unit.transaction,
      )
  if (present && present.status === row.status && present.cancelAtPeriodEnd === row.cancelAtPeriodEnd) return { changed: [] }
  await recordVerification(job, present ? 'workspace_verification.updated' : 'workspace_verification.created', row, unit)
  return { changed: [] }
}

/** Writes the audit entry of a verification. */
export const recordVerification = (
  job: Writing,
  action: 'workspace_verification.created' | 'workspace_verification.updated',
  { id, ownerId, status, processorSubscriptionId }: WorkspaceVerificationRow,
  unit: WriteTransaction,
) => record(job, { tenantId: ownerId, action, subjectId: id, details: { status, processorSubscriptionId } }, unit)

const words: Readonly<Record<BillingSubscriptionRow['status'], string>> = {
  INCOMPLETE: 'waits for its first payment',
  TRIALING: 'is on trial',
  ACTIVE: 'is active',
  PAST_DUE: 'could not be paid',
  UNPAID: 'is unpaid',
  PAUSED: 'is paused',
  CANCELED: 'has ended',
}

/** Returns the notice about a subscription for those who manage it. */
function subscriptionNotice({ id, ownerType, ownerId, status, seats, cancelAtPeriodEnd }: BillingSubscriptionRow, dashboardUrl: string): Notice {
  const isOrganizations = ownerType === 'ORGANIZATION'
  const end = cancelAtPeriodEnd && status !== 'CANCELED' ? ' and ends with its period' : ''
  return {
    ...{ organizationId: isOrganizations ? ownerId : null, audience: isOrganizations ? 'managers' : 'person', userId: isOrganizations ? null : ownerId },
    ...{ app: 'launcher', kind: 'subscription.changed', severity: status === 'PAST_DUE' || status === 'UNPAID' ? 'HIGH' : 'NORMAL' },
    ...{
      title: `The subscription with ${seats} ${seats === 1 ? 'seat' : 'seats'} ${words[status]}${end}`,
      body: null,
      url: `${dashboardUrl}/settings`,
      scope: id,
    },
  }
}
