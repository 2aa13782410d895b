import type { Reply } from '../../network.ts'
import { json } from '../../network.ts'
import { filmRules } from '../films/rules.ts'
import { fetchMedium } from '../meta/fetched.ts'
import { fieldsOf, graphError, graphTime, invalid, listed, noPermission, notThere, refusedByFault, shown, valueIn } from '../meta/graph.ts'
import type { FacebookPlace } from './places.ts'
import { placeWithId } from './places.ts'
import type { Asked, StoredPost } from './world.ts'

const photo = { types: ['image/jpeg', 'image/png', 'image/gif', 'image/webp'], mostBytes: 4_000_000 }
const film = { types: ['video/mp4', 'video/quicktime'], mostBytes: 1_000_000_000, film: filmRules.facebook }
const mostText = 63_206
const mostPhotos = 10
/** Period in ms in which a text-only post with the same text is refused. */
const duplicateMs = 60_000

type Spoil = (take: () => Reply | Promise<Reply>) => Promise<Reply>

const notFetched = (): Reply =>
  graphError({
    code: 324,
    subcode: 2_069_019,
    message: '(#324) Missing or invalid image file',
    user: { title: 'Invalid image', message: 'The file could not be fetched, or is of a type or size that is not supported.' },
  })

/**
 * Answers `POST /{place}/photos` for unpublished photos:
 * https://developers.facebook.com/docs/graph-api/reference/page/photos
 */
export async function attachPhoto({ world, parameters, account }: Asked): Promise<Reply> {
  const fault = world.faults.take(world.name, ['media-status'], account.username)
  if (fault) return { ...refusedByFault(fault), outcome: 'faulted', fault: 'media-status' }
  const url = parameters.get('url')
  if (!url) return invalid('url', 'The parameter url is required')
  if (parameters.get('published') !== 'false') return invalid('published', 'Pictures that are published at once are not played here')
  const medium = await fetchMedium(url, photo)
  const broken = world.faults.take(world.name, ['processing-error'], account.username)
  if (broken) return { ...notFetched(), outcome: 'faulted', fault: 'processing-error' }
  if (typeof medium === 'string') return notFetched()
  const id = world.newId()
  const altText = parameters.get('alt_text_custom')
  world.photos.set(id, { id, accountId: account.id, medium: { ...medium, ...(altText && { altText }) } })
  return json(200, { id }, 'granted')
}

function keep(
  { world, account }: Asked,
  place: Pick<FacebookPlace, 'kind' | 'id'>,
  made: Pick<StoredPost, 'id' | 'kind' | 'text' | 'link' | 'media' | 'inReplyToId'>,
): void {
  world.posts.set(made.id, { ...made, accountId: account.id, place: { kind: place.kind, id: place.id }, createdAt: world.clock.now().toISOString() })
}

/** Answers `POST /{page}/feed`: https://developers.facebook.com/docs/pages-api/posts#publish-posts */
export function post(asking: Asked, place: FacebookPlace, spoil: Spoil): Reply | Promise<Reply> {
  const { world, parameters, account } = asking
  const [text, link] = [parameters.get('message') ?? '', parameters.get('link')]
  const attached = attachedIds(parameters)
  if (!attached) return invalid('attached_media')
  if (!text && !link && attached.length === 0) return graphError({ code: 100, message: '(#100) Missing message or attachment' })
  if ([...text].length > mostText) return graphError({ code: 100, message: '(#100) The message is too long' })
  if (link !== null && !/^https?:\/\/[^\s]+$/.test(link)) return invalid('link', '(#100) The parameter link has to be a URL')
  const photos = attached.map(id => world.photos.get(id)).filter(one => one?.accountId === account.id)
  if (photos.length !== attached.length || photos.length > mostPhotos) return invalid('attached_media')
  const now = world.clock.now().getTime()
  const isTwice = [...world.posts.values()].some(
    one =>
      one.kind === 'post' &&
      one.place.id === place.id &&
      one.media.length === 0 &&
      photos.length === 0 &&
      one.text === text &&
      one.link === link &&
      now - Date.parse(one.createdAt) < duplicateMs,
  )
  if (isTwice)
    return graphError({
      code: 506,
      subcode: 1_455_006,
      message: '(#506) Duplicate status message',
      user: { title: 'Duplicate Status Update', message: 'This status update is identical to the last one you posted.' },
    })
  return spoil(() => {
    const id = `${place.id}_${world.newId()}`
    keep(asking, place, { id, kind: 'post', text, link, media: photos.map(one => one!.medium), inReplyToId: null })
    return json(200, { id }, 'accepted')
  })
}

/** The ids in `attached_media`, a list or numbered parameters: `attached_media[0]={"media_fbid":"1"}`. */
function attachedIds(parameters: URLSearchParams): string[] | undefined {
  const numbered = [...parameters].filter(([name]) => /^attached_media\[\d+\]$/.test(name)).map(([, value]) => valueIn(value))
  const whole = parameters.has('attached_media') ? valueIn(parameters.get('attached_media')) : numbered
  if (!Array.isArray(whole)) return undefined
  const ids = whole.map(one => (one as { media_fbid?: unknown } | null)?.media_fbid)
  return ids.every(id => typeof id === 'string') ? (ids as string[]) : undefined
}

/**
 * Answers `POST /{page}/videos`, which fetches the film and publishes it at once:
 * https://developers.facebook.com/docs/video-api/guides/publishing
 */
export async function video(asking: Asked, place: FacebookPlace, spoil: Spoil): Promise<Reply> {
  const { world, parameters, account } = asking
  const fault = world.faults.take(world.name, ['media-status'], account.username)
  if (fault) return { ...refusedByFault(fault), outcome: 'faulted', fault: 'media-status' }
  const url = parameters.get('file_url')
  if (!url) return invalid('file_url', 'The parameter file_url is required')
  const medium = await fetchMedium(url, film)
  const broken = world.faults.take(world.name, ['processing-error'], account.username)
  if (broken || typeof medium === 'string') {
    const reply = graphError({
      code: 389,
      subcode: 1_363_057,
      message: '(#389) Unable to fetch video file from URL.',
      user: { title: 'Video not fetched', message: 'The film could not be fetched, or is of a type or size that is not supported.' },
    })
    return broken ? { ...reply, outcome: 'faulted', fault: 'processing-error' } : reply
  }
  return spoil(() => {
    const id = world.newId()
    keep(asking, place, { id, kind: 'video', text: parameters.get('description') ?? '', link: null, media: [medium], inReplyToId: null })
    return json(200, { id }, 'accepted')
  })
}

/** Answers `POST /{object}/comments`: https://developers.facebook.com/docs/graph-api/reference/object/comments */
export function comment(asking: Asked, id: string): Reply {
  const { world, parameters, account, grant, pageId } = asking
  const under = world.posts.get(id)
  if (!under || under.accountId !== account.id) return notThere(id, 'post')
  const isPage = under.place.kind === 'page'
  const scope = isPage ? 'pages_manage_engagement' : 'publish_to_groups'
  if (!grant.scopes.includes(scope)) return noPermission(scope)
  if (isPage && pageId !== under.place.id) return graphError({ code: 200, status: 403, message: '(#200) A comment as the page takes its own token' })
  const text = parameters.get('message') ?? ''
  if (!text) return invalid('message', 'The parameter message is required')
  const fault = world.faults.take(world.name, ['status'], account.username)
  if (fault) return { ...refusedByFault(fault), outcome: 'faulted', fault: 'status' }
  const number = id.split('_').at(-1)!
  const made = `${number}_${world.newId()}`
  keep(asking, under.place, { id: made, kind: 'comment', text, link: null, media: [], inReplyToId: id })
  return json(200, { id: made }, 'accepted')
}

const shownPost = ({ id, kind, text, link, createdAt, place }: StoredPost, fields: ReadonlySet<string>): object => {
  const permalink = kind === 'video' ? `/${place.id}/videos/${id}/` : `https://www.facebook.com/${id}`
  const counted = { reactions: { data: [], summary: { total_count: 3 } }, comments: { data: [], summary: { total_count: 1 } }, shares: { count: 2 } }
  const words = kind === 'video' ? { description: text || null } : { message: text || null }
  return shown(
    {
      id,
      ...words,
      link,
      created_time: graphTime(createdAt),
      permalink_url: permalink,
      from: { id: place.id },
      ...counted,
      ...(kind === 'video' && { status: { video_status: 'ready' } }),
    },
    fields,
  )
}

/** Returns the posts of a page, newest first. */
export function readPosts({ world, parameters, account }: Asked, place: FacebookPlace, edge: string): Reply {
  const fault = world.faults.take(world.name, ['listing-lag'], account.username)
  const youngest = fault ? world.clock.now().getTime() - (fault.delayMs ?? 0) : Number.POSITIVE_INFINITY
  const since = Number(parameters.get('since') ?? 0) * 1000
  const kind = edge === 'videos' ? 'video' : 'post'
  const fields = fieldsOf(parameters, ['message', 'created_time'])
  const found = [...world.posts.values()]
    .filter(one => one.place.id === place.id && one.kind === kind && Date.parse(one.createdAt) <= youngest && Date.parse(one.createdAt) >= since)
    .reverse()
    .slice(0, Math.min(100, Number(parameters.get('limit') ?? 25)))
  const reply = listed(found.map(one => shownPost(one, fields)))
  return fault ? { ...reply, outcome: 'faulted', fault: 'listing-lag' } : reply
}

/** Returns one post, film or comment. */
export function readObject({ world, parameters, account, grant }: Asked, id: string): Reply {
  const found = world.posts.get(id)
  if (!found || !placeWithId(account, found.place.id)) return notThere(id)
  if (found.place.kind === 'page' && !grant.scopes.includes('pages_read_engagement')) return noPermission('pages_read_engagement')
  return json(200, shownPost(found, fieldsOf(parameters, ['message', 'created_time'])), 'read')
}

/** Returns the comments under an object, newest first. */
export function readComments({ world, parameters, account, grant }: Asked, id: string): Reply {
  const found = world.posts.get(id)
  if (!found || !placeWithId(account, found.place.id)) return notThere(id)
  if (!grant.scopes.includes('pages_read_engagement')) return noPermission('pages_read_engagement')
  const since = Number(parameters.get('since') ?? 0) * 1000
  const fields = fieldsOf(parameters, ['message', 'created_time'])
  return listed(
    [...world.posts.values()]
      .filter(one => one.inReplyToId === id && Date.parse(one.createdAt) >= since)
      .reverse()
      .map(one => shownPost(one, fields)),
  )
}
