import { DomainError } from '../../../platform/errors.ts'
import { requireName } from '../../../platform/ids.ts'
import type { NewFact } from '../../store/fact-kinds.ts'
import { isPerson, type Viewer } from '../../viewer.ts'
import { canManageOrganization } from '../membership/rules.ts'
import type { UserRow } from '../stores/user.ts'

/**
 * Checks that the viewer may read a member's private fields: the person, or a manager of the active organization.
 * @throws FORBIDDEN
 */
export function requireOwnOrManaged(viewer: Viewer, { id }: { readonly id: string }): void {
  if (isPerson(viewer) && (viewer.userId === id || canManageOrganization(viewer))) return
  throw new DomainError('FORBIDDEN', 'Only the person, and owners and admins of the organization, may read this: leave the field out.')
}

/** Maximum characters of a picture's address, and of the reason for a suspension. */
const most = { image: 2_000, reason: 500 }

/** @throws BAD_USER_INPUT for an address that our pages would not load: one that is too long or not https */
export function readImage(image: string | URL | null): string | null {
  if (image === null) return null
  const address = String(image)
  if (address.length <= most.image && URL.parse(address)?.protocol === 'https:') return address
  throw new DomainError('BAD_USER_INPUT', `image takes an https address of ${most.image} characters at most, or null for none.`, { field: 'image' })
}

export const readReason = (reason: string): string => requireName(reason, 'reason', most.reason)

/**
 * Checks that an account may be suspended.
 * @throws CONFLICT for a service account, which never signs in; FORBIDDEN for a super admin
 */
export function requireSuspendable({ kind }: Pick<UserRow, 'kind'>, isSuperAdmin: boolean): void {
  if (kind !== 'human')
    throw new DomainError('CONFLICT', 'A service account signs in nowhere: revoke its API keys, or have its organization remove it.', { field: 'id' })
  if (isSuperAdmin) throw new DomainError('FORBIDDEN', 'A super admin of the platform cannot be suspended: another super admin takes the role away first.')
}

/** Returns the fact with which other services learn a person's present name, image and suspension. */
export const isUpdated = ({ id, name, image, suspendedAt }: UserRow): NewFact => ({
  kind: 'user.updated',
  body: { userId: id, name, image, suspendedAt: suspendedAt?.toISOString() ?? null },
})
