import { describe, expect, it } from 'vitest'
import { codeOf } from '../../../platform/errors.ts'
import { hashKey, prefixOf, readExpiry, readIdempotencyKey, readScopes, writeKey } from '../../../subgraphs/identity/api-key/rules.ts'
import { readName, readSlug } from '../../../subgraphs/identity/organization/rules.ts'
import { everyScope } from '../../../subgraphs/scopes.ts'

const codeFrom = (run: () => unknown): string => {
  try {
    run()
    return 'accepted'
  } catch (error) {
    return codeOf(error)
  }
}

describe('an API key', () => {
  it('I-02 is known by a prefix that gives nothing away, and stored as SHA-256', () => {
    const clear = writeKey(Buffer.alloc(32, 7))
    expect(clear).toHaveLength(47)
    expect(prefixOf(clear)).toBe('sgk_BwcHBwcH')
    expect(hashKey('abc')).toBe('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad')
  })

  it('I-06 carries exact names: every scope of the catalogue, no wildcard, no resource part', () => {
    expect(readScopes([...everyScope, everyScope[0]!], { scopes: everyScope })).toEqual(everyScope)
    for (const name of ['*', 'publishing:*', 'publishing:posts.read.own', 'PUBLISHING:posts.read', ' publishing:posts.read'])
      expect(
        codeFrom(() => readScopes([name], { scopes: [name] })),
        name,
      ).toBe('BAD_USER_INPUT')
    expect(codeFrom(() => readScopes(['payments:dashboard.read'], { scopes: ['publishing:dashboard.read'] }))).toBe('FORBIDDEN')
  })

  it('expires in the future or never', () => {
    const now = new Date('2027-01-01T00:00:00Z')
    expect(readExpiry(null, now)).toBeNull()
    expect(codeFrom(() => readExpiry(now, now))).toBe('BAD_USER_INPUT')
    expect(codeFrom(() => readExpiry(new Date(now.getTime() + 1), now))).toBe('accepted')
    expect(readIdempotencyKey(undefined)).toBeNull()
    for (const key of ['', 'x'.repeat(201), 'a\0b']) expect(codeFrom(() => readIdempotencyKey(key))).toBe('BAD_USER_INPUT')
  })
})

describe('naming an organization', () => {
  it('takes a slug that fits into an address', () => {
    for (const slug of ['a', 'acme', 'acme-2', '4-you', 'a'.repeat(40)]) expect(readSlug(slug)).toBe(slug)
    for (const slug of ['', '-a', 'a-', 'A', 'a b', 'a_b', 'a'.repeat(41), 'ä'])
      expect(
        codeFrom(() => readSlug(slug)),
        slug,
      ).toBe('BAD_USER_INPUT')
    expect(codeFrom(() => readSlug('admin'))).toBe('FORBIDDEN')
  })

  it('takes a name of one line', () => {
    expect(readName('  Acme & Söhne ')).toBe('Acme & Söhne')
    for (const name of ['', '   ', 'a\nb', 'a\0', 'x'.repeat(121)]) expect(codeFrom(() => readName(name))).toBe('BAD_USER_INPUT')
  })
})
