import { decodeJwt, errors, jwtVerify } from 'jose'
import type { Logger } from 'pino'
import type { Clock } from '../../../platform/clock.ts'
import { Refusal } from '../../../platform/errors.ts'
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

/** Whom tokens of the studio are for, and the app under which its calls are logged. */
const [audience, appId] = ['app_providers', 'app_studio']
/** How far ahead a token may end, in seconds. */
const longestSeconds = 15 * 60
/** What of a person's rights the studio has: to call models, and nothing else. */
const scope = 'providers:ai.invoke'
const longestToken = 8192

/** Knows people by the tokens of the site-builder studio. */
export interface StudioCallers {
  /** Whether a bearer says that it is one of the studio's; it is not looked at further. */
  claims(token: string): boolean
  /** Makes a caller of such a token: the person whom it names, in the organization that it names, who calls models there and does nothing else. */
  caller(token: string): Promise<Caller | Unauthenticated>
}

/**
 * @param url where the studio is: the `iss` of its tokens, and below it are its keys
 * @param elapsed milliseconds since some beginning, by which it is decided what is still remembered @default performance.now
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
        return refused(new Refusal('UNAUTHENTICATED', 'The token of the studio is not valid here, or has expired: get a new one from the studio.'))
      const standing = isId(userId) && isId(organizationId) ? await standings.of(standingOf({ organizationId, userId })) : undefined
      if (!standing?.roles)
        return refused(
          new Refusal('FORBIDDEN', 'The person whom the studio names is no member of the organization that it names: nothing is called for them there.'),
        )
      const scopes = scopesOf(standing.roles).filter(each => each === scope)
      const person = { ...anonymous, kind: 'user' as const, userId, organizationId, scopes, context: 'organization' as const }
      const viewer = steady(`${userId} ${organizationId}`, { ...person, clientId: 'studio', forApp: appId })
      return { viewer, credential: { kind: 'foreign', id: null, expiresAt: new Date(exp * 1000) } }
    },
  }
}

const refused = (refusal: Refusal): Unauthenticated => ({ refusal, setCookie: [], expired: false })

/** Whether a chat asks for an answer in JSON: what is no JSON itself asks for nothing. */
export function asksForJson(body: Uint8Array | undefined): boolean {
  if (body && isUnwieldy(body)) return false
  try {
    const { response_format: format } = (JSON.parse(new TextDecoder().decode(body ?? new Uint8Array())) ?? {}) as { response_format?: { type?: unknown } }
    return format?.type === 'json_schema' || format?.type === 'json_object'
  } catch {
    return false
  }
}
