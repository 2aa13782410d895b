import type { Viewer } from '../../subgraphs/viewer.ts'

const isPerson = (viewer: Viewer) => viewer.kind === 'user' && viewer.userId !== null
const hasRole = (viewer: Viewer, ...roles: string[]) => roles.some(role => viewer.roles.includes(role))

/**
 * The five names that `@policy` may use, and what each asks of a viewer. Platform roles are given in organization `admin`
 * only, so that a role implies the organization.
 */
export const policies: Readonly<Record<string, (viewer: Viewer) => boolean>> = {
  person: isPerson,
  service: viewer => viewer.kind === 'service',
  organization_admin: viewer => isPerson(viewer) && hasRole(viewer, 'owner', 'admin'),
  platform_admin: viewer => isPerson(viewer) && hasRole(viewer, 'platform_admin', 'platform_super_admin'),
  platform_super_admin: viewer => isPerson(viewer) && hasRole(viewer, 'platform_super_admin'),
}

/** Whether a viewer meets a policy; a name that stands in no table is met by nobody. */
export const meetsPolicy = (name: string, viewer: Viewer): boolean => (Object.hasOwn(policies, name) ? policies[name]!(viewer) : false)
