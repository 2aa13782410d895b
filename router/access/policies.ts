import { isPerson, type Viewer } from '../../subgraphs/viewer.ts'

const hasRole = (viewer: Viewer, ...roles: string[]) => roles.some(role => viewer.roles.includes(role))

/**
 * The five names that `@policy` may use, and the viewers that each accepts. Platform roles are given in organization
 * `admin` only, so that a role implies the organization. An app that acts for a person meets no policy. A service whose
 * token is valid for one service only meets `service` as any does: a scope beside the policy restricts it, and fields
 * without a scope check `isService`.
 */
export const policies: Readonly<Record<string, (viewer: Viewer) => boolean>> = {
  person: isPerson,
  service: viewer => viewer.kind === 'service',
  organization_admin: viewer => isPerson(viewer) && hasRole(viewer, 'owner', 'admin'),
  platform_admin: viewer => isPerson(viewer) && hasRole(viewer, 'platform_admin', 'platform_super_admin'),
  platform_super_admin: viewer => isPerson(viewer) && hasRole(viewer, 'platform_super_admin'),
}

/** Whether a viewer meets a policy; no viewer meets an unknown one. */
export const meetsPolicy = (name: string, viewer: Viewer): boolean => (Object.hasOwn(policies, name) ? policies[name]!(viewer) : false)

/**
 * Whether a viewer is a person who may have platform roles: they would be held in another organization than the active
 * one.
 */
export const lacksPlatformRole = (names: readonly string[], viewer: Viewer): boolean =>
  isPerson(viewer) && names.some(name => name.startsWith('platform_') && !meetsPolicy(name, viewer))
