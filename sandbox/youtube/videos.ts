import { createHash, randomBytes } from 'node:crypto'
import type { Clock } from '../../platform/clock.ts'
import type { Collection, State } from '../state.ts'

/** A film as it was published. */
export interface Video {
  readonly id: string
  readonly publishedAt: string
  readonly title: string
  readonly description: string
  readonly privacyStatus: string
  /** Of the file. */
  readonly bytes: number
}

/** An upload that goes on in parts. */
export interface Session {
  readonly id: string
  readonly title: string
  readonly description: string
  readonly privacyStatus: string
  /** What its first call has said; null: nothing. */
  readonly total: number | null
  readonly got: number
  /** The film that has become of it. */
  readonly videoId: string | null
}

/** The one channel of the demo account. */
export const channel = { id: 'UCsandboxsandboxsandboxs', title: 'Demo', description: 'A channel for trying.' } as const

export interface Films {
  readonly videos: Collection<Video>
  readonly sessions: Collection<Session>
  readonly tokens: Collection<string>
  publish(facts: Pick<Video, 'title' | 'description' | 'privacyStatus' | 'bytes'>): Video
}

export function openFilms(state: State, clock: Clock, name: string): Films {
  const videos = state.collection<Video>(`${name}.videos`, 1_000)
  return {
    videos,
    sessions: state.collection<Session>(`${name}.sessions`, 500),
    tokens: state.collection<string>(`${name}.tokens`, 500),
    publish(facts) {
      const video = { ...facts, id: randomBytes(8).toString('base64url'), publishedAt: clock.now().toISOString() }
      videos.set(video.id, video)
      return video
    },
  }
}

const etagOf = (value: object) => createHash('sha1').update(JSON.stringify(value)).digest('base64url')

/** A resource with the parts of it that were asked for. */
function resource(kind: string, id: unknown, parts: Readonly<Record<string, object>>, wanted: readonly string[]) {
  const shown = Object.fromEntries(Object.entries(parts).filter(([part]) => wanted.includes(part)))
  return { kind, etag: etagOf(shown), id, ...shown }
}

const thumbnails = { default: { url: 'https://i.ytimg.com/vi/sandbox/default.jpg', width: 120, height: 90 } }

export const videoResource = ({ id, publishedAt, title, description, privacyStatus, bytes }: Video, wanted: readonly string[]) =>
  resource(
    'youtube#video',
    id,
    {
      snippet: {
        publishedAt,
        channelId: channel.id,
        title,
        description,
        thumbnails,
        channelTitle: channel.title,
        categoryId: '22',
        liveBroadcastContent: 'none',
      },
      status: { uploadStatus: 'uploaded', privacyStatus, license: 'youtube', embeddable: true, publicStatsViewable: true, madeForKids: false },
      statistics: { viewCount: '0', likeCount: '0', favoriteCount: '0', commentCount: '0' },
      fileDetails: { fileSize: String(bytes) },
    },
    wanted,
  )

export const channelResource = (wanted: readonly string[], videoCount: number) =>
  resource(
    'youtube#channel',
    channel.id,
    {
      snippet: { title: channel.title, description: channel.description, customUrl: '@demo', publishedAt: '2024-01-01T00:00:00Z', thumbnails },
      statistics: { viewCount: '0', subscriberCount: '0', hiddenSubscriberCount: false, videoCount: String(videoCount) },
      contentDetails: { relatedPlaylists: { likes: '', uploads: channel.id.replace('UC', 'UU') } },
      status: { privacyStatus: 'public', isLinked: true, longUploadsStatus: 'longUploadsUnspecified' },
    },
    wanted,
  )

export const searchResult = (video: Video) =>
  resource(
    'youtube#searchResult',
    { kind: 'youtube#video', videoId: video.id },
    {
      snippet: {
        publishedAt: video.publishedAt,
        channelId: channel.id,
        title: video.title,
        description: video.description,
        thumbnails,
        channelTitle: channel.title,
      },
    },
    ['snippet'],
  )

/** A page of a list. */
export const page = (kind: string, items: readonly object[]) => ({
  ...{ kind, etag: etagOf(items) },
  ...{ items, pageInfo: { totalResults: items.length, resultsPerPage: items.length } },
})
