import { spoilt } from '../../faults.ts'
import type { Call, ReceivedMedium, Reply } from '../../network.ts'
import { json } from '../../network.ts'
import type { Account } from '../../oauth/world.ts'
import { statusOf } from './media.ts'
import { objectIn, pageOf } from './parameters.ts'
import { denied, duplicateOf, invalid, problem } from './problems.ts'
import { readLittleText } from './text.ts'
import { mayActAs, personUrn, type StoredPost, type World } from './world.ts'

const duplicateMemory = 24 * 3_600_000 // milliseconds
const mostCharacters = 3000

/** The calling account and its scopes. */
export interface Caller {
  readonly account: Account
  readonly scopes: readonly string[]
}

/** Returns the network's refusal for an armed fault. */
export const refusedByFault = ({ status }: { readonly status: number }): Reply =>
  status === 422 ? duplicateOf('urn:li:share:7000000000000000000') : status === 426 ? nonexistentVersion('202001') : problem(status)

export const nonexistentVersion = (version: string): Reply => problem(426, `Requested version ${version} is not active`)

/**
 * Answers `POST /rest/posts`: publishes for a person or an organization, and answers 201 without a body; `x-restli-id`
 * has the URN. https://learn.microsoft.com/linkedin/marketing/community-management/shares/posts-api
 *
 * Equal commentary and content of the same author within a day is refused as a duplicate (422). Polls, documents,
 * reshares and sponsored content are not implemented and are refused.
 */
export async function createPost(world: World, call: Call, caller: Caller): Promise<Reply> {
  const draft = readDraft(world, call, caller)
  if ('status' in draft) return draft
  const { account } = caller
  return spoilt(world.faults, world.name, {
    account: account.username,
    refuse: refusedByFault,
    take() {
      const urn = `urn:li:${draft.isFilm ? 'ugcPost' : 'share'}:${world.newNumber()}`
      const { author, commentary, text, content, media } = draft
      const createdAt = world.clock.now().getTime()
      world.posts.set(urn, { urn, author, commentary, text, content, media, accountId: account.id, under: null, createdAt, deletedAt: null })
      return { status: 201, headers: { 'x-restli-id': urn, 'x-linkedin-id': urn, 'content-length': '0' }, body: '', outcome: 'accepted' }
    },
  })
}

interface Draft extends Pick<StoredPost, 'author' | 'commentary' | 'text' | 'content' | 'media'> {
  readonly isFilm: boolean
}

function readDraft(world: World, call: Call, { account, scopes }: Caller): Draft | Reply {
  const body = objectIn(call)
  if (!body) return problem(400, 'The request body is not valid JSON')
  for (const field of ['author', 'commentary', 'visibility', 'distribution', 'lifecycleState'])
    if (body[field] === undefined) return invalid(`/${field}`, 'field is required but not found and has no default value', 'MISSING_FIELD')
  const { author, commentary, visibility, lifecycleState, content = null } = body as { [field in string]?: unknown }
  if (typeof author !== 'string' || typeof commentary !== 'string') return invalid('/author', 'author and commentary have to be strings')
  const scope = author === personUrn(account) ? 'w_member_social' : 'w_organization_social'
  if (!scopes.includes(scope)) return denied('partnerApiPostsExternal.CREATE')
  if (!mayActAs(world, account, author))
    return problem(403, 'Field Value validation failed in REQUEST_BODY: Data Processing Exception while processing fields [/author]')
  if (!['PUBLIC', 'CONNECTIONS', 'LOGGED_IN'].includes(String(visibility))) return invalid('/visibility', `"${visibility}" is not an enum symbol`)
  if (lifecycleState !== 'PUBLISHED') return invalid('/lifecycleState', 'Posts that are created have to be PUBLISHED')
  const carried = readContent(world, author, content)
  if ('status' in carried) return carried
  const text = readLittleText(commentary)
  if ([...text].length > mostCharacters) return invalid('/commentary', `The commentary exceeds ${mostCharacters} characters`, 'FIELD_LENGTH_TOO_LONG')
  if (text.trim() === '' && content === null) return invalid('/commentary', 'A post without content needs a commentary')
  const since = world.clock.now().getTime() - duplicateMemory
  const written = JSON.stringify(content)
  const repeated = world.posts
    .values()
    .find(
      post =>
        post.under === null &&
        post.deletedAt === null &&
        post.author === author &&
        post.createdAt > since &&
        post.commentary === commentary &&
        JSON.stringify(post.content) === written,
    )
  return repeated ? duplicateOf(repeated.urn) : { author, commentary, text, content: content as object | null, ...carried }
}

/** A reference to a medium in a post. */
interface Carried {
  readonly id?: unknown
  readonly altText?: unknown
}

/** Parses the content of a post beside its text. */
function readContent(world: World, author: string, content: unknown): { readonly media: readonly ReceivedMedium[]; readonly isFilm: boolean } | Reply {
  if (content === null) return { media: [], isFilm: false }
  const kinds = Object.keys(content as object)
  if (kinds.length !== 1) return invalid('/content', 'union type must have exactly one member')
  const { media, multiImage, article } = content as {
    readonly media?: Carried
    readonly multiImage?: { readonly images?: readonly Carried[] }
    readonly article?: { readonly source?: unknown; readonly title?: unknown }
  }
  if (article) {
    if (typeof article.source !== 'string' || !URL.canParse(article.source)) return invalid('/content/article/source', 'not a valid URL')
    return typeof article.title === 'string'
      ? { media: [], isFilm: false }
      : invalid('/content/article/title', 'field is required but not found', 'MISSING_FIELD')
  }
  if (!media && !multiImage) return invalid(`/content/${kinds[0]}`, 'The sandbox does not play this content')
  const all = media ? [media] : (multiImage?.images ?? [])
  const ids = all.map(({ id }) => id)
  if (multiImage && (ids.length < 2 || ids.length > 20)) return invalid('/content/multiImage/images', 'A multi image post has 2 to 20 images')
  const found = ids.flatMap(id => (typeof id === 'string' ? (world.assets.get(id) ?? []) : []))
  if (found.length < ids.length || found.some(({ owner }) => owner !== author))
    return invalid('/content', 'Media asset is not found, or not owned by the author')
  const waiting = found.find(asset => statusOf(world, asset) !== 'AVAILABLE')
  if (waiting) return invalid('/content', `Media asset ${waiting.urn} is not ready: ${statusOf(world, waiting)}`, 'MEDIA_ASSET_WAITING_UPLOAD')
  if (multiImage && found.some(({ kind }) => kind !== 'images')) return invalid('/content/multiImage/images', 'expected images')
  const described = all.map(({ altText }) => (typeof altText === 'string' ? { altText } : {}))
  return { media: found.map(({ received }, at) => ({ ...received!, ...described[at] })), isFilm: found[0]!.kind === 'videos' }
}

/**
 * Answers `GET /rest/posts?q=author` with the posts of an organization, newest first. Reading people's posts needs a
 * permission that none of our applications has.
 */
export function listPosts(world: World, call: Call, { account, scopes }: Caller): Reply {
  const author = call.query.get('author') ?? ''
  if (call.query.get('q') !== 'author') return invalid('q', 'Finder is not found: expected author')
  if (!author.startsWith('urn:li:organization:') || !scopes.includes('r_organization_social') || !mayActAs(world, account, author))
    return denied('partnerApiPostsExternal.FINDER-author')
  const fault = world.faults.take(world.name, ['listing-lag'], account.username)
  const youngest = fault ? world.clock.now().getTime() - (fault.delayMs ?? 0) : Number.POSITIVE_INFINITY
  const posts = [...world.posts.values()]
    .filter(post => post.under === null && post.deletedAt === null && post.author === author && post.createdAt <= youngest)
    .reverse()
  const reply = json(200, pageOf(call, posts.map(shownPost)), 'read')
  return fault ? { ...reply, outcome: 'faulted', fault: 'listing-lag' } : reply
}

/** `GET` and `DELETE /rest/posts/:urn`. */
export function onePost(world: World, call: Call, { account, scopes }: Caller, urn: string): Reply {
  const post = world.posts.get(urn)
  if (!post || post.deletedAt !== null || post.under !== null) return problem(404)
  if (!mayActAs(world, account, post.author)) return denied('partnerApiPostsExternal')
  if (call.method === 'GET') return scopes.includes('r_organization_social') ? json(200, shownPost(post), 'read') : denied('partnerApiPostsExternal.GET')
  world.posts.set(urn, { ...post, deletedAt: world.clock.now().getTime() })
  return { status: 204, headers: {}, body: '', outcome: 'granted' }
}

const shownPost = ({ urn, author, commentary, content, createdAt }: StoredPost) => ({
  id: urn,
  author,
  commentary,
  ...(content && { content }),
  visibility: 'PUBLIC',
  distribution: { feedDistribution: 'MAIN_FEED', targetEntities: [], thirdPartyDistributionChannels: [] },
  lifecycleState: 'PUBLISHED',
  isReshareDisabledByAuthor: false,
  createdAt,
  publishedAt: createdAt,
  lastModifiedAt: createdAt,
})
