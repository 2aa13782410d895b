import { randomBytes } from 'node:crypto'
import { spoilt } from '../faults.ts'
import type { Call, Deps, Network, Reply, Vendor } from '../network.ts'
import { json } from '../network.ts'
import { invalid, missing, notFound, problemOfStatus, refusal, unauthorized } from './problems.ts'
import { beginSession, continueSession, factsIn, insert, partsOf } from './upload.ts'
import { channel, channelResource, type Films, openFilms, page, searchResult, type Video, videoResource } from './videos.ts'

/** Films may be large: of each the beginning is kept, the rest is counted. */
const mostBytes = 1024 * 1024 * 1024
const mostKept = 64 * 1024

const newestFirst = (films: Films) => [...films.videos.values()].reverse()

function listChannels(films: Films, call: Call): Reply {
  const { query } = call
  const ids = query.get('id')?.split(',')
  if (query.get('mine') !== 'true' && !ids && !query.get('forUsername') && !query.get('forHandle'))
    return refusal({ ...invalid('No filter selected. Expected one of: id, mine, forUsername, forHandle'), reason: 'missingRequiredParameter' })
  const isMeant = query.get('mine') === 'true' || ids?.includes(channel.id)
  return json(200, page('youtube#channelListResponse', isMeant ? [channelResource(partsOf(call), films.videos.size)] : []), 'read')
}

function listVideos(films: Films, call: Call): Reply {
  const ids = call.query.get('id')?.split(',')
  if (!ids && !call.query.get('chart') && !call.query.get('myRating'))
    return refusal({ ...invalid('No filter selected. Expected one of: id, chart, myRating'), reason: 'missingRequiredParameter' })
  const found = (ids ?? []).flatMap(id => films.videos.get(id) ?? [])
  return json(
    200,
    page(
      'youtube#videoListResponse',
      found.map(video => videoResource(video, partsOf(call))),
    ),
    'read',
  )
}

function search(films: Films, { query }: Call): Reply {
  const words = (query.get('q') ?? '').toLowerCase()
  const most = Math.min(Number(query.get('maxResults') ?? 5), 50)
  const found = newestFirst(films).filter(({ title }) => title.toLowerCase().includes(words))
  return json(200, page('youtube#searchListResponse', found.slice(0, most).map(searchResult)), 'read')
}

function update(films: Films, call: Call): Reply {
  const facts = factsIn(call.body.toString('utf8'))
  const { id } = (facts ? JSON.parse(call.body.toString('utf8')) : {}) as { readonly id?: string }
  const video = films.videos.get(id ?? '')
  if (!facts) return refusal(invalid('The request body is not valid.'))
  if (!video) return refusal(notFound('video'))
  const wanted = partsOf(call)
  const { title, description, privacyStatus } = facts
  const changed: Video = { ...video, ...(wanted.includes('snippet') && { title, description }), ...(wanted.includes('status') && { privacyStatus }) }
  films.videos.set(video.id, changed)
  return json(200, videoResource(changed, wanted), 'granted')
}

function remove(films: Films, { query }: Call): Reply {
  const id = query.get('id') ?? ''
  if (!films.videos.get(id)) return refusal(notFound('video'))
  films.videos.delete(id)
  return { status: 204, headers: {}, body: '', outcome: 'granted' }
}

const addresses: Readonly<Record<string, (films: Films, call: Call, origin: string) => Reply>> = {
  'GET /youtube/v3/channels': listChannels,
  'GET /youtube/v3/videos': listVideos,
  'PUT /youtube/v3/videos': update,
  'DELETE /youtube/v3/videos': remove,
  'GET /youtube/v3/search': search,
  'POST /upload/youtube/v3/videos': (films, call, origin) =>
    call.query.get('uploadType') === 'resumable' ? beginSession(films, call, origin) : insert(films, call),
  'PUT /upload/youtube/v3/videos': continueSession,
}

/** Plays the data interface of YouTube, version 3, with one channel: https://developers.google.com/youtube/v3/docs. */
export const youtube: Vendor = {
  title: 'YouTube',
  play(name: string, { state, faults, clock, origin }: Deps): Network {
    const films = openFilms(state, clock, name)
    return {
      name,
      takes: { mostBytes, mostKept },
      received: () =>
        [...films.videos.values()].map(({ id, publishedAt, title, privacyStatus, bytes }) => ({
          receivedAt: publishedAt,
          id,
          text: title,
          privacyStatus,
          bytes,
        })),
      controls: {
        tokens() {
          const token = `ya29.sandbox-${randomBytes(24).toString('base64url')}`
          films.tokens.set(token, clock.now().toISOString())
          return { token }
        },
      },
      answer(call) {
        const token = /^bearer (\S+)$/i.exec(call.headers.authorization ?? '')?.[1]
        if (token === undefined || films.tokens.get(token) === undefined) return refusal(unauthorized)
        const does = addresses[`${call.method} ${call.path}`]
        if (!does) return refusal(notFound('method'))
        if (partsOf(call).length === 0 && call.method !== 'DELETE') return refusal(missing('part'))
        return spoilt(faults, name, { refuse: ({ status }) => refusal(problemOfStatus(status)), take: () => does(films, call, origin()) })
      },
    }
  },
}
