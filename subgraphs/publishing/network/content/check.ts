import type { ContentRules, MediaRules, NetworkFacts } from '../network.ts'
import type { MediumKind } from '../publication.ts'
import { type KnownFilm, objectionsToFilm } from './film.ts'

/** A reason why a network would refuse a post (ERROR), or a probable mistake (WARNING). */
export interface Problem {
  readonly severity: 'ERROR' | 'WARNING'
  readonly code: ProblemCode
  /** Field of the input: `copy`, `media`. */
  readonly field: string
  /** What is wrong and how to correct it, in a sentence. */
  readonly message: string
}

export type ProblemCode =
  | 'COPY_EMPTY'
  | 'COPY_TOO_LONG'
  | 'COPY_INVALID'
  | 'TITLE_MISSING'
  | 'TITLE_TOO_LONG'
  | 'MEDIA_MISSING'
  | 'MEDIA_TOO_MANY'
  | 'MEDIA_MIXED'
  | 'MEDIA_KIND'
  | 'MEDIA_TOO_LARGE'
  | 'MEDIA_DURATION'
  | 'MEDIA_NOT_READY'
  | 'MEDIA_STILL'
  | 'TARGET_MISSING'
  | 'TARGET_UNKNOWN'
  | 'TARGET_UNAVAILABLE'
  | 'THREAD_MEDIA'
  | 'FIRST_COMMENT_UNSUPPORTED'
  | 'DUPLICATE'
  | 'NO_CONNECTION'
  | 'ALT_TEXT_MISSING'

/** The parts of a post that networks' rules check. */
export interface Content {
  readonly copy: string
  readonly link: string | null
  readonly tags: readonly string[]
  readonly title: string | null
  readonly firstComment: string | null
  readonly media: readonly ContentMedium[]
  /** Whether the post follows another post of its thread. */
  readonly isLater: boolean
}

export interface ContentMedium extends KnownFilm {
  readonly kind: MediumKind
  readonly isReady: boolean
  /** Whether the picture is animated. @default false */
  readonly isAnimated?: boolean
  readonly altText: string | null
}

/** Returns the text with the link behind it, unless the link already stands in it, however it is written there. */
export const withLink = (copy: string, link: string | null): string => (link === null || holds(copy, link) ? copy : copy ? `${copy}\n\n${link}` : link)

/** Whether a text holds a link. Links are stored as addresses are normalized: with a path, and with escapes for letters beyond ASCII. */
function holds(copy: string, link: string): boolean {
  if (copy.includes(link)) return true
  const wanted = URL.parse(link)?.href
  return wanted !== undefined && (copy.match(/https?:\/\/\S+/gi) ?? []).some(word => URL.parse(word.replace(/[.,;:!?)\]}'"»”’]+$/, ''))?.href === wanted)
}

/** The parts of a post that decide where its link is sent. */
interface Linked {
  readonly copy: string
  readonly link: string | null
  readonly media: readonly unknown[]
}

/**
 * Returns the text that is sent to a network: with the link appended where the network has no separate field for it.
 * @param isComment whether it is sent as a comment, which can only have text
 */
export function sentText({ link: place }: Pick<ContentRules, 'link'>, { copy, link, media }: Linked, isComment = false): string {
  const isInText = isComment || place === 'TEXT' || (place === 'TEXT_BESIDE_MEDIA' && media.length > 0)
  return isInText ? withLink(copy, link) : copy
}

/** Returns a text's length in code points, which is how people count characters. */
export const codePoints = (text: string): number => [...text].length

/** Returns a text's length in bytes of UTF-8. */
export const bytesOf = (text: string): number => Buffer.byteLength(text)

const emoji = /^(?:\p{RGI_Emoji}|\p{Extended_Pictographic})$/v
const graphemes = new Intl.Segmenter('und', { granularity: 'grapheme' })

/**
 * Returns a text's length in code points, with each emoji counted as its bytes in UTF-8
 * (https://developers.facebook.com/docs/threads/overview).
 */
export function emojiAsBytes(text: string): number {
  let length = 0
  for (const { segment } of graphemes.segment(text)) length += emoji.test(segment) ? bytesOf(segment) : codePoints(segment)
  return length
}

const error = (code: ProblemCode, field: string, message: string): Problem => ({ severity: 'ERROR', code, field, message })
const warning = (code: ProblemCode, field: string, message: string): Problem => ({ severity: 'WARNING', code, field, message })

/** Returns the problems of a post that are known without calling the network: errors first. */
export function problemsOf(facts: Pick<NetworkFacts, 'title' | 'content' | 'capabilities'>, post: Content): readonly Problem[] {
  const { title: network, content, capabilities } = facts
  const isComment = post.isLater && capabilities.thread === 'COMMENT'
  const problems = [...problemsOfText(network, content, post, isComment), ...problemsOfMedia(network, content, post.media)]
  if (isComment && post.media.length > 0)
    problems.push(error('THREAD_MEDIA', 'media', `A later post of a thread is a comment on ${network}, which carries text alone: take its media out.`))
  if (post.firstComment !== null && !capabilities.firstComment)
    problems.push(error('FIRST_COMMENT_UNSUPPORTED', 'firstComment', `${network} takes no first comment from here: leave it out.`))
  else if (post.firstComment !== null) problems.push(...problemsOfComment(network, content, post.firstComment, sentText(content, post, isComment)))
  if (post.media.some(({ altText }) => !altText?.trim()))
    problems.push(warning('ALT_TEXT_MISSING', 'media', 'A medium has no alternative text for people who cannot see it: write one.'))
  return problems.toSorted((a, b) => Number(a.severity === 'WARNING') - Number(b.severity === 'WARNING'))
}

/**
 * Checks a first comment against the network's rules for comments, because no person can correct it when it is sent.
 */
function problemsOfComment(
  network: string,
  { copy, comment = copy, measure, objection, objectionToLinks, refusesRepetition }: ContentRules,
  text: string,
  under: string,
): readonly Problem[] {
  const length = measure(text)
  const isRepeated = refusesRepetition && text.normalize('NFC').trim() === under.normalize('NFC').trim()
  const wrong = isRepeated
    ? `The first comment says what the post says, and ${network} takes no text twice: write another one.`
    : (objection?.(text) ?? (length > comment ? null : objectionToLinks?.(text, null)))
  return [
    ...(length > comment
      ? [error('COPY_TOO_LONG', 'firstComment', `The first comment counts ${length} characters on ${network}, which takes ${comment}: shorten it.`)]
      : []),
    ...(wrong ? [error('COPY_INVALID', 'firstComment', wrong)] : []),
  ]
}

function problemsOfText(network: string, rules: ContentRules, post: Content, isComment: boolean): Problem[] {
  const { copy, comment = copy, measure, objection, title, media } = rules
  const problems: Problem[] = []
  const most = isComment ? comment : copy
  const text = sentText(rules, post, isComment)
  const length = measure(text)
  const behind = text === post.copy ? '' : ' with its link behind it'
  if (!post.copy.trim() && post.link === null && post.media.length === 0 && media.least === 0)
    problems.push(error('COPY_EMPTY', 'copy', `The post has nothing to say: ${network} takes no empty text. Write one, or keep the post as a draft.`))
  if (length > most)
    problems.push(
      error(
        'COPY_TOO_LONG',
        'copy',
        isComment
          ? `A later post of a thread is a comment on ${network}, which takes ${most} characters, and this one counts ${length}${behind}: shorten it.`
          : `The text counts ${length} characters${behind} on ${network}, which takes ${most}: shorten it, or make a thread of it.`,
      ),
    )
  const wrong = objection?.(text)
  if (wrong) problems.push(error('COPY_INVALID', 'copy', wrong))
  if (title?.needed && !post.title?.trim()) problems.push(error('TITLE_MISSING', 'title', `${network} wants a title: write one.`))
  if (title && post.title && codePoints(post.title) > title.most)
    problems.push(error('TITLE_TOO_LONG', 'title', `The title has ${codePoints(post.title)} characters, and ${network} takes ${title.most}: shorten it.`))
  const wrongTitle = post.title === null ? null : title?.objection?.(post.title)
  if (wrongTitle) problems.push(error('COPY_INVALID', 'title', wrongTitle))
  const wrongLinks = length > most ? null : rules.objectionToLinks?.(text, text === post.copy ? post.link : null)
  if (wrongLinks) problems.push(error('COPY_INVALID', 'copy', wrongLinks))
  const wrongTags = rules.objectionToTags?.(post.tags)
  if (wrongTags) problems.push(error('COPY_INVALID', 'tags', wrongTags))
  return problems
}

const inWords: Readonly<Record<MediumKind, string>> = { IMAGE: 'pictures', GIF: 'GIFs', VIDEO: 'films' }

function problemsOfMedia(network: string, { media: rules }: ContentRules, media: readonly ContentMedium[]): Problem[] {
  const problems: Problem[] = []
  const most: Readonly<Record<MediumKind, number>> = { IMAGE: rules.images, GIF: rules.gifs, VIDEO: rules.videos }
  const kinds = [...new Set(media.map(({ kind }) => kind))]
  if (media.length < rules.least)
    problems.push(error('MEDIA_MISSING', 'media', `${network} publishes no text alone: add ${rules.images ? 'a picture or a film' : 'a film'}.`))
  for (const kind of kinds) {
    const count = media.filter(medium => medium.kind === kind).length
    if (most[kind] === 0) problems.push(error('MEDIA_KIND', 'media', `${network} takes no ${inWords[kind]}: take them out.`))
    else if (count > most[kind])
      problems.push(error('MEDIA_TOO_MANY', 'media', `${network} takes ${most[kind]} ${inWords[kind]} a post, and this one has ${count}: take some out.`))
  }
  const counted = problems.some(({ code }) => code === 'MEDIA_TOO_MANY' || code === 'MEDIA_KIND')
  if (media.length > rules.most && !counted)
    problems.push(error('MEDIA_TOO_MANY', 'media', `${network} takes ${rules.most} media a post, and this one has ${media.length}: take some out.`))
  // A GIF that is the only medium is a kind of its own; otherwise it is a picture.
  const apart = [...new Set(kinds.filter(kind => most[kind] > 0).map(kind => (kind === 'GIF' && rules.gifs > 1 ? 'IMAGE' : kind)))]
  if (!rules.mixed && apart.length > 1)
    problems.push(error('MEDIA_MIXED', 'media', `${network} takes ${apart.map(kind => inWords[kind]).join(' or ')}, not both: keep one kind.`))
  problems.push(...problemsOfFiles(network, rules, media))
  if (rules.images > 0 && media.some(({ kind, isAnimated }) => kind === 'IMAGE' && isAnimated))
    problems.push(
      warning('MEDIA_STILL', 'media', `${network} receives only the first picture of an animated WebP or PNG: upload a GIF or a film to keep the animation.`),
    )
  if (media.some(({ isReady }) => !isReady))
    problems.push(error('MEDIA_NOT_READY', 'media', 'A medium is still being prepared, or could not be: wait for it, or upload it again.'))
  return problems
}

/** Returns the problems of single files, each problem once however many files have it. */
function problemsOfFiles(network: string, { gifs, gifBytes, videos, film }: MediaRules, media: readonly ContentMedium[]): readonly Problem[] {
  const problems = new Map<string, Problem>()
  for (const medium of media) {
    const objections =
      medium.kind === 'VIDEO' && film && videos > 0
        ? objectionsToFilm(film, medium)
        : medium.kind === 'GIF' && gifs > 0 && gifBytes !== undefined && (medium.bytes ?? 0) > gifBytes
          ? [{ code: 'MEDIA_TOO_LARGE' as const, sentence: `takes GIFs of ${gifBytes / 1_000_000} MB at most: make it smaller.` }]
          : []
    for (const { code, sentence } of objections) problems.set(sentence, error(code, 'media', `${network} ${sentence}`))
  }
  return [...problems.values()]
}
