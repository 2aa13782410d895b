import { page } from '../../page.ts'
import { GrantFailure, networkFacts, type Platform } from '../network/network.ts'
import type { Room } from '../room.ts'
import { callbackUrl } from './rules.ts'

/**
 * Answers a network's redirect (RFC 6749 §4.1.2): uses the state up, exchanges the code, stores the connection, and
 * says on a page what was connected. Needs no session: the state holds who asked, for which brand.
 */
export async function callback(room: Room, platform: Platform, parameters: URLSearchParams): Promise<Response> {
  const { authorizations, connections, brands, clock, sequelize, audit, log, networks, publicUrl } = room
  const { title } = networkFacts[platform]
  const network = networks.get(platform)
  const state = parameters.get('state')
  const begun = network && state ? await authorizations.redeem(state, platform, clock.now()) : null
  if (!network || !begun)
    return page(400, 'Nothing was connected', 'This link was not begun here, was used before, or is older than ten minutes. Start the connection again.')
  if (parameters.has('error'))
    return page(400, 'Nothing was connected', `${title} reports that access was not given. Start the connection again if that was not what you wanted.`)
  try {
    const redirectUri = callbackUrl(publicUrl, platform)
    const grant = await network.exchange({ parameters, redirectUri, state: begun.state, verifier: begun.verifier })
    const account = await network.account(grant.accessToken)
    const { brandId, userId } = begun
    const now = clock.now()
    await sequelize.transaction(async transaction => {
      const connection = await connections.authorize({ brandId, platform, userId, account, grant, now }, transaction)
      await audit(transaction, { brandId, actor: `user:${userId}`, action: 'connection.authorized', subjectId: connection.id, at: now, details: { platform } })
    })
    const [brand] = await brands.byIds([brandId])
    return page(200, `${title} is connected`, `${account.name} can now be used by ${brand?.name ?? 'the brand'}. You can close this page.`)
  } catch (error) {
    if (!(error instanceof GrantFailure)) throw error
    log.warn({ err: error, platform }, 'an authorization could not be completed')
    const [status, next] = error.permanent ? [400, 'Start the connection again.'] : [502, 'Wait a little, then start the connection again.']
    return page(status as number, 'Nothing was connected', `${title} did not complete the connection. ${next}`)
  }
}
