import type { Ask } from '../../../platform/ask.ts'
import type { Clock } from '../../../platform/clock.ts'
import { DomainError } from '../../../platform/errors.ts'
import type { Foundation } from '../../subgraph.ts'
import type { Viewer } from '../../viewer.ts'
import { PaymentsServiceDocument } from '../ask.generated.ts'
import { registration } from '../registration.ts'

/** Where the parts of the platform are that payments' pages speak to: origins without a trailing slash. */
export interface Addresses {
  readonly auth: string
  readonly gateway: string
  readonly app: string
}

/** For how long the id is remembered here, and by whoever was told it, in seconds. */
const secondsRemembered = 60

/** What a page needs to know of payments before anybody signs in. */
export interface ServiceIdentity {
  readonly serviceId: string
  readonly slug: string
  readonly appId: string
  readonly environment: Foundation['environment']
  readonly addresses: Addresses
}

/**
 * Looks the service's id up in the registry by its slug, for it differs from database to database.
 * @returns asks for it on behalf of whoever wants to know; it rejects with UPSTREAM_FAILED when the registry cannot be reached and
 *   nothing is remembered
 */
export function serviceIdentity(
  ask: Ask,
  clock: Clock,
  environment: Foundation['environment'],
  addresses: Addresses,
): (viewer: Viewer) => Promise<ServiceIdentity> {
  const { slug, appId } = registration
  let known: { readonly serviceId: string; readonly until: number } | null = null
  /** Whoever asks meanwhile waits for the same answer: anybody may ask. */
  let asking: Promise<string> | null = null
  const lookUp = async (viewer: Viewer): Promise<string> => {
    const serviceId = await ask(PaymentsServiceDocument, {}, { appId, viewer }).then(
      ({ service }) => service?.id,
      () => undefined,
    )
    if (!serviceId) throw new DomainError('UPSTREAM_FAILED', 'The registry of services does not answer: try again in a moment.')
    known = { serviceId, until: clock.now().getTime() + secondsRemembered * 1000 }
    return serviceId
  }
  return async viewer => {
    const isKnown = known !== null && known.until > clock.now().getTime()
    if (!isKnown)
      asking ??= lookUp(viewer).finally(() => {
        asking = null
      })
    return { serviceId: isKnown ? known!.serviceId : await asking!, slug, appId, environment, addresses }
  }
}

/** The answer of `GET /payments/api/service-identity`. */
export const serviceIdentityResponse = (identity: ServiceIdentity): Response =>
  Response.json(identity, { headers: { 'cache-control': `public, max-age=${secondsRemembered}` } })
