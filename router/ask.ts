import { type Ask, type AskAs, type CallService, usualCallMs } from '../platform/ask.ts'
import { causeId } from '../platform/caller/cause.ts'
import { newId } from '../platform/ids.ts'
import { OutboundFailure } from '../platform/outbound/failure.ts'
import type { Registration, Subgraph } from '../subgraphs/subgraph.ts'
import { anonymous, type Viewer } from '../subgraphs/viewer.ts'
import type { Engine } from './engine/engine.ts'

/**
 * Asking within one process: the operation enters by the same engine as every other, as a service with no more scopes
 * than both its registration asks for and the viewer has.
 */
export function createAsk(engine: Engine, registrations: readonly Registration[]): Ask {
  const asks = new Map(registrations.map(({ appId, asks: scopes }) => [appId, new Set(scopes)]))
  /** One viewer asks much at the same time: for the same service it is one, so that subgraphs apart get one seal for all of it. */
  const acting = new WeakMap<AskAs['viewer'], Map<string, Viewer>>()
  const actingFor = (viewer: AskAs['viewer'], appId: string, allowed: ReadonlySet<string>): Viewer => {
    const ofViewer = acting.get(viewer) ?? new Map<string, Viewer>()
    acting.set(viewer, ofViewer)
    const known = ofViewer.get(appId)
    if (known) return known
    const { userId, organizationId, context } = viewer
    const scopes = viewer.scopes.filter(scope => allowed.has(scope))
    const service: Viewer = { ...anonymous, kind: 'service', userId, organizationId, scopes, appId, onBehalfOf: userId, context }
    ofViewer.set(appId, service)
    return service
  }
  return async (document, variables, { appId, viewer, signal }) => {
    const allowed = asks.get(appId)
    if (!allowed) throw new Error(`${appId} is not registered, so it may not ask`)
    const service = actingFor(viewer, appId, allowed)
    const { data, errors } = await engine.execute({ document, variables, viewer: service, requestId: causeId() ?? newId(), signal })
    const [first] = errors ?? []
    if (first) throw Object.assign(new Error(first.message, { cause: first.originalError }), { extensions: first.extensions })
    return data as never
  }
}

/** The longest answer that is read, in bytes: what answers calls of this kind is short. */
const mostBytes = 1024 * 1024

/**
 * Calling within one process: the row is answered by the subgraph itself, for a service of the platform. What that service may have done there
 * the subgraph looks up, as it does for every service of the platform.
 */
export function createCall(subgraphs: readonly Pick<Subgraph, 'registration' | 'http'>[], publicUrl: string): CallService {
  const bySlug = new Map<string, Pick<Subgraph, 'http'>>(subgraphs.map(subgraph => [subgraph.registration.slug, subgraph]))
  const known = new Map(subgraphs.map(({ registration: { appId, asks } }) => [appId, asks]))
  return async (path, { appId, organizationId }, { method = 'GET', headers = {}, body = null, timeoutMs = usualCallMs } = {}) => {
    const url = new URL(path, publicUrl)
    const slug = url.pathname.split('/')[1]!
    const scopes = known.get(appId)
    const subgraph = bySlug.get(slug)
    if (!scopes) throw new Error(`${appId} is not registered, so it may not call`)
    if (!subgraph?.http) throw new Error(`${slug} answers no rows by itself`)
    const viewer: Viewer = { ...anonymous, kind: 'service', appId, organizationId, scopes, context: organizationId === null ? 'personal' : 'organization' }
    const late = Promise.withResolvers<never>()
    const over = new AbortController()
    const timer = setTimeout(() => {
      late.reject(new OutboundFailure(`${slug} could not be asked: no answer within ${timeoutMs} ms`, true, undefined, 'late'))
      over.abort()
    }, timeoutMs)
    const answered = async () => {
      const response = await subgraph.http!(new Request(url, { method, headers, body: body as BodyInit | null, signal: over.signal }), viewer)
      return { status: response.status, headers: response.headers, text: await textOf(response, slug) }
    }
    const answer = answered()
    answer.catch(() => {})
    try {
      return await Promise.race([answer, late.promise])
    } catch (error) {
      if (error instanceof OutboundFailure) throw error
      throw new OutboundFailure(`${slug} could not be asked`, true, error)
    } finally {
      clearTimeout(timer)
    }
  }
}

async function textOf(response: Response, slug: string): Promise<string> {
  const parts: Uint8Array[] = []
  let size = 0
  for await (const part of response.body ?? []) {
    size += part.byteLength
    if (size > mostBytes) throw new OutboundFailure(`${slug} answered with more than ${mostBytes} bytes`, true, undefined, 'large')
    parts.push(part)
  }
  return Buffer.concat(parts).toString('utf8')
}
