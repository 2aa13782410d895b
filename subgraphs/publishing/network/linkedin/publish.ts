import type { OutboundAnswer } from '../../../../platform/outbound/outbound.ts'
import { withLink } from '../content/check.ts'
import type { Delivery, Medium, Publication } from '../publication.ts'
import { type Calls, refusalOf, saidBy, unsentOf } from './calls.ts'
import { leftIn } from './media.ts'
import { toCommentary } from './text.ts'

/** Timeout of the publishing call in ms; after it, it is unknown whether LinkedIn accepted the post. */
const publishTimeoutMs = 10_000

const share = /^urn:li:(?:share|ugcPost|activity):\d{1,20}$/
const comment = /^urn:li:comment:\((urn:li:(?:share|ugcPost|activity):\d{1,20}),\d{1,20}\)$/

/** Returns the public address of a post or a comment; null for an id that is not LinkedIn's. */
export function permalink(_accountName: string, id: string): string | null {
  if (share.test(id)) return `https://www.linkedin.com/feed/update/${id}`
  const root = comment.exec(id)?.[1]
  return root === undefined ? null : `https://www.linkedin.com/feed/update/${root}?commentUrn=${encodeURIComponent(id)}`
}

/** Returns the post that a comment belongs to: LinkedIn's comments are siblings under a post and not nested. */
export const rootOf = (id: string): string => comment.exec(id)?.[1] ?? id

/** Returns the text, with the link appended where there is no separate field for it: beside media, and in a comment. */
export const textOf = ({ copy, link, media, inReplyTo }: Pick<Publication, 'copy' | 'link' | 'media' | 'inReplyTo'>): string =>
  media.length > 0 || inReplyTo !== null ? withLink(copy, link) : copy

/**
 * Returns the content of a post beside its text:
 * https://learn.microsoft.com/linkedin/marketing/community-management/shares/posts-api
 */
function contentOf({ title, link, media, handle }: Publication): object | undefined {
  const left = leftIn(handle)
  const described = (urn: string, medium: Medium | undefined) => ({ id: urn, ...(medium?.altText && { altText: medium.altText }) })
  if (left?.kind === 'videos') return { media: { id: left.urns[0], ...(title && { title }) } }
  if (left?.urns.length === 1) return { media: described(left.urns[0]!, media[0]) }
  if (left) return { multiImage: { images: left.urns.map((urn, at) => described(urn, media[at])) } }
  return link ? { article: { source: link, title: title ?? new URL(link).host } } : undefined
}

/** Creates posts, and comments under them. */
export function createPublish(calls: Calls) {
  async function once(accessToken: string, path: string, body: object, idOf: (answer: OutboundAnswer) => string | null): Promise<Delivery> {
    let answer: OutboundAnswer
    try {
      answer = await calls.post(accessToken, path, body, { timeoutMs: publishTimeoutMs, freshConnection: true })
    } catch (error) {
      return unsentOf(error) ?? { outcome: 'unknown', detail: (error as Error).message }
    }
    const id = answer.status === 201 ? idOf(answer) : null
    const link = id === null ? null : permalink('', id)
    if (id !== null && link !== null) return { outcome: 'delivered', platformPostId: id, permalink: link }
    return refusalOf(answer) ?? { outcome: 'unknown', detail: `LinkedIn answered ${answer.status}: ${saidBy(answer)}` }
  }

  return {
    /** @param author URN of the post's author */
    post: (author: string, publication: Publication): Promise<Delivery> => {
      const content = contentOf(publication)
      const body = {
        author,
        commentary: toCommentary(textOf(publication)),
        visibility: 'PUBLIC',
        distribution: { feedDistribution: 'MAIN_FEED', targetEntities: [], thirdPartyDistributionChannels: [] },
        ...(content && { content }),
        lifecycleState: 'PUBLISHED',
        isReshareDisabledByAuthor: false,
      }
      return once(publication.accessToken, '/rest/posts', body, ({ headers }) => headers.get('x-restli-id'))
    },

    /**
     * Creates a comment, which is plain text:
     * https://learn.microsoft.com/linkedin/marketing/community-management/shares/comments-api
     */
    comment(accessToken: string, actor: string, under: string, text: string): Promise<Delivery> {
      const object = rootOf(under)
      const path = `/rest/socialActions/${encodeURIComponent(object)}/comments`
      return once(accessToken, path, { actor, object, message: { text } }, answer => commentIn(answer, object))
    },
  }
}

function commentIn({ headers, text }: OutboundAnswer, object: string): string | null {
  const named = /"commentUrn"\s*:\s*"([^"]+)"/.exec(text)?.[1]
  const id = headers.get('x-restli-id')
  return named ?? (id && /^\d+$/.test(id) ? `urn:li:comment:(${object},${id})` : null)
}
