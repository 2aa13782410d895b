import { setImmediate as others } from 'node:timers/promises'
import { codeOf, DomainError } from '../../../platform/errors.ts'
import type { TurnOptions } from '../../../platform/jobs/turns.ts'
import { targetProblems } from '../connection/places.ts'
import type { Context } from '../context.ts'
import { contentMedia } from '../media/deliverable.ts'
import { type ContentMedium, type Problem, problemsOf } from '../network/content/check.ts'
import type { Platform } from '../network/network.ts'
import { everyNetwork, whyAbsent } from '../network/networks.ts'
import type { ConnectionRow } from '../stores/connection.ts'
import type { PostRow } from '../stores/post.ts'
import { type Content, contentOf } from '../stores/posts/version.ts'

/** A post to check, stored or new. */
export interface Looked extends Content {
  readonly brandId: string
  readonly platform: Platform
  /** Tags to check; undefined for a check without tags. */
  readonly tags?: readonly string[]
  /** Position in the thread, from 1. */
  readonly position: number
}

/**
 * The data about the brand that checks need. It is read in advance, because nothing else may be read while a row is
 * locked.
 */
export interface Surroundings {
  readonly connections: readonly ConnectionRow[]
  /** Media by the asset's id. */
  readonly media: ReadonlyMap<string, ContentMedium>
  /** Networks to which posts can be sent. */
  readonly networks: Reachable
}

/** Networks with a configured or possible application, and networks to which the brand is connected. */
export type Reachable = Pick<ReadonlySet<Platform>, 'has'>

/**
 * Reads what decides whether posts could be sent.
 * @param platforms where they are to be sent
 * @throws NOT_FOUND for a medium that is not the brand's
 */
export async function surroundingsOf(
  context: Context,
  { brandId, media, platforms = [] }: Pick<Looked, 'brandId' | 'media'> & { readonly platforms?: readonly Platform[] },
): Promise<Surroundings> {
  const [connections, found] = await Promise.all([
    context.connections.manyBy('brandId').load(brandId),
    media.length > 0 ? contentMedia(context, brandId, media) : [],
  ])
  const networks = await reachable(context, brandId, connections, platforms)
  return { connections, media: new Map(media.map(({ assetId }, place) => [assetId, found[place]!])), networks }
}

async function reachable(
  { applications, brands, networks }: Context,
  brandId: string,
  connections: readonly ConnectionRow[],
  asked: readonly Platform[],
): Promise<Reachable> {
  const isReachable = async (platform: Platform): Promise<boolean> => {
    if (!networks.has(platform)) return false
    if (applications.of(platform) || connections.some(connection => connection.active && connection.platform === platform)) return true
    const brand = await brands.require(brandId)
    const found = await applications.find(platform, brand.organizationId)
    return found.application !== null || !found.isKnown
  }
  const all = [...new Set(asked)]
  const are = await Promise.all(all.map(isReachable))
  return new Set(all.filter((_, at) => are[at]))
}

/** Returns the errors and warnings of a post, except those that depend on other posts. Pure. */
export function problemsIn(post: Looked, { connections, media }: Surroundings): readonly Problem[] {
  const shown = post.media.map(({ assetId, altText }) => ({ ...(media.get(assetId) ?? missing), altText: altText ?? media.get(assetId)?.altText ?? null }))
  const content = {
    copy: post.copy,
    link: post.link,
    tags: post.tags ?? [],
    title: post.title,
    firstComment: post.firstComment,
    media: shown,
    isLater: post.position > 1,
  }
  return inOrder([...problemsOf(everyNetwork[post.platform], content), ...targetProblems(connections, post.platform, post.target)])
}

/** Represents a medium that was deleted while a post used it. */
const missing: ContentMedium = { kind: 'IMAGE', durationMs: null, isReady: false, altText: null }

/** Errors before warnings. */
const inOrder = (problems: readonly Problem[]) => problems.toSorted((a, b) => Number(a.severity === 'WARNING') - Number(b.severity === 'WARNING'))

/** Maximum number of problems listed for a post. Errors come first, so that no warning hides one. */
export const mostProblems = 10

/** A post whose problems are requested. */
export interface Asked extends Looked {
  /** Id of the post; null for one that is not stored yet. */
  readonly id: string | null
  /** Scheduled time; the present for a post without one. */
  readonly at: Date
  /** The networks to which this platform can send. @default not checked */
  readonly platforms?: readonly Platform[]
}

/** All data that was read to check a post. */
interface Around {
  readonly surroundings: Surroundings
  /** Whether the same text is scheduled or published for the same place. */
  readonly isRepeated: boolean
}

/**
 * Reads the data on which a post's problems depend, for many posts at once with the statements of one. @throws
 * NOT_FOUND for a medium of another brand
 */
export async function lookAround(context: Context, post: Asked): Promise<Around> {
  const { brandId, platform, target, copy, at, id: postId } = post
  const [surroundings, isRepeated] = await Promise.all([
    surroundingsOf(context, post).catch(error => {
      // A stored post shows its problem: a deleted asset is a problem of the post, not an error of the reader.
      if (postId === null || codeOf(error) !== 'NOT_FOUND') throw error
      return surroundingsOf(context, { brandId, media: [] })
    }),
    copy.trim() ? context.aboutPosts.sameWords.load({ brandId, platform, target, copy, at, postId }) : false,
  ])
  return { surroundings, isRepeated }
}

/** Work on texts in this process, which organizations take in turn: one at a time, charged by thousands of characters. */
export const turnsOfTexts: TurnOptions = { what: 'texts', places: 1, maxWaiting: { ofKey: 10_000, inAll: 100_000 }, perSecond: 2_000 }

/** Time in ms for which texts are processed before other work of the process gets its turn. */
const atOnceMs = 10
let since = 0

/**
 * Works on a text in the turn of its organization. Measuring a text takes milliseconds on some networks, and a list or
 * a file has hundreds of texts: they are processed one after the other, so that other work of the process continues in
 * between.
 */
export const weighed = <Result>({ texts, viewer }: Pick<Context, 'texts' | 'viewer'>, text: string, work: () => Result): Promise<Result> =>
  texts.run({ key: viewer.organizationId ?? 'nobody', weight: 1 + text.length / 1000, isPatient: true }, async () => {
    if (performance.now() - since >= atOnceMs) {
      await others()
      since = performance.now()
    }
    return work()
  })

/** Returns the problems of a post, at most `mostProblems`. Pure. */
export function problemsWith(post: Looked, { surroundings, isRepeated }: Around): readonly Problem[] {
  const problems = problemsIn(post, surroundings)
  return (isRepeated ? [...problems, duplicate] : problems).slice(0, mostProblems)
}

/** Returns the problems of a post in its present state. */
export async function problemsOfPost(context: Context, post: Asked): Promise<readonly Problem[]> {
  const around = await lookAround(context, post)
  return weighed(context, post.copy, () => problemsWith(post, around))
}

const duplicate: Problem = {
  severity: 'WARNING',
  code: 'DUPLICATE',
  field: 'copy',
  message: 'The same words are set or published for the same place within a week: networks may refuse them, and people have read them.',
}

/** Returns the problems of a stored post; none for a published one, which cannot change any more. */
export const problemsOfRow = async (context: Context, post: PostRow): Promise<readonly Problem[]> =>
  post.status === 'PUBLISHED' ? [] : problemsOfPost(context, { ...contentOf(post), ...post, id: post.id, at: post.scheduledAt ?? context.clock.now() })

/**
 * Rejects posts that are written together when any of them has an error, so that the author can correct all of them at
 * once.
 * @param posts posts with the mark that identifies each: its network, or its position in the thread
 * @throws BAD_USER_INPUT with the `problems` of each post with an error and its mark, and with the first error as the
 * message
 */
export function requireAllPublishable(posts: readonly { readonly post: Looked; readonly mark: object }[], surroundings: Surroundings): void {
  const problems = posts.flatMap(({ post, mark }) => {
    const found = problemsIn(post, surroundings)
    return found[0]?.severity === 'ERROR' ? found.slice(0, mostProblems).map(problem => ({ ...problem, ...mark })) : []
  })
  const [first] = problems
  if (first) throw new DomainError('BAD_USER_INPUT', first.message, { field: first.field, problems })
}

/**
 * Rejects a post that its network would not accept, or that cannot be sent from here.
 * @param networks networks to which posts can be sent; null accepts a post for any network, because it is not scheduled
 * @throws BAD_USER_INPUT with all `problems`, and the first error as the message
 */
export function requirePublishable(problems: readonly Problem[], platform: Platform, networks: Reachable | null): void {
  const [first] = problems
  if (first?.severity === 'ERROR') throw new DomainError('BAD_USER_INPUT', first.message, { field: first.field, problems })
  if (networks && !networks.has(platform))
    throw new DomainError(
      'BAD_USER_INPUT',
      `Posts for ${everyNetwork[platform].title} cannot be scheduled here: ${whyAbsent(platform)} Until then keep it as a draft.`,
      { field: 'platform' },
    )
}
