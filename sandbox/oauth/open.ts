import { accountName } from '../faults.ts'
import type { Demo, Deps } from '../network.ts'
import type { Collection } from '../state.ts'
import { createGrant } from './grants.ts'
import type { Account, Behaviour, Client, OauthWorld } from './world.ts'

/** Arguments with which a network with OAuth 2.0 is opened. */
export interface Beginning {
  readonly behaviour: Behaviour
  /**
   * Returns a generator of fresh ids, for accounts, grants or objects of the network. @param meta collection in which
   * the generator may store a few words
   */
  newIds(meta: Collection<string>): () => string
  /** A fresh id and secret, in the form of the network's own. */
  newClient(): Pick<Client, 'id' | 'secret'>
  /** @default demo_brand, Demo Brand */
  readonly account?: Pick<Account, 'username' | 'name'>
  /**
   * Scopes of each application: under the empty name for the network's own, under its path for each further network
   * served here. @default the network's own, with every scope
   */
  readonly applications?: Readonly<Record<string, readonly string[] | undefined>>
}

/**
 * Opens the collections of a network's accounts, applications, codes and grants; the first start also registers the
 * demo application and account.
 */
export function openOauth(name: string, { state, faults, clock, redirectUris }: Deps, beginning: Beginning): OauthWorld {
  const { behaviour, newIds, newClient, account = { username: 'demo_brand', name: 'Demo Brand' }, applications = { '': undefined } } = beginning
  const meta = state.collection<string>(`${name}.meta`, 10)
  const newId = newIds(meta)
  const accounts = state.collection<Account>(`${name}.accounts`, 1000)
  const clients = state.collection<Client>(`${name}.clients`, 100)
  if (!meta.get('demoAccount')) {
    const made: Account = { ...account, id: newId(), createdAt: clock.now().toISOString() }
    accounts.set(made.id, made)
    meta.set('demoAccount', made.id)
  }
  const keyOf = (path: string): string => `demoClient${path && ` ${path}`}`
  const client = (path = ''): Client => clients.get(meta.get(keyOf(path))!)!
  for (const [path, scopes] of Object.entries(applications)) {
    const known = meta.get(keyOf(path)) !== undefined
    const made = known ? client(path) : { ...newClient(), name: 'Demo application', redirectUris: [], ...(scopes && { scopes }) }
    if (!known) meta.set(keyOf(path), made.id)
    if (!known || redirectUris) clients.set(made.id, { ...made, ...(redirectUris && { redirectUris }) })
  }
  return {
    name,
    behaviour,
    clock,
    faults,
    accounts,
    clients,
    codes: state.collection(`${name}.codes`, 500),
    grants: state.collection(`${name}.grants`, 2000),
    demo: { client, account: () => accounts.get(meta.get('demoAccount')!)! },
    newId,
  }
}

/**
 * Returns the account of a user name, and creates it when there is none; without a name, the demo account. @returns
 * undefined for an invalid user name
 */
export function accountOf(world: OauthWorld, username: string | null): Account | undefined {
  if (username === null) return world.demo.account()
  if (!accountName.test(username)) return undefined
  const known = world.accounts.values().find(account => account.username === username)
  if (known) return known
  const made: Account = { id: world.newId(), username, name: username, createdAt: world.clock.now().toISOString() }
  world.accounts.set(made.id, made)
  return made
}

/**
 * Returns what demo data and tests need of a network.
 * @param scopes scopes that publishing requests
 * @param path path of a further network that the stand-in serves
 */
export function demoOf(world: OauthWorld, scopes: readonly string[], path?: string): Demo {
  const { id: clientId, secret: clientSecret } = world.demo.client(path)
  const { id, username, name } = world.demo.account()
  return {
    clientId,
    clientSecret,
    account: { id, username, name },
    async grant(forClient) {
      if (!world.clients.get(forClient)) throw new Error('the sandbox knows no application with this client id')
      const { tokens } = createGrant(world, { clientId: forClient, accountId: id, scopes })
      return { accessToken: tokens.accessToken, refreshToken: tokens.refreshToken ?? '', expiresIn: tokens.expiresIn, scope: tokens.scope }
    },
  }
}
