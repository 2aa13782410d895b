import { decodeJwt, errors, jwtVerify } from 'jose'
import type { Logger } from 'pino'
import type { Clock } from '../../../platform/clock.ts'
import { DomainError } from '../../../platform/errors.ts'
import { isId } from '../../../platform/ids.ts'
import type { Outbound } from '../../../platform/outbound/outbound.ts'
import { type Authority, type Standing, standingOf } from '../../../subgraphs/authority.ts'
import { isUnwieldy } from '../../../subgraphs/http/depth.ts'
import { scopesOf } from '../../../subgraphs/scopes.ts'
import { anonymous } from '../../../subgraphs/viewer.ts'
import type { Caller, Unauthenticated } from '../authenticate.ts'
import { createSessionCache } from '../known/session-cache.ts'
import { createSteady } from '../known/steady.ts'
import { createKeys } from './foreign.ts'

/** Audience of the studio's tokens, and the app under which the studio's calls are logged. */
const [audience, appId] = ['app_providers', 'app_studio']
/** Maximum remaining lifetime of a token, in seconds. */
const longestSeconds = 15 * 60
/** The only right of the person that the studio has: to call models. */
const scope = 'providers:ai.invoke'
const longestToken = 8192

/** Authenticates people by the tokens of the site-builder studio. */
export interface StudioCallers {
  /** Whether a bearer token claims to be one of the studio's, without verifying it. */
  claims(token: string): boolean
  /**
   * Returns the caller of such a token: the person and organization that it names, with the right to call models only.
   */
  caller(token: string): Promise<Caller | Unauthenticated>
}

/**
 * @param url address of the studio: the `iss` of its tokens, and the base of its keys' address
 * @param elapsed monotonic clock in ms, for the age of cached answers
 */
export function createStudioCallers(
  url: string,
  authority: Pick<Authority, 'standings'>,
  {
    outbound,
    clock,
    log,
    elapsed = () => performance.now(),
  }: { outbound: Outbound; clock: Clock; log: Pick<Logger, 'warn'>; elapsed?: (() => number) | undefined },
): StudioCallers {
  const keys = createKeys(`${url}/.well-known/jwks.json`, outbound, elapsed, log)
  const standings = createSessionCache<Standing>(asked => authority.standings(asked), elapsed)
  const steady = createSteady()

  const verify = async (token: string) => {
    const options = { issuer: url, audience, algorithms: ['EdDSA'], currentDate: clock.now(), requiredClaims: ['exp', 'sub', 'org'] }
    const set = await keys.present()
    try {
      return (await jwtVerify(token, set, options)).payload
    } catch (error) {
      if (!(error instanceof errors.JWKSNoMatchingKey)) throw error
      const renewed = await keys.renewed()
      if (renewed === set) throw error
      return (await jwtVerify(token, renewed, options)).payload
    }
  }

  return {
    claims(token) {
      try {
        return token.length <= longestToken && decodeJwt(token).iss === url
      } catch {
        return false
      }
    },
    async caller(token) {
      const payload = await verify(token).catch(error => {
        if (error instanceof errors.JOSEError || error instanceof TypeError) return null
        throw error
      })
      const { sub: userId, org: organizationId, exp } = payload ?? {}
      const isInTime = typeof exp === 'number' && exp * 1000 - clock.now().getTime() <= longestSeconds * 1000
      if (!isInTime || typeof userId !== 'string' || typeof organizationId !== 'string')
        return refused(new DomainError('UNAUTHENTICATED', 'The token of the studio is not valid here, or has expired: get a new one from the studio.'))
      const standing = isId(userId) && isId(organizationId) ? await standings.of(standingOf({ organizationId, userId })) : undefined
      if (!standing?.roles)
        return refused(
          new DomainError('FORBIDDEN', 'The person whom the studio names is no member of the organization that it names: nothing is called for them there.'),
        )
      const scopes = scopesOf(standing.roles).filter(each => each === scope)
      const person = { ...anonymous, kind: 'user' as const, userId, organizationId, scopes, context: 'organization' as const }
      const viewer = steady(`${userId} ${organizationId}`, { ...person, clientId: 'studio', forApp: appId })
      return { viewer, credential: { kind: 'foreign', id: null, expiresAt: new Date(exp * 1000) } }
    },
  }
}

const refused = (refusal: DomainError): Unauthenticated => ({ refusal, setCookie: [], expired: false })

/** Whether a chat requests an answer in JSON; false for a body that is not JSON itself. */
export function asksForJson(body: Uint8Array | undefined): boolean {
  if (body && isUnwieldy(body)) return false
  try {
    const { response_format: format } = (JSON.parse(new TextDecoder().decode(body ?? new Uint8Array())) ?? {}) as { response_format?: { type?: unknown } }
    return format?.type === 'json_schema' || format?.type === 'json_object'
  } catch {
    return false
  }
}
