import { DomainError } from '../../../../platform/errors.ts'
import type { Job } from '../../context.ts'
import type { Found, SetUp } from '../../network/account/applications.ts'
import type { Platform } from '../../network/network.ts'
import { everyNetwork } from '../../network/networks.ts'
import { standingOf } from './readiness.ts'

/**
 * Returns the application with which a network can be connected here.
 * @throws CONFLICT, reason NOT_CONNECTABLE, with the explanation, before any address is created; UPSTREAM_FAILED when
 * it is unknown whether there is one
 */
export function connectable(found: Found, platform: Platform, { environment }: Pick<Job, 'environment'>): SetUp {
  const { connectable: isOpen, reason } = standingOf(platform, found, [], environment)
  if (isOpen && found.application) return found
  if (!found.application && !found.isKnown && reason) throw new DomainError('UPSTREAM_FAILED', reason, { retryAfter: 5, platform })
  throw new DomainError('CONFLICT', reason ?? `${everyNetwork[platform].title} cannot be connected here.`, { reason: 'NOT_CONNECTABLE', platform })
}

/**
 * Checks the present rights of the person who began a connection.
 * @param scopes empty for a person who is no member
 * @throws FORBIDDEN with the sentence for the page
 */
export function requireManages(scopes: readonly string[]): void {
  if (scopes.includes('publishing:accounts.write')) return
  throw new DomainError(
    'FORBIDDEN',
    'The person who began this no longer manages the accounts of this brand’s organization. Another manager has to begin the connection again.',
  )
}

/** The address to which a network sends the person back. */
export const callbackUrl = (publicUrl: string, platform: Platform): string => `${publicUrl}/publishing/api/integrations/${everyNetwork[platform].path}/callback`

/** Headers that only browsers send. */
const marksOfBrowsers = ['cookie', 'origin', 'referer', 'sec-fetch-site', 'sec-fetch-dest', 'sec-fetch-user', 'sec-ch-ua', 'upgrade-insecure-requests']

/**
 * Whether a callback comes from a program on a platform that only its own machine can reach, such as a developer's
 * script. In all other cases a person must confirm a flow that a program began, because a network's consent page is
 * followed by browsers only.
 */
export function isProgram(headers: Headers, publicUrl: string): boolean {
  const { hostname } = new URL(publicUrl)
  const isOwnMachine = hostname === 'localhost' || hostname.endsWith('.localhost') || hostname === '[::1]' || /^127\.\d+\.\d+\.\d+$/.test(hostname)
  return (
    isOwnMachine &&
    !marksOfBrowsers.some(name => headers.has(name)) &&
    !/mozilla\//i.test(headers.get('user-agent') ?? '') &&
    !/text\/html|application\/xhtml|image\//i.test(headers.get('accept') ?? '')
  )
}
