import { Refusal } from '../../../platform/errors.ts'
import type { FactBody, NewFact } from '../../store/fact-kinds.ts'
import type { Viewer } from '../../viewer.ts'
import { organizationRoles, platformOrganization, platformRoles, type Role, type UserKind, userKindToGraph } from '../stores/user.ts'

const known: ReadonlySet<string> = new Set([...organizationRoles, ...platformRoles])
const overPlatform: ReadonlySet<string> = new Set(platformRoles)

/** Roles that an organization never loses the last holder of: without one nobody could repair it. */
export const keepers = ['owner', 'platform_super_admin'] as const

/** What the rules need to know of a membership. */
export interface Membership {
  readonly id: string
  readonly organizationId: string
  readonly userId: string
  readonly roles: readonly string[]
}

/** Roles in the graph's spelling, from most to least; what is no role of ours is left out. */
export const rolesToGraph = (roles: readonly string[]): Uppercase<Role>[] =>
  [...platformRoles, ...organizationRoles].filter(role => roles.includes(role)).map(role => role.toUpperCase() as Uppercase<Role>)

const holds = (viewer: Pick<Viewer, 'roles'>, ...roles: readonly Role[]): boolean => roles.some(role => viewer.roles.includes(role))

/** Whether the viewer runs its organization: its owners, its admins, and platform super admins in theirs. */
export const canManageOrganization = (viewer: Pick<Viewer, 'roles'>): boolean => holds(viewer, 'owner', 'admin', 'platform_super_admin')

/** The organization that a viewer acts in. @throws FORBIDDEN in personal context, where there is no organization to act in */
export function requireOrganization(viewer: Viewer): string {
  if (!viewer.organizationId) throw new Refusal('FORBIDDEN', 'No organization is active: choose one with switchOrganization first.')
  return viewer.organizationId
}

/** @throws FORBIDDEN unless the viewer runs its active organization */
export function requireManager(viewer: Pick<Viewer, 'roles'>, what: string): void {
  if (!canManageOrganization(viewer)) throw new Refusal('FORBIDDEN', `Only an owner or an admin of the organization may ${what}: ask one of them.`)
}

/**
 * Reads roles in the graph's spelling: in order, each once.
 * @throws BAD_USER_INPUT for none and for unknown ones
 */
export function readRoles(roles: readonly string[]): Role[] {
  const asked = new Set(roles.map(role => role.toLowerCase()))
  const stranger = [...asked].find(role => !known.has(role))
  if (stranger !== undefined) throw new Refusal('BAD_USER_INPUT', `roles names ${stranger}, which is not a role.`, { field: 'roles' })
  if (asked.size === 0) throw new Refusal('BAD_USER_INPUT', 'roles is empty: give at least one, or remove the member.', { field: 'roles' })
  return [...platformRoles, ...organizationRoles].filter(role => asked.has(role))
}

/**
 * Checks that the viewer may take a member from the roles `before` to the roles `after` (either may be none).
 * @throws FORBIDDEN where somebody would hand out, or take away, more than they have
 */
export function requireMayChangeRoles(viewer: Viewer, organization: { readonly slug: string }, before: readonly string[], after: readonly string[]): void {
  requireManager(viewer, 'change its members')
  const changed = [...before.filter(role => !after.includes(role)), ...after.filter(role => !before.includes(role))]
  const platform = changed.filter(role => overPlatform.has(role))
  if (platform.length > 0 && organization.slug !== platformOrganization)
    throw new Refusal('FORBIDDEN', `${platform.join(', ')} exists only in the organization "${platformOrganization}".`, { field: 'roles' })
  if (platform.length > 0 && !holds(viewer, 'platform_super_admin'))
    throw new Refusal('FORBIDDEN', 'Only a platform super admin may give or take platform roles.', { field: 'roles' })
  if (changed.includes('owner') && !holds(viewer, 'owner', 'platform_super_admin'))
    throw new Refusal('FORBIDDEN', 'Only an owner may make somebody an owner, or end it.', { field: 'roles' })
  const overHead = before.some(role => role === 'owner' || overPlatform.has(role)) && !holds(viewer, 'owner', 'platform_super_admin')
  if (overHead) throw new Refusal('FORBIDDEN', 'An admin may not change the roles of an owner or of a platform admin: ask an owner.')
}

/**
 * Checks that a member may be taken out: members may leave by themselves, everybody else needs the right to take every role.
 * @throws FORBIDDEN
 */
export function requireMayRemove(viewer: Viewer, organization: { readonly slug: string }, membership: Membership): void {
  if (membership.userId !== viewer.userId) requireMayChangeRoles(viewer, organization, membership.roles, [])
}

/**
 * Checks that an organization keeps somebody who can repair it.
 * @param others everybody else in the organization who holds one of `keepers`, read under its lock
 * @throws CONFLICT when the change would take its last owner, or the platform's last super admin
 */
export function requireKeepers(others: readonly Pick<Membership, 'roles'>[], before: readonly string[], after: readonly string[]): void {
  const lost = keepers.find(role => before.includes(role) && !after.includes(role) && !others.some(other => other.roles.includes(role)))
  if (lost) throw new Refusal('CONFLICT', `This is the last member with the role ${lost}: give it to somebody else first.`, { role: lost })
}

/** @throws CONFLICT when an organization has as many members as one may have */
export function requireMemberQuota(members: number, most: number): void {
  if (members < most) return
  throw new Refusal('CONFLICT', `The organization has ${most} members, which is the most: remove somebody first.`, { reason: 'QUOTA' })
}

/** Roles that a service account may have: nobody stands behind it who could own or administer anything above. */
const accountRoles: ReadonlySet<string> = new Set(['admin', 'member', 'viewer'])

/** @throws BAD_USER_INPUT for a role that a service account cannot have */
export function requireAccountRoles(roles: readonly string[]): void {
  const other = roles.find(role => !accountRoles.has(role))
  if (other) throw new Refusal('BAD_USER_INPUT', `A service account cannot be ${other}: give it ADMIN, MEMBER or VIEWER.`, { field: 'roles' })
}

type Told = Membership & { readonly kind: UserKind }

const bodyOf = ({ id, organizationId, userId, roles, kind }: Told): FactBody<'membership.added'> => ({
  membershipId: id,
  organizationId,
  userId,
  userKind: userKindToGraph[kind],
  roles: [...roles],
})

/** What other services are told of members: seats hang on them. */
export const isAdded = (member: Told): NewFact => ({ kind: 'membership.added', body: bodyOf(member) })
export const isChanged = (member: Told): NewFact => ({ kind: 'membership.changed', body: bodyOf(member) })
export const isRemoved = (member: Told): NewFact => ({ kind: 'membership.removed', body: bodyOf(member) })
