import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { newId } from '../../../platform/ids.ts'
import {
  mask,
  providersWhere,
  readBaseUrl,
  readFields,
  readMailHost,
  readName,
  requirePlatformChanger,
  requirePlatformReader,
  requireProvider,
  shownFields,
} from '../../../subgraphs/providers/credential/rules.ts'
import { catalogue, type ProviderName, providerNames } from '../../../subgraphs/providers/engines/third-party/catalogue.ts'
import { key, person } from '../../kit/viewers.ts'
import { refusalOf, verdictOf } from '../refusal.ts'

const secret = 'sk-nobody-is-to-read-this'
const refused = (field: string) => ({ code: 'BAD_USER_INPUT', extensions: { field } })
const given = (fields: Record<string, string>) => Object.entries(fields).map(([name, value]) => ({ name, value }))

describe('G-01 a provider', () => {
  test('is a known one, with a family and one secret', () => {
    expect(providerNames.map(name => `${name} ${catalogue[name].family} ${[...catalogue[name].plain, catalogue[name].secret].join(' ')}`)).toEqual([
      'openai AI apiKey',
      'anthropic AI apiKey',
      'google AI apiKey',
      'custom AI apiKey',
      'stripe PAYMENTS secretKey',
      'smtp EMAIL host port user password',
      ...['x', 'linkedin', 'linkedin_page', 'facebook', 'instagram', 'threads', 'youtube', 'tiktok'].map(name => `${name} NETWORK clientId clientSecret`),
    ])
  })

  test.each(['OpenAI', 'constructor', '__proto__', '', 'mistral'])('"%s" is none', name => {
    expect(refusalOf(() => requireProvider(name))).toMatchObject(refused('provider'))
  })

  test('and its family narrow a list each, and together to nothing where they disagree', () => {
    expect(providersWhere(null, null)).toBeNull()
    expect(providersWhere(null, 'smtp')).toEqual(['smtp'])
    expect(providersWhere('AI', null)).toEqual(['openai', 'anthropic', 'google', 'custom'])
    expect(providersWhere('AI', 'openai')).toEqual(['openai'])
    expect(providersWhere('EMAIL', 'openai')).toEqual([])
    expect(providersWhere('VIDEO', null)).toEqual([])
  })
})

describe('G-01 the fields of a credential', () => {
  test('are split into visible fields and the secret, trimmed', () => {
    const mail = given({ password: ` ${secret}\n`, user: 'me', host: ' smtp.example.com', port: '587' })
    expect(readFields('smtp', mail)).toEqual({ plain: { host: 'smtp.example.com', port: '587', user: 'me' }, secret })
  })

  test.each<[string, ProviderName, Parameters<typeof readFields>[1], string]>([
    ['one that the provider does not have', 'openai', given({ apiKey: secret, gatewayUrl: secret }), 'fields[1].name'],
    ['a name of JavaScript’s own', 'openai', given({ constructor: secret }), 'fields[0].name'],
    ['one twice', 'openai', [...given({ apiKey: secret }), ...given({ apiKey: 'another-one-of-them' })], 'fields[1].name'],
    ['none', 'openai', [], 'fields'],
    ['some, but not the secret', 'x', given({ clientId: secret }), 'fields'],
    ['an empty one', 'openai', given({ apiKey: '   ' }), 'fields[0].value'],
    ['one of two lines', 'openai', given({ apiKey: `${secret}\n${secret}` }), 'fields[0].value'],
    ['half a character', 'openai', given({ apiKey: `${secret}\ud800` }), 'fields[0].value'],
    ['a secret of 4,097 characters', 'openai', given({ apiKey: 'x'.repeat(4_097) }), 'fields[0].value'],
    ['a plain one of 501 characters', 'x', given({ clientSecret: secret, clientId: 'x'.repeat(501) }), 'fields[1].value'],
  ])('are refused: %s; and the sentence repeats no value', (_, provider, fields, field) => {
    const refusal = refusalOf(() => readFields(provider, fields))
    expect(refusal).toMatchObject(refused(field))
    expect(JSON.stringify(refusal)).not.toContain(secret)
  })

  test('are accepted at their maximum length', () => {
    expect(readFields('x', given({ clientId: 'x'.repeat(500), clientSecret: 'x'.repeat(4_096) })).secret).toHaveLength(4_096)
  })

  test('are shown in the provider’s order, of the secret its mask alone', () => {
    expect(shownFields({ provider: 'smtp', plain: { user: 'me', host: 'h', port: '25' }, masked: '••••this' })).toEqual([
      { name: 'host', value: 'h', masked: null },
      { name: 'port', value: '25', masked: null },
      { name: 'user', value: 'me', masked: null },
      { name: 'password', value: null, masked: '••••this' },
    ])
  })

  test('a mask shows the last four characters of twelve or more, and none of fewer', () => {
    expect(['twelve chars', 'eleven char', 'x', 'ab🂡🂢🂣🂤🂥🂦🂧🂨🂩🂪🂫🂬'].map(mask)).toEqual(['••••hars', '••••', '••••', '••••🂩🂪🂫🂬'])
    fc.assert(fc.property(fc.string({ maxLength: 11 }), text => mask(text) === '••••'))
  })
})

describe('G-01 the name of a credential', () => {
  test('is the provider’s by default', () => {
    expect([readName('openai', null), readName('openai', '  '), readName('openai', ' Mine ')]).toEqual(['OpenAI', 'OpenAI', 'Mine'])
  })

  test.each(['demo-models', 'a', 'Größe.2_b'])('of a custom provider may be %s', name => {
    expect(readName('custom', name)).toBe(name)
  })

  test.each([null, '', '-a', 'a/b', 'a b', 'OpenAI', 'custom', 'x'.repeat(101), 'a\u202eb'])('of a custom provider may not be %j', name => {
    expect(refusalOf(() => readName('custom', name))).toMatchObject(refused('name'))
  })
})

describe('G-01 the address of a provider', () => {
  test('is required for custom providers, without trailing slashes', () => {
    expect(['https://m.example.com/v1//', 'http://m.example.com/v1/'].map(address => readBaseUrl('custom', address)?.href)).toEqual([
      'https://m.example.com/v1',
      'http://m.example.com/v1',
    ])
    expect([readBaseUrl('openai', null), readBaseUrl('openai', undefined)]).toEqual([null, null])
  })

  test.each([
    null,
    '',
    'm.example.com',
    'ftp://example.com/v1',
    'httpsx://example.com/v1',
    'xhttp://example.com/v1',
    'https://me:word@example.com',
    'https://me@example.com',
    'https://:word@example.com',
    'https://example.com?key=1',
    'https://example.com#a',
    `https://example.com/${'x'.repeat(2_000)}`,
  ])('is not %j', address => {
    expect(refusalOf(() => readBaseUrl('custom', address))).toMatchObject(refused('baseUrl'))
  })

  test('is not accepted for others', () => {
    expect(refusalOf(() => readBaseUrl('openai', 'https://example.com'))).toMatchObject(refused('baseUrl'))
  })

  const mail = (host: string, port: string) => {
    const fields = given({ user: 'me', port, host, password: secret })
    return readMailHost('smtp', readFields('smtp', fields), fields)
  }

  test('is a host and a port for mail', () => {
    expect(mail('smtp.example.com', '587')).toMatchObject({ address: new URL('http://smtp.example.com:587'), field: 'fields[2].value' })
    expect(mail('smtp.example.com', '65535')?.address.port).toBe('65535')
    expect([mail('::1', '25')?.address.host, mail('[::1]', '25')?.address.host]).toEqual(['[::1]:25', '[::1]:25'])
    expect(readMailHost('openai', { plain: {} }, [])).toBeNull()
  })

  test.each([
    ['smtp.example.com', '0', 'fields[1].value'],
    ['smtp.example.com', '65536', 'fields[1].value'],
    ['smtp.example.com', '25/a', 'fields[1].value'],
    ['smtp.example.com', '25,26', 'fields[1].value'],
    ['smtp.example.com', 'smtp', 'fields[1].value'],
    ['smtp.example.com', '025', 'fields[1].value'],
    ['example.com/a', '25', 'fields[2].value'],
    ['me@example.com', '25', 'fields[2].value'],
    ['exa mple.com', '25', 'fields[2].value'],
    ['[::1', '25', 'fields[2].value'],
  ])('mail is not sent by %s, port %s', (host, port, field) => {
    expect(refusalOf(() => mail(host, port))).toMatchObject(refused(field))
  })
})

describe('G-01 credentials of the platform', () => {
  const by = (...roles: string[]) => person(newId(), newId(), roles)
  const program = { ...key(newId(), ['providers:provider_credentials.manage']), roles: ['platform_super_admin'] }
  test.each([
    ['a super admin', by('platform_super_admin'), 'allowed', 'allowed'],
    ['an admin', by('owner', 'platform_admin'), 'allowed', 'FORBIDDEN'],
    ['an owner', by('owner'), 'FORBIDDEN', 'FORBIDDEN'],
    ['a program, whatever it is', program, 'FORBIDDEN', 'FORBIDDEN'],
    ['a program, on whose behalf it may be', { ...program, userId: newId() }, 'FORBIDDEN', 'FORBIDDEN'],
    ['nobody', { ...by('platform_super_admin'), userId: null }, 'FORBIDDEN', 'FORBIDDEN'],
  ])('%s', (_, viewer, read, change) => {
    expect([verdictOf(() => requirePlatformReader(viewer)), verdictOf(() => requirePlatformChanger(viewer))]).toEqual([read, change])
  })
})
