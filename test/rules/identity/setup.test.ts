import { describe, expect, it } from 'vitest'
import { hashOfSecret } from '../../../platform/cipher.ts'
import { readForm, setupPath } from '../../../subgraphs/identity/setup/rules.ts'
import { setupLinkMs } from '../../../subgraphs/identity/stores/account/setup-link.ts'
import { refusalOf } from '../refusal.ts'

const filled = { name: 'Ada Lovelace', organization: 'Acme', email: 'ada@example.com', password: 'a long phrase' }
const read = (changes: Partial<typeof filled> = {}) => readForm(new URLSearchParams({ ...filled, ...changes }))
const slugOf = (organization: string) => read({ organization }).organizations[0]!.slug

describe('the set-up form', () => {
  it('creates a person who owns the organization and may administer the platform, and nothing else', () => {
    const members = (role: string) => [{ email: 'ada@example.com', roles: [role] }]
    expect(read()).toEqual({
      password: filled.password,
      people: [{ email: 'ada@example.com', name: 'Ada Lovelace' }],
      organizations: [
        { slug: 'acme', name: 'Acme', members: members('owner') },
        { slug: 'admin', name: expect.stringMatching(/\S/), members: members('platform_super_admin') },
      ],
      keys: [],
    })
  })

  it('trims surrounding white space, except of a password', () => {
    const world = read({ name: ' Ada ', organization: ' Acme ', email: ' Ada@Example.COM ', password: ' twelve or more ' })
    expect(world.people).toEqual([{ email: 'ada@example.com', name: 'Ada' }])
    expect([world.organizations[0]!.name, world.password]).toEqual(['Acme', ' twelve or more '])
  })

  it.each(Object.keys(filled))('refuses a form without %s, or with nothing in it', field => {
    const form = new URLSearchParams(filled)
    form.set(field, '')
    expect(refusalOf(() => readForm(form)).code).toBe('BAD_USER_INPUT')
    form.delete(field)
    expect(refusalOf(() => readForm(form)).code).toBe('BAD_USER_INPUT')
  })

  it('says which of the two names is invalid', () => {
    expect(refusalOf(() => read({ name: 'a\nb' })).message).toMatch(/^Your name/)
    expect(refusalOf(() => read({ organization: 'a\nb' })).message).toMatch(/^The organization/)
  })

  it.each(['ada', 'ada@example', 'аda@example.com', 'ada b@example.com'])('refuses %s, with which nobody could sign in', email => {
    expect(refusalOf(() => read({ email })).code).toBe('BAD_USER_INPUT')
  })

  it('accepts a password of 12 to 256 characters', () => {
    const ofLength = (length: number) => 'a phrase '.repeat(30).slice(0, length)
    for (const length of [12, 13, 256]) expect(read({ password: ofLength(length) }).password).toHaveLength(length)
    for (const length of [1, 11, 257]) expect(refusalOf(() => read({ password: ofLength(length) })).code, `${length}`).toBe('BAD_USER_INPUT')
    expect(refusalOf(() => read({ password: 'x'.repeat(12) })).message).toContain('guessers try first')
  })

  it.each(['\0', '\n', '\u001f'])('refuses a password with a character that no hash tells from another, or no keyboard types', character => {
    expect(refusalOf(() => read({ password: `twelve or more${character}` })).message).toContain('password')
  })
})

describe('the slug of the first organization', () => {
  it.each([
    ['Acme', 'acme'],
    ['Ärzte & Söhne GmbH', 'arzte-sohne-gmbh'],
    ['Ⅳ ﬁne', 'iv-fine'],
    ['4 you', '4-you'],
    ['... Acme !!!', 'acme'],
    ['東京', 'organization'],
    ['x'.repeat(41), 'x'.repeat(40)],
    [`${'x'.repeat(39)} y`, 'x'.repeat(39)],
  ])('of "%s" is %s', (name, slug) => expect(slugOf(name)).toBe(slug))

  it('is never the platform’s own', () => {
    expect(refusalOf(() => slugOf('Admin')).code).toBe('FORBIDDEN')
  })
})

describe('the set-up link', () => {
  it('is documented, and valid for a day', () => {
    expect([setupPath, setupLinkMs]).toEqual(['/identity/setup', 86_400_000])
  })

  it('is stored as SHA-256 of its code, so that reading the database does not reveal it', () => {
    expect(hashOfSecret('abc')).toBe('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad')
  })
})
