import type { Transaction } from 'sequelize'
import { requireId } from '../../../../platform/ids.ts'
import type { WriteTransaction } from '../../../store/books.ts'
import { notFound } from '../../../store/store.ts'
import { write } from '../../../store/write.ts'
import type { Context } from '../../context.ts'
import { followBundle, lockOwner, recordVerification } from '../../engines/commerce/take-in.ts'
import { verifiedMailOf } from '../../engines/people/people.ts'
import { type BillingOwner, type BillingSubscriptionRow, isStanding, type WorkspaceVerificationRow } from '../../stores/commerce/subscription.ts'
import { requireBillingManager } from '../billing/billing-manager.ts'
import { subscribed } from '../billing/rules.ts'

/** Returns the viewer's verified mail address; null without one. @throws FORBIDDEN for who does not manage the active context */
const addressOf = ({ viewer, ask }: Context): Promise<string | null> => verifiedMailOf(ask, requireBillingManager(viewer).userId)

/** Returns bundles that wait for the viewer's verified mail address. */
export async function claimable(context: Context): Promise<readonly BillingSubscriptionRow[]> {
  const email = await addressOf(context)
  return email === null ? [] : context.billingSubscriptions.boughtBy(email)
}

/** Returns verifications of free workspaces that wait for the viewer's verified mail address. */
export async function claimableVerifications(context: Context): Promise<readonly WorkspaceVerificationRow[]> {
  const email = await addressOf(context)
  return email === null ? [] : context.workspaceVerifications.boughtBy(email)
}

/** Gives the active context a bundle that waits for the viewer, once; its repetition answers the same. */
export const claim = (context: Context, given: string): Promise<BillingSubscriptionRow> =>
  claimOf<BillingSubscriptionRow>(context, given, context.billingSubscriptions, (before, row, unit) => followBundle(context, before, row, unit))

/** Gives it the verification of a free workspace that waits for the viewer, as `claim` does a bundle. */
export const claimVerification = (context: Context, given: string): Promise<WorkspaceVerificationRow> =>
  claimOf<WorkspaceVerificationRow>(context, given, context.workspaceVerifications, async (_, row, unit) => {
    await recordVerification(context, 'workspace_verification.updated', row, unit)
    return []
  })

/** What keeps what is claimed. */
interface Claimed<Row> {
  readonly what: string
  lockAny(id: string, transaction: Transaction): Promise<Row | null>
  standingOf(owner: BillingOwner, transaction?: Transaction): Promise<Row[]>
  update(row: Row, changes: Partial<Row>, transaction: Transaction): Promise<Row>
}

/** @param follow writes what follows from the change of owner, and returns what is left to do after the commit */
async function claimOf<Row extends BillingSubscriptionRow | WorkspaceVerificationRow>(
  context: Context,
  given: string,
  store: Claimed<Row>,
  follow: (before: Row, row: Row, unit: WriteTransaction) => Promise<readonly (() => void)[]>,
): Promise<Row> {
  const { viewer, leads } = context
  const { owner } = requireBillingManager(viewer)
  const id = requireId(given, 'id')
  // Asked before the lock is taken, because waiting for it holds a connection.
  const email = await addressOf(context)
  const { row } = await write(context, {
    async run(unit) {
      const { transaction, now } = unit
      const present = await store.lockAny(id, transaction)
      if (!present) throw notFound(store.what, id)
      if (isOf(present, owner)) return { row: present, after: [] }
      const lead = present.ownerType === 'LEAD' && isStanding(present) ? await leads.lock(present.ownerId, transaction) : null
      if (!lead || email === null || lead.email !== email) throw notFound(store.what, id)
      await lockOwner(context, owner, unit)
      const standing = await store.standingOf(owner, transaction)
      if (standing.length > 0) throw subscribed()
      const row = await store.update(present, { ...owner, updatedAt: now, version: present.version + 1 } as Partial<Row>, transaction)
      return { row, after: await follow(present, row, unit) }
    },
    announce: ({ after }) => {
      for (const each of after) each()
    },
  })
  context.entitlements.forget()
  return row
}

const isOf = (row: BillingOwner, { ownerType, ownerId }: BillingOwner): boolean => row.ownerType === ownerType && row.ownerId === ownerId
