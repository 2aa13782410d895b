import type { Call, Network, ReceivedPost, Reply, Twin } from '../../network.ts'
import { whoShows } from '../../oauth/grants.ts'
import { demoOf } from '../../oauth/open.ts'
import { authorize, revoke, token } from '../../oauth/server.ts'
import type { Account } from '../../oauth/world.ts'
import type { Endpoint } from './limits.ts'
import { countCall } from './limits.ts'
import { findMe, findPost, findPosts, listPosts } from './lookup.ts'
import { append, describe, finalize, findUpload, initialize, mostPart, receivedOf } from './media.ts'
import { createPost, deletePost, refuseByFault } from './posts.ts'
import { problem } from './problems.ts'
import type { World } from './world.ts'
import { openWorld } from './world.ts'

interface Route {
  readonly scopes: readonly string[]
  /** What an armed fault answers in place of everything else. */
  readonly fault?: (world: World, account: Account, call: Call) => Reply | undefined
  answer(world: World, call: Call, account: Account, id: string): Reply | Promise<Reply>
}

const reading = ['tweet.read', 'users.read'] as const
/** What X takes of a call that uploads nothing, in bytes. */
const mostBody = 64 * 1024

const uploading = ['media.write'] as const
const writing = ['tweet.read', 'tweet.write', 'users.read'] as const

/** The part of X's API v2 that is played, with the scopes that each call needs: https://docs.x.com/x-api/introduction */
const routes: Readonly<Record<Endpoint, Route>> = {
  'POST /2/tweets': { scopes: writing, fault: refuseByFault, answer: createPost },
  'DELETE /2/tweets/:id': { scopes: writing, answer: (world, _call, account, id) => deletePost(world, account, id) },
  'GET /2/tweets': { scopes: reading, answer: findPosts },
  'GET /2/tweets/:id': { scopes: reading, answer: (world, call, _account, id) => findPost(world, call, id) },
  'GET /2/users/me': { scopes: reading, fault: refuseProfile, answer: findMe },
  'GET /2/users/:id/tweets': { scopes: reading, answer: (world, call, _account, id) => listPosts(world, call, id) },
  'POST /2/media/upload/initialize': { scopes: uploading, answer: initialize },
  'POST /2/media/upload/:id/append': { scopes: uploading, answer: append },
  'POST /2/media/upload/:id/finalize': { scopes: uploading, answer: finalize },
  'GET /2/media/upload': { scopes: uploading, answer: findUpload },
  'POST /2/media/metadata': { scopes: uploading, answer: describe },
}

const open: Readonly<Record<string, (world: World, call: Call) => Reply>> = {
  'GET /i/oauth2/authorize': authorize,
  'POST /i/oauth2/authorize': authorize,
  'POST /2/oauth2/token': token,
  'POST /2/oauth2/revoke': revoke,
}

/** X as it is played here. */
export const x = {
  title: 'X',
  addresses: { authorizeUrl: '/i/oauth2/authorize', apiUrl: '', legacyApiUrl: '-legacy' },
  play(name, deps) {
    const world = openWorld(name, deps)
    return { network: networkOf(name, world), demo: demoOf(world, [...writing, 'media.write', 'offline.access']) }
  },
} satisfies Twin

function networkOf(name: string, world: World): Network {
  return {
    name,
    takes: { mostBytes: mostPart + 64 * 1024 },
    answer(call) {
      if (call.size > mostBody && !call.path.startsWith('/2/media/')) return problem(413)
      const unguarded = open[`${call.method} ${call.path}`]
      if (unguarded) return unguarded(world, call)
      const found = findRoute(call)
      return found ? answerFor(world, call, found.endpoint, found.id) : problem(404)
    },
    received: () => received(world),
  }
}

/** At X's present address alone: the earlier one still answers then. */
function refuseProfile(world: World, { username }: Account, { via }: Call): Reply | undefined {
  const fault = via === undefined ? world.faults.take('x', ['profile-status'], username) : undefined
  return fault && { ...problem(fault.status!), outcome: 'faulted', fault: 'profile-status' }
}

function findRoute({ method, path }: Call): { endpoint: Endpoint; id: string } | undefined {
  const exact = `${method} ${path}`
  if (Object.hasOwn(routes, exact) && !path.includes(':')) return { endpoint: exact as Endpoint, id: '' }
  const [, uploadId, step] = /^\/2\/media\/upload\/(\d+)\/(append|finalize)$/.exec(path) ?? []
  const uploads = `${method} /2/media/upload/:id/${step}`
  if (uploadId && Object.hasOwn(routes, uploads)) return { endpoint: uploads as Endpoint, id: uploadId }
  const [, collection, id, rest = ''] = /^\/2\/(tweets|users)\/([^/]+)(\/tweets)?$/.exec(path) ?? []
  const pattern = `${method} /2/${collection}/:id${rest}`
  return id !== undefined && Object.hasOwn(routes, pattern) ? { endpoint: pattern as Endpoint, id: decode(id) } : undefined
}

async function answerFor(world: World, call: Call, endpoint: Endpoint, id: string): Promise<Reply> {
  const route = routes[endpoint]
  const { grant, account, fault } = whoShows(world, call)
  if (!grant) return fault ? { ...problem(401), outcome: 'faulted', fault } : problem(401)
  if (!route.scopes.every(scope => grant.scopes.includes(scope))) return problem(403)
  const spoiled = route.fault?.(world, account, call)
  if (spoiled) return spoiled
  const { allowed, headers } = countCall(world, endpoint, account.id)
  const reply = allowed ? await route.answer(world, call, account, id) : problem(429)
  return { ...reply, headers: { ...reply.headers, ...headers } }
}

function received(world: World): ReceivedPost[] {
  return [...world.posts.values()]
    .sort((a, b) => (BigInt(a.id) < BigInt(b.id) ? -1 : 1))
    .map(({ id, text, createdAt, accountId, inReplyToId, deletedAt, mediaIds }) => {
      const { username } = world.accounts.get(accountId)!
      return {
        receivedAt: createdAt,
        id,
        text,
        account: { id: accountId, username },
        inReplyToId,
        deletedAt,
        ...(mediaIds && { media: mediaIds.map(key => receivedOf(world.uploads.get(key)!)) }),
      }
    })
}

function decode(segment: string): string {
  try {
    return decodeURIComponent(segment)
  } catch {
    return segment
  }
}
