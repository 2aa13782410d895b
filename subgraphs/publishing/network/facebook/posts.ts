import { withLink } from '../content/check.ts'
import { type Graph, tellOf } from '../meta/graph.ts'
import type { Lookup, Publication, Target } from '../publication.ts'

export const title = 'Facebook'
/** Tolerance in ms when comparing times: Facebook stores whole seconds, and its clock differs from ours. */
const skewMs = 5_000

export interface Listed {
  readonly id: string
  readonly message?: string
  readonly description?: string
  readonly created_time?: string
  readonly permalink_url?: string
}

const plain = (text: string): string => text.normalize('NFC').replaceAll(/\s+/g, ' ').trim()

/** Returns the address of a post, for people. */
export const addressOf = (id: string, permalink?: string): string =>
  permalink ? new URL(permalink, 'https://www.facebook.com').href : `https://www.facebook.com/${id}`

/** Whether a post publishes a film. */
export const isFilm = ({ media }: Pick<Publication, 'media'>): boolean => media[0]?.kind === 'VIDEO'

/** Whether the attempt published a film, according to its prepared handle, because a look-up has no media. */
const isFilmAttempt = ({ media, handle }: Publication): boolean => isFilm({ media }) || handle?.film === true

/** How a post is looked for. */
interface Search {
  readonly target: Target
  readonly token: string
  readonly since: Date
  /** Ids of other posts. */
  readonly except: ReadonlySet<string>
}

/** Looks for a post among those that its place lists. @throws Error when the list cannot say */
export async function findListed(graph: Graph, publication: Publication, { target, token, since, except }: Search): Promise<Lookup> {
  const { copy, link, inReplyTo } = publication
  const begin = since.getTime() - skewMs
  const words = isFilmAttempt(publication) ? 'description' : 'message'
  const path = inReplyTo !== null ? `/${inReplyTo}/comments` : `/${target.externalId}/${words === 'description' ? 'videos' : 'published_posts'}`
  const fields = `id,${words},created_time,permalink_url`
  const answer = await graph.get<{ data: Listed[] }>(path, {
    fields,
    since: String(Math.floor(begin / 1000)),
    limit: '100',
    access_token: token,
    ...(inReplyTo !== null && { filter: 'stream', order: 'reverse_chronological' }),
  })
  const { data } = tellOf(title, answer)
  if (!data) throw new Error('Facebook answered something that is no list')
  const late = data.filter(({ created_time: at }) => at === undefined || Date.parse(at) >= Math.floor(begin / 1000) * 1000)
  const wanted = [copy, withLink(copy, link)].map(plain)
  let isAnothers = false
  for (const listed of late) {
    if (!wanted.includes(plain(listed[words] ?? ''))) continue
    if (except.has(listed.id)) isAnothers = true
    else return { found: true, platformPostId: listed.id, permalink: addressOf(listed.id, listed.permalink_url) }
  }
  if (late.length >= 100) throw new Error('Facebook lists too many posts since the attempt to say that this one is not there')
  return { found: false, isAnothers }
}
