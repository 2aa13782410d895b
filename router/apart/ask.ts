import { createHash, timingSafeEqual } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { isDeepStrictEqual } from 'node:util'
import type { FastifyInstance } from 'fastify'
import { type DocumentNode, Kind, print } from 'graphql'
import { decodeJwt } from 'jose'
import { LRUCache } from 'lru-cache'
import type { AppTokens } from '../../config/readers.ts'
import type { Ask, AskAs } from '../../platform/ask.ts'
import { callIs, causeHeaders, causeId } from '../../platform/caller/cause.ts'
import { DomainError } from '../../platform/errors.ts'
import { isId } from '../../platform/ids.ts'
import type { Authority } from '../../subgraphs/authority.ts'
import { neverByToken } from '../../subgraphs/scopes.ts'
import { createSealReader, forOperation, isFor, type Purpose, type SealReader, type SealReaderOptions, sealHeader } from '../../subgraphs/seal.ts'
import type { Registration } from '../../subgraphs/subgraph.ts'
import { loggedAs, type Viewer } from '../../subgraphs/viewer.ts'
import { createIsMember } from '../access/known/members.ts'
import { readJsonBodies } from '../door/body.ts'
import type { Documents } from '../door/documents/documents.ts'
import { leavingSignal } from '../door/sending.ts'
import type { Engine } from '../engine/engine.ts'
import { type Exchange, UpstreamFailure } from '../engine/transport/exchange.ts'
import { openOrigins } from '../engine/transport/replicas.ts'
import { createAsk } from '../within/ask.ts'

/** Path at which the router accepts operations of distributed subgraphs. */
export const askPath = '/internal/ask'

/** Default time limit of a subgraph's operation in milliseconds; the operation may cross several subgraphs. */
const usualMs = 15_000

/** Limits on one subgraph's concurrent requests to the router. */
const limits = { connections: 32, mostWaiting: 1000, mostBytes: 16 * 1024 * 1024 } as const

/**
 * Remembers the seal with which each viewer arrived, so that a subgraph can send it when it acts on the viewer's
 * behalf.
 */
export interface Seals {
  readonly read: SealReader
  /**
   * Returns the viewer of a socket, whose streams outlive the seal that it was opened with: each request on its behalf
   * gets a fresh seal.
   * @param renew requests a seal from the router, at the other end of the socket
   */
  streaming(viewer: Viewer, renew: () => Promise<unknown>): Viewer
  /**
   * Returns the viewer's seal; undefined for a viewer that the router did not send. Rejects when the router no longer
   * issues seals for a socket's viewer.
   */
  of(viewer: object): Promise<string> | undefined
}

export function rememberSeals(read: SealReader): Seals {
  const seals = new WeakMap<object, () => Promise<string>>()
  return {
    async read(token, opens) {
      const viewer = await read(token, opens)
      seals.set(viewer, async () => token as string)
      return viewer
    },
    streaming(viewer, renew) {
      // Has its own abort signal: an HTTP request with the same seal must not depend on this socket.
      const own = Object.freeze({ ...viewer })
      seals.set(own, async () => {
        const token = await renew()
        if (!isDeepStrictEqual(await read(token, isFor(forOperation)), viewer))
          throw new Error('The router sealed somebody else in place of the viewer of a stream')
        return token as string
      })
      return own
    },
    of: viewer => seals.get(viewer)?.(),
  }
}

/** Headers by which a service identifies itself when it does not act for a viewer of the router: token and app name. */
const tokenHeader = 'x-service-token'
const appHeader = 'x-app-id'

/**
 * Creates the client by which a separate process sends operations to the router over HTTP, with the seal that the
 * viewer arrived with, or for a stream with one that the router issues for it. The seal names the calling subgraph and
 * the viewer. For other viewers, as in jobs, the service uses its token and states the viewer itself. A request that
 * failed on its way is sent once more, a mutation only if nothing of it was sent.
 * @param token the service's own @default none: then operations are only possible for a viewer whom the router sent in
 * the last minute, or whose
 *   stream the router keeps open
 */
export function createRemoteAsk(routerUrls: readonly string[], seals: Seals, token: string | null = null): Ask {
  const { pathname } = new URL(routerUrls[0]!)
  const router = openOrigins(
    routerUrls.map(url => new URL(url).origin),
    limits,
  )
  const path = `${pathname.replace(/\/$/, '')}${askPath}`
  return async (document, variables, { appId, viewer, forUser, timeoutMs = usualMs, signal }) => {
    const seal = await seals.of(viewer)
    if (!seal && !token) throw new Error(`${appId} asks for a viewer whom the router did not send, and has no token (APP_SERVICE_TOKENS)`)
    const id = causeId()
    const known = [...(id === undefined ? [] : ['x-request-id', id]), ...causeHeaders()]
    const headers = ['content-type', 'application/json', ...(seal ? [sealHeader, seal] : [tokenHeader, token!, appHeader, appId]), ...known]
    const made = seal ? undefined : claimed(viewer)
    const question = { path, headers, body: JSON.stringify({ query: textOf(document), variables, viewer: made, forUser: forUser ?? undefined }) }
    let over = false
    let exchange: Exchange = router.ask(question)
    const end = (why: string) => {
      over = true
      exchange.cancel(new UpstreamFailure('late', why))
    }
    const late = setTimeout(() => end(`No answer within ${timeoutMs} ms`), timeoutMs)
    const leave = () => end('Nobody waits for it any more')
    if (signal?.aborted) leave()
    signal?.addEventListener('abort', leave)
    const { status, text } = await exchange.answer
      .catch(failure => {
        if (over || !mayRepeat(failure, document)) throw failure
        exchange = router.ask(question)
        return exchange.answer
      })
      .catch(failure => {
        throw Object.assign(new DomainError('UPSTREAM_FAILED', 'The router did not answer; try again in a moment.'), { cause: failure })
      })
      .finally(() => {
        clearTimeout(late)
        signal?.removeEventListener('abort', leave)
      })
    const { data, error } = answerIn(text)
    if (error) throw Object.assign(new Error(error.message), { extensions: error.extensions })
    if (status !== 200) throw new Error(`The router answered ${status} to ${appId}`)
    return data as never
  }
}

const texts = new WeakMap<DocumentNode, string>()

/** Returns a document's text, printed once: services repeat the same few documents. */
function textOf(document: DocumentNode): string {
  const text = texts.get(document) ?? print(document)
  texts.set(document, text)
  return text
}

function mayRepeat(failure: unknown, { definitions }: DocumentNode): boolean {
  if (!(failure instanceof UpstreamFailure)) return false
  const changes = definitions.some(each => each.kind === Kind.OPERATION_DEFINITION && each.operation === 'mutation')
  return failure.stage === 'unsent' || (failure.stage === 'cut' && !changes)
}

/** Returns the viewer's identifying fields, without anything else that the object holds. */
const claimed = ({ userId, organizationId, roles, scopes, context }: AskAs['viewer']): AskAs['viewer'] => ({ userId, organizationId, roles, scopes, context })

interface Answer {
  readonly data?: unknown
  readonly error?: { readonly message: string; readonly extensions: Record<string, unknown> }
}

/** Reads an answer; a text of a proxy, which has neither data nor errors, is rejected. */
function answerIn(text: string): Answer {
  try {
    return (JSON.parse(text) ?? {}) as Answer
  } catch {
    throw new Error('The router answered with something that is not JSON')
  }
}

export interface AskDoor extends Pick<SealReaderOptions, 'keys' | 'clock'> {
  readonly engine: Engine
  /** Reads who is a member of which organization. */
  readonly authority: Pick<Authority, 'standings'>
  readonly documents: Documents
  readonly registrations: readonly Registration[]
  /** Tokens of services, by app id: several during a rotation. @default none */
  readonly tokens?: AppTokens | undefined
}

/** Whether a subgraph received the seal for a caller. Seals of the router's own requests are for no caller. */
const mayBeShown = (purpose: Purpose) => purpose.for === 'operation' || purpose.for === 'forward'

/**
 * Serves those operations at the router: it accepts only seals that it created itself, and calls as the app that they
 * were created for.
 */
export function serveAsk(app: FastifyInstance, { engine, authority, documents, registrations, keys, clock, tokens }: AskDoor): void {
  const ask = createAsk(engine, registrations, createIsMember(authority))
  const readers = new Map(registrations.map(({ slug, appId }) => [slug as string, { appId, read: createSealReader({ audience: slug, keys, clock }) }]))
  const refusal = () => new DomainError('UNAUTHENTICATED', 'Only subgraphs of this platform ask here.')
  const bySeal = async (token: unknown) => {
    const asking = readers.get(audienceOf(token))
    if (!asking) throw refusal()
    const viewer: Viewer = await asking.read(token, mayBeShown)
    callIs(loggedAs(viewer), viewer.organizationId)
    return { appId: asking.appId, viewer }
  }
  const byToken = (headers: IncomingHttpHeaders, made: unknown) => {
    const [given, appId] = [headers[tokenHeader], headers[appHeader]].map(String) as [string, string]
    // A service is limited to the scopes of its registration, also when it acts for a person.
    if (!(tokens?.get(appId) ?? []).some(token => isSame(given, token)) || !isClaim(made)) throw refusal()
    callIs(`service:${appId}`)
    return { appId, viewer: { ...made, scopes: made.scopes.filter(scope => !neverByToken.has(scope)) } }
  }
  app.register(async scope => {
    readJsonBodies(scope, limits.mostBytes)
    scope.post(askPath, async (request, reply) => {
      const token = request.headers[sealHeader]
      const {
        query,
        variables,
        viewer: made,
        forUser: named,
      } = (request.body ?? {}) as Partial<Record<'query' | 'viewer' | 'forUser', unknown>> & {
        readonly variables?: Record<string, unknown>
      }
      const forUser = named === undefined ? null : String(named)
      const { appId, viewer } = token === undefined ? byToken(request.headers, made) : await bySeal(token)
      const read = documents.read(String(query))
      if ('errors' in read) throw new DomainError('BAD_USER_INPUT', read.errors[0]!.message)
      try {
        return { data: await ask(read.document as Parameters<Ask>[0], variables ?? {}, { appId, viewer, forUser, signal: leavingSignal(reply.raw) }) }
      } catch (error) {
        const { message, extensions } = error as Error & { extensions?: Record<string, unknown> }
        if (!extensions) throw error
        return { error: { message, extensions } }
      }
    })
  })
}

const isSame = (given: string, right: string): boolean => {
  const [one, other] = [given, right].map(text => createHash('sha256').update(text).digest()) as [Buffer, Buffer]
  return timingSafeEqual(one, other)
}

function isClaim(made: unknown): made is AskAs['viewer'] {
  const { userId, organizationId, roles, scopes, context } = (made ?? {}) as Partial<Record<keyof AskAs['viewer'], unknown>>
  const words = (list: unknown) => Array.isArray(list) && list.every(each => typeof each === 'string')
  const id = (value: unknown) => value === null || isId(value as string)
  return id(userId) && id(organizationId) && words(roles) && words(scopes) && (context === 'personal' || context === 'organization')
}

/** Cache of verified seals: a service sends several requests with one. */
const mostRemembered = 1000
/** Maximum characters of a cached seal. */
const longestRemembered = 8192
const audiences = new LRUCache<string, string>({ max: mostRemembered })

/** Reads a token's audience without verifying it: it only selects the reader, which verifies. */
function audienceOf(token: unknown): string {
  const text = String(token)
  const known = audiences.get(text)
  if (known !== undefined) return known
  const audience = readAudience(text)
  if (text.length <= longestRemembered) audiences.set(text, audience)
  return audience
}

function readAudience(token: string): string {
  try {
    const { aud } = decodeJwt(token)
    return typeof aud === 'string' ? aud : ''
  } catch {
    return ''
  }
}
