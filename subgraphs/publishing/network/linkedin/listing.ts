import type { Lookup, Publication } from '../publication.ts'
import type { Calls } from './calls.ts'
import { permalink, rootOf, textOf } from './publish.ts'
import { fromCommentary, isTheSame } from './text.ts'

/** Tolerance in ms when comparing times, because LinkedIn's clock differs from ours. */
const skewMs = 5_000
/** Timeout of a whole search in ms: less than the claim under which it runs. */
const findTimeoutMs = 12_000
const pageSize = 100
/**
 * Maximum number of result pages that a search reads: as many as an organization can publish while an attempt is open.
 */
const mostPages = 5

interface Listed {
  readonly id: string
  /** Time of creation, Unix time in milliseconds. */
  readonly at: number
  readonly text: string
}

interface ListedPost {
  readonly id: string
  readonly commentary?: string
  readonly createdAt?: number
  readonly publishedAt?: number
}

interface ListedComment {
  readonly id?: string
  readonly commentUrn?: string
  readonly actor?: string
  readonly message?: { readonly text?: string }
  readonly created?: { readonly time?: number }
}

/** Searches LinkedIn's lists, newest first, for a post or a comment of an organization. */
export async function findListed(calls: Calls, author: string, publication: Publication, since: Date, except: ReadonlySet<string>): Promise<Lookup> {
  const { accessToken, inReplyTo } = publication
  const begin = since.getTime() - skewMs
  // Comments of earlier versions were sent without their link.
  const wanted = [textOf(publication), ...(inReplyTo === null ? [] : [publication.copy])]
  const deadline = performance.now() + findTimeoutMs
  let isAnothers = false
  for (let page = 0; page < mostPages; page += 1) {
    const timeoutMs = Math.max(1, Math.round(deadline - performance.now()))
    const options = { timeoutMs, headers: { 'x-restli-method': 'FINDER' } }
    const range = `start=${page * pageSize}&count=${pageSize}`
    const listed = inReplyTo === null ? await posts(`author=${encodeURIComponent(author)}&q=author&sortBy=CREATED&${range}`) : await comments(rootOf(inReplyTo))
    for (const { id, at, text } of listed) {
      if (at < begin || !wanted.some(each => isTheSame(text, each))) continue
      if (except.has(id)) isAnothers = true
      else return { found: true, platformPostId: id, permalink: permalink('', id) ?? '' }
    }
    // The order of comments is not specified, so all pages are read.
    const isOver = listed.length < pageSize || (inReplyTo === null && listed.some(({ at }) => at < begin))
    if (isOver) return { found: false, isAnothers }

    async function posts(query: string): Promise<readonly Listed[]> {
      const { elements } = await calls.read<{ elements: readonly ListedPost[] }>(accessToken, `/rest/posts?${query}`, options)
      if (!elements) throw new Error('LinkedIn answered something that is no list of posts')
      return elements.map(({ id, commentary = '', createdAt, publishedAt }) => ({
        id,
        at: publishedAt ?? createdAt ?? Number.POSITIVE_INFINITY,
        text: fromCommentary(commentary),
      }))
    }

    async function comments(root: string): Promise<readonly Listed[]> {
      const path = `/rest/socialActions/${encodeURIComponent(root)}/comments?${range}`
      const { elements } = await calls.read<{ elements: readonly ListedComment[] }>(accessToken, path, { timeoutMs })
      if (!elements) throw new Error('LinkedIn answered something that is no list of comments')
      return elements.map(({ id = '', commentUrn = `urn:li:comment:(${root},${id})`, actor, message, created }) => ({
        id: commentUrn,
        at: actor === author ? (created?.time ?? Number.POSITIVE_INFINITY) : 0,
        text: message?.text ?? '',
      }))
    }
  }
  throw new Error('LinkedIn lists too many posts since the attempt to say that this one is not there')
}
