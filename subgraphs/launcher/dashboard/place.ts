import { DomainError } from '../../../platform/errors.ts'
import { activeOrganization, type Viewer } from '../../viewer.ts'
import { isLoopback } from '../engines/widgets/apps/payload.ts'

/** Maximum characters of an address, and of a title. */
export const max = { url: 2_000, title: 120 } as const

/**
 * The organization in which the viewer is active.
 * @param things what belongs to it: `Shared links`
 * @throws CONFLICT, reason CONTEXT, for a person in personal context
 */
export function requireOrganization(viewer: Viewer, things: string): string {
  if (viewer.kind === 'user' && !viewer.organizationId)
    throw new DomainError('CONFLICT', `${things} belong to an organization: switch to one first.`, { reason: 'CONTEXT' })
  return activeOrganization(viewer, things)
}

/** Whether the viewer is an owner or admin of the active organization. */
export const isManager = ({ roles }: Pick<Viewer, 'roles'>): boolean => roles.includes('owner') || roles.includes('admin')

/**
 * Returns an address that people open.
 * @param isDevelopment whether it may lead to this machine without TLS
 * @throws BAD_USER_INPUT for another scheme than https, for a name or password in the address, and for one that is too long
 */
export function requireLink(given: URL | string, field: string, isDevelopment: boolean): string {
  const mistake = (message: string) => new DomainError('BAD_USER_INPUT', message, { field })
  if (!URL.canParse(String(given))) throw mistake(`${field} is no address: it begins with https://.`)
  const url = new URL(given)
  if (url.protocol !== 'https:' && !(isDevelopment && url.protocol === 'http:' && isLoopback(url)))
    throw mistake(`${field} is no address that can be opened here: it begins with https://.`)
  if (url.username || url.password) throw mistake(`${field} holds a name or a password: leave them out.`)
  if (url.href.length > max.url) throw mistake(`${field} has ${url.href.length} characters: ${max.url} are the most.`)
  return url.href
}

/** Like `requireLink`, for an optional address: null for none. */
export const readLink = (given: URL | string | null | undefined, field: string, isDevelopment: boolean): string | null =>
  given === null || given === undefined ? null : requireLink(given, field, isDevelopment)
