import { isPerson, type Viewer } from '../../subgraphs/viewer.ts'

const hasRole = (viewer: Viewer, ...roles: string[]) => roles.some(role => viewer.roles.includes(role))

/**
 * The five names that `@policy` may use, and what each asks of a viewer. Platform roles are given in organization `admin`
 * only, so that a role implies the organization. An app that acts for a person meets none of them. A service whose
 * token is for one service alone meets `service` as any does: a scope beside it says where, and what takes none asks `isService`.
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

/** Whether a viewer is a person who may come by roles of the platform: they are held in another organization than the active one, if at all. */
export const lacksPlatformRole = (names: readonly string[], viewer: Viewer): boolean =>
  isPerson(viewer) && names.some(name => name.startsWith('platform_') && !meetsPolicy(name, viewer))
