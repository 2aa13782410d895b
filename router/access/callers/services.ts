import { createHash, timingSafeEqual } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import type { DedicatedToken } from '../../../config/services.ts'
import { forUserHeader, notMember, twoPeople } from '../../../platform/ask.ts'
import { DomainError } from '../../../platform/errors.ts'
import { isId } from '../../../platform/ids.ts'
import { type Authority, type ServiceClient, type ServiceClients, type Standing, standingOf } from '../../../subgraphs/authority.ts'
import { neverByToken, personalScopes, reservedOperations, type ServiceOperation, type Slug, scopesOf, scopesOfOperations } from '../../../subgraphs/scopes.ts'
import type { Registration } from '../../../subgraphs/subgraph.ts'
import { anonymous, type Viewer } from '../../../subgraphs/viewer.ts'
import { type ByServiceToken, type Caller, serviceHeaders, type Unauthenticated } from '../authenticate.ts'
import { createSessionCache } from '../known/session-cache.ts'
import { createSteady } from '../known/steady.ts'

/** The tokens that configuration names. Each has 32 characters at least. */
export interface ServiceTokens {
  /** Tokens of registered apps: they are valid in every service, with the scopes of the app's registration. */
  readonly own: ReadonlyMap<string, readonly string[]>
  /** Tokens for any app, valid at the gateway to providers only. */
  readonly gateway: readonly string[]
  /** Tokens for one app at one service only. */
  readonly dedicated: readonly DedicatedToken[]
}

/** Prefix of tokens that the gateway to providers issues. */
const issuedMark = 'sgs_'

/** What a token grants; the app is named by the request. */
type Grant =
  | { readonly kind: 'own'; readonly appId: string }
  | { readonly kind: 'gateway' }
  | { readonly kind: 'dedicated'; readonly appId: string; readonly at: Slug }

/** Rights of an app that uses a token. */
interface Allowance {
  readonly scopes: readonly string[]
  /** The only service at which the token is valid; null for all services. */
  readonly onlyAt: Slug | null
  /** Gateway operations that the app may call. */
  readonly operations: readonly ServiceOperation[]
}

/** Rights from one of a token's grants. */
type Allowed = Pick<Allowance, 'scopes' | 'operations'>

/**
 * The only service at which a token is valid; null for all of them. An app without a registration may call the gateway
 * only.
 */
const placeOf = (grant: Grant, isRegistered: boolean): Slug | null =>
  grant.kind === 'dedicated' ? grant.at : grant.kind === 'own' && isRegistered ? null : 'providers'

/** The parts of a registration that determine who may call, and with which rights. */
export type ServiceApp = Pick<Registration, 'slug' | 'appId' | 'asks' | 'grants'>

/** Returns the function that finds the grants of a token. Every known token is compared, so that timing reveals nothing about a wrong one. */
function readGrants(tokens: ServiceTokens): (token: string) => readonly Grant[] {
  const configured: readonly { readonly digest: Buffer; readonly grant: Grant }[] = [
    ...[...tokens.own].flatMap(([appId, list]) => list.map(token => ({ digest: digestOf(token), grant: { kind: 'own', appId } as const }))),
    ...tokens.gateway.map(token => ({ digest: digestOf(token), grant: { kind: 'gateway' } as const })),
    ...tokens.dedicated.map(({ token, appId, at }) => ({ digest: digestOf(token), grant: { kind: 'dedicated', appId, at } as const })),
  ]
  return token => {
    const digest = digestOf(token)
    return configured.filter(each => timingSafeEqual(each.digest, digest)).map(({ grant }) => grant)
  }
}

/**
 * Creates authentication of services: `X-Service-Token` with `X-App-Id`, and for whom they act, `X-Organization-Id` and
 * `X-On-Behalf-Of` or `X-For-User`. Rights are computed anew within a second: a service's streams end when its viewer
 * would be another one.
 * @param gateway the gateway to providers, which knows its clients and the tokens that it issued
 * @param elapsed monotonic clock in ms, for the age of cached answers
 */
export function createServiceCallers(
  tokens: ServiceTokens,
  registrations: readonly ServiceApp[],
  authority: Pick<Authority, 'standings' | 'hashKey'>,
  gateway: ServiceClients,
  elapsed: () => number = () => performance.now(),
): ByServiceToken {
  const grantsOf = readGrants(tokens)
  const standings = createSessionCache<Standing>(asked => authority.standings(asked), elapsed)
  const clients = createSessionCache(asked => gateway.serviceClients(asked), elapsed)
  const registered = new Map(registrations.map(registration => [registration.appId, registration]))
  const bySlug = new Map<string, ServiceApp>(registrations.map(registration => [registration.slug, registration]))

  /** The last known clients of registered apps at the gateway. */
  const lately = new Map<string, ServiceClient | undefined>()
  /**
   * Returns the gateway's client of an app that is valid in every service; an unavailable gateway is not waited for.
   */
  const besides = async (appId: string, since?: number): Promise<ServiceClient | undefined> => {
    const heard = await clients.of(appId, since).catch(() => lately.get(appId))
    lately.set(appId, heard)
    return heard
  }

  /** Returns the rights that a token gives to the app named with it; null when it is invalid for that app. */
  const allowedBy = async (grant: Grant, appId: string, since?: number): Promise<Allowed | null> => {
    if (grant.kind !== 'gateway' && grant.appId !== appId) return null
    const app = registered.get(appId)
    const asks = (app?.asks ?? []).filter(scope => !neverByToken.has(scope))
    const at = placeOf(grant, app !== undefined)
    if (at === null) {
      const client = await besides(appId, since)
      const operations = client?.active ? client.operations : []
      return { scopes: [...asks, ...scopesOfOperations(operations)], operations }
    }
    const askedThere = asks.filter(scope => isOf(scope, at))
    if (at !== 'providers') {
      const granted = grant.kind === 'dedicated' ? bySlug.get(at)?.grants?.[appId] : undefined
      return app || granted ? { scopes: [...askedThere, ...(granted ?? [])], operations: [] } : null
    }
    const client = await clients.of(appId, since)
    // A former service client is anonymous, even if its registration still exists.
    if (client ? !client.active : !app) return null
    const all = client?.operations ?? []
    const operations = grant.kind === 'gateway' ? all.filter(operation => !reservedOperations[operation]) : all
    return { scopes: [...askedThere, ...scopesOfOperations(operations)], operations }
  }

  const allowanceOf = async (token: string, appId: string, since?: number): Promise<Allowance | null> => {
    const scopes = new Set<string>()
    const operations = new Set<ServiceOperation>()
    const places = new Set<Slug | null>()
    for (const grant of grantsOf(token)) {
      const allowed = await allowedBy(grant, appId, since)
      if (allowed === null) continue
      places.add(placeOf(grant, registered.has(appId)))
      for (const scope of allowed.scopes) scopes.add(scope)
      for (const operation of allowed.operations) operations.add(operation)
    }
    if (places.size === 0 && token.startsWith(issuedMark)) {
      const issued = await clients.of(authority.hashKey(token), since)
      if (issued?.appId !== appId || !issued.active) return null
      return { scopes: scopesOfOperations(issued.operations), operations: issued.operations, onlyAt: 'providers' }
    }
    if (places.size === 0) return null
    // A token that two services accept is not valid everywhere; the first one is named.
    return { scopes: [...scopes].sort(), operations: [...operations].sort(), onlyAt: places.has(null) ? null : [...places][0]! }
  }

  const steady = createSteady()

  const isMemberOf = async (userId: string, organizationId: string | null, since?: number): Promise<boolean> =>
    organizationId !== null && isId(userId) && Boolean((await standings.of(standingOf({ organizationId, userId }), since))?.roles)

  /**
   * @param since elapsed milliseconds: older answers of the gateway are not used @default answers of the last second
   * are
   */
  const viewerOf = async (token: string, headers: Headers, since?: number): Promise<Viewer | DomainError> => {
    const [appId, organization, person, attributed] = ['x-app-id', 'x-organization-id', 'x-on-behalf-of', forUserHeader].map(name => headers.get(name) || null)
    const allowance = appId ? await allowanceOf(token, appId, since) : null
    if (!appId || !allowance) return unknownService()
    const { scopes, onlyAt, operations } = allowance
    const [organizationId, userId] = [organization ?? null, person ?? null]
    const forUser = attributed ?? null
    if (userId !== null && forUser !== null) return twoPeople()
    const asked = { organizationId, userId }
    const standing =
      organizationId === null && userId === null ? null : await standings.of(standingOf({ organizationId: asId(organizationId), userId: asId(userId) }), since)
    if (organizationId !== null && !standing?.organization)
      return new DomainError('NOT_FOUND', 'There is no organization with the id in X-Organization-Id.', { field: 'X-Organization-Id' })
    if (userId !== null && !standing?.roles) return delegationRefused(organizationId)
    if (forUser !== null && !(await isMemberOf(forUser, organizationId, since))) return notMember()
    const theirs = userId === null ? null : organizationId === null ? personalScopes : scopesOf(standing!.roles!)
    const viewer: Viewer = {
      ...anonymous,
      ...asked,
      kind: 'service',
      scopes: theirs ? scopes.filter(scope => (theirs as readonly string[]).includes(scope)) : scopes,
      appId,
      onBehalfOf: userId,
      forUser,
      context: organizationId === null ? 'personal' : 'organization',
      onlyAt,
      operations,
    }
    return steady(`${appId} ${onlyAt} ${organizationId} ${userId} ${forUser} ${viewer.scopes} ${operations}`, viewer)
  }

  return async (token, headers): Promise<Caller | Unauthenticated> => {
    // Credentials are read once: a socket's are checked again later, whatever becomes of the headers.
    const said = new Headers()
    for (const name of serviceHeaders) if (headers.get(name)) said.set(name, headers.get(name)!)
    const viewer = await viewerOf(token, said)
    if (viewer instanceof DomainError) return { refusal: viewer, setCookie: [], expired: false }
    const stands = async () => isDeepStrictEqual(await viewerOf(token, said, elapsed()), viewer)
    return { viewer, credential: { kind: 'service', id: null, expiresAt: null, stands } }
  }
}

const digestOf = (token: string): Buffer => createHash('sha256').update(token).digest()

/** Returns a text that has the form of an id; null for other texts, which match no record. */
const asId = (text: string | null): string | null => (text !== null && isId(text) ? text : null)

const isOf = (scope: string, slug: string): boolean => scope.startsWith(`${slug}:`)

/** Error for an invalid token or app; the message does not say which of them is wrong. */
const unknownService = () =>
  new DomainError('UNAUTHENTICATED', 'The X-Service-Token is not valid for the app in X-App-Id: send a token of that app, and its app id.')

const delegationRefused = (organizationId: string | null) =>
  new DomainError(
    'FORBIDDEN',
    organizationId === null
      ? 'There is no person with the id in X-On-Behalf-Of.'
      : 'The person in X-On-Behalf-Of is no member of the organization in X-Organization-Id: requests on their behalf are refused there.',
    { reason: 'DELEGATION', field: 'X-On-Behalf-Of' },
  )
