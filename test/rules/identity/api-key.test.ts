import { describe, expect, it } from 'vitest'
import { hashOfSecret } from '../../../platform/cipher.ts'
import {
  canManage,
  formerOf,
  prefixOf,
  readExpiry,
  readGrace,
  readRateLimit,
  readScopes,
  readService,
  requireKeyManager,
  requireMayActAs,
  requireMayGive,
  rotate,
  stateOf,
  writeKey,
} from '../../../subgraphs/identity/api-key/rules.ts'
import type { ApiKeyRow } from '../../../subgraphs/identity/stores/api-key.ts'
import { everyScope, type Scope, scopes } from '../../../subgraphs/scopes.ts'
import { key, person, personally } from '../../kit/viewers.ts'
import { refusalOf, verdictOf } from '../refusal.ts'

describe('an API key', () => {
  it('I-02 has a harmless prefix, and is stored as SHA-256', () => {
    const clear = writeKey(Buffer.alloc(32, 7))
    expect(clear).toHaveLength(47)
    expect(prefixOf(clear)).toBe('sgk_BwcHBwcH')
    expect(hashOfSecret('abc')).toBe('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad')
  })

  it.each([
    ['owner', 'all'],
    ['admin', 'all'],
    ['platform_super_admin', 'all'],
    ['platform_admin', 'FORBIDDEN'],
    ['member', 'FORBIDDEN'],
    ['viewer', 'FORBIDDEN'],
  ])('is managed by who runs the organization: %s %s', (role, managed) => {
    const viewer = person('me', 'acme', [role])
    if (managed === 'FORBIDDEN') expect(verdictOf(() => requireKeyManager(viewer))).toBe(managed)
    else expect(requireKeyManager(viewer)).toEqual({ organizationId: 'acme', services: managed })
  })

  it('of one service is managed by holders of its api_keys.write: keys and apps alike', () => {
    const app = { ...person('me', 'acme', ['owner']), roles: [], clientId: 'app', scopes: ['launcher:api_keys.write', 'publishing:api_keys.write'] }
    expect(requireKeyManager(key('acme', ['publishing:api_keys.write']))).toEqual({ organizationId: 'acme', services: ['publishing'] })
    expect(new Set(requireKeyManager(app).services)).toEqual(new Set(['launcher', 'publishing']))
    const manager = { organizationId: 'acme', services: ['publishing'] } as const
    expect(['publishing', 'launcher', null].map(service => canManage(manager, { service }))).toEqual([true, false, false])
    expect(canManage({ organizationId: 'acme', services: 'all' }, { service: null })).toBe(true)
  })

  it('is managed by no key without that scope, and by nobody in personal context', () => {
    expect(verdictOf(() => requireKeyManager(key('acme', ['publishing:posts.write'])))).toBe('FORBIDDEN')
    expect(verdictOf(() => requireKeyManager(personally(person('me', 'acme', ['owner']))))).toBe('FORBIDDEN')
  })

  it('acts as a service account only when a manager of all keys creates it', () => {
    expect(verdictOf(() => requireMayActAs({ organizationId: 'acme', services: 'all' }, 'robot'))).toBe('allowed')
    expect(verdictOf(() => requireMayActAs({ organizationId: 'acme', services: ['publishing'] }, null))).toBe('allowed')
    expect(verdictOf(() => requireMayActAs({ organizationId: 'acme', services: ['publishing'] }, 'robot'))).toBe('FORBIDDEN')
  })

  it('I-06 carries exact names: every scope of a service, sorted, each once, in each of the forms', () => {
    for (const slug of Object.keys(scopes) as (keyof typeof scopes)[]) {
      const full = everyScope.filter(scope => scope.startsWith(`${slug}:`))
      if (full.length === 0) continue
      const dotted = full.map(scope => scope.slice(slug.length + 1))
      const wanted = { service: slug, scopes: full }
      expect(readScopes([...full.toReversed(), full[0]!], null)).toEqual(wanted)
      for (const form of [full, dotted, dotted.map(name => name.replace('.', ':'))]) expect(readScopes(form, slug)).toEqual(wanted)
    }
  })

  it.each([
    '',
    '*',
    'publishing:*',
    'posts.*',
    'posts.read:1234',
    'posts:read:1234',
    'posts:read.own',
    'venues.read',
    'publishing:posts.read.own',
    'publishing:posts:read',
    'PUBLISHING:posts.read',
    ' publishing:posts.read',
    'payments:venues.read',
  ])('I-06 refuses "%s", a scope that is none of publishing', name => {
    for (const service of ['publishing', null] as const)
      expect(refusalOf(() => readScopes(['publishing:posts.write', name], service)).extensions).toEqual({ code: 'BAD_USER_INPUT', field: 'scopes' })
  })

  it('I-06 accepts short scope names only with a service, and never two services', () => {
    for (const name of ['posts.read', 'posts:read'])
      expect(refusalOf(() => readScopes([name], null)).extensions).toEqual({ code: 'BAD_USER_INPUT', field: 'scopes' })
    expect(refusalOf(() => readScopes(['publishing:posts.read', 'launcher:apps.read'], null)).message).toContain('launcher:apps.read')
    expect(refusalOf(() => readScopes(['launcher:apps.read'], 'publishing')).code).toBe('BAD_USER_INPUT')
  })

  it('I-06 names an unknown scope, and only the beginning of a long one', () => {
    expect(refusalOf(() => readScopes(['posts.raed'], null)).message).toContain('"posts.raed"')
    const { message } = refusalOf(() => readScopes(['x'.repeat(100_000)], null))
    expect(message).toContain(`"${'x'.repeat(80)}"`)
    expect(refusalOf(() => readScopes([], null)).extensions).toEqual({ code: 'BAD_USER_INPUT', field: 'scopes' })
  })

  it('belongs to an existing service', () => {
    expect([readService(null), readService(undefined), readService('publishing')]).toEqual([null, null, 'publishing'])
    for (const none of ['', 'Publishing', 'nowhere', 'constructor'])
      expect(refusalOf(() => readService(none)).extensions).toEqual({ code: 'BAD_USER_INPUT', field: 'service' })
  })

  it('I-06 has no scope that its creator lacks, and no service whose keys the creator does not manage', () => {
    const manager = { organizationId: 'acme', services: ['publishing'] } as const
    const give = (service: 'publishing' | 'payments', scopes: readonly Scope[], has: readonly Scope[]) =>
      refusalOf(() => requireMayGive({ scopes: has }, manager, { service, scopes }))
    const lacking = give('publishing', ['publishing:dashboard.read', 'publishing:posts.read'], ['publishing:dashboard.read'])
    expect(lacking.extensions).toEqual({ code: 'FORBIDDEN', field: 'scopes' })
    expect(lacking.message).toContain('publishing:posts.read')
    expect(give('payments', ['payments:payments.read'], ['payments:payments.read']).message).toContain('payments:api_keys.write')
    const mayGive = () => requireMayGive({ scopes: ['publishing:posts.read'] }, manager, { service: 'publishing', scopes: ['publishing:posts.read'] })
    expect(verdictOf(mayGive)).toBe('allowed')
  })

  it('may be used for 1 to 6,000 requests a minute, 600 by default', () => {
    expect([null, undefined, 1, 6000].map(readRateLimit)).toEqual([600, 600, 1, 6000])
    for (const none of [0, -1, 6001]) expect(refusalOf(() => readRateLimit(none)).extensions).toEqual({ code: 'BAD_USER_INPUT', field: 'rateLimit' })
  })

  it('expires in the future or never', () => {
    const now = new Date('2027-01-01T00:00:00Z')
    const next = new Date(now.getTime() + 1)
    expect([readExpiry(null, now), readExpiry(next, now)]).toEqual([null, next])
    for (const past of [now, new Date(now.getTime() - 1)])
      expect(refusalOf(() => readExpiry(past, now)).extensions).toEqual({ code: 'BAD_USER_INPUT', field: 'expiresAt' })
  })

  describe('that is rotated', () => {
    const now = new Date('2027-01-01T00:00:00Z')
    const later = (seconds: number) => new Date(now.getTime() + seconds * 1000)
    const present = {
      hash: 'one',
      prefix: 'sgk_one',
      previousHash: 'none',
      previousPrefix: 'sgk_none',
      previousEndsAt: later(5),
      expiresAt: null,
      revokedAt: null,
    }
    const keyRow = (more: object = {}) => ({ ...present, ...more }) as unknown as ApiKeyRow
    const next = { hash: 'two', prefix: 'sgk_two' }

    it('has the new secret and, in the grace period, the former one; the one before that has ended', () => {
      expect(rotate(keyRow(), next, 60, now)).toEqual({
        ...next,
        previousHash: 'one',
        previousPrefix: 'sgk_one',
        previousEndsAt: later(60),
        rotatedAt: now,
      })
      expect(rotate(keyRow(), next, 0, now)).toEqual({ ...next, previousHash: null, previousPrefix: null, previousEndsAt: null, rotatedAt: now })
    })

    it('has no former secret that works longer than itself', () => {
      expect(rotate(keyRow({ expiresAt: later(30) }), next, 60, now).previousEndsAt).toEqual(later(30))
    })

    it('must be valid', () => {
      for (const ended of [{ revokedAt: now }, { expiresAt: now }]) expect(refusalOf(() => rotate(keyRow(ended), next, 60, now)).code).toBe('CONFLICT')
    })

    it('keeps the former secret up to a week, a day by default', () => {
      expect([null, undefined, 0, 604_800].map(readGrace)).toEqual([86_400, 86_400, 0, 604_800])
      for (const none of [-1, 604_801]) expect(refusalOf(() => readGrace(none)).extensions).toEqual({ code: 'BAD_USER_INPUT', field: 'graceSeconds' })
    })

    it('shows the former secret’s prefix while it is valid', () => {
      expect(formerOf(keyRow(), now)).toEqual({ prefix: 'sgk_none', endsAt: later(5) })
      for (const row of [keyRow({ previousPrefix: null, previousEndsAt: null }), keyRow({ revokedAt: now })]) expect(formerOf(row, now)).toBeNull()
      expect(formerOf(keyRow(), later(5))).toBeNull()
      const states = [keyRow(), keyRow({ expiresAt: later(1) }), keyRow({ expiresAt: now }), keyRow({ revokedAt: now, expiresAt: now })]
      expect(states.map(row => stateOf(row, now))).toEqual(['ACTIVE', 'ACTIVE', 'EXPIRED', 'REVOKED'])
    })
  })
})
