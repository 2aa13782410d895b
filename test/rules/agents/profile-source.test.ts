import { describe, expect, test } from 'vitest'
import { hashOf, readSource } from '../../../subgraphs/agents/profile/profile-source/rules.ts'
import { refusalOf } from '../refusal.ts'

const now = new Date('2027-03-01T09:00:00.000Z')
const given = { personProfileId: 'p', kind: 'INTERVIEW', title: ' A talk ' } as const
const read = (more: object) => readSource({ ...given, ...more }, now)
const fieldOf = (more: object) => refusalOf(() => read(more)).extensions

describe('A-05 a source is', () => {
  test('a text as it stands, known by its hash', () => {
    expect(read({ text: ' Größe \n', language: 'de-AT' })).toEqual({
      row: { kind: 'INTERVIEW', title: 'A talk', language: 'de-AT', url: null, contentHash: hashOf(' Größe \n'), status: 'READY', fetchAt: null },
      text: ' Größe \n',
    })
    expect(hashOf('Größe')).toBe('sha256:aedc3f80989a6546962705852b2f4a481dbd1e490760693525c3724bacab3f50')
  })

  test('or an address, which is fetched from now on', () => {
    expect(read({ url: new URL('https://page.test/a?b') })).toEqual({
      row: { kind: 'INTERVIEW', title: 'A talk', language: null, url: 'https://page.test/a?b', contentHash: null, status: 'PROCESSING', fetchAt: now },
      text: null,
    })
    for (const url of ['http://page.test/', 'HTTPS://page.test']) expect(read({ url: new URL(url) }).row.url).toBe(new URL(url).href)
  })

  test('exactly one of these', () => {
    for (const more of [{}, { text: null, url: null }, { text: 'Both.', url: new URL('https://page.test') }, { text: '', url: new URL('https://page.test') }])
      expect(fieldOf(more)).toEqual({ code: 'BAD_USER_INPUT', field: 'text' })
  })

  test.each<readonly [string, object, object]>([
    ['title', { title: 'x'.repeat(200), text: 'a' }, { title: 'x'.repeat(201), text: 'a' }],
    ['text', { text: 'x'.repeat(200_000) }, { text: 'x'.repeat(200_001) }],
    ['url', { url: new URL(`https://page.test/${'x'.repeat(2_000 - 18)}`) }, { url: new URL(`https://page.test/${'x'.repeat(2_000 - 17)}`) }],
    ['language', { text: 'a', language: `en${'-abcdefgh'.repeat(3)}-abcde` }, { text: 'a', language: `en${'-abcdefgh'.repeat(3)}-abcdef` }],
  ])('with a %s up to its length, and no further', (field, longest, tooLong) => {
    read(longest)
    expect(fieldOf(tooLong)).toEqual({ code: 'BAD_USER_INPUT', field })
  })

  test.each<readonly [string, object]>([
    ['title', { text: 'a', title: ' ' }],
    ['text', { text: ' \n' }],
    ['text', { text: 'a\0b' }],
    ['url', { url: new URL('ftp://page.test') }],
    ['url', { url: new URL('https://me@page.test') }],
    ['url', { url: new URL('https://:secret@page.test') }],
    ['language', { text: 'a', language: '' }],
    ['language', { text: 'a', language: 'e' }],
    ['language', { text: 'a', language: 'engl' }],
    ['language', { text: 'a', language: 'en_US' }],
    ['language', { text: 'a', language: 'en-' }],
    ['language', { text: 'a', language: 'en-abcdefghi' }],
    ['language', { text: 'a', language: ' en' }],
    ['language', { text: 'a', language: 'en!' }],
  ])('without a %s that is none: %j', (field, more) => {
    expect(fieldOf(more)).toEqual({ code: 'BAD_USER_INPUT', field })
  })

  test.each(['en', 'deu', 'de-AT', 'zh-Hant-TW', 'en-1a'])('in a language such as %s', language => {
    expect(read({ text: 'a', language }).row.language).toBe(language)
  })
})
