import type { Call, Network, ReceivedPost, Reply, Twin } from '../../network.ts'
import { whoShows } from '../../oauth/grants.ts'
import { demoOf } from '../../oauth/open.ts'
import { authorize, revoke, token } from '../../oauth/server.ts'
import type { Account } from '../../oauth/world.ts'
import { everyScope } from './manners.ts'
import { begin, creatorInfo, fetchStatus, upload } from './posts.ts'
import { enveloped, problem, problemOfStatus } from './problems.ts'
import { isPublic, openWorld, statusOf, type World } from './world.ts'

interface Route {
  readonly scopes: readonly string[]
  answer(world: World, call: Call, account: Account): Reply
}

/** `GET /v2/user/info/`: the fields that are asked for. https://developers.tiktok.com/doc/tiktok-api-v2-get-user-info */
function userInfo(world: World, call: Call, { id, name, username }: Account): Reply {
  const fault = world.faults.take(world.name, ['profile-status'], username)
  if (fault) return { ...problemOfStatus(fault.status!), outcome: 'faulted', fault: 'profile-status' }
  const facts: Readonly<Record<string, string>> = {
    open_id: id,
    union_id: `union${id}`,
    avatar_url: 'https://p16-sign.tiktokcdn.com/avatar.jpeg',
    display_name: name,
  }
  const fields = (call.query.get('fields') ?? '').split(',').filter(field => field !== '')
  if (fields.length === 0) return problem(400, 'invalid_params', 'Fields is required.')
  const strange = fields.find(field => !Object.hasOwn(facts, field))
  if (strange) return problem(401, 'scope_not_authorized', `The user did not authorize the scope required for ${strange}.`)
  return enveloped({ user: Object.fromEntries(fields.map(field => [field, facts[field]])) }, 'read')
}

/** The part of TikTok's interface that is played, with the scopes that each call needs. */
const routes: Readonly<Record<string, Route>> = {
  'GET /v2/user/info/': { scopes: ['user.info.basic'], answer: userInfo },
  'POST /v2/post/publish/creator_info/query/': { scopes: ['video.publish'], answer: creatorInfo },
  'POST /v2/post/publish/video/init/': { scopes: ['video.publish'], answer: begin },
  'POST /v2/post/publish/status/fetch/': { scopes: ['video.publish', 'video.upload'], answer: fetchStatus },
}

const open: Readonly<Record<string, (world: World, call: Call) => Reply | Promise<Reply>>> = {
  'GET /v2/auth/authorize/': authorize,
  'POST /v2/auth/authorize/': authorize,
  'POST /v2/oauth/token/': token,
  'POST /v2/oauth/revoke/': revoke,
  'PUT /video/': upload,
}

/** TikTok as it is played here: its demo application is one for trying, which posts for the account itself alone. */
export const tiktok = {
  title: 'TikTok',
  addresses: { authorizeUrl: '/v2/auth/authorize/', apiUrl: '' },
  settings: { kind: 'TRIAL' },
  play(name, deps) {
    const world = openWorld(name, deps)
    return { network: networkOf(name, world), demo: demoOf(world, everyScope) }
  },
} satisfies Twin

function networkOf(name: string, world: World): Network {
  return {
    name,
    // The last chunk may be larger.
    takes: { mostBytes: 128 * 1024 * 1024 },
    answer(call) {
      const unguarded = open[`${call.method} ${call.path}`]
      if (unguarded) return unguarded(world, call)
      const route = routes[`${call.method} ${call.path}`]
      return route ? answerFor(world, call, route) : problemOfStatus(404)
    },
    received: () => received(world),
  }
}

function answerFor(world: World, call: Call, { scopes, answer }: Route): Reply {
  const { grant, account, fault } = whoShows(world, call)
  if (!grant) return fault ? { ...problemOfStatus(401), outcome: 'faulted', fault } : problemOfStatus(401)
  if (!scopes.some(scope => grant.scopes.includes(scope)))
    return problem(401, 'scope_not_authorized', 'The user did not authorize the scope required for completing this request.')
  return answer(world, call, account)
}

function received(world: World): ReceivedPost[] {
  return [...world.posts.values()]
    .filter(post => statusOf(world, post) === 'PUBLISH_COMPLETE')
    .sort((a, b) => a.readyAt - b.readyAt)
    .map(post => {
      const { id, username } = world.accounts.get(post.accountId)!
      return {
        receivedAt: new Date(post.readyAt).toISOString(),
        id: isPublic(post) ? post.postId : post.publishId,
        text: post.title,
        privacyStatus: isPublic(post) ? 'public' : 'private',
        media: [post.received!],
        account: { id, username },
        inReplyToId: null,
        deletedAt: null,
      }
    })
}
