import { DomainError } from '../../../../platform/errors.ts'
import { requireId } from '../../../../platform/ids.ts'
import { isPerson, isService, type Viewer } from '../../../viewer.ts'
import type { ServiceEntryRow } from '../../stores/service-entry.ts'

/** Maximum handoffs of a person within a minute. */
export const mostAMinute = 30

/** Maximum characters of a `returnTo`. */
const longestPath = 2000

/** The person of a handoff, and the person's context. */
export interface Bearer {
  readonly userId: string
  /** Organization; null in personal context. */
  readonly organizationId: string | null
  readonly context: 'personal' | 'organization'
  /** Session of the handoff, which must be valid until the exchange; null when a service requests it without one. */
  readonly sessionId: string | null
  /** Whether a service named the session, whose validity and owner are not checked yet. */
  readonly isNamed?: boolean
}

/**
 * Returns the person for whom a viewer may create a handoff.
 * @param named the person's session, as a service names it; `mintHandoff` checks it
 * @throws FORBIDDEN; BAD_USER_INPUT for an invalid session id, and for one that a person names
 */
export function bearerOf(viewer: Viewer, named: string | null | undefined = null): Bearer {
  const { organizationId, context, sessionId } = viewer
  if (isPerson(viewer)) {
    if (named !== null) throw new DomainError('BAD_USER_INPUT', 'Your own session counts: leave sessionId out.', { field: 'sessionId' })
    return { userId: viewer.userId, organizationId, context, sessionId }
  }
  if (isService(viewer) && viewer.appId === 'app_launcher' && viewer.onBehalfOf) {
    const id = named === null ? null : requireId(named, 'sessionId')
    return { userId: viewer.onBehalfOf, organizationId, context: organizationId === null ? 'personal' : 'organization', sessionId: id, isNamed: id !== null }
  }
  throw new DomainError('FORBIDDEN', 'Only a person makes a handoff, or the launcher on behalf of one: sign in.')
}

type Target = Pick<ServiceEntryRow, 'slug' | 'kind' | 'lifecycle' | 'contexts' | 'addresses'>

/**
 * Checks that a service can be opened from a context.
 * @returns its callback address
 * @throws NOT_FOUND, CONFLICT with reason NOT_LAUNCHABLE or CONTEXT
 */
export function requireLaunchable(target: Target | undefined, context: Bearer['context']): string {
  if (!target) throw new DomainError('NOT_FOUND', 'No service of this environment goes by that slug.', { field: 'service' })
  const { slug, kind, lifecycle, contexts, addresses } = target
  const { callback } = addresses
  if (kind !== 'application' || lifecycle === 'retired' || callback === undefined)
    throw new DomainError('CONFLICT', `Nobody opens the service "${slug}" by hand: choose one with pages.`, { field: 'service', reason: 'NOT_LAUNCHABLE' })
  if (!contexts.includes(context)) {
    const way = context === 'personal' ? 'switch to an organization first' : 'switch to your personal context first'
    throw new DomainError('CONFLICT', `The service "${slug}" is not for the active context: ${way}.`, { field: 'service', reason: 'CONTEXT' })
  }
  return callback
}

/**
 * Returns the path to open afterwards; null for none. @throws BAD_USER_INPUT for one that could lead to another host
 */
export function readReturnTo(value: unknown): string | null {
  if (value === undefined || value === null) return null
  // Browsers read a backslash as a slash and drop control characters.
  if (typeof value === 'string' && value.length <= longestPath && /^\/(?![/\\])[!-~]*$/.test(value)) return value
  throw new DomainError('BAD_USER_INPUT', `returnTo is a path of the service, at most ${longestPath} characters that begin with one slash.`, {
    field: 'returnTo',
  })
}

/** Returns the address to which the browser is redirected with the code. */
export function callbackUrlOf(callback: string, { code, icon }: { readonly code: string; readonly icon: string }): string {
  const url = new URL(callback)
  url.searchParams.set('sso_code', code)
  url.searchParams.set('icon', icon)
  return url.href
}

/** The caller of an exchange: a page of an origin, or a program, which names its service. */
export interface Presenter {
  readonly origin: string | null
  readonly serviceId: unknown
}

/** Whether the client that presents a code belongs to the service that the code is for. */
export function isForPresenter(target: Pick<ServiceEntryRow, 'id' | 'addresses'>, { origin, serviceId }: Presenter): boolean {
  if (origin === null) return serviceId === target.id
  return [target.addresses.web, target.addresses.dashboard].some(address => address !== undefined && new URL(address).origin === origin)
}
