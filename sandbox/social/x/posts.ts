import twitter from 'twitter-text'
import type { Call, Reply } from '../../network.ts'
import { json, textOf } from '../../network.ts'
import type { Account } from '../../oauth/world.ts'
import { limitHeaders, limits } from './limits.ts'
import { uploadsOf } from './media.ts'
import type { Mistake } from './problems.ts'
import { invalidRequest, problem } from './problems.ts'
import { normalize, render } from './tweet.ts'
import type { StoredPost, World } from './world.ts'

const duplicateMemory = 24 * 3_600_000 // milliseconds

/** The refusal of an armed `status` fault, in the network's own shapes; nothing was published. */
export function refuseByFault(world: World, { username }: Account): Reply | undefined {
  const fault = world.faults.take('x', ['status'], username)
  if (!fault) return undefined
  const status = fault.status ?? 500
  const resetAt = world.clock.now().getTime() + (fault.resetSeconds ?? 900) * 1000
  const reply =
    status === 400
      ? invalidRequest({ message: 'The sandbox was told to refuse this call.' })
      : problem(status, undefined, status === 429 ? limitHeaders(limits['POST /2/tweets'], 0, resetAt) : {})
  return { ...reply, outcome: 'faulted', fault: 'status' }
}

/**
 * `POST /2/tweets`: publishes a text, alone or as a reply, and answers 201 `{ data: { id, text, edit_history_tweet_ids } }`.
 * https://docs.x.com/x-api/posts/create-post
 *
 * Text of the same account that was published within a day and still stands is refused as duplicate (403). Polls, quotes,
 * cards, places and communities are not played yet and refused.
 */
export function createPost(world: World, call: Call, account: Account): Reply {
  const draft = readDraft(world, call, account)
  if ('status' in draft) return draft
  const id = world.newId()
  const parent = draft.parent
  const post: StoredPost = {
    id,
    accountId: account.id,
    text: draft.text,
    createdAt: world.clock.now().toISOString(),
    inReplyToId: parent?.id ?? null,
    conversationId: parent?.conversationId ?? id,
    ...(draft.mediaIds.length > 0 && { mediaIds: draft.mediaIds }),
    deletedAt: null,
  }
  world.posts.set(id, post)
  const reply = json(201, { data: { id, text: render(post).text, edit_history_tweet_ids: [id] } }, 'accepted')
  const fault = world.faults.take('x', ['status-after-accept', 'timeout-after-accept', 'accept-then-reset', 'slow'], account.username)
  if (!fault) return reply
  if (fault.fault === 'status-after-accept') return { ...problem(fault.status ?? 503), outcome: 'faulted', fault: fault.fault }
  if (fault.fault === 'slow') return { ...reply, outcome: 'faulted', fault: 'slow', delayMs: fault.delayMs ?? 0 }
  return { ...reply, outcome: 'faulted', fault: fault.fault, delivery: fault.fault === 'accept-then-reset' ? 'reset' : 'hold' }
}

/** `DELETE /2/tweets/:id`: removes a post of one's own, 200 `{ data: { deleted: true } }`. https://docs.x.com/x-api/posts/delete-post */
export function deletePost(world: World, account: Account, id: string): Reply {
  const post = world.posts.get(id)
  if (!post || post.deletedAt !== null) return problem(404)
  if (post.accountId !== account.id) return problem(403, 'You are not authorized to delete this Tweet.')
  world.posts.set(id, { ...post, deletedAt: world.clock.now().toISOString() })
  return json(200, { data: { deleted: true } }, 'granted')
}

interface Draft {
  readonly text: string
  readonly parent: StoredPost | undefined
  readonly mediaIds: readonly string[]
}

const notPlayed = [
  'card_uri',
  'community_id',
  'direct_message_deep_link',
  'edit_options',
  'for_super_followers_only',
  'geo',
  'nullcast',
  'poll',
  'quote_tweet_id',
  'share_with_followers',
]
const kinds: Readonly<Record<string, 'string' | 'object' | 'boolean'>> = {
  text: 'string',
  reply: 'object',
  media: 'object',
  reply_settings: 'string',
  made_with_ai: 'boolean',
  paid_partnership: 'boolean',
}

function readDraft(world: World, call: Call, account: Account): Draft | Reply {
  if (!/^application\/json\b/i.test(call.headers['content-type'] ?? ''))
    return invalidRequest({ message: 'Requests with bodies must have content-type of application/json.' })
  let body: unknown
  try {
    body = JSON.parse(textOf(call))
  } catch {
    return invalidRequest({ message: 'Request body is not valid JSON.' })
  }
  if (kindOf(body) !== 'object') return invalidRequest({ message: `$: ${kindOf(body)} found, object expected` })
  const mistakes = findMistakes(body as Record<string, unknown>)
  if (mistakes.length > 0) return invalidRequest(...mistakes)
  const { text = '', reply, media, ...others } = body as { text?: string; reply?: { in_reply_to_tweet_id: string }; media?: unknown }
  const unplayed = Object.keys(others).find(name => notPlayed.includes(name))
  if (unplayed !== undefined) return problem(403, `The sandbox does not play ${unplayed}.`)
  const uploads = media === undefined ? [] : uploadsOf(world, account, media)
  if (!uploads) return invalidRequest({ parameters: { 'media.media_ids': [] }, message: 'Your media IDs are invalid.' })
  return judge(world, account, { text, parentId: reply?.in_reply_to_tweet_id, mediaIds: uploads.map(({ id }) => id) })
}

/** Everything against the shape of the body, worded as X's schema validator does. */
function findMistakes(body: Record<string, unknown>): Mistake[] {
  const mistakes: Mistake[] = []
  for (const [name, value] of Object.entries(body)) {
    if (!Object.hasOwn(kinds, name) && !notPlayed.includes(name))
      mistakes.push({ message: `$.${name}: is not defined in the schema and the schema does not allow additional properties` })
    else if (kinds[name] && kindOf(value) !== kinds[name])
      mistakes.push({ parameters: { [`$.${name}`]: [shown(value)] }, message: `$.${name}: ${kindOf(value)} found, ${kinds[name]} expected` })
  }
  if (kindOf(body.reply) === 'object') {
    const parent = (body.reply as Record<string, unknown>).in_reply_to_tweet_id
    const place = '$.reply.in_reply_to_tweet_id'
    if (parent === undefined) mistakes.push({ parameters: { '$.reply': [shown(body.reply)] }, message: `${place}: is missing but it is required` })
    else if (typeof parent !== 'string')
      mistakes.push({ parameters: { [place]: [shown(parent)] }, message: `${place}: ${kindOf(parent)} found, string expected` })
    else if (!/^[0-9]{1,19}$/.test(parent))
      mistakes.push({ parameters: { [place]: [parent] }, message: `${place}: does not match the regex pattern ^[0-9]{1,19}$` })
  }
  const settings = body.reply_settings
  if (typeof settings === 'string' && !['following', 'mentionedUsers', 'subscribers', 'verified'].includes(settings))
    mistakes.push({
      parameters: { '$.reply_settings': [settings] },
      message: '$.reply_settings: does not have a value in the enumeration [following, mentionedUsers, subscribers, verified]',
    })
  return mistakes
}

interface Wanted {
  readonly text: string
  readonly parentId: string | undefined
  readonly mediaIds: readonly string[]
}

function judge(world: World, account: Account, { text, parentId, mediaIds }: Wanted): Draft | Reply {
  const normal = normalize(text)
  if (normal === '' && mediaIds.length === 0) return invalidRequest({ parameters: { text: [text] }, message: 'Your Tweet text is missing.' })
  if (twitter.hasInvalidCharacters(normal))
    return invalidRequest({ parameters: { text: [text] }, message: 'Your Tweet text holds characters that are not allowed.' })
  if (twitter.parseTweet(normal).weightedLength > 280)
    return invalidRequest({
      parameters: { text: [text] },
      message: 'Your Tweet text is too long. For more information on how Twitter determines text length see https://github.com/twitter/twitter-text.',
    })
  // https://docs.x.com/x-api/posts/manage-tweets/introduction
  if (twitter.extractCashtags(normal).length > 1) return problem(403, 'Posts created via the API are limited to 1 cashtag.')
  const parent = parentId === undefined ? undefined : world.posts.get(parentId)
  if (parentId !== undefined && (!parent || parent.deletedAt !== null))
    return problem(403, 'You attempted to reply to a Tweet that is deleted or not visible to you.')
  const since = world.clock.now().getTime() - duplicateMemory
  const repeated =
    normal !== '' &&
    world.posts
      .values()
      .some(post => post.accountId === account.id && post.deletedAt === null && Date.parse(post.createdAt) > since && normalize(post.text) === normal)
  return repeated ? problem(403, 'You are not allowed to create a Tweet with duplicate content.') : { text, parent, mediaIds }
}

function kindOf(value: unknown): string {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'array'
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'number'
  return typeof value
}

const shown = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value)).slice(0, 1000)
