import { Refusal } from '../../../../platform/errors.ts'
import type { Job } from '../../context.ts'
import type { Found, SetUp } from '../../network/account/applications.ts'
import type { Platform } from '../../network/network.ts'
import { everyNetwork } from '../../network/networks.ts'
import { standingOf } from './readiness.ts'

/**
 * The application with which a network can be connected here.
 * @throws CONFLICT, reason NOT_CONNECTABLE, with the why, before any address is made; UPSTREAM_FAILED when nobody can say whether there is one
 */
export function connectable(found: Found, platform: Platform, { environment }: Pick<Job, 'environment'>): SetUp {
  const { connectable: isOpen, reason } = standingOf(platform, found, [], environment)
  if (isOpen && found.application) return found
  if (!found.application && !found.isKnown && reason) throw new Refusal('UPSTREAM_FAILED', reason, { retryAfter: 5, platform })
  throw new Refusal('CONFLICT', reason ?? `${everyNetwork[platform].title} cannot be connected here.`, { reason: 'NOT_CONNECTABLE', platform })
}

/**
 * Checks the rights that whoever began a connection has in the brand's organization when it is to be made.
 * @param scopes none for somebody who is no member
 * @throws FORBIDDEN with the sentence that the page shows
 */
export function requireManages(scopes: readonly string[]): void {
  if (scopes.includes('publishing:accounts.write')) return
  throw new Refusal(
    'FORBIDDEN',
    'Whoever began this no longer manages the accounts of this brand’s organization. Somebody who does has to begin the connection again.',
  )
}

/** The address to which a network sends the person back. */
export const callbackUrl = (publicUrl: string, platform: Platform): string => `${publicUrl}/publishing/api/integrations/${everyNetwork[platform].path}/callback`

/** What only browsers send. */
const marksOfBrowsers = ['cookie', 'origin', 'referer', 'sec-fetch-site', 'sec-fetch-dest', 'sec-fetch-user', 'sec-ch-ua', 'upgrade-insecure-requests']

/**
 * Whether a callback comes from a program on a platform that is reached on its own machine only: a script of whoever develops here.
 * Everywhere else, and of whatever shows a single mark of a browser, a person has to confirm what a program began: a network's own
 * consent page is for browsers, so no program follows it there.
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
