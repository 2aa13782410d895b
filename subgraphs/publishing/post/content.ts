import { DomainError } from '../../../platform/errors.ts'
import { readId, readText, requireId } from '../../../platform/ids.ts'
import type { Platform } from '../network/network.ts'
import { everyNetwork } from '../network/networks.ts'
import type { Target } from '../network/publication.ts'
import type { PostMediumInput, PostTargetInput } from '../resolvers.generated.ts'
import { eachOnce, type PostMedium, type PostRow, type PostVisibility } from '../stores/post.ts'
import type { Content } from '../stores/posts/version.ts'
import { checkCopy, checkTarget } from './rules.ts'

/** Limits of a post on every network; a network's own limits may be lower. */
export const most = { title: 100, link: 2_000, tags: 20, tag: 50, media: 20, altText: 1_000, firstComment: 2_000 } as const

/**
 * The texts and settings that people give for a post, in the graph's input format; undefined fields stay unchanged, or
 * are empty in a new post.
 */
export interface ContentInput {
  readonly copy?: string | null | undefined
  readonly title?: string | null | undefined
  readonly link?: URL | string | null | undefined
  readonly tags?: readonly string[] | null | undefined
  readonly visibility?: PostVisibility | null | undefined
  readonly media?: readonly PostMediumInput[] | null | undefined
  readonly firstComment?: string | null | undefined
  readonly campaignId?: string | null | undefined
  readonly target?: PostTargetInput | null | undefined
}

/** All fields of a post that people write. */
export type Written = Content & Pick<PostRow, 'tags' | 'campaignId'>

/** Default values of a new post. */
const nothing = (platform: Platform): Omit<Written, 'copy'> => ({
  title: null,
  link: null,
  tags: [],
  visibility: everyNetwork[platform].content.visibility,
  media: [],
  firstComment: null,
  campaignId: null,
  target: null,
})

/**
 * Reads the content of a post, checked as far as possible without the database.
 * @param before null for a new post
 * @throws BAD_USER_INPUT
 */
export function written(input: ContentInput, platform: Platform, before: Written | null): Written {
  const { copy, title, link, tags, visibility, media, firstComment, campaignId, target } = input
  const was = before ?? nothing(platform)
  return {
    copy: copy === undefined && before ? before.copy : checkCopy(copy),
    title: title === undefined ? was.title : readLine(title, 'title', most.title),
    link: link === undefined ? was.link : readLink(link),
    tags: tags === undefined ? was.tags : readTags(tags),
    visibility: visibility === undefined ? was.visibility : readVisibility(visibility, platform),
    media: media === undefined ? was.media : readMedia(media),
    firstComment: firstComment === undefined ? was.firstComment : readText(firstComment, 'firstComment', most.firstComment),
    campaignId: campaignId === undefined ? was.campaignId : readId(campaignId, 'campaignId'),
    target: target === undefined ? was.target : checkTarget(toTarget(target), platform),
  }
}

/** Converts a target to its stored form. */
export const toTarget = (input: PostTargetInput | null): Target | null => input && { kind: input.kind, externalId: input.externalId, name: input.name ?? null }

const lineBreak = /[\n\r\u2028\u2029]/

export function readLine(given: string | null, field: string, longest: number): string | null {
  const line = readText(given, field, longest)
  if (line && lineBreak.test(line)) throw new DomainError('BAD_USER_INPUT', `${field} takes one line: leave the line breaks out.`, { field })
  return line
}

function readLink(given: URL | string | null): string | null {
  if (given === null) return null
  const { href, protocol } = new URL(given)
  if (protocol !== 'https:' && protocol !== 'http:')
    throw new DomainError('BAD_USER_INPUT', 'link is no address of the web: it begins with https:// or http://.', { field: 'link' })
  if (href.length > most.link) throw new DomainError('BAD_USER_INPUT', `link has ${href.length} characters: the maximum is ${most.link}.`, { field: 'link' })
  return href
}

function readTags(given: readonly string[] | null): readonly string[] {
  const tooMany = (count: number) => new DomainError('BAD_USER_INPUT', `tags names ${count}: the maximum is ${most.tags}.`, { field: 'tags' })
  const all = [...new Set(given ?? [])]
  // Rejects such a long list before duplicates are removed.
  if (all.length > 10 * most.tags) throw tooMany(all.length)
  const tags = eachOnce(all.flatMap(tag => readLine(tag, 'tags', most.tag) ?? []))
  if (tags.length > most.tags) throw tooMany(tags.length)
  return tags
}

function readVisibility(given: PostVisibility | null, platform: Platform): PostVisibility | null {
  const { title, content } = everyNetwork[platform]
  if (content.visibility !== null) return given ?? content.visibility
  if (given !== null) throw new DomainError('BAD_USER_INPUT', `${title} has no setting for who may see a post: leave visibility out.`, { field: 'visibility' })
  return null
}

function readMedia(given: readonly PostMediumInput[] | null): readonly PostMedium[] {
  const media = (given ?? []).map(({ assetId, altText }) => ({
    assetId: requireId(assetId, 'media.assetId'),
    altText: readText(altText ?? null, 'media.altText', most.altText),
  }))
  if (media.length > most.media)
    throw new DomainError('BAD_USER_INPUT', `media names ${media.length}: no network takes more than ${most.media} in a post.`, { field: 'media' })
  if (new Set(media.map(({ assetId }) => assetId)).size < media.length)
    throw new DomainError('BAD_USER_INPUT', 'media names an asset twice: a post shows it once.', { field: 'media' })
  return media
}

/** Returns the state of a new first comment: pending, or none if there is no comment. */
export const commentOf = (firstComment: string | null): Pick<PostRow, 'firstComment' | 'firstCommentStatus' | 'firstCommentId' | 'firstCommentMessage'> => ({
  firstComment,
  firstCommentStatus: firstComment === null ? null : 'PENDING',
  firstCommentId: null,
  firstCommentMessage: null,
})
