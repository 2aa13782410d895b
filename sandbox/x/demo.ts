import { createGrant } from './grants.ts'
import type { World } from './world.ts'

/** What demo data and tests need to know: an application and the account that it may be connected to. */
export interface XDemo {
  readonly clientId: string
  readonly clientSecret: string
  readonly account: { readonly id: string; readonly username: string; readonly name: string }
  /**
   * Gives the application a permission of the demo account without a browser: every scope that publishing asks for.
   * @throws when no such application is registered
   */
  grantX(clientId: string): Promise<{ accessToken: string; refreshToken: string; expiresIn: number; scope: string }>
}

const scopes = ['tweet.read', 'tweet.write', 'users.read', 'media.write', 'offline.access'] as const

export function createDemo(world: World): XDemo {
  const { id: clientId, secret: clientSecret } = world.demo.client()
  const { id, username, name } = world.demo.account()
  return {
    clientId,
    clientSecret,
    account: { id, username, name },
    async grantX(forClient) {
      if (!world.clients.get(forClient)) throw new Error('the sandbox knows no application with this client id')
      const { tokens } = createGrant(world, { clientId: forClient, accountId: id, scopes })
      return { accessToken: tokens.accessToken, refreshToken: tokens.refreshToken!, expiresIn: tokens.expiresIn, scope: tokens.scope }
    },
  }
}
