import type { Reply } from '../../network.ts'
import type { Mistake } from './problems.ts'
import { invalidRequest } from './problems.ts'
import { postFields, tweetFields } from './tweet.ts'

const expansions: readonly string[] = `
  article.cover_media article.media_entities attachments.media_keys attachments.media_source_tweet attachments.poll_ids author_id
  edit_history_post_ids edit_history_tweet_ids entities.mentions.username entities.note.mentions.username geo.place_id
  in_reply_to_user_id referenced_posts referenced_tweets.id referenced_tweets.id.author_id username affiliation
  affiliation.user_id most_recent_post_id most_recent_tweet_id pinned_post_id pinned_tweet_id
`
  .trim()
  .split(/\s+/)

const userFields: readonly string[] = `
  affiliation confirmed_email connection_status created_at description entities id is_identity_verified location
  most_recent_tweet_id most_recent_post_id name parody pinned_tweet_id pinned_post_id profile_banner_url profile_image_url protected
  public_metrics receives_your_dm subscription subscription_type url username verified verified_followers_count verified_type
  withheld
`
  .trim()
  .split(/\s+/)

/** The parameters that ask for more of each object, with the words each may hold. */
const choices: Readonly<Record<string, readonly string[]>> = {
  'tweet.fields': tweetFields,
  'post.fields': postFields,
  'user.fields': userFields,
  'media.fields': ['alt_text', 'duration_ms', 'height', 'media_key', 'preview_image_url', 'public_metrics', 'type', 'url', 'variants', 'width'],
  'poll.fields': ['duration_minutes', 'end_datetime', 'id', 'options', 'voting_status'],
  'place.fields': ['contained_within', 'country', 'country_code', 'full_name', 'geo', 'id', 'name', 'place_type'],
  expansions,
  exclude: ['replies', 'retweets'],
}

/** A query whose every parameter is known, stands once and has a legal form. */
export interface Parameters {
  /** The words of a list parameter, empty when it is absent. */
  list(name: string): ReadonlySet<string>
  value(name: string): string | undefined
  /** The fields of a post that are asked for. */
  readonly fields: ReadonlySet<string>
}

const objects = ['tweet.fields', 'post.fields', 'user.fields', 'media.fields', 'poll.fields', 'place.fields', 'expansions']

/** Checks a query against the parameters that an endpoint has beside those that ask for more of each object. */
export function readParameters(query: URLSearchParams, own: Readonly<Record<string, (value: string) => string | undefined>>): Parameters | Reply {
  const allowed = [...Object.keys(own), ...objects]
  const mistakes: Mistake[] = []
  for (const name of new Set(query.keys())) {
    const values = query.getAll(name)
    const value = values[0]!
    const against = (message: string): number => mistakes.push({ parameters: { [name]: values }, message })
    if (!allowed.includes(name)) against(`The query parameter [${name}] is not one of [${allowed.join(',')}]`)
    else if (values.length > 1) against(`Duplicate parameters are not allowed: the \`${name}\` query parameter`)
    else if (value === '') against(`The \`${name}\` query parameter can not be empty`)
    else {
      const strange = choices[name] && value.split(',').find(word => !choices[name]?.includes(word))
      if (strange !== undefined) against(`The \`${name}\` query parameter value [${strange}] is not one of [${choices[name]?.join(',')}]`)
      const complaint = own[name]?.(value)
      if (complaint !== undefined) against(`The \`${name}\` query parameter value [${value}] ${complaint}`)
    }
  }
  if (mistakes.length > 0) return invalidRequest(...mistakes)
  const list = (name: string): ReadonlySet<string> => new Set(query.get(name)?.split(',') ?? [])
  // An object can be expanded only where its id is shown, so the id's field comes along.
  const expanded = [...list('expansions')].map(name =>
    name.replace('referenced_tweets.id.author_id', 'referenced_tweets').replace('referenced_tweets.id', 'referenced_tweets'),
  )
  return { list, value: name => query.get(name) ?? undefined, fields: new Set([...list('tweet.fields'), ...list('post.fields'), ...expanded]) }
}

export const isPostId = (value: string): boolean => /^[0-9]{1,19}$/.test(value)
