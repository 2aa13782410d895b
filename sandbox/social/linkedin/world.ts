import { randomBytes } from 'node:crypto'
import type { Deps, ReceivedMedium } from '../../network.ts'
import { openOauth } from '../../oauth/open.ts'
import type { Account, OauthWorld } from '../../oauth/world.ts'
import type { Collection } from '../../state.ts'
import { behaviour, pageScopes, personScopes } from './manners.ts'

/** A post or a comment as it is stored. Removed ones stay, marked, so that their ids are never used again. */
export interface StoredPost {
  readonly urn: string
  /** A person or an organization, as a URN. */
  readonly author: string
  /** Who has called. */
  readonly accountId: string
  /** As the client sent it. */
  readonly commentary: string
  /** As a reader sees it. */
  readonly text: string
  readonly content: object | null
  readonly media: readonly ReceivedMedium[]
  /** The post that it comments on; null for a post. */
  readonly under: string | null
  /** Unix milliseconds. */
  readonly createdAt: number
  readonly deletedAt: number | null
}

/** A picture or a film that was begun. */
export interface Asset {
  readonly urn: string
  readonly owner: string
  readonly kind: 'images' | 'videos'
  /** Of a film, as its upload was begun; null for a picture. */
  readonly total: number | null
  readonly uploadToken: string
  /** The tags of its parts, in their order. */
  readonly parts: readonly string[]
  readonly received: ReceivedMedium | null
  readonly isFinal: boolean
  /** Unix milliseconds from which on it is ready. */
  readonly readyAt: number
  readonly isBroken: boolean
}

/** An organization, which everybody who consented as its account administers. */
export interface Organization {
  readonly id: string
  readonly name: string
  readonly vanityName: string
  readonly accountId: string
}

/** Everything that this network knows and stands on. */
export interface World extends OauthWorld {
  readonly posts: Collection<StoredPost>
  readonly assets: Collection<Asset>
  readonly organizations: Collection<Organization>
  /** A fresh number for a share, a comment or a medium: larger than all before. */
  readonly newNumber: () => string
  readonly origin: () => string
}

/** Opens the network's collections and, at the first start, registers its two demo applications and their account. */
export function openWorld(name: string, deps: Deps): World {
  const { state, clock, origin } = deps
  const numbers = state.collection<string>(`${name}.numbers`, 5)
  const newClient = () => ({
    id: `77${randomBytes(6).toString('hex')}`,
    secret: `WPL_AP1.${randomBytes(12).toString('base64url')}.${randomBytes(6).toString('base64')}`,
  })
  return {
    ...openOauth(name, deps, {
      behaviour,
      newIds: () => () => randomBytes(8).toString('base64url').replaceAll('-', 'x').slice(0, 10),
      newClient,
      applications: { '': personScopes, [pagePath]: pageScopes },
    }),
    posts: state.collection(`${name}.posts`, 5000),
    assets: state.collection(`${name}.assets`, 1000),
    organizations: state.collection(`${name}.organizations`, 2000),
    newNumber() {
      const last = BigInt(numbers.get('last') ?? '0')
      const fresh = BigInt(clock.now().getTime()) << 22n
      const number = String(fresh > last ? fresh : last + 1n)
      numbers.set('last', number)
      return number
    },
    origin,
  }
}

/** The network of ours that is pages. */
export const pagePath = 'linkedin-page'

export const personUrn = ({ id }: Pick<Account, 'id'>): string => `urn:li:person:${id}`
export const organizationUrn = ({ id }: Pick<Organization, 'id'>): string => `urn:li:organization:${id}`

/** The two organizations that an account administers, made when they are first asked for. */
export function organizationsOf(world: World, account: Account): readonly Organization[] {
  const known = [...world.organizations.values()].filter(({ accountId }) => accountId === account.id)
  if (known.length > 0) return known
  return [account.name, `${account.name} Careers`].map((name, at) => {
    const organization = {
      id: String(10_000_000 + world.organizations.size),
      name,
      vanityName: `${account.username.replaceAll('_', '-')}-${at + 1}`,
      accountId: account.id,
    }
    world.organizations.set(organization.id, organization)
    return organization
  })
}

/** Whether an account may act as a person or organization. */
export const mayActAs = (world: World, account: Account, urn: string): boolean =>
  urn === personUrn(account) || organizationsOf(world, account).some(organization => organizationUrn(organization) === urn)
