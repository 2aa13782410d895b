import { setImmediate as others } from 'node:timers/promises'
import { codeOf, Refusal } from '../../../platform/errors.ts'
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

/** A post as it is looked at: one that is written, or is about to be. */
export interface Looked extends Content {
  readonly brandId: string
  readonly platform: Platform
  /** Left out where nobody has tags to look at. */
  readonly tags?: readonly string[]
  /** Its place in the thread, from 1. */
  readonly position: number
}

/** What was read of the brand to look at a post: beforehand, for nothing is read elsewhere while a row is held. */
export interface Surroundings {
  readonly connections: readonly ConnectionRow[]
  /** By the id of the asset. */
  readonly media: ReadonlyMap<string, ContentMedium>
  /** Where posts can be sent from here. */
  readonly networks: Reachable
}

/** Networks at which an application is set up, or may be, or the brand is connected. */
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

/** What would keep a post from being published, or may not be meant: all but what other posts tell of it. Pure. */
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

/** A medium that went while a post showed it. */
const missing: ContentMedium = { kind: 'IMAGE', durationMs: null, isReady: false, altText: null }

/** Errors before warnings. */
const inOrder = (problems: readonly Problem[]) => problems.toSorted((a, b) => Number(a.severity === 'WARNING') - Number(b.severity === 'WARNING'))

/** How many problems are told of a post. Errors come first: whatever keeps it from being sent is never hidden behind a warning. */
export const mostProblems = 10

/** A post whose problems are asked for. */
export interface Asked extends Looked {
  /** Null for one that is not written yet. */
  readonly id: string | null
  /** When it is to be sent; the present when nobody said. */
  readonly at: Date
  /** Where it is to be sent from here. @default nobody asks whether that can be */
  readonly platforms?: readonly Platform[]
}

/** Everything that was read to judge a post. */
interface Around {
  readonly surroundings: Surroundings
  /** Whether the same words are set or published for the same place. */
  readonly isRepeated: boolean
}

/** Reads what the problems of a post rest on: of many posts at once by as many statements as of one. @throws NOT_FOUND for a medium that is not the brand's */
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

/** For how long texts are worked on in one go, in ms: then everything else of the process has its turn. */
const atOnceMs = 10
let since = 0

/**
 * Works on a text when the turn of its organization has come. Some networks count so that a text which is made for it takes milliseconds, and a
 * list or a file has hundreds: so they are looked at one after the other, and whatever else the process has to do is done in between.
 */
export const weighed = <Result>({ texts, viewer }: Pick<Context, 'texts' | 'viewer'>, text: string, work: () => Result): Promise<Result> =>
  texts.run({ key: viewer.organizationId ?? 'nobody', weight: 1 + text.length / 1000, isPatient: true }, async () => {
    if (performance.now() - since >= atOnceMs) {
      await others()
      since = performance.now()
    }
    return work()
  })

/** The problems of a post, `mostProblems` at most. Pure. */
export function problemsWith(post: Looked, { surroundings, isRepeated }: Around): readonly Problem[] {
  const problems = problemsIn(post, surroundings)
  return (isRepeated ? [...problems, duplicate] : problems).slice(0, mostProblems)
}

/** The problems of a post, as it stands. */
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

/** The problems of a stored post, none of one that is published: nothing here changes it any more. */
export const problemsOfRow = async (context: Context, post: PostRow): Promise<readonly Problem[]> =>
  post.status === 'PUBLISHED' ? [] : problemsOfPost(context, { ...contentOf(post), ...post, id: post.id, at: post.scheduledAt ?? context.clock.now() })

/**
 * Refuses posts that stand or fall together for what networks would not take of any of them: whoever wrote them mends all at once.
 * @param posts each with what tells it from the others: its network, or its place in the thread
 * @throws BAD_USER_INPUT with the `problems` of each that has an error, marked with what tells it apart, and the first error as its sentence
 */
export function requireAllPublishable(posts: readonly { readonly post: Looked; readonly mark: object }[], surroundings: Surroundings): void {
  const problems = posts.flatMap(({ post, mark }) => {
    const found = problemsIn(post, surroundings)
    return found[0]?.severity === 'ERROR' ? found.slice(0, mostProblems).map(problem => ({ ...problem, ...mark })) : []
  })
  const [first] = problems
  if (first) throw new Refusal('BAD_USER_INPUT', first.message, { field: first.field, problems })
}

/**
 * Refuses what a network would not take, and what cannot be sent from here.
 * @param networks null: sent or not, it may stay as it is where no adapter is
 * @throws BAD_USER_INPUT with all `problems`, and the first error as its sentence
 */
export function requirePublishable(problems: readonly Problem[], platform: Platform, networks: Reachable | null): void {
  const [first] = problems
  if (first?.severity === 'ERROR') throw new Refusal('BAD_USER_INPUT', first.message, { field: first.field, problems })
  if (networks && !networks.has(platform))
    throw new Refusal(
      'BAD_USER_INPUT',
      `Posts for ${everyNetwork[platform].title} cannot be scheduled here: ${whyAbsent(platform)} Until then keep it as a draft.`,
      { field: 'platform' },
    )
}
