import type { Demo } from '../network.ts'
import { createGrant } from '../oauth/grants.ts'
import type { World } from './world.ts'

const scopes = ['tweet.read', 'tweet.write', 'users.read', 'media.write', 'offline.access'] as const

export function createDemo(world: World): Demo {
  const { id: clientId, secret: clientSecret } = world.demo.client()
  const { id, username, name } = world.demo.account()
  return {
    clientId,
    clientSecret,
    account: { id, username, name },
    async grant(forClient) {
      if (!world.clients.get(forClient)) throw new Error('the sandbox knows no application with this client id')
      const { tokens } = createGrant(world, { clientId: forClient, accountId: id, scopes })
      return { accessToken: tokens.accessToken, refreshToken: tokens.refreshToken!, expiresIn: tokens.expiresIn, scope: tokens.scope }
    },
  }
}
