import type { Call, ReceivedMedium } from '../../network.ts'
import { hashOf, type Shown, whoShows } from '../../oauth/grants.ts'
import type { Account, Grant, OauthWorld } from '../../oauth/world.ts'
import type { Collection } from '../../state.ts'
import type { LongTokens } from '../meta/tokens.ts'

/** A post, a film or a comment on a page or in a group. */
export interface StoredPost {
  /** Id that the network assigned: `{place}_{number}`, for a film its own number. */
  readonly id: string
  readonly kind: 'post' | 'video' | 'comment'
  readonly accountId: string
  readonly place: { readonly kind: 'page' | 'group'; readonly id: string }
  readonly text: string
  readonly link: string | null
  readonly media: readonly ReceivedMedium[]
  readonly inReplyToId: string | null
  /** Time of creation, ISO 8601, UTC, milliseconds. */
  readonly createdAt: string
}

/** State of the Facebook stand-in. */
export interface FacebookWorld extends OauthWorld {
  readonly long: LongTokens
  /** Page tokens, which are valid as long as the account's grant. */
  readonly pageTokens: Collection<{ readonly grantId: string; readonly pageId: string }>
  /** Uploaded photos that are not published yet. */
  readonly photos: Collection<{ readonly id: string; readonly accountId: string; readonly medium: ReceivedMedium }>
  readonly posts: Collection<StoredPost>
}

/** A call with its calling account. */
export interface Asked {
  readonly world: FacebookWorld
  readonly call: Call
  readonly parameters: URLSearchParams
  readonly account: Account
  readonly grant: Grant
  /** The page whose token the call carries; null for a person's token. */
  readonly pageId: string | null
}

/** A page's token: any that was handed out is good. */
export function pageTokenFor(world: FacebookWorld, { id: grantId }: Grant, pageId: string): string {
  const token = world.behaviour.newToken('at', world.clock.now())
  world.pageTokens.set(hashOf(token), { grantId, pageId })
  return token
}

type NotGood = { readonly fault: Shown['fault'] }

/** Finds the caller of a call, from a person's token or a page's token. */
export function whoAsks(world: FacebookWorld, call: Call, token: string | undefined): Pick<Asked, 'account' | 'grant' | 'pageId'> | NotGood {
  const ofPage = token === undefined ? undefined : world.pageTokens.get(hashOf(token))
  if (!ofPage) {
    const { grant, account, fault } = whoShows(world, call, token)
    return grant ? { grant, account, pageId: null } : { fault }
  }
  const grant = world.grants.get(ofPage.grantId)
  const account = grant && world.accounts.get(grant.accountId)
  if (!grant || !account) return { fault: null }
  if (world.faults.take(world.name, ['grant-revoked'], account.username)) {
    for (const one of [...world.grants.values()]) if (one.accountId === account.id) world.grants.delete(one.id)
    return { fault: 'grant-revoked' }
  }
  if (world.faults.take(world.name, ['expired-token'], account.username)) return { fault: 'expired-token' }
  return { grant, account, pageId: ofPage.pageId }
}
