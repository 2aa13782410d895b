import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { plainAddress } from '../../platform/caller/address.ts'
import { addressHeader, agentHeader, hostHeader } from '../../platform/caller/cause.ts'
import type { Clock } from '../../platform/clock.ts'
import { DomainError } from '../../platform/errors.ts'
import type { Authority } from '../../subgraphs/authority.ts'
import { openAiError } from '../../subgraphs/http/openai-error.ts'
import { readableOf, wholeOf } from '../../subgraphs/http/streamed.ts'
import type { Slug } from '../../subgraphs/scopes.ts'
import { sealHeader } from '../../subgraphs/seal.ts'
import { anonymous, type Viewer } from '../../subgraphs/viewer.ts'
import { type Authenticate, credentialHeaders, isCaller } from '../access/authenticate.ts'
import { type Claim, claimOf } from '../access/callers/claim.ts'
import { asksForJson, type StudioCallers } from '../access/callers/studio.ts'
import { meetsPolicy } from '../access/policies.ts'
import { readRawBodies } from '../door/body.ts'
import { webHeaders } from '../door/headers.ts'
import type { PassingBody } from '../door/receiving/passing.ts'
import { leavingSignal, rememberCaller } from '../door/sending.ts'
import type { Draining, EarlyEnd } from '../door/streaming/draining.ts'
import { type Hosts, passedPath } from '../hosts.ts'
import type { ForwardPlaces } from '../live/forward-places.ts'
import { createPublicPosts, isCounted } from './identity/public-posts.ts'
import { keepRole, rolesOf } from './place.ts'
import { anyMethod, type ForwardRow, pathOf } from './row.ts'
import { callerOf } from './shim.ts'

/** Headers of one connection, not of the message (RFC 9110 §7.6.1), and headers that the router sets itself. */
const ownHeaders: ReadonlySet<string> = new Set([
  'connection',
  'keep-alive',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  addressHeader,
  agentHeader,
  hostHeader,
  sealHeader,
])

/** The route's properties that the HTTP server uses. */
export interface RowConfig {
  readonly problems: ForwardRow['problems'] | undefined
  readonly streams: ForwardRow['streams'] | undefined
}

/** A subgraph as the target of forwarded routes: a call in this process, or HTTP. */
export interface ForwardTarget {
  readonly registration: { readonly slug: Slug; readonly title?: string }
  /**
   * @param target path and query as they were routed: a request's own address went through a URL parser
   * @param row how the request is forwarded, if the subgraph is in another process
   */
  http?(request: Request, viewer: Viewer, target: string, row?: Pick<ForwardRow, 'timeoutMs' | 'streams'>): Promise<Response>
}

export interface ForwardDoor {
  readonly clock: Clock
  /** Lets models' streams continue while the server closes. */
  readonly draining: Draining
  readonly authenticate: Authenticate
  /** Counts calls to routes without credentials. */
  readonly authority: Pick<Authority, 'countPublicPosts'>
  /** Authenticates people by tokens of the site-builder studio. @default none */
  readonly studio?: StudioCallers | undefined
  /** Limits the concurrent forwarded requests of callers. */
  readonly places: ForwardPlaces
  /** Origin of the platform, which completes paths to addresses. */
  readonly publicUrl: string
  readonly hosts: Hosts
  readonly subgraphs: readonly ForwardTarget[]
}

/**
 * Serves the forwarded routes of all services: body and answer pass unchanged, as streams or bytes, with all their
 * headers.
 */
export function serveForwards(app: FastifyInstance, rows: readonly { readonly slug: Slug; readonly row: ForwardRow }[], door: ForwardDoor): void {
  app.register(async scope => {
    const posts = createPublicPosts(door.authority, door.clock)
    // By method too: one address takes a page's form and shows the page, and only one of them has a body.
    const limits = new Map<string, number>()
    const limitOf = ({ method, routeOptions: { url = '' } }: FastifyRequest) => limits.get(`${method} ${url}`) ?? 0
    readRawBodies(scope, limitOf, ({ routeOptions: { config } }) => 'streams' in config && config.streams === 'up')
    for (const { slug, row } of rows) {
      const target = door.subgraphs.find(each => each.registration.slug === row.to)
      if (!target?.http) throw new Error(`${row.method} ${pathOf(slug, row)} is forwarded to ${row.to}, which serves no HTTP`)
      const [methods, url] = [row.method === '*' ? [...anyMethod] : [row.method], pathOf(slug, row)]
      for (const method of methods) {
        limits.set(`${method} ${url}`, row.limit)
        scope.route({
          method,
          url,
          config: { problems: row.problems, streams: row.streams } satisfies RowConfig,
          onRequest: [keepRole(door.hosts, slug, ...rolesOf(row)), ...(isCounted(row, method) ? [posts.count] : [])],
          handler: (request, reply) => forward(request, reply, { row, target, door, ...(isCounted(row, method) && { slow: posts.slow }) }),
        })
      }
    }
  })
}

/** Whether a body is forwarded as a stream. */
const isPassing = (body: unknown): body is PassingBody => typeof body === 'object' && body !== null && 'stream' in body

async function forward(request: FastifyRequest, reply: FastifyReply, way: Way): Promise<FastifyReply> {
  const { body: passing } = request
  if (!isPassing(passing)) return pass(request, reply, { ...way, bytes: Buffer.isBuffer(passing) ? passing : undefined })
  try {
    return await pass(request, reply, { ...way, passing })
  } catch (error) {
    await passing.leave()
    reply.header('connection', 'close')
    throw passing.refused ?? error
  }
}

interface Way {
  readonly row: ForwardRow
  readonly target: ForwardTarget
  readonly door: ForwardDoor
  /** Waits before a refusal of too much is answered. @default such refusals are answered at once */
  readonly slow?: () => Promise<void>
}

interface Passed extends Way {
  readonly bytes?: Buffer | undefined
  readonly passing?: PassingBody
}

async function pass(request: FastifyRequest, reply: FastifyReply, { row, target, door, slow, bytes, passing }: Passed): Promise<FastifyReply> {
  // A rejection before the request is forwarded depends on the caller's credentials, so caches must not store it.
  if (row.to === 'identity' || row.path.startsWith(passedPath)) reply.header('cache-control', 'no-store')
  const viewer =
    'public' in row.access
      ? await serviceOf(request, reply, row.access, door.authenticate)
      : ((await byStudio(request, row, door, bytes)) ?? (await guarded(request, reply, { ...row, access: row.access }, door.authenticate)))
  const headers = webHeaders(request.headers, ownHeaders)
  // Handlers that read cookies may rely on them being checked here.
  if (!door.hosts.isWeb(request.headers.host)) headers.delete('cookie')
  // Fastify reads forwarding headers only if it trusts the proxy.
  headers.set(addressHeader, plainAddress(request.ip))
  headers.set(hostHeader, request.headers.host ?? '')
  headers.set('x-request-id', request.id)
  const signal = leavingSignal(reply.raw)
  const asked = new Request(`${door.publicUrl}${request.url}`, {
    method: request.method,
    headers,
    signal,
    redirect: 'manual',
    ...(passing ? { body: passing.stream, duplex: 'half' } : bytes?.length && { body: new Uint8Array(bytes) }),
  })
  const answer = await door.places.run(placeOf(viewer, request.ip), () => target.http!(asked, viewer, request.url, row), signal)
  if (passing?.refused) throw passing.refused
  // A handler that refused reads no more of the body.
  if (passing && !passing.isWhole && answer.status >= 400) await passing.leave()
  if (passing && !passing.isWhole) reply.header('connection', 'close')
  // The handler may have ended or created a session, so cached credentials are forgotten. A rejected request did
  // neither: otherwise password guessing would make the router look up all credentials again.
  const isRefused = answer.status === 401 || answer.status === 429
  if (row.to === 'identity' && request.method !== 'GET' && request.method !== 'HEAD' && !isRefused) door.authenticate.forget()
  if (answer.status === 429) await slow?.()
  reply.code(answer.status)
  if (answer.status === 401) reply.header('www-authenticate', 'Bearer')
  for (const [name, value] of answer.headers) if (name !== 'set-cookie' && !ownHeaders.has(name)) reply.header(name, value)
  const cookies = answer.headers.getSetCookie()
  if (cookies.length > 0) reply.header('set-cookie', cookies)
  const body = wholeOf(answer) ?? (areModelEvents(row, answer) ? door.draining.pass(readableOf(answer)!, reply.raw, farewellOf) : readableOf(answer))
  // Fastify would send null as the JSON text `null`.
  return body ? reply.send(body) : reply.send()
}

/** Whether an answer is a stream of a model on OpenAI's wire. */
const areModelEvents = ({ problems }: ForwardRow, { headers, body }: Response): boolean =>
  problems === 'openai' && body !== null && (headers.get('content-type') ?? '').startsWith('text/event-stream')

const farewells: Readonly<Record<EarlyEnd, string>> = {
  stopping: 'This process is stopping and has ended the stream: send the request again.',
  broken: 'The answer was cut off: send the request again.',
}

/** The last event of a stream of a model that ends early. */
const farewellOf = (why: EarlyEnd): string => `data: ${JSON.stringify({ error: openAiError('UPSTREAM_FAILED', farewells[why], { reason: why }) })}\n\n`

/**
 * Returns the claim of a forwarded request: a service calls for many organizations, and has separate slots in each of
 * them.
 */
function placeOf(viewer: Viewer, address: string): Claim {
  const { caller, organization } = claimOf(viewer, address)
  return { caller: viewer.kind === 'service' ? organization : caller, organization }
}

type Public = Extract<ForwardRow['access'], { readonly public: string }>
type Guarded = Pick<ForwardRow, 'bearerKeys'> & { readonly access: Exclude<ForwardRow['access'], Public> }

/** Returns the viewer of a public route: a service, where the route accepts services. */
async function serviceOf(request: FastifyRequest, reply: FastifyReply, access: Public, authenticate: Authenticate): Promise<Viewer> {
  if (!access.services || request.headers['x-service-token'] === undefined) return anonymous
  return (await callerOf(request, reply, authenticate)).viewer
}

async function guarded(request: FastifyRequest, reply: FastifyReply, { access, bearerKeys }: Guarded, authenticate: Authenticate): Promise<Viewer> {
  const { viewer } = await callerOf(request, reply, bearerKeys ? takingBearerKeys(authenticate) : authenticate)
  const [may, sentence, wanted] =
    'scope' in access
      ? [viewer.scopes.includes(access.scope), `This takes the scope ${access.scope}.`, { requiredScopes: [[access.scope]] }]
      : [meetsPolicy(access.policy, viewer), 'Only people may do this: API keys, apps and services may not.', { requiredPolicies: [[access.policy]] }]
  if (may) return viewer
  if (viewer.kind === 'anonymous') throw new DomainError('UNAUTHENTICATED', `Sign in. ${sentence}`, wanted)
  throw new DomainError('FORBIDDEN', sentence, wanted)
}

/**
 * Returns the person whom a token of the studio names, where such tokens are valid; null for every other credential.
 */
async function byStudio(request: FastifyRequest, row: ForwardRow, { studio }: ForwardDoor, bytes: Buffer | undefined): Promise<Viewer | null> {
  const { authorization = '' } = request.headers
  const token = /^bearer +([\w-]+\.[\w-]+\.[\w-]+) *$/i.exec(authorization)?.[1]
  const isThere = row.studioAt?.some(below => request.url.split('?', 1)[0] === `/${row.to}${row.path.replace('/*', below)}`)
  if (!studio || !token || !isThere || !studio.claims(token)) return null
  if (credentialHeaders.some(name => name !== 'authorization' && request.headers[name] !== undefined)) return null
  const caller = await studio.caller(token)
  if (!isCaller(caller)) throw caller.refusal
  const { viewer } = caller
  rememberCaller(request, viewer)
  if (!viewer.scopes.includes('providers:ai.invoke'))
    throw new DomainError('FORBIDDEN', 'The person named by the studio may not call models in that organization.')
  if (!asksForJson(bytes))
    throw new DomainError('FORBIDDEN', 'The studio receives JSON only: send response_format json_schema or json_object.', { field: 'response_format' })
  return viewer
}

/**
 * Reads a key sent as a bearer token as if it had been sent in its own header. Together with another credential it is
 * rejected, like any two credentials.
 */
const takingBearerKeys =
  (authenticate: Authenticate) =>
  (headers: Headers, use: { readonly safe: boolean }): ReturnType<Authenticate> => {
    const key = /^bearer +(sgk_[\w-]+) *$/i.exec(headers.get('authorization') ?? '')?.[1]
    if (!key || headers.has('x-api-key')) return authenticate(headers, use)
    const own = new Headers(headers)
    own.delete('authorization')
    own.set('x-api-key', key)
    return authenticate(own, use)
  }
