import { Refusal } from '../../../platform/errors.ts'
import { reservedOperations, type ServiceOperation, serviceOperations, slugs } from '../../scopes.ts'
import { activeOrganization, type Viewer } from '../../viewer.ts'
import { registration } from '../registration.ts'
import type { ClientDirectory } from '../stores/administration/clients.ts'
import type { PlatformOrganization } from '../stores/credential/platform.ts'

/** On whose account something is done here: it is limited, logged and paid under all of these. */
export interface Caller {
  readonly organizationId: string
  /** The person who asks, or on whose behalf or for whom an app does, or the service account that a key acts as. */
  readonly userId: string | null
  /** The app that asks, or that a person or a key says they work for; `app_providers` where none is said. */
  readonly appId: string
  /** What the app that asks may have done; null for people and keys. */
  readonly operations: readonly ServiceOperation[] | null
}

/** What is asked about callers: the part of a context that knows. */
export interface Asked {
  readonly viewer: Viewer
  readonly clients: Pick<ClientDirectory, 'of' | 'used'>
  readonly platformOrganization: Pick<PlatformOrganization, 'find'>
}

/**
 * Whether one of the platform's own services calls from within the platform. The router looks up the operations of every service that comes with a
 * token from outside; a service that asks within the platform brings none.
 */
export const asksWithin = ({ kind, operations }: Pick<Viewer, 'kind' | 'operations'>): boolean => kind === 'service' && operations === null

/** What a service may have done that the router did not look up: one that asks within the platform, by its registration. */
const byRegistration = (viewer: Viewer): readonly ServiceOperation[] =>
  (Object.keys(serviceOperations) as ServiceOperation[]).filter(each => !reservedOperations[each] && viewer.scopes.includes(serviceOperations[each]))

/** What the app of a service's viewer may have done; none for one whose client is switched off. */
async function operationsOf({ viewer, clients }: Asked): Promise<readonly ServiceOperation[]> {
  if (viewer.operations) return viewer.operations
  const client = await clients.of(viewer.appId!)
  if (!client) return byRegistration(viewer)
  return client.active ? client.operations : []
}

/**
 * The organization that a call counts for. A service that asks within the platform for no organization asks for the platform itself: that is the
 * account of the organization that looks after it.
 * @throws BAD_USER_INPUT for a service with a token that names no organization; FORBIDDEN for anybody else without an active organization
 */
async function organizationOf({ viewer, platformOrganization }: Asked): Promise<string> {
  if (viewer.organizationId === null && asksWithin(viewer)) {
    const platforms = await platformOrganization.find()
    if (platforms) return platforms
  }
  return activeOrganization(viewer, 'Calls')
}

/**
 * On whose account a viewer asks.
 * @throws BAD_USER_INPUT for a service with a token that names no organization, and for an app in `X-App-Id` that nobody knows; FORBIDDEN
 *   without an active organization
 */
export async function callerOf(asked: Asked): Promise<Caller> {
  const { viewer } = asked
  const organizationId = await organizationOf(asked)
  if (viewer.kind === 'service') return { organizationId, userId: viewer.userId ?? viewer.forUser, appId: viewer.appId!, operations: await operationsOf(asked) }
  return { organizationId, userId: viewer.userId, appId: await appOf(asked), operations: null }
}

const studioApp = 'app_studio'

/** The app that a person or a key works for. @throws BAD_USER_INPUT for one that nobody knows */
async function appOf({ viewer: { forApp }, clients }: Asked): Promise<string> {
  if (forApp === null) return registration.appId
  // The studio calls with tokens of its own, whether it has a client or not.
  if (forApp === studioApp || slugs.some(slug => forApp === `app_${slug}`) || (await clients.of(forApp))?.active) return forApp
  throw new Refusal('BAD_USER_INPUT', 'X-App-Id names no app that is known here: leave it out, or name a registered app or an active service client.', {
    field: 'X-App-Id',
  })
}

/**
 * Requires that a viewer may have this done here. What scopes say was asked before; of services the client says more.
 * @throws FORBIDDEN for a service whose client does not have the operation, and for people and keys where services alone may ask
 */
export async function requireOperation(asked: Asked, operation: ServiceOperation): Promise<void> {
  const { viewer } = asked
  if (viewer.kind !== 'service') {
    if (!reservedOperations[operation]) return
    throw new Refusal('FORBIDDEN', `This is for services whose client has the operation ${operation}: no person and no key has it.`, { operation })
  }
  if (!(await operationsOf(asked)).includes(operation))
    throw new Refusal('FORBIDDEN', `The app ${viewer.appId} may not ask for this: its client, or this token of it, does not have the operation ${operation}.`, {
      operation,
    })
  asked.clients.used(viewer.appId!)
}

/**
 * Keeps services that come with a token out of what is no operation of theirs, although it takes the same scope. What services ask within the
 * platform goes by their registration.
 * @throws FORBIDDEN
 */
export function requireNoService({ kind, operations }: Pick<Viewer, 'kind' | 'operations'>): void {
  if (kind === 'service' && operations !== null)
    throw new Refusal('FORBIDDEN', 'A service has done here what the operations of its client say, and this is none: a person or a key asks for it.')
}
