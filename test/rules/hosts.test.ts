import type { FastifyRequest } from 'fastify'
import { describe, expect, test } from 'vitest'
import type { ServiceOrigin } from '../../config/hosts.ts'
import { canonicalPath, createHosts, type Hosts, hostsOf } from '../../router/hosts.ts'
import { answersHere, keepRole, misplaced, roleOf } from '../../router/rest/place.ts'
import type { Row } from '../../router/rest/row.ts'

const origins: readonly ServiceOrigin[] = [
  { slug: 'publishing', role: 'web', origin: 'https://pages.example:8443' },
  { slug: 'publishing', role: 'api', origin: 'https://api.example' },
  { slug: 'launcher', role: 'dashboard', origin: 'https://launcher.example' },
  { slug: 'launcher', role: 'marketing', origin: 'https://www.example' },
  { slug: 'payments', role: 'api', origin: 'https://pay.example' },
]
const hosts = createHosts('https://platform.example', origins, { origins: ['https://guest.example'] })
const local = createHosts('http://localhost:4000', [], { loopback: true })

describe('a host', () => {
  test.each<readonly [string | null | undefined, ReturnType<Hosts['serviceOf']>, boolean, boolean]>([
    ['platform.example', null, true, true],
    ['PLATFORM.example:443', null, true, true],
    ['pages.example', 'publishing', true, true],
    ['Pages.Example:8443', 'publishing', true, true],
    ['api.example', 'publishing', false, true],
    ['launcher.example', 'launcher', true, true],
    ['www.example', 'launcher', true, true],
    ['pay.example', 'payments', false, true],
    ['elsewhere.example', null, false, false],
    ['localhost', null, false, false],
    ['', null, false, false],
    [null, null, false, false],
    [undefined, null, false, false],
  ])('%s is that of %s; cookies count there: %s; it is named: %s', (host, slug, isWeb, isKnown) => {
    expect([hosts.serviceOf(host), hosts.isWeb(host), hosts.knows(host ?? '')]).toEqual([slug, isWeb, isKnown])
  })

  test('of the platform on this machine has each name that the machine has for itself', () => {
    for (const name of ['localhost', '127.0.0.1', '[::1]', 'LOCALHOST:4000', '[::1]:4000']) expect(local.isWeb(name), name).toBe(true)
    for (const name of ['localhost', '127.0.0.1', '[::1]']) expect(createHosts('http://localhost:4000', []).trusts(`http://${name}:4000`), name).toBe(true)
  })

  test('serves routes for programs with their prefix everywhere, pages on web hosts, and without prefix its own', () => {
    const places = ['platform.example', 'pages.example', 'api.example', 'elsewhere.example']
    const answering = (role: 'api' | 'web', short: boolean) => places.filter(host => hosts.answers(host, role, short))
    expect(answering('api', false)).toEqual(places)
    expect(answering('web', false)).toEqual(['platform.example', 'pages.example', 'elsewhere.example'])
    expect(answering('api', true)).toEqual(['api.example'])
    expect(answering('web', true)).toEqual(['platform.example', 'pages.example'])
  })
})

test('routes of the marketing site are answered with their prefix everywhere, and without it on its own hosts', () => {
  for (const host of ['platform.example', 'www.example', 'api.example', 'unknown.example'])
    expect([host, hosts.answers(host, 'marketing', false)]).toEqual([host, true])
  const short = ['www.example', 'WWW.example:8443', 'platform.example', 'api.example', 'pages.example']
  expect(short.filter(host => hosts.answers(host, 'marketing', true))).toEqual(['www.example', 'WWW.example:8443'])
  expect(hosts.addressOf('launcher', 'marketing', '/api/contact')).toBe('https://www.example/api/contact')
})

test('a path of a service is on the host of its audience, else on the platform’s own with the prefix', () => {
  expect([hosts.originOf('publishing'), hosts.originOf('identity')]).toEqual(['https://pages.example:8443', null])
  expect(hosts.addressOf('publishing', 'web', '/x')).toBe('https://pages.example:8443/x')
  expect(hosts.addressOf('publishing', 'api', '/api/posts')).toBe('https://api.example/api/posts')
  expect(hosts.addressOf('launcher', 'web', '/x')).toBe('https://launcher.example/x')
  expect(hosts.addressOf('launcher', 'api', '/api/x')).toBe('https://platform.example/launcher/api/x')
  expect(hosts.addressOf('payments', 'web', '/x')).toBe('https://platform.example/payments/x')
})

test.each([
  ['https://platform.example', true, false],
  ['https://PLATFORM.example', true, false],
  ['http://platform.example', false, false],
  ['https://platform.example:8443', false, false],
  ['https://pages.example:8443', true, false],
  ['https://pages.example', false, false],
  ['https://guest.example', true, false],
  ['https://evil.example', false, false],
  ['http://localhost:4000', false, true],
  ['https://LOCALHOST', false, true],
  ['http://a.b-1.localhost:5173', false, true],
  ['http://127.0.0.1:1', false, true],
  ['http://[::1]:99999', false, true],
  ['http://localhost:123456', false, false],
  ['http://localhost.evil.example', false, false],
  ['http://evillocalhost', false, false],
  ['http://xlocalhost:80', false, false],
  ['ftp://localhost', false, false],
  ['xhttp://localhost', false, false],
  ['http://localhost/', false, false],
  ['null', false, false],
])('a page of %s is trusted by those of a platform elsewhere: %s, and on this machine: %s', (origin, elsewhere, here) => {
  expect([hosts.trusts(origin), local.trusts(origin)]).toEqual([elsewhere, here])
})

test.each([
  ['development', true],
  ['staging', false],
  ['production', false],
] as const)('in %s pages of this machine are trusted: %s; those of configuration always', (environment, isTrusted) => {
  const configured = hostsOf({ publicUrl: 'https://platform.example', environment, corsOrigins: ['https://guest.example'], serviceOrigins: origins })
  expect(['http://localhost:5173', 'https://guest.example', 'https://pages.example:8443'].map(configured.trusts)).toEqual([isTrusted, true, true])
})

test.each([
  ['platform.example', '/api/posts', '/api/posts'],
  ['api.example', '/api/posts?first=1', '/publishing/api/posts?first=1'],
  ['api.example', '/publishing/api/posts', '/publishing/api/posts'],
  ['api.example', '/publishing?x', '/publishing?x'],
  ['api.example', '/identity/api/auth/token', '/identity/api/auth/token'],
  ['api.example', '/', '/'],
  ['api.example', '/?a', '/?a'],
  ['api.example', '/#a', '/#a'],
  ['api.example', '/graphql', '/graphql'],
  ['api.example', '/graphql?query=x', '/graphql?query=x'],
  ['api.example', '/graphqlx', '/publishing/graphqlx'],
  ['api.example', '/health/ready', '/health/ready'],
  ['api.example', '/metrics', '/metrics'],
  ['api.example', '/docs/graph', '/docs/graph'],
  ['api.example', '/explorer', '/explorer'],
  ['api.example', '/openapi.json', '/openapi.json'],
  ['api.example', '/openapiXjson', '/publishing/openapiXjson'],
  ['api.example', '/.well-known/x', '/.well-known/x'],
  ['api.example', '/x/docs', '/publishing/x/docs'],
  ['api.example', '*', '/publishing*'],
  ['www.example', '/pricing?from=mail', '/marketing/pricing?from=mail'],
  ['www.example', '/marketing/pricing', '/marketing/pricing'],
  ['www.example', '/apis', '/marketing/apis'],
  ['www.example', '/api/contact', '/launcher/api/contact'],
  ['elsewhere.example', '/api/posts', '/api/posts'],
])('on %s %s means %s', (host, url, path) => {
  expect(canonicalPath(hosts, host, url)).toBe(path)
})

describe('a route', () => {
  test.each<readonly [object, 'api' | 'web']>([
    [{ kind: 'operation' }, 'api'],
    [{ kind: 'forward', why: 'page' }, 'web'],
    [{ kind: 'forward', why: 'redirect' }, 'api'],
    [{ kind: 'forward', why: 'redirect', role: 'web' }, 'web'],
    [{ kind: 'forward', why: 'page', role: 'api' }, 'api'],
  ])('%j is for %s', (row, role) => {
    expect(roleOf(row as Row)).toBe(role)
  })

  const asked = (host: string, originalUrl: string, url = originalUrl) => ({ method: 'GET', originalUrl, url, headers: { host } }) as unknown as FastifyRequest

  test.each<readonly [FastifyRequest, 'api' | 'web', boolean]>([
    [asked('pages.example', '/publishing/api/posts'), 'api', true],
    [asked('pages.example', '/api/posts', '/publishing/api/posts'), 'api', false],
    [asked('api.example', '/api/posts', '/publishing/api/posts'), 'api', true],
    [asked('api.example', '/publishing/x'), 'web', false],
    [asked('elsewhere.example', '/publishing/x'), 'web', true],
    [asked('elsewhere.example', '/publishing/x/http://other.example/y'), 'web', true],
    [asked('elsewhere.example', 'http://elsewhere.example/publishing/x', '/publishing/x'), 'web', true],
    [asked('api.example', 'HTTPS://api.example/api/posts', '/publishing/api/posts'), 'api', true],
    [asked('pages.example', 'http://pages.example/api/posts', '/publishing/api/posts'), 'api', false],
  ])('is answered where its role is: %o, %s: %s', async (request, role, isHere) => {
    expect(answersHere(hosts, request, role)).toBe(isHere)
    const kept = keepRole(hosts, 'publishing', role)(request)
    if (isHere) await kept
    else
      await expect(kept).rejects.toMatchObject({
        extensions: { code: 'NOT_FOUND', address: hosts.addressOf('publishing', role, request.url.slice('/publishing'.length)) },
      })
  })

  test('on a wrong host names its address without the query, which may be private, and not without end', () => {
    const { message, extensions } = misplaced(
      hosts,
      asked('pages.example', '/api/posts?token=secret', '/publishing/api/posts?token=secret'),
      'publishing',
      'api',
    )
    expect([message.includes('secret'), extensions.address]).toEqual([false, 'https://api.example/api/posts'])
    expect(message).toContain('GET /api/posts on the host pages.example')
    expect(message).toMatch(/routes of publishing are where programs/)
    expect(misplaced(hosts, asked('api.example', '/x'), 'publishing', 'web').message).toMatch(/pages of publishing are where browsers/)
    const long = misplaced(hosts, asked('h'.repeat(5_000), `/${'x'.repeat(5_000)}`, `/publishing/${'x'.repeat(5_000)}`), 'publishing', 'web')
    expect(long.message.length).toBeLessThan(1_000)
    expect(String(long.extensions.address).length).toBeLessThan(300)
  })
})
