import type { Ask } from '../../../../platform/ask.ts'
import type { Cipher } from '../../../../platform/cipher.ts'
import type { Clock } from '../../../../platform/clock.ts'
import { DomainError } from '../../../../platform/errors.ts'
import type { CallersWay } from '../../../../platform/outbound/callers.ts'
import type { Outbound } from '../../../../platform/outbound/outbound.ts'
import { AgentsServiceDocument } from '../../ask.generated.ts'
import { registration } from '../../registration.ts'
import { type ConnectorRow, openHeaders } from '../../stores/connector.ts'

/** What calls to connectors are made with. */
export interface Connect {
  /** To addresses that people entered for connectors. */
  readonly way: CallersWay
  /** The platform's own way out, to the developer platform. */
  readonly outbound: Outbound
  /** Where the developer platform is; null: it is not asked. */
  readonly developersUrl: string | null
  readonly cipher: Cipher
  /** Asks our own platform. */
  readonly ask: Ask
  /** Headers that every call to a connector carries: its own, and those that say who calls. @throws UPSTREAM_FAILED without the registry */
  headersFor(connector: Pick<ConnectorRow, 'id' | 'headers' | 'organizationId'>): Promise<Readonly<Record<string, string>>>
}

/** For how long the service's id is remembered, in ms. */
const rememberedMs = 60_000

interface Parts extends Pick<Connect, 'way' | 'outbound' | 'developersUrl' | 'cipher' | 'ask'> {
  readonly clock: Clock
}

/** Opens what calls to connectors are made with. The service's id is looked up in the registry by its slug, for it differs from database to database. */
export function openConnect({ way, outbound, developersUrl, cipher, clock, ask }: Parts): Connect {
  const { appId } = registration
  let known: { readonly id: string; readonly until: number } | null = null
  let asking: Promise<string> | null = null

  async function lookUp(organizationId: string): Promise<string> {
    const viewer = { userId: null, organizationId, roles: [], scopes: [], context: 'organization' } as const
    const id = await ask(AgentsServiceDocument, {}, { appId, viewer }).then(
      ({ service }) => service?.id,
      () => undefined,
    )
    if (!id) throw new DomainError('UPSTREAM_FAILED', 'The registry of services does not answer: try again in a moment.')
    known = { id, until: clock.now().getTime() + rememberedMs }
    return id
  }

  async function serviceId(organizationId: string): Promise<string> {
    if (known !== null && known.until > clock.now().getTime()) return known.id
    // Calls that begin meanwhile wait for the same answer.
    asking ??= lookUp(organizationId).finally(() => {
      asking = null
    })
    return asking
  }

  return {
    way,
    outbound,
    developersUrl,
    cipher,
    ask,
    async headersFor(connector) {
      const { organizationId } = connector
      const own = Object.fromEntries(openHeaders(cipher, connector).map(({ name, value }) => [name, value]))
      return { ...own, 'x-service-id': await serviceId(organizationId), 'x-app-id': appId, 'x-organization-id': organizationId }
    },
  }
}
