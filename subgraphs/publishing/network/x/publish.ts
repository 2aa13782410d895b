import { OutboundFailure } from '../../../../platform/outbound/failure.ts'
import type { Outbound, OutboundAnswer } from '../../../../platform/outbound/outbound.ts'
import { withLink } from '../content/check.ts'
import { AccessExpired } from '../network.ts'
import type { Comment, Delivery, Lookup, Publication, RateLimit } from '../publication.ts'
import { readJson } from '../wire/json.ts'
import { idsOf } from './media.ts'
import type { XApplication } from './oauth.ts'
import { saidBy } from './problem.ts'
import { type ListedText, saysTheSame } from './text.ts'

interface ListedPost extends ListedText {
  readonly id: string
  readonly created_at?: string
  readonly referenced_tweets?: readonly { readonly type: string; readonly id: string }[]
}

/** Timeout of the publishing call in ms; after it, it is unknown whether X accepted the post. */
const publishTimeoutMs = 10_000
/** Tolerance in ms when comparing times: X stores whole seconds, and its clock differs from ours. */
const skewMs = 5_000
/** Timeout of a whole search in ms: less than the claim under which it runs. */
const findTimeoutMs = 12_000
/**
 * Maximum number of result pages of 100 posts that a search reads: as many as an account can write while an attempt is
 * open.
 */
const mostPages = 5

/**
 * Creates posts and searches for them: https://docs.x.com/x-api/posts/create-post,
 * https://docs.x.com/x-api/users/get-posts
 */
export function createXPublish({ apiUrl }: Pick<XApplication, 'apiUrl'>, outbound: Outbound) {
  const authorized = (accessToken: string) => ({ authorization: `Bearer ${accessToken}` })

  /** Makes the publishing call. https://docs.x.com/x-api/posts/create-post */
  async function create(accessToken: string, accountName: string, body: object): Promise<Delivery> {
    let answer: OutboundAnswer
    try {
      answer = await outbound(`${apiUrl}/2/tweets`, {
        method: 'POST',
        headers: { ...authorized(accessToken), 'content-type': 'application/json' },
        body: JSON.stringify(body),
        timeoutMs: publishTimeoutMs,
        freshConnection: true,
      })
    } catch (error) {
      const { message } = error as Error
      if (error instanceof OutboundFailure && !error.sent) return { outcome: 'unsent', detail: message }
      return { outcome: 'unknown', detail: message }
    }
    const limit = limitOf(answer.headers)
    const id = readJson<{ data: { id: string } }>(answer.text).data?.id
    if (answer.status === 201 && id) return { outcome: 'delivered', platformPostId: id, permalink: permalink(accountName, id), ...(limit && { limit }) }
    const refusal = readRefusal(answer)
    return refusal.outcome === 'refused' && limit ? { ...refusal, limit } : refusal
  }

  return {
    permalink: (accountName: string, id: string) => (/^\d{1,19}$/.test(id) ? permalink(accountName, id) : null),

    publish({ accessToken, account, copy, link, inReplyTo, handle }: Publication): Promise<Delivery> {
      const mediaIds = idsOf(handle)
      return create(accessToken, account.name, {
        text: withLink(copy, link),
        ...(mediaIds.length > 0 && { media: { media_ids: mediaIds } }),
        ...(inReplyTo && { reply: { in_reply_to_tweet_id: inReplyTo } }),
      })
    },

    /** A comment is a reply. */
    comment: ({ accessToken, account, platformPostId, text }: Comment): Promise<Delivery> =>
      create(accessToken, account.name, { text, reply: { in_reply_to_tweet_id: platformPostId } }),

    async find({ accessToken, account, copy, link, inReplyTo }: Publication, since: Date, except: ReadonlySet<string>): Promise<Lookup> {
      // Earlier versions sent the text without its link, and one of their attempts may still be open.
      const wanted = link === null ? [copy] : [withLink(copy, link), copy]
      const begin = since.getTime() - skewMs
      const query = new URLSearchParams({ max_results: '100', 'tweet.fields': 'created_at,entities,referenced_tweets' })
      const deadline = performance.now() + findTimeoutMs
      let isAnothers = false
      for (let page = 0; page < mostPages; page += 1) {
        const timeoutMs = Math.max(1, Math.round(deadline - performance.now()))
        const answer = await outbound(`${apiUrl}/2/users/${account.externalId}/tweets?${query}`, { headers: authorized(accessToken), timeoutMs })
        if (answer.status === 401) throw new AccessExpired('X')
        if (answer.status !== 200) throw new Error(`X did not list the account's posts: ${answer.status}`)
        const { data = [], meta } = readJson<{ data: ListedPost[]; meta: { next_token?: string; result_count?: number } }>(answer.text)
        if (!meta) throw new Error('X answered something that is no list of posts')
        for (const post of data) {
          const repliesTo = post.referenced_tweets?.find(({ type }) => type === 'replied_to')?.id ?? null
          const late = post.created_at === undefined || Date.parse(post.created_at) >= begin
          if (!late || !wanted.some(text => saysTheSame(post, text))) continue
          if (except.has(post.id)) isAnothers = true
          else if (repliesTo === inReplyTo) return { found: true, platformPostId: post.id, permalink: permalink(account.name, post.id) }
        }
        const oldest = data.at(-1)?.created_at
        if (!meta.next_token || (oldest !== undefined && Date.parse(oldest) < begin)) return { found: false, isAnothers }
        query.set('pagination_token', meta.next_token)
      }
      throw new Error('X lists too many posts since the attempt to say that this one is not there')
    },
  }
}

/**
 * Returns a post's address. It uses the user name `i`, which no account has: X redirects from it to the post's account.
 */
const permalink = (accountName: string, id: string): string => `https://x.com/${accountName.replace(/^@/, '') || 'i'}/status/${id}`

/**
 * Reads the account's rate limit: of fifteen minutes, or of a day once that is exhausted
 * (https://docs.x.com/x-api/fundamentals/rate-limits).
 */
function limitOf(headers: Headers): RateLimit | undefined {
  const read = (name: string): RateLimit | undefined => {
    const [limit, remaining, reset] = ['limit', 'remaining', 'reset'].map(part => Number(headers.get(`${name}-${part}`) ?? Number.NaN))
    return [limit, remaining, reset].every(Number.isInteger) ? { limit: limit!, remaining: remaining!, resetsAt: new Date(reset! * 1000) } : undefined
  }
  const day = read('x-user-limit-24hour')
  return day?.remaining === 0 ? day : read('x-rate-limit')
}

/** Classifies X's answer to a new post: only a definite refusal is one. */
function readRefusal(answer: OutboundAnswer): Delivery {
  const said = saidBy(answer)
  const refused = (code: Extract<Delivery, { outcome: 'refused' }>['code'], words = said): Delivery => ({ outcome: 'refused', code, detail: words })
  if (answer.status === 401) return refused('ACCESS_EXPIRED')
  if (answer.status === 429) {
    const reset = Number(answer.headers.get('x-rate-limit-reset'))
    return refused('RATE_LIMITED', reset ? `X takes no more posts of this account until ${new Date(reset * 1000).toISOString()}` : said)
  }
  if (answer.status === 403 && /duplicate/i.test(said)) return refused('DUPLICATE_CONTENT')
  if (answer.status === 400 || answer.status === 413 || answer.status === 422) return refused('CONTENT_REFUSED')
  if (answer.status >= 400 && answer.status < 500 && answer.status !== 408) return refused('NETWORK_REFUSED')
  // 408 and 5xx may come from a proxy in front of a server that did the work: X documents nothing about them.
  return { outcome: 'unknown', detail: `X answered ${answer.status}: ${said}` }
}
