import { describe, expect, test } from 'vitest'
import { credentialsIn } from '../../../router/access/parameters.ts'

const read = (parameters: Record<string, unknown> | undefined) => {
  const found = credentialsIn(parameters)
  return found instanceof Map ? Object.fromEntries(found) : (found as Error).message
}

describe('the payload of connection_init', () => {
  test.each<[Record<string, unknown> | undefined, Record<string, string>]>([
    [undefined, {}],
    [{}, {}],
    [{ authorization: null, 'x-api-key': '', headers: null, token: null, auth: '' }, {}],
    [{ Authorization: 'Bearer a' }, { authorization: 'Bearer a' }],
    [
      { 'X-API-Key': 'a', 'x-service-TOKEN': 'b' },
      { 'x-api-key': 'a', 'x-service-token': 'b' },
    ],
    [{ headers: { AUTHORIZATION: 'Bearer a', accept: 'text/html' }, client: 'web' }, { authorization: 'Bearer a' }],
    [{ HEADERS: { 'x-api-key': 'a' } }, { 'x-api-key': 'a' }],
    [{ headers: {}, Headers: { authorization: 'Bearer a' } }, { authorization: 'Bearer a' }],
    [{ authorization: 'Bearer a', headers: { Authorization: 'Bearer a' } }, { authorization: 'Bearer a' }],
    // What is there and could not be one goes on as what no check accepts.
    [{ authorization: 7 }, { authorization: 'unreadable' }],
    [{ authorization: ['Bearer a'] }, { authorization: 'unreadable' }],
    [{ 'x-api-key': 'ключ' }, { 'x-api-key': 'unreadable' }],
    [{ 'x-api-key': 'a\nb' }, { 'x-api-key': 'unreadable' }],
  ])('%j holds the credentials %j', (parameters, credentials) => {
    expect(read(parameters)).toEqual(credentials)
  })

  test.each([
    { lang: 'de', timeZone: 'UTC', retry: 3, debug: true },
    { 'x-csrf-token': 'a', csrfToken: 'a', 'X-XSRF-TOKEN': 'a' },
    { author: 'Ada', keyboard: 'qwertz', sessions: 1, cookieConsent: true, authentic: 1, monkey: 1, oauth: false, recession: 1, forbearer: 1 },
    { 'x-xsrftoken': 'a', 'X-CSRFTOKEN': 'a', apixkey: 'a', authorixation: 'a', pass: 'a', api: { keys: 1 } },
    { one: 'see bearer abc', two: 'xbearer abc', three: 'bearer\n', four: 'basically', number: 7 },
    { headers: { 'content-type': 'application/json', 'apollographql-client-name': 'web' } },
    { a: [{ b: [{ c: ['plain'] }] }] },
    { note: 'bearers of news', other: 'bearer', third: 'tokenless text' },
  ])('%j holds none, and nothing that looks like one', parameters => {
    expect(read(parameters)).toEqual({})
  })

  test.each(
    [
      'auth',
      'Authentication',
      'bearer',
      'credential',
      'Credentials',
      'cookie',
      'cookies',
      'KEY',
      'session',
      'token',
      'authToken',
      'access_token',
      'id-token',
      'jwt',
    ].concat('myJwt', 'apiKey', 'api_key', 'API-KEY', 'x-authorization', 'authorisation', 'clientSecret', 'password', 'passwd', 'passphrase'),
  )('something under the name %s is refused, wherever it stands', name => {
    const refused = `connection_init: "${name}" is not understood, send { "Authorization": "Bearer …" }.`
    for (const parameters of [
      { [name]: 'a' },
      { [name]: { b: 1 } },
      { headers: { [name]: 'a' } },
      { http: { headers: { [name]: 'a' } } },
      { list: [{ [name]: 1 }] },
    ])
      expect(read(parameters)).toBe(refused)
    expect(read({ list: [{ [name]: '' }, { [name]: null }, null], [name]: null })).toEqual({})
  })

  test.each(['Bearer abc', 'bearer  abc', ' Basic abc', 'Token abc'])('the text "%s" is refused under whatever name', text => {
    for (const parameters of [{ anything: text }, { headers: { anything: text } }, { anything: [text] }, { one: { anything: text } }])
      expect(read(parameters)).toContain('"anything" is not understood')
  })

  test('ignores a header nested too deep, and searches headers that are no object', () => {
    expect(read({ headers: { headers: { Authorization: 'Bearer a' } } })).toContain('"Authorization" is not understood')
    expect(read({ headers: ['Authorization', 'Bearer a'] })).toContain('"headers" is not understood')
    expect(read({ headers: 'X-API-Key: a' })).toContain('"headers" is not understood')
    expect(read({ headers: [] })).toEqual({})
  })

  test('does not trust values that nest deeper than eight levels', () => {
    const nested = (levels: number): object => (levels === 0 ? { plain: 1 } : { below: nested(levels - 1) })
    expect(read({ a: nested(6) })).toEqual({})
    expect(read({ a: nested(7) })).toContain('is not understood')
    expect(read({ a: nested(1000) })).toContain('is not understood')
  })

  test('rejects two different credentials of one kind', () => {
    expect(read({ authorization: 'Bearer a', headers: { Authorization: 'Bearer b' } })).toBe('connection_init names authorization twice: send it once.')
    expect(read({ 'x-api-key': 'a', 'X-API-KEY': 'b' })).toBe('connection_init names x-api-key twice: send it once.')
  })

  test('a reason fits into a close frame, whatever the name', () => {
    const sentence = read({ [`token${'ü'.repeat(200)}`]: 'a' }) as string
    expect(Buffer.byteLength(sentence)).toBeLessThanOrEqual(123)
    expect(sentence).toContain(`"token${'?'.repeat(25)}"`)
    expect(credentialsIn({ token: 'a' })).toMatchObject({ code: 'UNAUTHENTICATED' })
    expect(credentialsIn({ 'x-api-key': 'a', 'X-API-KEY': 'b' })).toMatchObject({ code: 'BAD_USER_INPUT' })
  })
})
