import type { Ask } from '../../../../platform/ask.ts'
import type { BillingOwner } from '../../stores/commerce/subscription.ts'
import type { Leads } from '../../stores/lead.ts'
import { hasMembers, verifiedMailOf } from '../people/people.ts'

/** Whether there is an owner of whom the processor's metadata speak. */
export async function isOwnerKnown(ask: Ask, leads: Pick<Leads, 'byId'>, { ownerType, ownerId }: BillingOwner): Promise<boolean> {
  if (ownerType === 'LEAD') return (await leads.byId.load(ownerId)) !== null
  return ownerType === 'USER' ? (await verifiedMailOf(ask, ownerId)) !== null : hasMembers(ask, ownerId)
}
