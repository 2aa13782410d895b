import type { Transaction } from 'sequelize'
import { transactionLock } from '../../../../platform/sql/lock.ts'
import { statement } from '../../../../platform/sql/statement.ts'
import { integer, moment, type Row, selectList, stamps, table, text, truth, uuid, whole } from '../../../../platform/sql/table.ts'
import { type Rows, store } from '../../../store/store.ts'

/** Whom a subscription belongs to: an organization, a person, or a visitor who bought before signing up. */
export type OwnerType = 'ORGANIZATION' | 'USER' | 'LEAD'

export type BillingPackage = 'THREE' | 'FIVE' | 'TEN' | 'EVERYTHING'
export type BillingInterval = 'MONTH' | 'YEAR'
export type BillingStatus = 'INCOMPLETE' | 'TRIALING' | 'ACTIVE' | 'PAST_DUE' | 'UNPAID' | 'PAUSED' | 'CANCELED'

/** An owner of subscriptions. */
export interface BillingOwner {
  readonly ownerType: OwnerType
  readonly ownerId: string
}

/** Columns of both kinds of subscriptions. */
const common = {
  id: uuid.key,
  ownerType: text.of<OwnerType>(),
  ownerId: uuid,
  status: text.of<BillingStatus>(),
  /** Price of one for a period, in the currency's minor unit. */
  unitMinor: whole,
  currency: text,
  currentPeriodEnd: moment.maybe,
  cancelAtPeriodEnd: truth.or(false),
  pastDueSince: moment.maybe,
  endedAt: moment.maybe,
  processorSubscriptionId: text,
  processorCustomerId: text,
  /** Time at the processor of the event that was taken in last, to the second. */
  learnedAt: moment,
  /** When the processor was last asked for it; the epoch for never. */
  reconciledAt: moment.or(new Date(0)),
  ...stamps,
} as const

export const billingSubscriptions = table('launcher.billing_subscriptions', {
  ...common,
  package: text.of<BillingPackage>(),
  interval: text.of<BillingInterval>(),
  seats: integer,
  processorItemId: text,
})

export const workspaceVerifications = table('launcher.workspace_verifications', { ...common, verifiedAt: moment.maybe })

export type BillingSubscriptionRow = Row<typeof billingSubscriptions>
export type WorkspaceVerificationRow = Row<typeof workspaceVerifications>

/** Condition for what the owner is that a viewer manages: the organization for its managers, in personal context the person. */
const seen = `case when :organization::uuid is null then t.owner_type = 'USER' and t.owner_id = :person
  else t.owner_type = 'ORGANIZATION' and t.owner_id = :organization and :roles::text[] && array['owner', 'admin'] end`

/** Maximum subscriptions of an owner that are shown, the newest first. */
export const maxShown = 100

/** Condition for subscriptions that stand: they are neither over nor waiting for their first payment. */
const stands = `t.status not in ('CANCELED', 'INCOMPLETE')`

/** Whether a subscription stands. */
export const isStanding = ({ status }: Pick<BillingSubscriptionRow, 'status'>): boolean => status !== 'CANCELED' && status !== 'INCOMPLETE'

/** A subscription that is not known yet is taken in by one event at a time. */
const lockNew = transactionLock('launcher.subscription', 1)

/** @param compared condition for those that are compared with the processor by themselves */
const sqlOf = (name: string, columns: string, compared: string) => {
  const select = `select ${columns} from ${name} t where`
  const owned = 't.owner_type = $1 and t.owner_id = $2'
  return {
    lockProcessorId: statement(`${select} t.processor_subscription_id = $1 for no key update of t`),
    byProcessorId: statement(`${select} t.processor_subscription_id = $1`),
    ofOwner: statement(`${select} ${owned} order by t.created_at desc, t.id desc limit ${maxShown}`),
    standing: statement(`${select} ${owned} and ${stands} order by t.created_at desc, t.id desc limit ${maxShown}`),
    byMail: statement(
      `${select} t.owner_type = 'LEAD' and ${stands} and exists (select from launcher.leads l where l.id = t.owner_id and l.email = $1)
        order by t.created_at desc, t.id desc limit ${maxShown}`,
    ),
    lock: statement(`${select} t.id = $1 for no key update of t`),
    old: statement(`${select} t.reconciled_at <= $1 and ${stands} and ${compared} order by t.reconciled_at limit $2`),
    reconciled: statement(`update ${name} set reconciled_at = $2 where id = $1`),
  }
}

const own = (sql: ReturnType<typeof sqlOf>) => (rows: Rows<typeof billingSubscriptions>) => ({
  /** Locks the subscription with the processor's id; null while it is unknown, and then others wait until the transaction ends. */
  async lockByProcessorId(id: string, transaction: Transaction) {
    await rows.read(lockNew, [id], transaction)
    return (await rows.read(sql.lockProcessorId, [id], transaction))[0] ?? null
  },
  /** Returns the subscription with the processor's id; null while it is unknown. */
  ofProcessorId: async (id: string) => (await rows.read(sql.byProcessorId, [id]))[0] ?? null,
  /** Returns what an owner has, the newest first. */
  ofOwner: ({ ownerType, ownerId }: BillingOwner) => rows.read(sql.ofOwner, [ownerType, ownerId]),
  /** Returns what stands of it, the newest first. */
  standingOf: ({ ownerType, ownerId }: BillingOwner, transaction?: Transaction) => rows.read(sql.standing, [ownerType, ownerId], transaction),
  /** Returns what stands and was bought with a mail address before anybody signed up with it. */
  boughtBy: (email: string, transaction?: Transaction) => rows.read(sql.byMail, [email], transaction),
  /** Returns what stands and was not compared with the processor since a moment, the longest ago first. */
  unreconciled: (since: Date, limit: number) => rows.read(sql.old, [since, limit]),
  async noteReconciled(id: string, at: Date): Promise<void> {
    await rows.read(sql.reconciled, [id, at])
  },
  /** Locks a subscription of anybody. */
  async lockAny(id: string, transaction: Transaction) {
    return (await rows.read(sql.lock, [id], transaction))[0] ?? null
  },
})

// Those of organizations are compared with their seats.
const subscriptionSql = sqlOf('launcher.billing_subscriptions', selectList(billingSubscriptions, 't'), `t.owner_type <> 'ORGANIZATION'`)
const verificationSql = sqlOf('launcher.workspace_verifications', selectList(workspaceVerifications, 't'), 'true')

export const billingSubscriptionStore = store(billingSubscriptions, { what: 'subscription', tenancy: { where: seen } }, own(subscriptionSql))

export const workspaceVerificationStore = store(workspaceVerifications, { what: 'workspace verification', tenancy: { where: seen } }, rows => {
  const { lockByProcessorId, ofProcessorId, ofOwner, standingOf, boughtBy, unreconciled, noteReconciled, lockAny } = own(verificationSql)(rows as never)
  return { lockByProcessorId, ofProcessorId, ofOwner, standingOf, boughtBy, unreconciled, noteReconciled, lockAny } as unknown as VerificationSql
})

interface VerificationSql {
  lockByProcessorId(id: string, transaction: Transaction): Promise<WorkspaceVerificationRow | null>
  ofProcessorId(id: string): Promise<WorkspaceVerificationRow | null>
  ofOwner(owner: BillingOwner): Promise<WorkspaceVerificationRow[]>
  standingOf(owner: BillingOwner, transaction?: Transaction): Promise<WorkspaceVerificationRow[]>
  boughtBy(email: string, transaction?: Transaction): Promise<WorkspaceVerificationRow[]>
  unreconciled(since: Date, limit: number): Promise<WorkspaceVerificationRow[]>
  noteReconciled(id: string, at: Date): Promise<void>
  lockAny(id: string, transaction: Transaction): Promise<WorkspaceVerificationRow | null>
}

export type BillingSubscriptions = ReturnType<(typeof billingSubscriptionStore)['open']>
export type WorkspaceVerifications = ReturnType<(typeof workspaceVerificationStore)['open']>
