import { createHash, randomBytes } from 'node:crypto'
import type { Deps } from '../../network.ts'
import { openOauth } from '../../oauth/open.ts'
import type { Account, OauthWorld } from '../../oauth/world.ts'
import type { Collection } from '../../state.ts'
import type { Digest } from '../films/read.ts'
import type { FilmFault } from '../films/rules.ts'
import { behaviour } from './manners.ts'

/** A film as it was published. */
export interface Video {
  readonly id: string
  readonly publishedAt: string
  readonly title: string
  readonly description: string
  readonly privacyStatus: string
  /** @default none */
  readonly tags?: readonly string[]
  /** Of the file. */
  readonly bytes: number
  readonly mimeType?: string
  /** Of the file, in hexadecimal digits; absent where not all of it was seen. */
  readonly sha256?: string
  /** The channel that owns it. @default the demo account's */
  readonly accountId?: string
  /** Until when it is worked up, in Unix milliseconds. @default it is */
  readonly readyAt?: number
  /** Whether that failed. */
  readonly isBroken?: boolean
  /** Why it is not taken. @default it is */
  readonly filmFault?: FilmFault
}

/** An upload that goes on in parts. */
export interface Session {
  readonly id: string
  readonly title: string
  readonly description: string
  readonly privacyStatus: string
  readonly tags?: readonly string[]
  /** What its first call has said; null: nothing. */
  readonly total: number | null
  readonly got: number
  readonly accountId?: string
  readonly mimeType?: string
  /** The film that has become of it. */
  readonly videoId: string | null
}

/** Channels and their films; an account has one channel, of its own id and name. */
export interface Films extends OauthWorld {
  readonly videos: Collection<Video>
  readonly sessions: Collection<Session>
  /** Digests of films whose parts are coming: a restart forgets them. */
  readonly digests: Map<string, Digest>
  readonly origin: () => string
  publish(facts: Omit<Video, 'id' | 'publishedAt'>): Video
  /** Those of an account, oldest first. */
  of(account: Account): readonly Video[]
  ownerOf(video: Pick<Video, 'accountId'>): Account
}

/** Opens the network's collections and, at the first start, registers the demo application and its account. */
export function openFilms(name: string, deps: Deps): Films {
  const { state, clock, origin } = deps
  const newClient = () => ({
    id: `${String(Math.floor(clock.now().getTime() / 1000))}-${randomBytes(16).toString('hex')}.apps.googleusercontent.com`,
    secret: `GOCSPX-${randomBytes(21).toString('base64url')}`,
  })
  const newIds = () => () => `UC${randomBytes(17).toString('base64url').slice(0, 22)}`
  const world = openOauth(name, deps, { behaviour, newIds, newClient, account: { username: 'demo_brand', name: 'Demo' } })
  const videos = state.collection<Video>(`${name}.videos`, 1_000)
  const ownerOf = ({ accountId }: Pick<Video, 'accountId'>) => world.accounts.get(accountId ?? '') ?? world.demo.account()
  return {
    ...world,
    videos,
    sessions: state.collection<Session>(`${name}.sessions`, 500),
    digests: new Map(),
    origin,
    publish(facts) {
      const video = { ...facts, id: randomBytes(8).toString('base64url'), publishedAt: clock.now().toISOString() }
      videos.set(video.id, video)
      return video
    },
    of: account => [...videos.values()].filter(video => ownerOf(video).id === account.id),
    ownerOf,
  }
}

const etagOf = (value: object) => createHash('sha1').update(JSON.stringify(value)).digest('base64url')

/** A resource with the parts of it that were asked for. */
function resource(kind: string, id: unknown, parts: Readonly<Record<string, object>>, wanted: readonly string[]) {
  const shown = Object.fromEntries(Object.entries(parts).filter(([part]) => wanted.includes(part)))
  return { kind, etag: etagOf(shown), id, ...shown }
}

const thumbnails = { default: { url: 'https://i.ytimg.com/vi/sandbox/default.jpg', width: 120, height: 90 } }

const uploadStatusOf = ({ isBroken, filmFault, readyAt }: Video, now: Date) =>
  filmFault ? 'rejected' : isBroken ? 'failed' : readyAt === undefined || readyAt > now.getTime() ? 'uploaded' : 'processed'

export function videoResource(films: Films, video: Video, wanted: readonly string[]) {
  const { id, publishedAt, title, description, privacyStatus, tags = [], bytes } = video
  const { id: channelId, name: channelTitle } = films.ownerOf(video)
  const uploadStatus = uploadStatusOf(video, films.clock.now())
  return resource(
    'youtube#video',
    id,
    {
      snippet: {
        publishedAt,
        channelId,
        title,
        description,
        thumbnails,
        channelTitle,
        ...(tags.length > 0 && { tags }),
        categoryId: '22',
        liveBroadcastContent: 'none',
      },
      status: {
        uploadStatus,
        ...(video.filmFault ? { rejectionReason: 'length' } : video.isBroken && { failureReason: 'codec' }),
        privacyStatus,
        license: 'youtube',
        embeddable: true,
        publicStatsViewable: true,
        madeForKids: false,
      },
      statistics: { viewCount: '0', likeCount: '0', favoriteCount: '0', commentCount: '0' },
      fileDetails: { fileSize: String(bytes) },
    },
    wanted,
  )
}

export const channelResource = ({ id, name, username }: Account, wanted: readonly string[], videoCount: number) =>
  resource(
    'youtube#channel',
    id,
    {
      snippet: { title: name, description: 'A channel for trying.', customUrl: `@${username}`, publishedAt: '2024-01-01T00:00:00Z', thumbnails },
      statistics: { viewCount: '0', subscriberCount: '0', hiddenSubscriberCount: false, videoCount: String(videoCount) },
      contentDetails: { relatedPlaylists: { likes: '', uploads: id.replace('UC', 'UU') } },
      status: { privacyStatus: 'public', isLinked: true, longUploadsStatus: 'longUploadsUnspecified' },
    },
    wanted,
  )

export const searchResult = (video: Video, { id: channelId, name: channelTitle }: Account) =>
  resource(
    'youtube#searchResult',
    { kind: 'youtube#video', videoId: video.id },
    {
      snippet: {
        publishedAt: video.publishedAt,
        channelId,
        title: video.title,
        description: video.description,
        thumbnails,
        channelTitle,
      },
    },
    ['snippet'],
  )

/** A page of a list. */
export const page = (kind: string, items: readonly object[]) => ({
  ...{ kind, etag: etagOf(items) },
  ...{ items, pageInfo: { totalResults: items.length, resultsPerPage: items.length } },
})
