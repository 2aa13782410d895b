import type { Call, Reply } from '../../network.ts'
import { json } from '../../network.ts'
import type { Account } from '../../oauth/world.ts'
import type { Parameters } from './parameters.ts'
import { isPostId, readParameters } from './parameters.ts'
import { invalidRequest, notFound } from './problems.ts'
import { toTweet } from './tweet.ts'
import type { StoredPost, World } from './world.ts'

/** `GET /2/users/me`: whom the token speaks for. https://docs.x.com/x-api/users/get-my-user */
export function findMe(_world: World, call: Call, account: Account): Reply {
  const parameters = readParameters(call.query, {})
  return 'status' in parameters ? parameters : json(200, { data: toUser(account, parameters.list('user.fields')) }, 'read')
}

/** `GET /2/tweets/:id`: a post that is not there is 200 with `errors` and no `data`. https://docs.x.com/x-api/posts/get-post-by-id */
export function findPost(world: World, call: Call, id: string): Reply {
  const parameters = readParameters(call.query, {})
  if ('status' in parameters) return parameters
  if (!isPostId(id)) return invalidRequest({ parameters: { id: [id] }, message: `The \`id\` query parameter value [${id}] is not valid` })
  const post = standing(world, id)
  return json(200, post ? { data: show(world, post, parameters), ...includes(world, [post], parameters) } : { errors: [notFound('tweet', id, 'id')] }, 'read')
}

/** `GET /2/tweets?ids=`: up to 100 posts; those that are not there stand in `errors`. https://docs.x.com/x-api/posts/get-posts-by-ids */
export function findPosts(world: World, call: Call): Reply {
  const parameters = readParameters(call.query, {
    ids: value => (value.split(',').length <= 100 && value.split(',').every(isPostId) ? undefined : 'is not valid'),
  })
  if ('status' in parameters) return parameters
  const ids = [...parameters.list('ids')]
  if (ids.length === 0) return invalidRequest({ parameters: { ids: [] }, message: 'The `ids` query parameter can not be empty' })
  const posts = ids.map(id => standing(world, id)).filter(post => post !== undefined)
  const missing = ids.filter(id => !posts.some(post => post.id === id))
  const body = {
    ...(posts.length > 0 && { data: posts.map(post => show(world, post, parameters)), ...includes(world, posts, parameters) }),
    ...(missing.length > 0 && { errors: missing.map(id => notFound('tweet', id, 'ids')) }),
  }
  return json(200, body, 'read')
}

/**
 * `GET /2/users/:id/tweets`: the account's posts, newest first, 10 at a time unless `max_results` (5 to 100) says otherwise; only
 * the latest 3200 can be reached. https://docs.x.com/x-api/users/get-posts
 */
export function listPosts(world: World, call: Call, userId: string): Reply {
  const id = (value: string) => (isPostId(value) ? undefined : 'is not valid')
  const time = (value: string) =>
    /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,3})?Z$/.test(value) && !Number.isNaN(Date.parse(value)) ? undefined : 'is not a valid date-time'
  const parameters = readParameters(call.query, {
    max_results: value => (/^\d{1,3}$/.test(value) && Number(value) >= 5 && Number(value) <= 100 ? undefined : 'is not between 5 and 100'),
    pagination_token: value => (readPage(value) ? undefined : 'is not valid'),
    since_id: id,
    until_id: id,
    start_time: time,
    end_time: time,
    exclude: () => undefined,
  })
  if ('status' in parameters) return parameters
  if (!isPostId(userId)) return invalidRequest({ parameters: { id: [userId] }, message: `The \`id\` query parameter value [${userId}] is not valid` })
  if (!world.accounts.get(userId)) return json(200, { errors: [notFound('user', userId, 'id')] }, 'read')

  const fault = world.faults.take('x', ['listing-lag'])
  const all = select(world, userId, parameters, fault ? world.clock.now().getTime() - (fault.delayMs ?? 0) : Number.POSITIVE_INFINITY)
  const size = Number(parameters.value('max_results') ?? 10)
  const token = parameters.value('pagination_token')
  const page = token === undefined ? undefined : readPage(token)
  const start = page ? all.findIndex(post => BigInt(post.id) <= page.from) : 0
  const posts = start === -1 ? [] : all.slice(start, start + size)
  const next = all[start + size]
  const previous = start > 0 ? all[Math.max(0, start - size)] : undefined
  const meta = {
    result_count: posts.length,
    ...(posts.length > 0 && { newest_id: posts[0]!.id, oldest_id: posts.at(-1)!.id }),
    ...(next && start !== -1 && { next_token: writePage(next.id) }),
    ...(previous && { previous_token: writePage(previous.id) }),
  }
  const body = { ...(posts.length > 0 && { data: posts.map(post => show(world, post, parameters)), ...includes(world, posts, parameters) }), meta }
  const reply = json(200, body, 'read')
  return fault ? { ...reply, outcome: 'faulted', fault: 'listing-lag' } : reply
}

function select(world: World, userId: string, parameters: Parameters, youngest: number): StoredPost[] {
  const since = BigInt(parameters.value('since_id') ?? 0)
  const until = BigInt(parameters.value('until_id') ?? '9999999999999999999')
  const from = Date.parse(parameters.value('start_time') ?? '1970-01-01T00:00:00Z')
  const to = Date.parse(parameters.value('end_time') ?? '9999-12-31T23:59:59Z')
  const withoutReplies = parameters.list('exclude').has('replies')
  return [...world.posts.values()]
    .filter(post => post.accountId === userId && post.deletedAt === null)
    .sort((a, b) => (BigInt(a.id) < BigInt(b.id) ? 1 : -1))
    .slice(0, 3200)
    .filter(post => {
      const at = Date.parse(post.createdAt)
      const second = Math.floor(at / 1000) * 1000
      return (
        BigInt(post.id) > since &&
        BigInt(post.id) < until &&
        second >= Math.floor(from / 1000) * 1000 &&
        second < to &&
        at <= youngest &&
        !(withoutReplies && post.inReplyToId !== null)
      )
    })
}

const writePage = (id: string): string => Buffer.from(`page:${id}`).toString('base64url')

function readPage(token: string): { from: bigint } | undefined {
  const id = /^page:([0-9]{1,19})$/.exec(Buffer.from(token, 'base64url').toString('utf8'))?.[1]
  return id === undefined ? undefined : { from: BigInt(id) }
}

function standing(world: World, id: string): StoredPost | undefined {
  const post = world.posts.get(id)
  return post?.deletedAt === null ? post : undefined
}

function show(world: World, post: StoredPost, { fields }: Parameters): object {
  const account = (username: string) => world.accounts.values().find(one => one.username.toLowerCase() === username.toLowerCase())
  return toTweet(post, fields, { account, parent: post.inReplyToId === null ? undefined : world.posts.get(post.inReplyToId) })
}

/** The objects beside the posts that `expansions` asks for: authors and the posts replied to. */
function includes(world: World, posts: readonly StoredPost[], parameters: Parameters): { includes?: object } {
  const asked = parameters.list('expansions')
  const fields = parameters.list('user.fields')
  const users = asked.has('author_id') ? [...new Set(posts.map(post => post.accountId))].map(id => toUser(world.accounts.get(id)!, fields)) : []
  const parents =
    asked.has('referenced_tweets.id') || asked.has('referenced_posts') ? [...new Set(posts.map(post => post.inReplyToId))].filter(id => id !== null) : []
  const tweets = parents.map(id => standing(world, id)).filter(post => post !== undefined)
  if (users.length === 0 && tweets.length === 0) return {}
  return {
    includes: {
      ...(users.length > 0 && { users }),
      ...(tweets.length > 0 && { [asked.has('referenced_posts') ? 'posts' : 'tweets']: tweets.map(post => show(world, post, parameters)) }),
    },
  }
}

function toUser(account: Account, fields: ReadonlySet<string>): object {
  const more: Record<string, unknown> = {
    created_at: account.createdAt,
    description: 'An account of the sandbox.',
    profile_image_url: 'https://abs.twimg.com/sticky/default_profile_images/default_profile_normal.png',
    protected: false,
    public_metrics: { followers_count: 0, following_count: 0, tweet_count: 0, listed_count: 0, like_count: 0, media_count: 0 },
    url: '',
    verified: false,
    verified_type: 'none',
  }
  return { id: account.id, name: account.name, username: account.username, ...Object.fromEntries(Object.entries(more).filter(([name]) => fields.has(name))) }
}
