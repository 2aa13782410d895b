import { DomainError } from '../../../../platform/errors.ts'
import { isPerson, type Viewer } from '../../../viewer.ts'
import type { BillingOwner } from '../../stores/commerce/subscription.ts'
import { isManager } from '../../stores/inbox/action-item.ts'

/** A person who manages what the active context pays for. */
export interface BillingManager {
  readonly userId: string
  readonly owner: BillingOwner
}

/**
 * Requires a manager of the active organization, in personal context the person.
 * @throws FORBIDDEN for ordinary members, keys, apps and services
 */
export function requireBillingManager(viewer: Viewer): BillingManager {
  if (isPerson(viewer)) {
    const { userId, organizationId } = viewer
    if (organizationId === null) return { userId, owner: { ownerType: 'USER', ownerId: userId } }
    if (isManager(viewer)) return { userId, owner: { ownerType: 'ORGANIZATION', ownerId: organizationId } }
  }
  throw new DomainError('FORBIDDEN', 'Only managers of the organization see and change what is paid: ask an owner or an admin.')
}

/** Requires a manager of an active organization. @throws FORBIDDEN; CONFLICT, reason CONTEXT, in personal context */
export function requireSeatManager(viewer: Viewer): string {
  const { owner } = requireBillingManager(viewer)
  if (owner.ownerType === 'ORGANIZATION') return owner.ownerId
  throw new DomainError('CONFLICT', 'Seats are held by members of an organization: switch to one first.', { reason: 'CONTEXT' })
}

/**
 * Reads where the processor's page leads back to.
 * @returns an absolute address of the dashboard
 * @throws BAD_USER_INPUT for an address elsewhere
 */
export function readReturnTo(given: string, dashboardUrl: string): string {
  const { origin } = new URL(dashboardUrl)
  // Browsers read a backslash as a slash and drop control characters.
  const address = /^[!-[\]-~]{1,2000}$/.test(given) && URL.canParse(given, dashboardUrl) ? new URL(given, dashboardUrl) : null
  if (address && address.origin === origin && !address.username && !address.password && (given.startsWith('/') || given.startsWith(`${origin}/`)))
    return address.href
  throw new DomainError('BAD_USER_INPUT', `returnTo is a path of the dashboard such as /settings, or an address below ${origin}.`, { field: 'returnTo' })
}
