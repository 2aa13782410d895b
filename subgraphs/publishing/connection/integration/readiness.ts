import type { Found } from '../../network/account/applications.ts'
import { type Application, addressesOf, isTrial, type Platform } from '../../network/network.ts'
import { everyNetwork } from '../../network/networks.ts'
import type { ConnectionRow } from '../../stores/connection.ts'

export type Readiness = 'PRODUCTION_READY' | 'SANDBOX_ONLY' | 'SETUP_REQUIRED' | 'PLANNED'

/** State of a network's setup. */
export interface Standing {
  readonly readiness: Readiness
  /** Whether an account can be connected at this moment. */
  readonly connectable: boolean
  /** Why accounts cannot be connected; null when they can. It names neither a setting nor an address. */
  readonly reason: string | null
}

type Environment = 'development' | 'staging' | 'production'

/** The fields of connections that are used: the newest first, inactive ones included. */
export type Connected = Pick<ConnectionRow, 'active' | 'health' | 'accountName' | 'metadata'>

/**
 * Returns the readiness of a network with this application: sandbox only for a trial application and for a network that
 * the sandbox plays.
 */
export const readinessWith = (application: Application): 'PRODUCTION_READY' | 'SANDBOX_ONLY' =>
  isTrial(application) || addressesOf(application).some(isOwnMachine) ? 'SANDBOX_ONLY' : 'PRODUCTION_READY'

function isOwnMachine(address: string): boolean {
  const { hostname } = new URL(address)
  return hostname === 'localhost' || hostname.endsWith('.localhost') || hostname === '[::1]' || /^127\.\d+\.\d+\.\d+$/.test(hostname)
}

/**
 * Returns the state of a network's setup.
 *
 * | adapter | application | connected | readiness | connectable |
 * | no      | -           | -         | PLANNED | no |
 * | yes     | none        | no        | SETUP_REQUIRED | no |
 * | yes     | none        | yes       | as it was when it was connected | no |
 * | yes     | not known now | -       | as with none | no |
 * | yes     | for trying, or a network that is played | - | SANDBOX_ONLY | outside production |
 * | yes     | else        | -         | PRODUCTION_READY | yes |
 * @param found one of its own; another network's never counts
 * @param connections those of the network
 */
export function standingOf(
  platform: Platform,
  found: Pick<Found, 'application'> & { readonly isKnown?: boolean },
  connections: readonly Pick<Connected, 'active' | 'metadata'>[],
  environment: Environment,
): Standing {
  const { title, protocol } = everyNetwork[platform]
  const closed = (readiness: Readiness, why: string): Standing => ({ readiness, connectable: false, reason: `${title} cannot be connected here: ${why}` })
  if (!protocol) return closed('PLANNED', 'the platform does not speak its protocol yet.')
  const { application } = found
  if (application === null) {
    const why =
      found.isKnown === false
        ? 'whether an application is set up for it cannot be found out at this moment. Try again in a minute.'
        : 'no application is set up for it. The operator has to set the credentials of one.'
    const active = connections.find(connection => connection.active)
    return closed(active ? (active.metadata.readiness === 'SANDBOX_ONLY' ? 'SANDBOX_ONLY' : 'PRODUCTION_READY') : 'SETUP_REQUIRED', why)
  }
  const readiness = readinessWith(application)
  if (readiness === 'SANDBOX_ONLY' && environment === 'production')
    return closed(
      readiness,
      isTrial(application)
        ? 'its application is a trial application, which cannot publish to the public.'
        : 'its addresses lie on this machine, where the sandbox plays the network. The operator has to set the network’s own addresses.',
    )
  return { readiness, connectable: true, reason: null }
}

/**
 * Returns a sentence about what needs attention: the operator's next step, then the first connection that needs a
 * person; null for nothing.
 */
export function attentionOf(platform: Platform, hasApplication: boolean, connections: readonly Connected[]): string | null {
  const { title } = everyNetwork[platform]
  if (!hasApplication && connections.some(({ active }) => active))
    return `${title} is connected, but no application is set up for it any more: its access cannot be renewed until the operator sets one.`
  for (const health of ['NEEDS_RECONNECT', 'NEEDS_SELECTION', 'EXPIRING'] as const) {
    const found = connections.find(connection => connection.health === health)
    if (found) return sentences[health](found.accountName, title)
  }
  return null
}

const sentences = {
  NEEDS_RECONNECT: (account: string, title: string) => `${account} on ${title} is not connected any more: connect the account again.`,
  NEEDS_SELECTION: (account: string, title: string) => `None of the places of ${account} on ${title} is chosen: choose where posts go.`,
  EXPIRING: (account: string, title: string) => `The access to ${account} on ${title} ends soon: connect the account again.`,
} as const
