import { DomainError } from '../platform/errors.ts'
import type { ServiceOperation } from './scopes.ts'

/**
 * Who asks. The router makes a viewer of a request's credentials; every rule and resolver is given it. JSON-safe, for a
 * sealed copy of it travels to subgraphs that run apart.
 */
export interface Viewer {
  readonly kind: 'user' | 'apiKey' | 'service' | 'anonymous'
  /** The person: set for users and for services that act on behalf of one. Of a key the service account that it acts as, if any. */
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
  /**
   * The person whose work it is, where a service asks with its own scopes: a member of the organization. It gives no right; calls are attributed
   * to them.
   */
  readonly forUser: string | null
  readonly context: 'personal' | 'organization'
  /** The session behind a user's token or cookie; null for keys and services. */
  readonly sessionId: string | null
  /** The API key's id; null unless kind is apiKey. */
  readonly keyId: string | null
  /**
   * The OAuth client that acts with the person's consent, as its `client_id`; null for people themselves, trusted clients included. Such a
   * viewer is the person for what is theirs, has no roles, meets no policy and may do what its scopes say.
   */
  readonly clientId: string | null
  /** The only service at which this service's token is valid (`providers`); null where it is valid everywhere. */
  readonly onlyAt: string | null
  /**
   * The operations of the gateway to providers that a service's token allows. Null for viewers other than services, and
   * where the gateway looks the operations up itself.
   */
  readonly operations: readonly ServiceOperation[] | null
  /** The app on whose behalf a person or a key says that they work (`X-App-Id`), as they said it: it gives no right, and may be none that is known. */
  readonly forApp: string | null
}

export const anonymous: Viewer = {
  kind: 'anonymous',
  userId: null,
  organizationId: null,
  roles: [],
  scopes: [],
  appId: null,
  onBehalfOf: null,
  forUser: null,
  context: 'personal',
  sessionId: null,
  keyId: null,
  clientId: null,
  onlyAt: null,
  operations: null,
  forApp: null,
}

/**
 * Whether the viewer is a service whose token is valid everywhere. Fields for services that require no scope check this,
 * because a token for one service only is not enough there.
 */
export const isService = ({ kind, onlyAt }: Pick<Viewer, 'kind' | 'onlyAt'>): boolean => kind === 'service' && onlyAt === null

/**
 * Requires that one app asks, with a token that counts everywhere.
 * @param what what the viewer would see: `who made a key`
 * @throws FORBIDDEN for everybody else
 */
export function requireApp(viewer: Viewer, appId: string, what: string): void {
  if (isService(viewer) && viewer.appId === appId) return
  throw new DomainError('FORBIDDEN', `Only ${appId} is told ${what}, with its own token that is valid for every service.`)
}

/** How a viewer is named in the record of who did what. */
export function actorOf(viewer: Viewer): string {
  if (viewer.kind === 'apiKey') return `key:${viewer.keyId}`
  if (viewer.kind === 'service') return `service:${viewer.appId}`
  return viewer.kind === 'anonymous' ? 'anonymous' : `user:${viewer.userId}`
}

/** How a viewer is named in logs: of a service also for whom it asks. */
export function loggedAs(viewer: Viewer): string {
  if (viewer.kind !== 'service') return actorOf(viewer)
  const { organizationId, onBehalfOf, forUser } = viewer
  const person = onBehalfOf ?? forUser
  return `${actorOf(viewer)}${organizationId ? ` in ${organizationId}` : ''}${person ? ` for user:${person}` : ''}`
}

/** The person whom the record names so; null when it names somebody, or something, else. */
export const personOf = (actor: string): string | null => (actor.startsWith('user:') ? actor.slice('user:'.length) : null)

/**
 * The organization in which the viewer is active.
 * @param things what belongs to it: `Posts`
 * @throws FORBIDDEN when none is; BAD_USER_INPUT for a service, which names one with each request
 */
export function activeOrganization({ kind, organizationId }: Viewer, things: string): string {
  if (organizationId) return organizationId
  if (kind === 'service')
    throw new DomainError('BAD_USER_INPUT', `${things} belong to an organization: say which in X-Organization-Id.`, { field: 'X-Organization-Id' })
  throw new DomainError('FORBIDDEN', `${things} belong to an organization and none is active: switch to one first.`)
}

/** Whether a person asks: by sign-in, invitation, handoff or a trusted client; not an app that acts for one. */
export const isPerson = (viewer: Viewer): viewer is Viewer & { readonly userId: string } =>
  viewer.kind === 'user' && viewer.userId !== null && viewer.clientId === null

/**
 * The person who asks. Policies in the schema keep everybody else away from what needs one; this says so to the types.
 * @throws FORBIDDEN for keys, services, apps and anonymous viewers
 */
export function requirePerson(viewer: Viewer): string {
  if (!isPerson(viewer)) throw new DomainError('FORBIDDEN', 'Only a person may do this: sign in, keys, apps and services cannot.')
  return viewer.userId
}
