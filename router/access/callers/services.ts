import { createHash, timingSafeEqual } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import type { DedicatedToken } from '../../../config/services.ts'
import { forUserHeader, notMember, twoPeople } from '../../../platform/ask.ts'
import { Refusal } from '../../../platform/errors.ts'
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
  /** By app: in every service it may do what its registration asks for. */
  readonly own: ReadonlyMap<string, readonly string[]>
  /** For whatever app, at the gateway to providers alone. */
  readonly gateway: readonly string[]
  /** For one app at one service alone. */
  readonly dedicated: readonly DedicatedToken[]
}

/** What tokens begin with that the gateway to providers issues. */
const issuedMark = 'sgs_'

/** What a token stands for; the app is the one that it is shown with. */
type Grant =
  | { readonly kind: 'own'; readonly appId: string }
  | { readonly kind: 'gateway' }
  | { readonly kind: 'dedicated'; readonly appId: string; readonly at: Slug }

/** What an app may do with a token. */
interface Allowance {
  readonly scopes: readonly string[]
  /** The service that the token is for alone; null: it counts everywhere. */
  readonly onlyAt: Slug | null
  /** What it may have done at the gateway to providers. */
  readonly operations: readonly ServiceOperation[]
}

/** What one of a token's grants gives. */
type Allowed = Pick<Allowance, 'scopes' | 'operations'>

/** The service that a token is for alone; null: all of them. An app that no service is registered as has a place at the gateway alone. */
const placeOf = (grant: Grant, isRegistered: boolean): Slug | null =>
  grant.kind === 'dedicated' ? grant.at : grant.kind === 'own' && isRegistered ? null : 'providers'

/** What of a registration says who may call, and for what. */
export type ServiceApp = Pick<Registration, 'slug' | 'appId' | 'asks' | 'grants'>

/**
 * Makes the part of authentication that knows services: `X-Service-Token` with `X-App-Id`, and for whom they ask, `X-Organization-Id` and
 * `X-On-Behalf-Of` or `X-For-User`. What a service may do is worked out anew within a second: its streams end when it would be another viewer by now.
 * @param gateway the gateway to providers, which knows its clients and the tokens that it issued
 * @param elapsed milliseconds since some beginning, by which it is decided what is still remembered @default performance.now
 */
export function createServiceCallers(
  tokens: ServiceTokens,
  registrations: readonly ServiceApp[],
  authority: Pick<Authority, 'standings' | 'hashKey'>,
  gateway: ServiceClients,
  elapsed: () => number = () => performance.now(),
): ByServiceToken {
  const configured: readonly { readonly digest: Buffer; readonly grant: Grant }[] = [
    ...[...tokens.own].flatMap(([appId, list]) => list.map(token => ({ digest: digestOf(token), grant: { kind: 'own', appId } as const }))),
    ...tokens.gateway.map(token => ({ digest: digestOf(token), grant: { kind: 'gateway' } as const })),
    ...tokens.dedicated.map(({ token, appId, at }) => ({ digest: digestOf(token), grant: { kind: 'dedicated', appId, at } as const })),
  ]
  const standings = createSessionCache<Standing>(asked => authority.standings(asked), elapsed)
  const clients = createSessionCache(asked => gateway.serviceClients(asked), elapsed)
  const registered = new Map(registrations.map(registration => [registration.appId, registration]))
  const bySlug = new Map<string, ServiceApp>(registrations.map(registration => [registration.slug, registration]))

  /** Every token is compared, however early one fits: how long it takes says nothing of where a wrong one begins to differ. */
  const grantsOf = (token: string): readonly Grant[] => {
    const digest = digestOf(token)
    return configured.filter(each => timingSafeEqual(each.digest, digest)).map(({ grant }) => grant)
  }

  /** What was last heard of clients of registered apps. */
  const lately = new Map<string, ServiceClient | undefined>()
  /** The client of an app that is known in every service: that does not wait for the gateway where it is away. */
  const besides = async (appId: string, since?: number): Promise<ServiceClient | undefined> => {
    const heard = await clients.of(appId, since).catch(() => lately.get(appId))
    lately.set(appId, heard)
    return heard
  }

  /** What a token allows the app that shows it; null when it does not count for that app. */
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
    // A token that two services accept does not count everywhere; the first one is named.
    return { scopes: [...scopes].sort(), operations: [...operations].sort(), onlyAt: places.has(null) ? null : [...places][0]! }
  }

  const steady = createSteady()

  const isMemberOf = async (userId: string, organizationId: string | null, since?: number): Promise<boolean> =>
    organizationId !== null && isId(userId) && Boolean((await standings.of(standingOf({ organizationId, userId }), since))?.roles)

  /** @param since elapsed milliseconds: what was heard before does not count @default what was heard within a second does */
  const viewerOf = async (token: string, headers: Headers, since?: number): Promise<Viewer | Refusal> => {
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
      return new Refusal('NOT_FOUND', 'There is no organization of the id in X-Organization-Id.', { field: 'X-Organization-Id' })
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
    if (viewer instanceof Refusal) return { refusal: viewer, setCookie: [], expired: false }
    const stands = async () => isDeepStrictEqual(await viewerOf(token, said, elapsed()), viewer)
    return { viewer, credential: { kind: 'service', id: null, expiresAt: null, stands } }
  }
}

const digestOf = (token: string): Buffer => createHash('sha256').update(token).digest()

/** What is no id names nothing, of which nothing stands. */
const asId = (text: string | null): string | null => (text !== null && isId(text) ? text : null)

const isOf = (scope: string, slug: string): boolean => scope.startsWith(`${slug}:`)

/** One sentence for everything that is wrong with token and app: which of them it is, is nobody's business. */
const unknownService = () =>
  new Refusal('UNAUTHENTICATED', 'The X-Service-Token is not valid for the app in X-App-Id: send a token of that app, and its app id.')

const delegationRefused = (organizationId: string | null) =>
  new Refusal(
    'FORBIDDEN',
    organizationId === null
      ? 'There is no person of the id in X-On-Behalf-Of on whose behalf a service could ask.'
      : 'The person in X-On-Behalf-Of is no member of the organization in X-Organization-Id: nobody can ask on their behalf there.',
    { reason: 'DELEGATION', field: 'X-On-Behalf-Of' },
  )
