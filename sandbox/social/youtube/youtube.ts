import { spoilt } from '../../faults.ts'
import type { Call, Deps, Network, ReceivedPost, Reply, Twin } from '../../network.ts'
import { json } from '../../network.ts'
import { createGrant, whoShows } from '../../oauth/grants.ts'
import { demoOf } from '../../oauth/open.ts'
import { authorize, token } from '../../oauth/server.ts'
import type { Account } from '../../oauth/world.ts'
import { managing, publishingScopes, reading, revoke, uploading } from './manners.ts'
import { forbidden, invalid, missing, notFound, problemOfStatus, refusal, unauthorized } from './problems.ts'
import { badMetadata, beginSession, continueSession, factsIn, insert, partsOf } from './upload.ts'
import { channelResource, type Films, openFilms, page, searchResult, type Video, videoResource } from './videos.ts'

/** Films may be large: of each part the beginning is kept, the rest is counted. */
const mostBytes = 1024 * 1024 * 1024
const mostKept = 9 * 1024 * 1024

/** Those that are asked for: one's own alone is played. */
function listChannels(films: Films, call: Call, account: Account): Reply {
  const fault = films.faults.take(films.name, ['profile-status'], account.username)
  if (fault) return { ...refusal(problemOfStatus(fault.status!)), outcome: 'faulted', fault: 'profile-status' }
  const { query } = call
  const ids = query.get('id')?.split(',')
  if (query.get('mine') !== 'true' && !ids && !query.get('forUsername') && !query.get('forHandle'))
    return refusal({ ...invalid('No filter selected. Expected one of: id, mine, forUsername, forHandle'), reason: 'missingRequiredParameter' })
  const isMeant = query.get('mine') === 'true' || ids?.includes(account.id)
  return json(200, page('youtube#channelListResponse', isMeant ? [channelResource(account, partsOf(call), films.of(account).length)] : []), 'read')
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
      found.map(video => videoResource(films, video, partsOf(call))),
    ),
    'read',
  )
}

function search(films: Films, { query }: Call, account: Account): Reply {
  const words = (query.get('q') ?? '').toLowerCase()
  const most = Math.min(Number(query.get('maxResults') ?? 5), 50)
  const found = films
    .of(account)
    .toReversed()
    .filter(({ title }) => title.toLowerCase().includes(words))
  return json(
    200,
    page(
      'youtube#searchListResponse',
      found.slice(0, most).map(video => searchResult(video, account)),
    ),
    'read',
  )
}

function update(films: Films, call: Call, account: Account): Reply {
  const facts = factsIn(call.body.toString('utf8'))
  if (typeof facts === 'string') return badMetadata(facts)
  const { id } = JSON.parse(call.body.toString('utf8')) as { readonly id?: string }
  const video = films.videos.get(id ?? '')
  if (!video || films.ownerOf(video).id !== account.id) return refusal(notFound('video'))
  const wanted = partsOf(call)
  const { title, description, privacyStatus, tags } = facts
  const changed: Video = { ...video, ...(wanted.includes('snippet') && { title, description, tags }), ...(wanted.includes('status') && { privacyStatus }) }
  films.videos.set(video.id, changed)
  return json(200, videoResource(films, changed, wanted), 'granted')
}

function remove(films: Films, { query }: Call, account: Account): Reply {
  const id = query.get('id') ?? ''
  const video = films.videos.get(id)
  if (!video || films.ownerOf(video).id !== account.id) return refusal(notFound('video'))
  films.videos.delete(id)
  return { status: 204, headers: {}, body: '', outcome: 'granted' }
}

interface Route {
  /** One of them is enough. */
  readonly scopes: readonly string[]
  answer(films: Films, call: Call, account: Account): Reply
}

const [reads, manages, uploads] = [[reading, managing], [managing], [uploading, managing]]

const routes: Readonly<Record<string, Route>> = {
  'GET /youtube/v3/channels': { scopes: reads, answer: listChannels },
  'GET /youtube/v3/videos': { scopes: reads, answer: listVideos },
  'PUT /youtube/v3/videos': { scopes: manages, answer: update },
  'DELETE /youtube/v3/videos': { scopes: manages, answer: remove },
  'GET /youtube/v3/search': { scopes: reads, answer: search },
  'POST /upload/youtube/v3/videos': {
    scopes: uploads,
    answer: (films, call, account) => (call.query.get('uploadType') === 'resumable' ? beginSession : insert)(films, call, account),
  },
  'PUT /upload/youtube/v3/videos': { scopes: uploads, answer: continueSession },
}

/** Google's own addresses. */
const open: Readonly<Record<string, (films: Films, call: Call) => Reply>> = {
  'GET /o/oauth2/v2/auth': authorize,
  'POST /o/oauth2/v2/auth': authorize,
  'POST /token': token,
  'POST /revoke': revoke,
}

/**
 * Plays the data interface of YouTube, version 3, with one channel an account (https://developers.google.com/youtube/v3/docs), and Google's
 * authorization (https://developers.google.com/identity/protocols/oauth2/web-server).
 */
export const youtube = {
  title: 'YouTube',
  addresses: { authorizeUrl: '/o/oauth2/v2/auth', tokenUrl: '/token' },
  play(name: string, deps: Deps) {
    const films = openFilms(name, deps)
    return { network: networkOf(name, films), demo: demoOf(films, publishingScopes) }
  },
} satisfies Twin

function networkOf(name: string, films: Films): Network {
  return {
    name,
    takes: { mostBytes, mostKept },
    received: () => received(films),
    controls: {
      tokens() {
        const { id: accountId } = films.demo.account()
        const { tokens } = createGrant(films, { clientId: films.demo.client().id, accountId, scopes: [managing, ...publishingScopes] })
        return { token: tokens.accessToken }
      },
    },
    answer(call) {
      const unguarded = open[`${call.method} ${call.path}`]
      if (unguarded) return unguarded(films, call)
      const { grant, account, fault } = whoShows(films, call)
      if (!grant) return fault ? { ...refusal(unauthorized), outcome: 'faulted', fault } : refusal(unauthorized)
      const route = routes[`${call.method} ${call.path}`]
      if (!route) return refusal(notFound('method'))
      if (!route.scopes.some(scope => grant.scopes.includes(scope))) return refusal(forbidden)
      if (partsOf(call).length === 0 && call.method !== 'DELETE') return refusal(missing('part'))
      return spoilt(films.faults, name, {
        account: account.username,
        refuse: ({ status }) => refusal(problemOfStatus(status)),
        take: () => route.answer(films, call, account),
      })
    },
  }
}

/** Films that are there: what could not be worked up is none. */
function received(films: Films): readonly (ReceivedPost & { readonly bytes: number })[] {
  return [...films.videos.values()]
    .filter(({ isBroken, filmFault }) => !isBroken && !filmFault)
    .map(video => {
      const { id: accountId, username } = films.ownerOf(video)
      const { id, publishedAt, title, description, privacyStatus, tags = [], bytes, mimeType = '', sha256 } = video
      return {
        receivedAt: publishedAt,
        id,
        text: description || title,
        title,
        privacyStatus,
        ...(tags.length > 0 && { tags }),
        bytes,
        ...(sha256 && { media: [{ mimeType, bytes, sha256 }] }),
        account: { id: accountId, username },
        inReplyToId: null,
        deletedAt: null,
      }
    })
}
