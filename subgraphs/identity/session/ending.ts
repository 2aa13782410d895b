import { createLocalJWKSet, jwtVerify } from 'jose'
import type { Clock } from '../../../platform/clock.ts'
import { Refusal } from '../../../platform/errors.ts'
import type { Authority } from '../../authority.ts'

/** Which session an access token belongs to. */
export interface OwnSession {
  readonly sessionId: string
  readonly userId: string
}

/**
 * Reads of which session somebody wants to be signed out who sends an access token: one that has expired says it as well as a fresh one.
 * @param lifetime how old a token may be whose session can still stand, in seconds
 */
export const createSessionOfToken =
  (authority: Pick<Authority, 'issuer' | 'audience' | 'jwks'>, clock: Clock, lifetime: number) =>
  /** @throws UNAUTHENTICATED for what is no access token of ours */
  async (authorization: string): Promise<OwnSession> => {
    const token = /^bearer +(\S+) *$/i.exec(authorization)?.[1] ?? ''
    const { issuer, audience } = authority
    const expected = { issuer, audience, currentDate: clock.now(), clockTolerance: lifetime, requiredClaims: ['exp', 'sub', 'sid'] }
    const keys = createLocalJWKSet(await authority.jwks())
    const { sub, sid } = await jwtVerify(token, keys, expected).then(
      ({ payload }) => payload,
      () => ({ sub: undefined, sid: undefined }),
    )
    if (typeof sub !== 'string' || typeof sid !== 'string')
      throw new Refusal('UNAUTHENTICATED', 'Nobody was signed out: the access token is not valid. Send the one whose session is to end, or its cookie.')
    return { sessionId: sid, userId: sub }
  }
