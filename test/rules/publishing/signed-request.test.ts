import { createHmac } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { complaint } from '../../../subgraphs/publishing/connection/revocation/rules.ts'
import { readSignedRequest } from '../../../subgraphs/publishing/network/meta/signed.ts'

const secret = 'a secret of the application'
const encoded = (payload: unknown) => Buffer.from(typeof payload === 'string' ? payload : JSON.stringify(payload)).toString('base64url')
const sign = (payload: string, by = secret) => createHmac('sha256', by).update(payload).digest('base64url')
const signed = (payload: unknown, by = secret) => `${sign(encoded(payload), by)}.${encoded(payload)}`
const whole = { algorithm: 'HMAC-SHA256', issued_at: 1_700_000_000, user_id: '17841400000000001' }

test('a signed request is read as the documentation writes it', () => {
  // https://developers.facebook.com/docs/facebook-login/guides/advanced/existing-system#parsingsr: signature, point, payload.
  expect(readSignedRequest(secret, signed({ ...whole, expires: 1_700_003_600, oauth_token: 'x' }))).toMatchObject({
    outcome: 'read',
    accountId: '17841400000000001',
    issuedAt: new Date(1_700_000_000_000),
  })
  expect(readSignedRequest(secret, signed({ ...whole, algorithm: 'hmac-sha256', user_id: 218_471 }))).toMatchObject({ outcome: 'read', accountId: '218471' })
})

describe('a signed request is malformed', () => {
  test.each<[string, string]>([
    ['nothing', ''],
    ['a word', 'nonsense'],
    ['a point', '.'],
    ['no signature', `.${encoded(whole)}`],
    ['no payload', `${sign(encoded(whole))}.`],
    ['three parts', `${signed(whole)}.${encoded(whole)}`],
    ['letters of plain base64', `${sign(encoded(whole))}+/.${encoded(whole)}`],
    ['white space', `${signed(whole)} `],
    ['a line break', `${signed(whole)}\n`],
    ['a payload that is no JSON', `${sign(encoded('hello'))}.${encoded('hello')}`],
    ['a list', signed([whole])],
    ['null', signed('null')],
    ['a number', signed('7')],
    ['JSON that goes deep', signed('['.repeat(10_000))],
    ['another algorithm', signed({ ...whole, algorithm: 'HMAC-MD5' })],
    ['the algorithm none', signed({ ...whole, algorithm: 'none' })],
    ['no algorithm', signed({ issued_at: 1, user_id: '1' })],
    ['no time', signed({ algorithm: 'HMAC-SHA256', user_id: '1' })],
    ['a time in words', signed({ ...whole, issued_at: '1700000000' })],
    ['a time that is no number', signed('{"algorithm":"HMAC-SHA256","issued_at":1e999,"user_id":"1"}')],
    ['a time in milliseconds', signed({ ...whole, issued_at: 1_700_000_000_000 })],
    ['a negative time', signed({ ...whole, issued_at: -1 })],
    ['no account', signed({ algorithm: 'HMAC-SHA256', issued_at: 1_700_000_000 })],
    ['an empty account', signed({ ...whole, user_id: '' })],
    ['an account that is an object', signed({ ...whole, user_id: { $ne: null } })],
    ['an account that is a list', signed({ ...whole, user_id: ['1'] })],
    ['a number past what is exact', signed('{"algorithm":"HMAC-SHA256","issued_at":1700000000,"user_id":17841400000000001234}')],
    ['an account with a quote', signed({ ...whole, user_id: "1' or '1'='1" })],
    ['an account of a kilobyte', signed({ ...whole, user_id: '1'.repeat(1024) })],
  ])('that is %s', (_what, request) => {
    expect(readSignedRequest(secret, request)).toEqual({ outcome: 'malformed' })
  })
})

describe('a forged signed request', () => {
  test.each<[string, string]>([
    ['by another secret', signed(whole, 'another secret')],
    ['without a secret', signed(whole, '')],
    ['with a signature that is cut', `${sign(encoded(whole)).slice(0, 20)}.${encoded(whole)}`],
    ['with a signature that is longer', `${sign(encoded(whole))}AAAA.${encoded(whole)}`],
    ['over the payload in clear', `${createHmac('sha256', secret).update(JSON.stringify(whole)).digest('base64url')}.${encoded(whole)}`],
    ['of another payload', `${sign(encoded({ ...whole, user_id: '2' }))}.${encoded(whole)}`],
    ['with the payload as its signature', `${encoded(whole)}.${encoded(whole)}`],
    ['in hex', `${createHmac('sha256', secret).update(encoded(whole)).digest('hex')}.${encoded(whole)}`],
  ])('%s', (_what, request) => {
    expect(readSignedRequest(secret, request)).toEqual({ outcome: 'forged' })
  })

  test('differs in a single bit of signature or payload', () => {
    const [signature, payload] = signed(whole).split('.') as [string, string]
    for (const [part, rest] of [
      [signature, (bent: string) => `${bent}.${payload}`],
      [payload, (bent: string) => `${signature}.${bent}`],
    ] as const)
      for (let at = 0; at < part.length - 1; at += 1) {
        const bent = `${part.slice(0, at)}${part[at] === 'A' ? 'B' : 'A'}${part.slice(at + 1)}`
        expect(['forged', 'malformed']).toContain(readSignedRequest(secret, rest(bent)).outcome)
      }
  })
})

test('the same request has the same digest however its signature is encoded', () => {
  const [signature, payload] = signed(whole).split('.') as [string, string]
  const digest = (request: string) => (readSignedRequest(secret, request) as { digest: string }).digest
  // The last base64url letter has two unused bits.
  const last = signature.at(-1)!
  const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
  const twin = letters[letters.indexOf(last) ^ 1]!
  const first = digest(`${signature}.${payload}`)
  expect(digest(`${signature}=.${payload}`)).toBe(first)
  expect(digest(`${signature.slice(0, -1)}${twin}.${payload}`)).toBe(first)
  expect(digest(signed({ ...whole, user_id: '2' }))).not.toBe(first)
})

test('a signed request is accepted for 24 hours, and from five minutes before our clock', () => {
  const request = readSignedRequest(secret, signed(whole))
  const at = (ms: number) => complaint(request, new Date(1_700_000_000_000 + ms))?.code ?? null
  const day = 86_400_000
  expect([at(0), at(day), at(day + 1), at(-300_000), at(-300_001)]).toEqual([null, null, 'BAD_USER_INPUT', null, 'BAD_USER_INPUT'])
  const now = new Date(1_700_000_000_000)
  expect([complaint({ outcome: 'forged' }, now)?.code, complaint({ outcome: 'malformed' }, now)?.code]).toEqual(['UNAUTHENTICATED', 'BAD_USER_INPUT'])
})
