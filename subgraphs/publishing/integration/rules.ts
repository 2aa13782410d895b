import { Refusal } from '../../../platform/errors.ts'
import { type Network, type Networks, networkFacts, type Platform } from '../network/network.ts'

/**
 * The adapter of a network that can be connected here.
 * @throws CONFLICT with the reason, before any address is made
 */
export function connectable(networks: Networks, platform: Platform): Network {
  const network = networks.get(platform)
  if (network) return network
  throw new Refusal('CONFLICT', `${networkFacts[platform].title} cannot be connected here: ${reason(platform)}`, { platform })
}

const reason = (platform: Platform): string =>
  platform === 'X'
    ? 'no application is set up for it. Whoever operates the platform sets the credentials of its own application.'
    : 'the platform does not speak its protocol yet.'

/** The address to which a network sends the person back. */
export const callbackUrl = (publicUrl: string, platform: Platform): string => `${publicUrl}/publishing/api/integrations/${networkFacts[platform].path}/callback`
