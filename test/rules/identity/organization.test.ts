import { describe, expect, it } from 'vitest'
import { canSee, readName, readSlug } from '../../../subgraphs/identity/organization/rules.ts'
import { refusalOf } from '../refusal.ts'

describe('naming an organization', () => {
  it.each(['a', '7', 'ab', 'acme', 'acme-2', '4-you', 'a--b', 'a'.repeat(40)])('takes the slug "%s", which fits into an address', slug => {
    expect(readSlug(slug)).toBe(slug)
  })

  it.each(['', '-', '-a', 'a-', 'A', 'aB', 'a b', 'a_b', 'a.b', 'a/b', 'ä', 'acme\n', 'a'.repeat(41)])('refuses the slug "%s"', slug => {
    expect(refusalOf(() => readSlug(slug)).extensions).toEqual({ code: 'BAD_USER_INPUT', field: 'slug' })
  })

  it('reserves the platform’s own slug for set-up, and allows similar ones', () => {
    expect(refusalOf(() => readSlug('admin')).extensions).toEqual({ code: 'FORBIDDEN', field: 'slug' })
    expect(readSlug('admins')).toBe('admins')
  })

  it('accepts a name of one line, of 1 to 120 characters after trimming', () => {
    expect(readName('  Acme & Söhne ')).toBe('Acme & Söhne')
    expect(readName(` ${'x'.repeat(120)} `)).toBe('x'.repeat(120))
    expect(readName('x')).toBe('x')
  })

  it.each([
    ['nothing', ''],
    ['blanks', '   '],
    ['121 characters', 'x'.repeat(121)],
    ['a second line', 'a\nb'],
    ['NUL', 'a\0b'],
    ['the last control character below the blank', 'a\u001fb'],
    ['DEL', 'a\u007fb'],
    ['a control character of the second row', 'a\u0085b'],
    ['half a character', 'a\ud83d'],
    ['a mark that turns what follows', 'a\u202eb'],
  ])('refuses a name of %s', (_what, name) => {
    expect(refusalOf(() => readName(name)).extensions).toEqual({ code: 'BAD_USER_INPUT', field: 'name' })
  })

  it('applies the same rule to other names, with their own field and length', () => {
    expect(readName('x'.repeat(5), 'label', 5)).toBe('x'.repeat(5))
    expect(refusalOf(() => readName('x'.repeat(6), 'label', 5)).extensions).toEqual({ code: 'BAD_USER_INPUT', field: 'label' })
  })
})

it('a viewer sees the active organization, no other, and none in personal context', () => {
  expect(canSee({ organizationId: 'acme' }, 'acme')).toBe(true)
  expect(canSee({ organizationId: 'acme' }, 'bolt')).toBe(false)
  expect(canSee({ organizationId: null }, 'acme')).toBe(false)
})
