import { DomainError } from '../../../platform/errors.ts'
import { reservedOperations, type ServiceOperation, serviceOperations, slugs } from '../../scopes.ts'
import { activeOrganization, type Viewer } from '../../viewer.ts'
import { registration } from '../registration.ts'
import type { ClientDirectory } from '../stores/administration/clients.ts'
import type { PlatformOrganization } from '../stores/credential/platform.ts'

/** The account of a call: it is limited, logged and paid under all of these. */
export interface Caller {
  readonly organizationId: string
  /** The calling person, or the one on whose behalf an app calls, or the service account that a key acts as. */
  readonly userId: string | null
  /** The calling app, or the one that a person or a key names; `app_providers` where none is named. */
  readonly appId: string
  /** Operations that the calling app may use; null for people and keys. */
  readonly operations: readonly ServiceOperation[] | null
}

/** The parts of a context that determine the caller. */
export interface Asked {
  readonly viewer: Viewer
  readonly clients: Pick<ClientDirectory, 'of' | 'used'>
  readonly platformOrganization: Pick<PlatformOrganization, 'find'>
}

/**
 * Whether one of the platform's own services calls from within the platform. The router looks up the operations of a
 * service with a token; a service within the platform has none.
 */
export const asksWithin = ({ kind, operations }: Pick<Viewer, 'kind' | 'operations'>): boolean => kind === 'service' && operations === null

/** Returns the operations of a service within the platform, by its registration. */
const byRegistration = (viewer: Viewer): readonly ServiceOperation[] =>
  (Object.keys(serviceOperations) as ServiceOperation[]).filter(each => !reservedOperations[each] && viewer.scopes.includes(serviceOperations[each]))

/** Returns the operations of a service's app; none for a disabled client. */
async function operationsOf({ viewer, clients }: Asked): Promise<readonly ServiceOperation[]> {
  if (viewer.operations) return viewer.operations
  const client = await clients.of(viewer.appId!)
  if (!client) return byRegistration(viewer)
  return client.active ? client.operations : []
}

/**
 * Returns the organization that a call counts for. A service within the platform without an organization calls for the
 * platform itself: the account of the organization that administers it.
 * @throws BAD_USER_INPUT for a service with a token that names no organization; FORBIDDEN for anybody else without an
 * active organization
 */
async function organizationOf({ viewer, platformOrganization }: Asked): Promise<string> {
  if (viewer.organizationId === null && asksWithin(viewer)) {
    const platforms = await platformOrganization.find()
    if (platforms) return platforms
  }
  return activeOrganization(viewer, 'Calls')
}

/**
 * Returns the account of a viewer's call.
 * @throws BAD_USER_INPUT for a service with a token that names no organization, and for an unknown app in `X-App-Id`;
 * FORBIDDEN
 *   without an active organization
 */
export async function callerOf(asked: Asked): Promise<Caller> {
  const { viewer } = asked
  const organizationId = await organizationOf(asked)
  if (viewer.kind === 'service') return { organizationId, userId: viewer.userId ?? viewer.forUser, appId: viewer.appId!, operations: await operationsOf(asked) }
  return { organizationId, userId: viewer.userId, appId: await appOf(asked), operations: null }
}

const studioApp = 'app_studio'

/** Returns the app that a person or a key works for. @throws BAD_USER_INPUT for an unknown one */
async function appOf({ viewer: { forApp }, clients }: Asked): Promise<string> {
  if (forApp === null) return registration.appId
  // The studio calls with tokens of its own, whether it has a client or not.
  if (forApp === studioApp || slugs.some(slug => forApp === `app_${slug}`) || (await clients.of(forApp))?.active) return forApp
  throw new DomainError('BAD_USER_INPUT', 'X-App-Id names no app that is known here: leave it out, or name a registered app or an active service client.', {
    field: 'X-App-Id',
  })
}

/**
 * Checks that a viewer may use an operation. Scopes were checked before; for services their client decides as well.
 * @throws FORBIDDEN for a service whose client does not have the operation, and for people and keys where only services
 * may call
 */
export async function requireOperation(asked: Asked, operation: ServiceOperation): Promise<void> {
  const { viewer } = asked
  if (viewer.kind !== 'service') {
    if (!reservedOperations[operation]) return
    throw new DomainError('FORBIDDEN', `This is for services whose client has the operation ${operation}: no person and no key has it.`, { operation })
  }
  if (!(await operationsOf(asked)).includes(operation))
    throw new DomainError(
      'FORBIDDEN',
      `The app ${viewer.appId} may not ask for this: its client, or this token of it, does not have the operation ${operation}.`,
      {
        operation,
      },
    )
  asked.clients.used(viewer.appId!)
}

/**
 * Rejects services with a token where no operation of theirs applies, although the scope is the same. Services within
 * the platform are limited by their registration.
 * @throws FORBIDDEN
 */
export function requireNoService({ kind, operations }: Pick<Viewer, 'kind' | 'operations'>): void {
  if (kind === 'service' && operations !== null)
    throw new DomainError('FORBIDDEN', 'A service has done here what the operations of its client say, and this is none: a person or a key asks for it.')
}
