import { describe, expect, it } from 'vitest'
import { clearingCookies, readSessionToken, readSessionTokens, sessionCookie } from '../../../subgraphs/identity/credentials/cookie.ts'
import { accessTokenAudience, claimsOf, expiryOf } from '../../../subgraphs/identity/session/rules.ts'
import { personalApplications, slugs } from '../../../subgraphs/scopes.ts'

describe('claims of an access token', () => {
  const now = new Date('2027-01-01T00:00:00.900Z')
  const session = { sessionId: 's', userId: 'u' }

  it('name person, session, organization, roles and permissions, for ten minutes', () => {
    const claims = claimsOf({ ...session, organizationId: 'o', roles: ['viewer'] }, now)
    const { permissions, ...others } = claims
    expect(others).toEqual({ sub: 'u', sid: 's', org: 'o', ctx: 'organization', roles: ['viewer'], iat: 1798761600, exp: 1798762200 })
    expect(Object.keys(permissions)).toEqual(['agents', 'launcher', 'payments', 'providers', 'publishing'])
    expect(permissions.publishing).toEqual(['accounts:read', 'analytics:read', 'calendar:read', 'dashboard:read', 'posts:read'])
    expect(expiryOf(claims)).toEqual(new Date('2027-01-01T00:10:00Z'))
  })

  it('have in personal context no organization and no role, and permissions of personal applications alone', () => {
    const claims = claimsOf({ ...session, organizationId: null, roles: [] }, now)
    expect(claims).toMatchObject({ ctx: 'personal', roles: [] })
    expect(claims).not.toHaveProperty('org')
    expect(Object.keys(claims.permissions)).toEqual(['launcher'])
    expect(claims.permissions.launcher).toContain('widgets:read')
    expect(claims.permissions.launcher).not.toContain('api_keys:write')
  })

  it('contain for an app its client and grant, no role, and the person’s part of the granted scopes', () => {
    const grant = { clientId: 'c', scopes: ['openid', 'publishing:posts.read', 'publishing:accounts.write'], trusted: false }
    const claims = claimsOf({ ...session, organizationId: 'o', roles: ['member'], grant }, now)
    const scope = 'openid publishing:posts.read publishing:accounts.write'
    expect(claims).toMatchObject({ roles: [], client_id: 'c', scope, permissions: { publishing: ['posts:read'] } })
    const trusted = claimsOf({ ...session, organizationId: 'o', roles: ['member'], grant: { ...grant, trusted: true } }, now)
    expect(trusted.roles).toEqual(['member'])
    expect(trusted.permissions.publishing).toContain('posts:write')
  })

  it('personal applications are those that their registration marks', async () => {
    const registered = await Promise.all([
      import('../../../subgraphs/agents/registration.ts'),
      import('../../../subgraphs/launcher/registration.ts'),
      import('../../../subgraphs/payments/registration.ts'),
      import('../../../subgraphs/providers/registration.ts'),
      import('../../../subgraphs/publishing/registration.ts'),
      import('../../../subgraphs/identity/registration.ts'),
    ])
    expect(registered).toHaveLength(slugs.length)
    const open = registered.map(({ registration }) => registration).filter(({ kind, contexts }) => kind === 'application' && contexts.includes('personal'))
    expect(open.map(({ slug }) => slug)).toEqual([...personalApplications])
  })

  it('are for the platform as a whole, by the name that services which run apart check', () => {
    expect(accessTokenAudience).toBe('supergraph')
  })
})

describe('the session cookie', () => {
  it('has its secure name where the platform uses TLS, and no other is accepted there', () => {
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

  describe('that a neighbouring host has set as well', () => {
    const signed = { secret: 's', secure: false }
    const pairOf = (token: string) => sessionCookie(token, 60, signed).split(';')[0]!
    const both = (...pairs: readonly string[]) => new Headers({ cookie: pairs.join('; ') })

    it.each([
      ['in front', pairOf('hers'), pairOf('mine')],
      ['behind', pairOf('mine'), pairOf('hers')],
      ['unsigned', 'identity.session_token=x', pairOf('mine')],
      ['empty names aside', pairOf('mine'), ' identity.session_token =y'],
    ])('counts for nobody: %s', (_, first, second) => {
      expect(readSessionToken(both(first, second), signed)).toBe('forged')
    })

    it('is accepted when both have the same value', () => {
      expect(readSessionToken(both(pairOf('mine'), 'theme=dark', pairOf('mine')), signed)).toBe('mine')
    })

    it('is signed out together with the other, as far as it is ours', () => {
      expect(readSessionTokens(both(pairOf('hers'), 'identity.session_token=x', pairOf('mine')), signed)).toEqual(['hers', 'mine'])
    })
  })
})
