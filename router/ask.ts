import type { Ask, AskAs } from '../platform/ask.ts'
import { causeId } from '../platform/caller/cause.ts'
import { newId } from '../platform/ids.ts'
import type { Registration } from '../subgraphs/subgraph.ts'
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
