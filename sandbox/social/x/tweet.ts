import { createHash } from 'node:crypto'
import twitter from 'twitter-text'
import type { Account } from '../../oauth/world.ts'
import type { StoredPost } from './world.ts'

/** The fields of a post that may be asked for beside the default `id`, `text` and `edit_history_tweet_ids`. */
export const tweetFields: readonly string[] = `
  article attachments author_id card_uri community_id context_annotations conversation_id created_at display_text_range
  edit_controls edit_history_tweet_ids entities geo id in_reply_to_user_id lang media_metadata non_public_metrics note_tweet
  organic_metrics paid_partnership possibly_sensitive promoted_metrics public_metrics referenced_tweets reply_settings scopes source
  text withheld
`
  .trim()
  .split(/\s+/)

/** What the newer parameter `post.fields` takes, which the official SDK sends: https://docs.x.com/x-api/users/get-posts */
export const postFields: readonly string[] = `
  article article_title attachments card_uri community_id context_annotations conversation_id created_at display_text_range
  edit_controls entities geo id lang matched_media_notes media_metadata non_public_metrics note_post note_request_suggestions
  organic_metrics paid_partnership possibly_sensitive promoted_metrics public_metrics reply_settings scopes source
  suggested_source_links suggested_source_links_with_counts text withheld
`
  .trim()
  .split(/\s+/)

type Value = string | number | boolean | object

/** A post as the API shows it. */
export type Tweet = Readonly<Record<string, Value>>

interface UrlEntity {
  readonly start: number
  readonly end: number
  readonly url: string
  readonly expanded_url: string
  readonly display_url: string
}

interface TagEntity {
  readonly start: number
  readonly end: number
  readonly tag?: string
  readonly username?: string
  readonly id?: string
}

interface Rendered {
  readonly text: string
  readonly entities: { readonly urls?: UrlEntity[]; readonly hashtags?: TagEntity[]; readonly cashtags?: TagEntity[]; readonly mentions?: TagEntity[] }
}

/**
 * The text as X gives it back: Unicode composed (NFC), blanks at both ends gone, `&`, `<` and `>` escaped, every link replaced by
 * a `https://t.co/` address. Entities count in code points of that text.
 */
export function render(post: Pick<StoredPost, 'id' | 'text' | 'mediaIds'>, mentioned: (username: string) => Account | undefined = () => undefined): Rendered {
  const source = normalize(post.text)
  const found = twitter.extractEntitiesWithIndices(source).sort((a, b) => a.indices[0] - b.indices[0])
  const urls: UrlEntity[] = []
  const hashtags: TagEntity[] = []
  const cashtags: TagEntity[] = []
  const mentions: TagEntity[] = []
  let text = ''
  let length = 0
  let read = 0
  const append = (piece: string): { start: number; end: number } => {
    const start = length
    text += piece
    length += [...piece].length
    return { start, end: length }
  }
  for (const entity of found) {
    const [from, to] = entity.indices
    append(escapeHtml(source.slice(read, from)))
    read = to
    if ('url' in entity) {
      const url = shorten(post.id, urls.length)
      const expanded = /^https?:\/\//i.test(entity.url) ? entity.url : `http://${entity.url}`
      urls.push({ ...append(url), url, expanded_url: expanded, display_url: display(expanded) })
      continue
    }
    const place = append(escapeHtml(source.slice(from, to)))
    if ('hashtag' in entity) hashtags.push({ ...place, tag: entity.hashtag })
    else if ('cashtag' in entity) cashtags.push({ ...place, tag: entity.cashtag })
    else if ('screenName' in entity) {
      const account = mentioned(entity.screenName)
      if (account) mentions.push({ ...place, username: account.username, id: account.id })
    }
  }
  append(escapeHtml(source.slice(read)))
  if (post.mediaIds?.length) {
    // All media of a post share one address.
    append(text ? ' ' : '')
    const url = shorten(post.id, urls.length)
    urls.push({ ...append(url), url, expanded_url: `https://x.com/i/status/${post.id}/photo/1`, display_url: `pic.x.com/${url.slice(-10)}` })
  }
  const entities = {
    ...(urls.length && { urls }),
    ...(hashtags.length && { hashtags }),
    ...(cashtags.length && { cashtags }),
    ...(mentions.length && { mentions }),
  }
  return { text, entities: entities as Rendered['entities'] }
}

/** The form in which two texts are compared and counted. */
export const normalize = (text: string): string => text.normalize('NFC').trim()

/** What a post holds for these fields; a field that does not apply to it is left out, as by X. */
export function toTweet(
  post: StoredPost,
  fields: ReadonlySet<string>,
  look: { account: (username: string) => Account | undefined; parent: StoredPost | undefined },
): Tweet {
  const { text, entities } = render(post, look.account)
  const all: Record<string, Value | undefined> = {
    id: post.id,
    text,
    edit_history_tweet_ids: [post.id],
    author_id: post.accountId,
    conversation_id: post.conversationId,
    created_at: post.createdAt,
    display_text_range: [0, [...text].length],
    edit_controls: { edits_remaining: 5, is_edit_eligible: false, editable_until: new Date(Date.parse(post.createdAt) + 3_600_000).toISOString() },
    entities: Object.keys(entities).length > 0 ? entities : undefined,
    in_reply_to_user_id: look.parent?.accountId,
    lang: 'und',
    possibly_sensitive: false,
    public_metrics: { retweet_count: 0, reply_count: 0, like_count: 0, quote_count: 0, bookmark_count: 0, impression_count: 0 },
    reply_settings: 'everyone',
  }
  const references = post.inReplyToId === null ? undefined : [{ type: 'replied_to', id: post.inReplyToId }]
  const tweet: Record<string, Value> = {}
  for (const [name, value] of Object.entries(all)) if (value !== undefined && (fields.has(name) || alwaysShown.has(name))) tweet[name] = value
  if (references && fields.has('referenced_tweets')) tweet.referenced_tweets = references
  if (references && fields.has('referenced_posts')) tweet.referenced_posts = references
  return tweet
}

const alwaysShown = new Set(['id', 'text', 'edit_history_tweet_ids'])

const escapes: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' }
const escapeHtml = (text: string): string => text.replace(/[&<>]/g, one => escapes[one]!)

/** The same link of the same post has the same short address every time. */
function shorten(postId: string, index: number): string {
  const digest = createHash('sha256').update(`${postId}/${index}`).digest('base64url').replace(/[-_]/g, '')
  return `https://t.co/${digest.slice(0, 10)}`
}

function display(url: string): string {
  const bare = url.replace(/^https?:\/\/(www\.)?/i, '').replace(/\/$/, '')
  return bare.length > 26 ? `${bare.slice(0, 26)}…` : bare
}
