import type { Ask } from '../../../../platform/ask.ts'
import { anonymous } from '../../../viewer.ts'
import { BillingMembersDocument, MailOfPersonDocument } from '../../ask.generated.ts'
import { registration } from '../../registration.ts'
import type { BillingOwner } from '../../stores/commerce/subscription.ts'
import type { Leads } from '../../stores/lead.ts'
import type { Joined } from './rules.ts'

/** Maximum pages of an organization's members. */
const maxPages = 400

const asLauncher = { appId: registration.appId, viewer: anonymous }

const readPage = (ask: Ask, organizationId: string, after: string | null) => ask(BillingMembersDocument, { organizationId, after }, asLauncher)

/** Returns the members of an organization in order of joining, people and service accounts; none of an unknown organization. */
export async function membersOf(ask: Ask, organizationId: string): Promise<readonly Joined[]> {
  const members: Joined[] = []
  let after: string | null = null
  for (let page = 0; page < maxPages; page += 1) {
    const { membershipsOf: found }: Awaited<ReturnType<typeof readPage>> = await readPage(ask, organizationId, after)
    for (const each of found?.nodes ?? []) if (each) members.push({ userId: each.userId, kind: each.userKind === 'HUMAN' ? 'HUMAN' : 'AGENT' })
    after = found?.pageInfo.hasNextPage ? (found.pageInfo.endCursor ?? null) : null
    if (after === null) break
  }
  return members
}

/** Returns the verified mail address of a person; null without one. */
export async function verifiedMailOf(ask: Ask, userId: string): Promise<string | null> {
  const { contactOf } = await ask(MailOfPersonDocument, { userId }, asLauncher)
  return contactOf ?? null
}

/** Whether there is an owner of whom the processor's metadata speak. */
export async function isOwnerKnown(ask: Ask, leads: Pick<Leads, 'byId'>, { ownerType, ownerId }: BillingOwner): Promise<boolean> {
  if (ownerType === 'LEAD') return (await leads.byId.load(ownerId)) !== null
  if (ownerType === 'USER') return (await verifiedMailOf(ask, ownerId)) !== null
  const { membershipsOf: found } = await readPage(ask, ownerId, null)
  return (found?.nodes?.length ?? 0) > 0
}
