import { createLocalJWKSet, jwtVerify } from 'jose'
import type { Clock } from '../../../platform/clock.ts'
import { DomainError } from '../../../platform/errors.ts'
import type { Authority } from '../../authority.ts'

/** The session of an access token. */
export interface OwnSession {
  readonly sessionId: string
  readonly userId: string
}

/**
 * Returns the session that a caller wants to sign out by its access token, even an expired one.
 * @param lifetime maximum age in seconds of a token whose session can still be valid
 */
export const createSessionOfToken =
  (authority: Pick<Authority, 'issuer' | 'audience' | 'jwks'>, clock: Clock, lifetime: number) =>
  /** @throws UNAUTHENTICATED for anything but an access token of ours */
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
      throw new DomainError('UNAUTHENTICATED', 'No session was ended: the access token is not valid. Send the one whose session is to end, or its cookie.')
    return { sessionId: sid, userId: sub }
  }
