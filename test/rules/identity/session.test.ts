import { describe, expect, it } from 'vitest'
import { clearingCookies, readSessionToken } from '../../../subgraphs/identity/credentials/cookie.ts'
import { accessTokenAudience, claimsOf, expiryOf } from '../../../subgraphs/identity/session/rules.ts'

describe('claims of an access token', () => {
  const now = new Date('2027-01-01T00:00:00.900Z')
  const session = { sessionId: 's', userId: 'u' }

  it('name person, session, organization and roles, for ten minutes', () => {
    const claims = claimsOf(session, { organizationId: 'o', roles: ['admin'] }, now)
    expect(claims).toEqual({ sub: 'u', sid: 's', org: 'o', ctx: 'organization', roles: ['admin'], iat: 1798761600, exp: 1798762200 })
    expect(expiryOf(claims)).toEqual(new Date('2027-01-01T00:10:00Z'))
  })

  it('have no organization without a membership', () => {
    const claims = claimsOf(session, null, now)
    expect(claims).toMatchObject({ ctx: 'personal', roles: [] })
    expect(claims).not.toHaveProperty('org')
  })

  it('are for the platform as a whole, by the name that services which run apart check', () => {
    expect(accessTokenAudience).toBe('supergraph')
  })
})

describe('the session cookie', () => {
  it('has its secure name where the platform is served over TLS, and no other counts there', () => {
    const insecure = new Headers({ cookie: 'identity.session_token=x.y' })
    expect(readSessionToken(insecure, { secret: 's', secure: true })).toBeNull()
    expect(readSessionToken(insecure, { secret: 's', secure: false })).toBe('forged')
    expect(clearingCookies(true)[0]).toBe('__Secure-identity.session_token=; Max-Age=0; Path=/; HttpOnly; Secure; SameSite=Lax')
  })

  it.each(['', 'identity.session_token', 'identity.session_token=', 'other=1; ;=;', 'xidentity.session_token=a.b'])('is absent in "%s"', cookie => {
    expect(readSessionToken(new Headers({ cookie }), { secret: 's', secure: false })).toBeNull()
  })

  it.each(['.', 'a', '.b', '%', 'a.%zz', `a.${'A'.repeat(44)}`])('is forged in the value "%s"', value => {
    expect(readSessionToken(new Headers({ cookie: `identity.session_token=${value}` }), { secret: 's', secure: false })).toBe('forged')
  })
})
