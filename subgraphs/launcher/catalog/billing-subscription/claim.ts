import { requireId } from '../../../../platform/ids.ts'
import { notFound } from '../../../store/store.ts'
import { write } from '../../../store/write.ts'
import type { Context } from '../../context.ts'
import { followBundle, lockOwner } from '../../engines/commerce/take-in.ts'
import { verifiedMailOf } from '../../engines/people/people.ts'
import { type BillingOwner, type BillingSubscriptionRow, isStanding } from '../../stores/commerce/subscription.ts'
import { requireBillingManager } from '../billing/billing-manager.ts'
import { subscribed } from '../billing/rules.ts'

/** Returns bundles that wait for the viewer's verified mail address. */
export async function claimable({ viewer, ask, billingSubscriptions }: Context): Promise<readonly BillingSubscriptionRow[]> {
  const { userId } = requireBillingManager(viewer)
  const email = await verifiedMailOf(ask, userId)
  return email === null ? [] : billingSubscriptions.boughtBy(email)
}

/** Gives the active context a bundle that waits for the viewer, once; its repetition answers the same. */
export async function claim(context: Context, given: string): Promise<BillingSubscriptionRow> {
  const { viewer, ask, billingSubscriptions, leads } = context
  const { userId, owner } = requireBillingManager(viewer)
  const id = requireId(given, 'id')
  // Asked before the lock is taken, because waiting for it holds a connection.
  const email = await verifiedMailOf(ask, userId)
  const { row } = await write(context, {
    async run(unit) {
      const { transaction, now } = unit
      const present = await billingSubscriptions.lockAny(id, transaction)
      if (!present) throw notFound(billingSubscriptions.what, id)
      if (isOf(present, owner)) return { row: present, after: [] }
      const lead = present.ownerType === 'LEAD' && isStanding(present) ? await leads.lock(present.ownerId, transaction) : null
      if (!lead || email === null || lead.email !== email) throw notFound(billingSubscriptions.what, id)
      await lockOwner(context, owner, unit)
      const standing = await billingSubscriptions.standingOf(owner, transaction)
      if (standing.length > 0) throw subscribed()
      const changes = { ...owner, updatedAt: now, version: present.version + 1 }
      const row = await billingSubscriptions.update(present, changes, transaction)
      return { row, after: await followBundle(context, present, row, unit) }
    },
    announce: ({ after }) => {
      for (const each of after) each()
    },
  })
  context.entitlements.forget()
  return row
}

const isOf = (row: BillingSubscriptionRow, { ownerType, ownerId }: BillingOwner): boolean => row.ownerType === ownerType && row.ownerId === ownerId
