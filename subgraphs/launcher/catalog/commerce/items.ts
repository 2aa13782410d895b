import type { WriteTransaction } from '../../../store/books.ts'
import { changeItem, openItem } from '../../action-item/items.ts'
import { type Opened, resolving } from '../../action-item/rules.ts'
import type { BillingItems, BillingItemWriting } from '../../engines/commerce/take-in.ts'
import { registration } from '../../registration.ts'

/** Opens an item of the launcher, or resolves it. @param opened null: its cause is gone */
async function settle(context: BillingItemWriting, key: string, opened: Opened | null, unit: WriteTransaction): Promise<(() => void) | undefined> {
  const present = await context.actionItems.lockKey(registration.slug, key, unit.transaction)
  if (!opened) return present ? changeItem(context, present, resolving(present, unit.now), unit) : undefined
  if (present?.status === 'OPEN' && present.title === opened.title) return undefined
  return openItem(context, { from: registration.slug, key, present }, opened, unit)
}

const blank = { body: null, dueAt: null } as const

/** Action items about what is paid, for those who manage it. */
export const billingItems: BillingItems = {
  async pastDue(context, { id, ownerType, ownerId, status }, unit) {
    if (ownerType === 'LEAD') return undefined
    const place =
      ownerType === 'ORGANIZATION'
        ? ({ organizationId: ownerId, audience: 'managers', userId: null } as const)
        : ({ organizationId: null, audience: 'person', userId: ownerId } as const)
    const isOwed = status === 'PAST_DUE' || status === 'UNPAID'
    const opened: Opened = {
      ...{ ...blank, ...place, kind: 'SUBSCRIPTION_PAST_DUE', severity: 'HIGH', subjectId: id, openedAt: unit.now },
      ...{ title: 'The subscription could not be paid', url: `${context.dashboardUrl}/settings` },
    }
    return settle(context, `subscription_past_due:${id}`, isOwed ? opened : null, unit)
  },

  async exhausted(context, organizationId, waiting, unit) {
    const opened: Opened = {
      ...{ ...blank, organizationId, audience: 'managers', userId: null, kind: 'SEATS_EXHAUSTED', severity: 'NORMAL', subjectId: organizationId },
      ...{ openedAt: unit.now, title: `${waiting === 1 ? '1 member waits' : `${waiting} members wait`} for a seat`, url: `${context.dashboardUrl}/settings` },
    }
    return settle(context, `seats_exhausted:${organizationId}`, waiting > 0 ? opened : null, unit)
  },
}
