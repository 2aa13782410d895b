import { randomBytes } from 'node:crypto'
import type { Deps } from '../../network.ts'
import { openOauth } from '../../oauth/open.ts'
import type { OauthWorld } from '../../oauth/world.ts'
import type { Collection } from '../../state.ts'
import { behaviour } from './manners.ts'
import { createSnowflakes } from './snowflake.ts'

/** A post as it is stored. Removed posts stay, marked, so that their ids are never used again. */
export interface StoredPost {
  readonly id: string
  readonly accountId: string
  /** As the client sent it. */
  readonly text: string
  /** ISO 8601, UTC, milliseconds. */
  readonly createdAt: string
  readonly inReplyToId: string | null
  /** Ids of the uploads that it carries. */
  readonly mediaIds?: readonly string[]
  /** The post that began the conversation: its own id unless it is a reply. */
  readonly conversationId: string
  readonly deletedAt: string | null
}

/** A picture or film that somebody uploads. */
export interface Upload {
  readonly id: string
  readonly accountId: string
  readonly mimeType: string
  readonly category: 'tweet_image' | 'tweet_gif' | 'tweet_video'
  /** In bytes. */
  readonly total: number
  readonly segments: number
  readonly sent: number
  readonly isFinal: boolean
  readonly sha256: string
  /** Unix milliseconds. */
  readonly readyAt: number
  readonly isBroken: boolean
  readonly altText: string | null
}

/** A fifteen-minute window of a rate limit. */
export interface Window {
  /** Unix milliseconds. */
  readonly startedAt: number
  readonly count: number
}

/** Everything that this network knows and stands on. */
export interface World extends OauthWorld {
  readonly posts: Collection<StoredPost>
  readonly windows: Collection<Window>
  readonly uploads: Collection<Upload>
}

/** Opens the network's collections and, at the first start, registers the demo application and its account. */
export function openWorld(name: string, deps: Deps): World {
  const { state, clock } = deps
  const newClient = () => ({ id: newClientId(), secret: newClientSecret() })
  return {
    ...openOauth(name, deps, { behaviour, newIds: meta => createSnowflakes(meta, clock), newClient }),
    posts: state.collection('x.posts', 5000),
    windows: state.collection('x.windows', 500),
    uploads: state.collection('x.uploads', 2000),
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
