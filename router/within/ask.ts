import { type Ask, type AskAs, notMember, twoPeople } from '../../platform/ask.ts'
import { causeId } from '../../platform/caller/cause.ts'
import { isId, newId } from '../../platform/ids.ts'
import type { Registration } from '../../subgraphs/subgraph.ts'
import { anonymous, type Viewer } from '../../subgraphs/viewer.ts'
import type { IsMember } from '../access/known/members.ts'
import type { Engine } from '../engine/engine.ts'

/**
 * Creates the client by which a service sends operations within one process. They pass the same engine as every other
 * operation, with the scopes that both the service's registration and the viewer have.
 * @param isMember checks that the person for whom a call is made is a member of the organization
 */
export function createAsk(engine: Engine, registrations: readonly Registration[], isMember: IsMember): Ask {
  const asks = new Map(registrations.map(({ appId, asks: scopes }) => [appId, new Set(scopes)]))
  /** Concurrent calls of one viewer to the same service share a viewer object, so that distributed subgraphs get one seal for them. */
  const acting = new WeakMap<AskAs['viewer'], Map<string, Viewer>>()
  const actingFor = (viewer: AskAs['viewer'], appId: string, forUser: string | null, allowed: ReadonlySet<string>): Viewer => {
    const ofViewer = acting.get(viewer) ?? new Map<string, Viewer>()
    acting.set(viewer, ofViewer)
    const place = `${appId} ${forUser}`
    const known = ofViewer.get(place)
    if (known) return known
    const { userId, organizationId, context } = viewer
    const scopes = viewer.scopes.filter(scope => allowed.has(scope))
    const service: Viewer = { ...anonymous, kind: 'service', userId, organizationId, scopes, appId, onBehalfOf: userId, forUser, context }
    ofViewer.set(place, service)
    return service
  }
  return async (document, variables, { appId, viewer, forUser = null, signal }) => {
    const allowed = asks.get(appId)
    if (!allowed) throw new Error(`${appId} is not registered, so it may not ask`)
    if (forUser !== null) await requireMember(isMember, viewer, forUser)
    const service = actingFor(viewer, appId, forUser, allowed)
    const { data, errors } = await engine.execute({ document, variables, viewer: service, requestId: causeId() ?? newId(), signal })
    const [first] = errors ?? []
    if (first) throw Object.assign(new Error(first.message, { cause: first.originalError }), { extensions: first.extensions })
    return data as never
  }
}

/**
 * Checks that a call may be attributed to a person.
 * @throws BAD_USER_INPUT when the call is also made on behalf of a person; FORBIDDEN when the person is not a member of
 * the call's organization
 */
export async function requireMember(
  isMember: IsMember,
  { userId, organizationId }: { readonly userId: string | null; readonly organizationId: string | null },
  forUser: string,
): Promise<void> {
  if (userId !== null) throw twoPeople()
  if (organizationId === null || !isId(forUser) || !(await isMember(forUser, organizationId))) throw notMember()
}
