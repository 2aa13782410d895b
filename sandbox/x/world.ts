import { randomBytes } from 'node:crypto'
import type { Clock } from '../../platform/clock.ts'
import type { Faults } from '../faults.ts'
import type { Collection, State } from '../state.ts'
import { createSnowflakes } from './snowflake.ts'

/** A user of the network. */
export interface Account {
  readonly id: string
  readonly username: string
  readonly name: string
  /** ISO 8601. */
  readonly createdAt: string
}

/** A confidential application registered with the network. */
export interface Client {
  readonly id: string
  readonly secret: string
  readonly name: string
  /** Where it may be sent back to: compared letter by letter. */
  readonly redirectUris: readonly string[]
}

/** A post as it is stored. Removed posts stay, marked, so that their ids are never used again. */
export interface StoredPost {
  readonly id: string
  readonly accountId: string
  /** As the client sent it. */
  readonly text: string
  /** ISO 8601, UTC, milliseconds. */
  readonly createdAt: string
  readonly inReplyToId: string | null
  /** The post that began the conversation: its own id unless it is a reply. */
  readonly conversationId: string
  readonly deletedAt: string | null
}

/** A permission that an account gave to an application: a family of tokens, of which only the latest pair is good. */
export interface Grant {
  readonly id: string
  readonly clientId: string
  readonly accountId: string
  readonly scopes: readonly string[]
  /** SHA-256 of the token; null once revoked by the application. */
  readonly access: { readonly hash: string; readonly expiresAt: number } | null
  /** Null without `offline.access`. */
  readonly refresh: { readonly hash: string; readonly expiresAt: number } | null
  /** Hashes of the latest fifty refresh tokens that were already used. */
  readonly spent: readonly string[]
}

/** An authorization code on its way; a used one stays until it is crowded out, so that a second use is noticed. */
export interface Code {
  readonly hash: string
  readonly clientId: string
  readonly accountId: string
  readonly redirectUri: string
  readonly challenge: string
  readonly scopes: readonly string[]
  /** Unix milliseconds. */
  readonly expiresAt: number
  /** The grant it was exchanged for, empty when its exchange failed; absent while unused. */
  readonly usedFor?: string
}

/** A fifteen-minute window of a rate limit. */
export interface Window {
  /** Unix milliseconds. */
  readonly startedAt: number
  readonly count: number
}

/** Everything that this network knows and stands on. */
export interface World {
  readonly clock: Clock
  readonly faults: Faults
  readonly accounts: Collection<Account>
  readonly clients: Collection<Client>
  readonly codes: Collection<Code>
  readonly grants: Collection<Grant>
  readonly posts: Collection<StoredPost>
  readonly windows: Collection<Window>
  /** The application and the account of the demo data, made at the first start. */
  readonly demo: { readonly client: () => Client; readonly account: () => Account }
  readonly newId: () => string
}

/** Opens the network's collections and, at the first start, registers the demo application and its account. */
export function openWorld({ state, faults, clock, redirectUris }: { state: State; faults: Faults; clock: Clock; redirectUris?: readonly string[] }): World {
  const meta = state.collection<string>('x.meta', 10)
  const accounts = state.collection<Account>('x.accounts', 100)
  const clients = state.collection<Client>('x.clients', 100)
  const newId = createSnowflakes(meta, clock)

  if (!meta.get('demoAccount')) {
    const account: Account = { id: newId(), username: 'demo_brand', name: 'Demo Brand', createdAt: clock.now().toISOString() }
    accounts.set(account.id, account)
    meta.set('demoAccount', account.id)
  }
  if (!meta.get('demoClient')) {
    const client: Client = { id: newClientId(), secret: newClientSecret(), name: 'Demo application', redirectUris: [] }
    clients.set(client.id, client)
    meta.set('demoClient', client.id)
  }
  const demo = { client: () => clients.get(meta.get('demoClient')!)!, account: () => accounts.get(meta.get('demoAccount')!)! }
  if (redirectUris) clients.set(demo.client().id, { ...demo.client(), redirectUris })

  return {
    clock,
    faults,
    accounts,
    clients,
    codes: state.collection('x.codes', 500),
    grants: state.collection('x.grants', 2000),
    posts: state.collection('x.posts', 5000),
    windows: state.collection('x.windows', 500),
    demo,
    newId,
  }
}

/** Base64 of letters and a marker, as in https://docs.x.com/fundamentals/authentication/oauth-2-0/user-access-token */
function newClientId(): string {
  return Buffer.from(`${randomBytes(15).toString('base64url')}:1:ci`).toString('base64url')
}

/**
 * A secret that always holds a hyphen, as X's often do: a client that percent-encodes its credentials before Basic, which X
 * does not ask for, fails here rather than in production.
 */
function newClientSecret(): string {
  return `-${randomBytes(36).toString('base64url')}`
}
