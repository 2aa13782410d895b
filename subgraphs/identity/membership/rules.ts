import { DomainError } from '../../../platform/errors.ts'
import type { FactBody, NewFact } from '../../store/fact-kinds.ts'
import type { Viewer } from '../../viewer.ts'
import { organizationRoles, platformOrganization, platformRoles, type Role, type UserKind, userKindToGraph } from '../stores/user.ts'

const known: ReadonlySet<string> = new Set([...organizationRoles, ...platformRoles])
const overPlatform: ReadonlySet<string> = new Set(platformRoles)

/** Roles whose last holder an organization always keeps: without one nobody could repair it. */
export const keepers = ['owner', 'platform_super_admin'] as const

/** The fields of a membership that the rules need. */
export interface Membership {
  readonly id: string
  readonly organizationId: string
  readonly userId: string
  readonly roles: readonly string[]
}

/** Returns roles in the graph's spelling, from most to least; unknown ones are omitted. */
export const rolesToGraph = (roles: readonly string[]): Uppercase<Role>[] =>
  [...platformRoles, ...organizationRoles].filter(role => roles.includes(role)).map(role => role.toUpperCase() as Uppercase<Role>)

const holds = (viewer: Pick<Viewer, 'roles'>, ...roles: readonly Role[]): boolean => roles.some(role => viewer.roles.includes(role))

/** Whether the viewer manages its organization: its owners, its admins, and platform super admins in theirs. */
export const canManageOrganization = (viewer: Pick<Viewer, 'roles'>): boolean => holds(viewer, 'owner', 'admin', 'platform_super_admin')

/** Returns the viewer's active organization. @throws FORBIDDEN in personal context, which has none */
export function requireOrganization(viewer: Viewer): string {
  if (!viewer.organizationId) throw new DomainError('FORBIDDEN', 'No organization is active: choose one with switchOrganization first.')
  return viewer.organizationId
}

/** @throws FORBIDDEN unless the viewer manages its active organization */
export function requireManager(viewer: Pick<Viewer, 'roles'>, what: string): void {
  if (!canManageOrganization(viewer)) throw new DomainError('FORBIDDEN', `Only an owner or an admin of the organization may ${what}: ask one of them.`)
}

/**
 * Reads roles in the graph's spelling, sorted, without duplicates.
 * @throws BAD_USER_INPUT for none and for unknown ones
 */
export function readRoles(roles: readonly string[]): Role[] {
  const asked = new Set(roles.map(role => role.toLowerCase()))
  const stranger = [...asked].find(role => !known.has(role))
  if (stranger !== undefined) throw new DomainError('BAD_USER_INPUT', `roles names ${stranger}, which is not a role.`, { field: 'roles' })
  if (asked.size === 0) throw new DomainError('BAD_USER_INPUT', 'roles is empty: give at least one, or remove the member.', { field: 'roles' })
  return [...platformRoles, ...organizationRoles].filter(role => asked.has(role))
}

/**
 * Checks that the viewer may change a member's roles from `before` to `after` (either may be empty).
 * @throws FORBIDDEN for granting, or withdrawing, more than the viewer has
 */
export function requireMayChangeRoles(viewer: Viewer, organization: { readonly slug: string }, before: readonly string[], after: readonly string[]): void {
  requireManager(viewer, 'change its members')
  const changed = [...before.filter(role => !after.includes(role)), ...after.filter(role => !before.includes(role))]
  const platform = changed.filter(role => overPlatform.has(role))
  if (platform.length > 0 && organization.slug !== platformOrganization)
    throw new DomainError('FORBIDDEN', `${platform.join(', ')} exists only in the organization "${platformOrganization}".`, { field: 'roles' })
  if (platform.length > 0 && !holds(viewer, 'platform_super_admin'))
    throw new DomainError('FORBIDDEN', 'Only a platform super admin may give or take platform roles.', { field: 'roles' })
  if (changed.includes('owner') && !holds(viewer, 'owner', 'platform_super_admin'))
    throw new DomainError('FORBIDDEN', 'Only an owner may grant or remove the role of owner.', { field: 'roles' })
  const overHead = before.some(role => role === 'owner' || overPlatform.has(role)) && !holds(viewer, 'owner', 'platform_super_admin')
  if (overHead) throw new DomainError('FORBIDDEN', 'An admin may not change the roles of an owner or of a platform admin: ask an owner.')
}

/**
 * Checks that a member may be removed: members may leave themselves, others need the right to withdraw every role.
 * @throws FORBIDDEN
 */
export function requireMayRemove(viewer: Viewer, organization: { readonly slug: string }, membership: Membership): void {
  if (membership.userId !== viewer.userId) requireMayChangeRoles(viewer, organization, membership.roles, [])
}

/**
 * Checks that an organization keeps a member who can repair it.
 * @param others all other members with one of `keepers`, read under the lock
 * @throws CONFLICT when the change would remove its last owner, or the platform's last super admin
 */
export function requireKeepers(others: readonly Pick<Membership, 'roles'>[], before: readonly string[], after: readonly string[]): void {
  const lost = keepers.find(role => before.includes(role) && !after.includes(role) && !others.some(other => other.roles.includes(role)))
  if (lost) throw new DomainError('CONFLICT', `This is the last member with the role ${lost}: assign it to another member first.`, { role: lost })
}

/** @throws CONFLICT when an organization has the maximum number of members */
export function requireMemberQuota(members: number, most: number): void {
  if (members < most) return
  throw new DomainError('CONFLICT', `The organization has ${most} members, which is the limit: remove a member first.`, { reason: 'QUOTA' })
}

/**
 * Roles that a service account may have: none that owns the organization or administers the platform, because no person
 * is responsible for it.
 */
const accountRoles: ReadonlySet<string> = new Set(['admin', 'member', 'viewer'])

/** @throws BAD_USER_INPUT for a role that a service account cannot have */
export function requireAccountRoles(roles: readonly string[]): void {
  const other = roles.find(role => !accountRoles.has(role))
  if (other) throw new DomainError('BAD_USER_INPUT', `A service account cannot be ${other}: give it ADMIN, MEMBER or VIEWER.`, { field: 'roles' })
}

type Told = Membership & { readonly kind: UserKind }

const bodyOf = ({ id, organizationId, userId, roles, kind }: Told): FactBody<'membership.added'> => ({
  membershipId: id,
  organizationId,
  userId,
  userKind: userKindToGraph[kind],
  roles: [...roles],
})

/** Returns the fact about an added member, on which seats depend. */
export const isAdded = (member: Told): NewFact => ({ kind: 'membership.added', body: bodyOf(member) })
export const isChanged = (member: Told): NewFact => ({ kind: 'membership.changed', body: bodyOf(member) })
export const isRemoved = (member: Told): NewFact => ({ kind: 'membership.removed', body: bodyOf(member) })
