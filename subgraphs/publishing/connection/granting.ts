import type { Job } from '../context.ts'
import { GrantFailure, type Network } from '../network/network.ts'
import { everyNetwork } from '../network/networks.ts'
import type { ConnectionRow } from '../stores/connection.ts'

/**
 * Returns the network of a connection with the application that issued its grant, for renewing and ending grants.
 * @throws GrantFailure, temporary: the application may be configured again, and then the grant is still valid
 */
export async function granting(
  { applications, brands }: Pick<Job, 'applications' | 'brands'>,
  network: Network,
  { brandId }: Pick<ConnectionRow, 'brandId'>,
): Promise<Network> {
  const { platform } = network
  if (applications.of(platform)) return network
  const brand = await brands.byId.load(brandId)
  const found = brand && (await applications.find(platform, brand.organizationId))
  if (found?.network) return found.network
  const { title } = everyNetwork[platform]
  throw new GrantFailure(
    found?.isKnown === false
      ? `Whether an application is set up for ${title} cannot be found out at this moment.`
      : `No application is set up for ${title} any more: the operator has to set one.`,
    false,
  )
}
