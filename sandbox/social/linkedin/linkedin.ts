import type { Call, Network, ReceivedPost, Reply, Twin } from '../../network.ts'
import { whoShows } from '../../oauth/grants.ts'
import { demoOf } from '../../oauth/open.ts'
import { authorize, revoke, token } from '../../oauth/server.ts'
import { createComment, listComments } from './comments.ts'
import { pageScopes, personScopes } from './manners.ts'
import { act, type Digests, findAssets, finishers, upload } from './media.ts'
import { findMe, findOrganizations, findSize, findUserinfo, listRoles, listStatistics } from './organizations.ts'
import { type Caller, createPost, listPosts, nonexistentVersion, onePost } from './posts.ts'
import { denied, problem, unauthorized } from './problems.ts'
import { openWorld, pagePath, type World } from './world.ts'

interface Route {
  readonly pattern: RegExp
  /** Scopes of which the call needs at least one; rules that depend on the author are checked by the handler. */
  readonly scopes: readonly string[]
  answer(world: World, call: Call, caller: Caller, key: string): Reply | Promise<Reply>
}

const writing = ['w_member_social', 'w_organization_social']
const administering = ['rw_organization_admin']

/** The part of LinkedIn's interface that is played: https://learn.microsoft.com/linkedin/marketing/community-management/community-management-overview */
const routes: readonly Route[] = [
  { pattern: /^GET \/v2\/userinfo$/, scopes: ['openid'], answer: profile(findUserinfo) },
  { pattern: /^GET \/v2\/me$/, scopes: ['r_basicprofile'], answer: profile(findMe) },
  { pattern: /^GET \/rest\/organizationAcls$/, scopes: administering, answer: (world, call, { account }) => listRoles(world, call, account) },
  { pattern: /^GET \/rest\/organizations$/, scopes: administering, answer: (world, call, { account }) => findOrganizations(world, call, account) },
  {
    pattern: /^GET \/rest\/organizationalEntityShareStatistics$/,
    scopes: administering,
    answer: (world, call, { account }) => listStatistics(world, call, account),
  },
  { pattern: /^GET \/rest\/networkSizes\/([^/]+)$/, scopes: administering, answer: (world, call, { account }, key) => findSize(world, call, account, key) },
  { pattern: /^POST \/rest\/images$/, scopes: writing, answer: (world, call, { account }) => act(world, call, account, 'images') },
  { pattern: /^POST \/rest\/videos$/, scopes: writing, answer: (world, call, { account }) => act(world, call, account, 'videos') },
  {
    pattern: /^GET \/rest\/images(?:\/([^/]+))?$/,
    scopes: writing,
    answer: (world, call, { account }, key) => findAssets(world, call, account, 'images', key),
  },
  {
    pattern: /^GET \/rest\/videos(?:\/([^/]+))?$/,
    scopes: writing,
    answer: (world, call, { account }, key) => findAssets(world, call, account, 'videos', key),
  },
  {
    pattern: /^PUT \/dms-uploads\/([^/]+)\/(?:uploaded-image|uploadedVideo)$/,
    scopes: writing,
    answer: (world, call, { account }, key) => upload(world, finishers.get(world)!, call, account, key),
  },
  { pattern: /^POST \/rest\/posts$/, scopes: writing, answer: createPost },
  { pattern: /^GET \/rest\/posts$/, scopes: ['r_organization_social', 'w_member_social'], answer: listPosts },
  { pattern: /^(?:GET|DELETE) \/rest\/posts\/([^/]+)$/, scopes: writing, answer: onePost },
  { pattern: /^POST \/rest\/socialActions\/([^/]+)\/comments$/, scopes: writing, answer: createComment },
  { pattern: /^GET \/rest\/socialActions\/([^/]+)\/comments$/, scopes: ['r_organization_social'], answer: listComments },
]

function profile(find: (world: World, call: Call, account: Caller['account']) => Reply): Route['answer'] {
  return (world, call, { account }) => {
    const fault = world.faults.take(world.name, ['profile-status'], account.username)
    return fault ? { ...problem(fault.status!), outcome: 'faulted', fault: 'profile-status' } : find(world, call, account)
  }
}

const open: Readonly<Record<string, (world: World, call: Call) => Reply>> = {
  'GET /oauth/v2/authorization': authorize,
  'POST /oauth/v2/authorization': authorize,
  'POST /oauth/v2/accessToken': token,
  'POST /oauth/v2/revoke': revoke,
}

/** Stand-in for LinkedIn, for people and for pages: an application's scopes decide which of the two it serves. */
export const linkedin = {
  title: 'LinkedIn',
  addresses: { authorizeUrl: '/oauth/v2/authorization', tokenUrl: '/oauth/v2/accessToken', apiUrl: '' },
  settings: { version: '202610' },
  play(name, deps) {
    const world = openWorld(name, deps)
    const digests: Digests = new Map()
    finishers.set(world, digests)
    return { network: networkOf(name, world), demo: demoOf(world, personScopes), others: { [pagePath]: demoOf(world, pageScopes, pagePath) } }
  },
} satisfies Twin

function networkOf(name: string, world: World): Network {
  return {
    name,
    // A picture is uploaded in one piece.
    takes: { mostBytes: 32 * 1024 * 1024 },
    answer(call) {
      const unguarded = open[`${call.method} ${call.path}`]
      if (unguarded) return unguarded(world, call)
      for (const route of routes) {
        const found = route.pattern.exec(`${call.method} ${call.path}`)
        if (found) return answerFor(world, call, route, decode(found[1] ?? ''))
      }
      return problem(404, `No virtual resource found for path ${call.path}`)
    },
    received: () => received(world),
  }
}

/**
 * Whether LinkedIn still answers a version: versions stay active for a year
 * (https://learn.microsoft.com/linkedin/marketing/versioning).
 */
const isActive = (version: string): boolean => version >= '202511' && version <= '202610'

function answerFor(world: World, call: Call, { scopes, answer }: Route, key: string): Reply | Promise<Reply> {
  const { grant, account, fault } = whoShows(world, call)
  if (!grant) {
    if (!fault) return unauthorized('INVALID_ACCESS_TOKEN')
    return { ...unauthorized(fault === 'expired-token' ? 'EXPIRED_ACCESS_TOKEN' : 'REVOKED_ACCESS_TOKEN'), outcome: 'faulted', fault }
  }
  if (call.path.startsWith('/rest/')) {
    const version = call.headers['linkedin-version']
    if (typeof version !== 'string')
      return problem(400, 'A version must be present. Please specify a version by adding the LinkedIn-Version header.', { code: 'VERSION_MISSING' })
    if (!/^\d{6}$/.test(version)) return problem(400, 'The LinkedIn-Version header is not of the form YYYYMM.', { code: 'INVALID_VERSION' })
    if (!isActive(version)) return nonexistentVersion(version)
    if (call.headers['x-restli-protocol-version'] !== '2.0.0') return problem(400, 'The X-Restli-Protocol-Version header has to be 2.0.0')
  }
  if (!scopes.some(scope => grant.scopes.includes(scope))) return denied(call.path)
  return answer(world, call, { account, scopes: grant.scopes }, key)
}

function received(world: World): ReceivedPost[] {
  return [...world.posts.values()].map(({ urn, text, content, createdAt, accountId, author, under, media, deletedAt }) => {
    const { id, username } = world.accounts.get(accountId)!
    const organization = /^urn:li:organization:(\d+)$/.exec(author)?.[1]
    return {
      receivedAt: new Date(createdAt).toISOString(),
      id: urn,
      text,
      ...linkOf(content),
      ...(organization !== undefined && { target: { kind: 'organization' as const, id: organization } }),
      media,
      account: { id, username },
      inReplyToId: under,
      deletedAt: deletedAt === null ? null : new Date(deletedAt).toISOString(),
    }
  })
}

/** Returns the link that a post displays as its article. */
function linkOf(content: object | null): { readonly link?: string } {
  const { article } = (content ?? {}) as { readonly article?: { readonly source: string } }
  return article ? { link: article.source } : {}
}

function decode(segment: string): string {
  try {
    return decodeURIComponent(segment)
  } catch {
    return segment
  }
}
