import { describe, expect, test } from 'vitest'
import type { Credential } from '../../../router/access/authenticate.ts'
import { browserOf } from '../../../router/access/browser.ts'
import { fingerprintOf } from '../../../subgraphs/http/browser.ts'
import { anonymous } from '../supergraph.ts'

const publicUrl = 'https://platform.example:8443'
const host = 'platform.example:8443'
const origin = publicUrl
const secret = 'k'.repeat(43)
const callerBy = (kind: Credential['kind']) => ({ viewer: anonymous, credential: { kind, id: null, expiresAt: null } })
const ask = (headers: Record<string, string>, kind: Credential['kind'] = 'cookie') => browserOf(new Headers(headers), callerBy(kind), publicUrl)

describe('a request comes from a browser', () => {
  test.each<[what: string, headers: Record<string, string>, kind: Credential['kind'], isBrowser: boolean]>([
    ['with the session cookie on the platform’s host', { host }, 'cookie', true],
    ['with the session cookie, whatever origin was trusted with it', { host, origin: 'https://app.example' }, 'cookie', true],
    ['whatever the case of the host', { host: host.toUpperCase() }, 'cookie', true],
    ['with the session cookie on another host', { host: `publishing.${host}`, origin }, 'cookie', false],
    ['with the session cookie at another port', { host: 'platform.example' }, 'cookie', false],
    ['with the session cookie and no host', {}, 'cookie', false],
    ['with a token from a page of ours', { host, origin }, 'token', true],
    ['with a token from a page of ours, whatever the case', { host, origin: origin.toUpperCase() }, 'token', true],
    ['with no credential from a page of ours', { host, origin }, 'none', true],
    ['with a token from another page', { host, origin: 'https://app.example' }, 'token', false],
    ['with a token from our host without TLS', { host, origin: origin.replace('https', 'http') }, 'token', false],
    ['with a token and no origin', { host }, 'token', false],
    ['with a key and no origin', { host }, 'key', false],
  ])('%s: %o by %s is %s', (_what, headers, kind, isBrowser) => {
    expect(ask(headers, kind) !== null).toBe(isBrowser)
  })
})

test('a browser with a secret is identified by it, and gets no other', () => {
  expect(ask({ host, cookie: `theme=dark; __Host-browser=${secret}` })).toEqual({ browser: { fingerprint: fingerprintOf(secret) }, setCookie: null })
})

test('a browser without a secret gets one, by which it is identified from then on', () => {
  const [one, other] = [ask({ host })!, ask({ host })!]
  expect(one.browser).not.toEqual(other.browser)
  const cookie = one.setCookie!.split(';', 1)[0]!
  expect(ask({ host, cookie })).toEqual({ browser: one.browser, setCookie: null })
})
