import { randomBytes } from 'node:crypto'
import type { Deps, ReceivedMedium } from '../../network.ts'
import { openOauth } from '../../oauth/open.ts'
import type { OauthWorld } from '../../oauth/world.ts'
import type { Collection } from '../../state.ts'
import type { Digest } from '../films/read.ts'
import type { FilmFault } from '../films/rules.ts'
import { behaviour } from './manners.ts'

/** A post from its beginning on: it is published once all of its film has come and was worked up. */
export interface StoredPost {
  readonly publishId: string
  readonly accountId: string
  readonly title: string
  readonly level: string
  /** What the address of its upload ends with. */
  readonly uploadToken: string
  readonly size: number
  readonly chunkSize: number
  readonly chunks: number
  /** Chunks that have come, and their bytes. */
  readonly got: number
  readonly uploaded: number
  readonly received: ReceivedMedium | null
  /** Unix milliseconds: begun, and from when on it is published. */
  readonly createdAt: number
  readonly readyAt: number
  readonly isBroken: boolean
  /** Why its film is not taken. @default it is */
  readonly filmFault?: FilmFault
  readonly postId: string
}

/** Digests of films whose chunks are coming: a restart forgets them, and their uploads end. */
export type Digests = Map<string, Digest>

/** Everything that this network knows and stands on. */
export interface World extends OauthWorld {
  readonly posts: Collection<StoredPost>
  /** When an account began its latest posts, in Unix milliseconds. */
  readonly begun: Collection<readonly number[]>
  readonly digests: Digests
  readonly newNumber: () => string
  readonly origin: () => string
}

/** Opens the network's collections and, at the first start, registers the demo application, which TikTok has not looked at, and its account. */
export function openWorld(name: string, deps: Deps): World {
  const { state, clock, origin } = deps
  const numbers = state.collection<string>(`${name}.numbers`, 5)
  const newClient = () => ({ id: `sbaw${randomBytes(7).toString('hex')}`, secret: randomBytes(24).toString('base64url') })
  return {
    ...openOauth(name, deps, { behaviour, newIds: () => () => `-000${randomBytes(24).toString('base64url')}`, newClient }),
    posts: state.collection(`${name}.posts`, 2000),
    begun: state.collection(`${name}.begun`, 1000),
    digests: new Map(),
    newNumber() {
      const last = BigInt(numbers.get('last') ?? '0')
      const fresh = (BigInt(Math.floor(clock.now().getTime() / 1000)) << 32n) + 7n
      const number = String(fresh > last ? fresh : last + 1n)
      numbers.set('last', number)
      return number
    },
    origin,
  }
}

/** How far a post is, in TikTok's words. */
export function statusOf({ clock }: World, { received, isBroken, readyAt }: StoredPost): 'PROCESSING_UPLOAD' | 'FAILED' | 'PUBLISH_COMPLETE' {
  if (!received || clock.now().getTime() < readyAt) return 'PROCESSING_UPLOAD'
  return isBroken ? 'FAILED' : 'PUBLISH_COMPLETE'
}

/** What only the account itself sees has no id that others could use. */
export const isPublic = ({ level }: StoredPost): boolean => level === 'PUBLIC_TO_EVERYONE'
