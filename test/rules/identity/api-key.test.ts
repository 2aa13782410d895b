import { describe, expect, it } from 'vitest'
import { hashKey, prefixOf, readExpiry, readScopes, requireMayManageKeys, writeKey } from '../../../subgraphs/identity/api-key/rules.ts'
import { everyScope } from '../../../subgraphs/scopes.ts'
import { key, person, personally } from '../../kit/viewers.ts'
import { refusalOf, verdictOf } from '../refusal.ts'

describe('an API key', () => {
  it('I-02 is known by a prefix that gives nothing away, and stored as SHA-256', () => {
    const clear = writeKey(Buffer.alloc(32, 7))
    expect(clear).toHaveLength(47)
    expect(prefixOf(clear)).toBe('sgk_BwcHBwcH')
    expect(hashKey('abc')).toBe('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad')
  })

  it.each([
    ['owner', 'allowed'],
    ['admin', 'allowed'],
    ['platform_super_admin', 'allowed'],
    ['platform_admin', 'FORBIDDEN'],
    ['member', 'FORBIDDEN'],
    ['viewer', 'FORBIDDEN'],
  ])('is made and revoked by who runs the organization: %s %s', (role, verdict) => {
    expect(verdictOf(() => requireMayManageKeys(person('me', 'acme', [role])))).toBe(verdict)
  })

  it('is made by no other key, and by nobody in personal context', () => {
    expect(verdictOf(() => requireMayManageKeys(key('acme', everyScope)))).toBe('FORBIDDEN')
    expect(verdictOf(() => requireMayManageKeys(personally(person('me', 'acme', ['owner']))))).toBe('FORBIDDEN')
  })

  it('I-06 carries exact names: every scope of the catalogue, sorted, each once', () => {
    expect(readScopes([...everyScope, everyScope[0]!], { scopes: everyScope })).toEqual(everyScope)
    expect(readScopes([...everyScope].reverse(), { scopes: everyScope })).toEqual(everyScope)
  })

  it.each([
    '',
    '*',
    'publishing:*',
    'publishing:posts.read.own',
    'PUBLISHING:posts.read',
    ' publishing:posts.read',
  ])('I-06 refuses "%s", a scope that is none', name => {
    expect(refusalOf(() => readScopes([everyScope[0]!, name], { scopes: [...everyScope, name] })).extensions).toEqual({
      code: 'BAD_USER_INPUT',
      field: 'scopes',
    })
  })

  it('I-06 names a scope that is none, and only the beginning of a long one', () => {
    expect(refusalOf(() => readScopes(['posts.raed'], { scopes: everyScope })).message).toContain('"posts.raed"')
    const { message } = refusalOf(() => readScopes(['x'.repeat(100_000)], { scopes: everyScope }))
    expect(message).toContain(`"${'x'.repeat(80)}"`)
  })

  it('I-06 has at least one scope, and none that its maker lacks', () => {
    expect(refusalOf(() => readScopes([], { scopes: everyScope })).extensions).toEqual({ code: 'BAD_USER_INPUT', field: 'scopes' })
    const lacking = refusalOf(() => readScopes(['publishing:dashboard.read', 'payments:dashboard.read'], { scopes: ['publishing:dashboard.read'] }))
    expect(lacking.extensions).toEqual({ code: 'FORBIDDEN', field: 'scopes' })
    expect(lacking.message).toContain('payments:dashboard.read')
  })

  it('expires in the future or never', () => {
    const now = new Date('2027-01-01T00:00:00Z')
    const next = new Date(now.getTime() + 1)
    expect([readExpiry(null, now), readExpiry(next, now)]).toEqual([null, next])
    for (const past of [now, new Date(now.getTime() - 1)])
      expect(refusalOf(() => readExpiry(past, now)).extensions).toEqual({ code: 'BAD_USER_INPUT', field: 'expiresAt' })
  })
})
