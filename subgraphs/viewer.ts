import { Refusal } from '../platform/errors.ts'

/**
 * Who asks. The router makes a viewer of a request's credentials; every rule and resolver is given it. JSON-safe, for a
 * sealed copy of it travels to subgraphs that run apart.
 */
export interface Viewer {
  readonly kind: 'user' | 'apiKey' | 'service' | 'anonymous'
  /** The person: set for users and for services that act on behalf of one. */
  readonly userId: string | null
  /** The active organization: everything a viewer may see belongs to it. Null in personal context and for anonymous. */
  readonly organizationId: string | null
  /** Roles within the active organization: owner, admin, member, viewer, and platform roles in organization `admin`. */
  readonly roles: readonly string[]
  /** `slug:scope`, sorted, e.g. `publishing:posts.read`. */
  readonly scopes: readonly string[]
  /** The registered app, for services: `app_launcher`. */
  readonly appId: string | null
  /** The person on whose behalf a service acts. */
  readonly onBehalfOf: string | null
  readonly context: 'personal' | 'organization'
  /** The session behind a user's token or cookie; null for keys and services. */
  readonly sessionId: string | null
  /** The API key's id; null unless kind is apiKey. */
  readonly keyId: string | null
}

export const anonymous: Viewer = {
  kind: 'anonymous',
  userId: null,
  organizationId: null,
  roles: [],
  scopes: [],
  appId: null,
  onBehalfOf: null,
  context: 'personal',
  sessionId: null,
  keyId: null,
}

/** How a viewer is named in the record of who did what. */
export function actorOf(viewer: Viewer): string {
  if (viewer.kind === 'apiKey') return `key:${viewer.keyId}`
  if (viewer.kind === 'service') return `service:${viewer.appId}`
  return `user:${viewer.userId}`
}

/** The person whom the record names so; null when it names somebody, or something, else. */
export const personOf = (actor: string): string | null => (actor.startsWith('user:') ? actor.slice('user:'.length) : null)

/**
 * The organization in which the viewer is active.
 * @param things what belongs to it: `Posts`
 * @throws FORBIDDEN when none is
 */
export function activeOrganization({ organizationId }: Viewer, things: string): string {
  if (organizationId) return organizationId
  throw new Refusal('FORBIDDEN', `${things} belong to an organization and none is active: switch to one first.`)
}

/**
 * The person who asks. Policies in the schema keep everybody else away from what needs one; this says so to the types.
 * @throws FORBIDDEN for keys, services and anonymous viewers
 */
export function requirePerson(viewer: Viewer): string {
  if (viewer.kind !== 'user' || !viewer.userId) throw new Refusal('FORBIDDEN', 'Only a person may do this: sign in, keys and services cannot.')
  return viewer.userId
}
