import { readFileSync } from 'node:fs'
import { buildSchema } from 'graphql'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ServiceOrigin } from '../../config/hosts.ts'
import { createHosts, type Role } from '../../router/hosts.ts'
import { roleOf } from '../../router/rest/place.ts'
import { anyMethod } from '../../router/rest/row.ts'
import { routeTables } from '../../router/rest/tables.ts'
import { type Slug, slugs } from '../../subgraphs/scopes.ts'
import type { Subgraph } from '../../subgraphs/subgraph.ts'
import { openRouter, schemaEngine } from './platform.ts'

// S-14: every row of REST × every kind of host, with the prefix and without it.

const origins: readonly ServiceOrigin[] = slugs.flatMap((slug): ServiceOrigin[] => [
  { slug, role: 'web', origin: `https://web.${slug}.example` },
  { slug, role: 'api', origin: `https://api.${slug}.example` },
  { slug, role: 'web', origin: `https://both.${slug}.example` },
  { slug, role: 'api', origin: `https://both.${slug}.example` },
])
const hosts = createHosts('https://platform.example', [...origins, { slug: 'launcher', role: 'marketing', origin: 'https://marketing.launcher.example' }])

/** Answers with the cookies that reached it. */
const echo = (slug: string) =>
  ({
    registration: { slug },
    http: async (request: Request) => Response.json({ cookie: request.headers.get('cookie') }),
  }) as unknown as Subgraph

let platform: Awaited<ReturnType<typeof openRouter>>
beforeAll(async () => {
  const schema = buildSchema(readFileSync(new URL('../../schema/api.graphql', import.meta.url), 'utf8'), { assumeValid: true })
  platform = await openRouter(schemaEngine(schema), { hosts, subgraphs: slugs.map(echo), tables: routeTables, environment: 'production' })
})
afterAll(() => platform.close())

const rows = routeTables.flatMap(({ slug, rows }) =>
  // Routes that exist on every host belong to none.
  rows
    .filter(row => !('everywhere' in row))
    .flatMap(row => (row.method === '*' ? anyMethod : [row.method]).map(method => ({ slug, method, role: roleOf(row), path: row.path }))),
)
/** Another service, whose hosts a row has nothing to do with. */
const other = (slug: Slug): Slug => (slug === 'agents' ? 'launcher' : 'agents')
const kinds: Readonly<Record<string, (slug: Slug) => string>> = {
  'its web host': slug => `web.${slug}.example`,
  'its API host': slug => `api.${slug}.example`,
  'a host of both, in capitals': slug => `BOTH.${slug}.EXAMPLE`,
  'another service’s web host': slug => `web.${other(slug)}.example`,
  'another service’s API host': slug => `api.${other(slug)}.example`,
  'the platform’s own': () => 'platform.example',
  'an unknown one': () => '192.0.2.7:8080',
}
/** Where a row answers, written by hand: with its prefix, and without. */
const answers: Readonly<Record<Role, readonly [prefixed: readonly string[], short: readonly string[]]>> = {
  api: [Object.keys(kinds), ['its API host', 'a host of both, in capitals']],
  marketing: [Object.keys(kinds), []],
  web: [
    ['its web host', 'a host of both, in capitals', 'another service’s web host', 'the platform’s own', 'an unknown one'],
    ['its web host', 'a host of both, in capitals'],
  ],
}

describe.each(Object.entries(kinds))('S-14 on %s', (kind, hostOf) => {
  test.each(rows)('$method /$slug$path', async ({ slug, method, role, path }) => {
    const written = path.replace('/*', '/token').replaceAll(/:\w+/g, 'x')
    for (const [at, address] of [`/${slug}${written}`, written].entries()) {
      // Another service's prefix would be put before it, or none: that is another address.
      if (at === 1 && hosts.serviceOf(hostOf(slug)) !== slug) continue
      const answer = await platform.ask(address, { method, headers: { host: hostOf(slug) } })
      const isHere = answers[role][at]!.includes(kind)
      const right = `https://${role}.${slug}.example${written}`
      if (isHere) expect([address, answer.json?.address]).toEqual([address, undefined])
      else expect([address, answer.status, answer.json]).toEqual([address, 404, expect.objectContaining({ code: 'NOT_FOUND', address: right })])
      if (!isHere) expect(answer.json.detail).toContain(right)
      // An address that refuses a method refuses it the same way on the service's own host.
      const odd = await platform.ask(address, { method: 'PATCH', headers: { host: hostOf(slug) } })
      if (!isHere && odd.status === 405) expect(odd.headers.allow).not.toContain(method)
    }
  })
})

test.each(rows.filter(({ role }) => role === 'marketing'))('S-14 on the host of the marketing site $method $path', async ({ method, path }) => {
  const headers = { host: 'marketing.launcher.example' }
  for (const address of [path, `/launcher${path}`])
    expect([address, (await platform.ask(address.replace(/:\w+/, 'x'), { method, headers })).status]).toEqual([address, 200])
})

test('S-14 names the platform’s own address with the prefix where a service has no host of the audience', async () => {
  const few = createHosts('https://platform.example', [{ slug: 'publishing', role: 'web', origin: 'https://publishing.example' }])
  await using router = await openRouter(schemaEngine(buildSchema('type Query { a: Int }')), {
    hosts: few,
    subgraphs: [echo('identity')],
    tables: routeTables.filter(({ slug }) => slug === 'identity'),
  })
  expect((await router.ask('/identity/login', { headers: { host: 'publishing.example' } })).status).toBe(200)
  expect(few.addressOf('publishing', 'api', '/api/posts')).toBe('https://platform.example/publishing/api/posts')
  expect(few.addressOf('publishing', 'web', '/x')).toBe('https://publishing.example/x')
})

test('S-14 cookies reach forwarded routes that read them on web hosts only', async () => {
  const cookieAt = async (host: string) => (await platform.ask('/identity/api/auth/token', { headers: { host, cookie: 'session=one' } })).json.cookie
  for (const host of ['platform.example', 'web.identity.example', 'both.identity.example', 'web.publishing.example'])
    expect([host, await cookieAt(host)]).toEqual([host, 'session=one'])
  for (const host of ['api.identity.example', 'api.publishing.example', '192.0.2.7']) expect([host, await cookieAt(host)]).toEqual([host, null])
})
