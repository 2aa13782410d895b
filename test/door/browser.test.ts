import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Door, openDoor, type Reply } from '../kit/door.ts'
import { type Supergraph, supergraph } from '../kit/supergraph.ts'

const password = 'correct horse battery'
const origin = 'http://localhost:4000'
const browserMarks = { accept: 'text/html', 'user-agent': 'Mozilla/5.0', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' }

let graph: Supergraph
let door: Door
let bearer: { authorization: string }
let session: string
let brandId: string

beforeAll(async () => {
  graph = await supergraph({ sandbox: true, now: new Date().toISOString() })
  door = await openDoor(graph)
  await graph.platform.identity.provision({
    password,
    people: [{ email: 'owner@test.test', name: 'Olivia' }],
    organizations: [{ slug: 'acme', name: 'Acme', members: [{ email: 'owner@test.test', roles: ['owner'] }] }],
    keys: [],
  })
  bearer = await door.signIn('owner@test.test', password)
  session = cookiesOf(await door.ask('POST', '/identity/api/auth/sign-in/email', { body: { email: 'owner@test.test', password } }))
  brandId = (await door.ask('POST', '/publishing/api/brands', { headers: bearer, body: { name: 'Bakery' } })).json.id
})
afterAll(async () => {
  await door[Symbol.asyncDispose]()
  await graph[Symbol.asyncDispose]()
})

const linesOf = ({ headers }: Reply) => [headers['set-cookie'] ?? []].flat() as string[]
const cookiesOf = (reply: Reply) =>
  linesOf(reply)
    .map(line => line.split(';', 1)[0])
    .join('; ')

const overGraph = (headers: Record<string, string>) =>
  door.ask('POST', '/graphql', {
    headers,
    body: { query: `mutation { connectIntegration(input: { brandId: "${brandId}", platform: X }) { authorizationUrl } }` },
  })
const overRest = (headers: Record<string, string>) => door.ask('POST', '/publishing/api/integrations/x/connect', { headers, body: { brandId } })

/** Agrees at the network, and comes back to the door as a browser with these cookies. */
async function comeBack(reply: Reply, cookie: string): Promise<Reply> {
  const back = await agree(reply)
  return door.ask('GET', back, { headers: { ...browserMarks, ...(cookie && { cookie }) } })
}

/** Agrees at the network. @returns path and query that it sends the person back to */
async function agree(reply: Reply): Promise<string> {
  const address = new URL(reply.json.authorizationUrl ?? reply.json.data.connectIntegration.authorizationUrl)
  address.searchParams.set('sandbox_approve', '1')
  const back = new URL((await fetch(address, { redirect: 'manual' })).headers.get('location')!)
  return back.pathname + back.search
}

/** Sends the form of a page to the page's own address, as a browser does. */
const sendForm = (page: Reply, path: string, cookie: string): Promise<Reply> =>
  door.ask('POST', path, {
    headers: { ...browserMarks, cookie, origin: 'null', 'content-type': 'application/x-www-form-urlencoded' },
    body: Buffer.from(String(new URLSearchParams([...page.text.matchAll(/name="([^"]*)" value="([^"]*)"/g)].map(([, name, value]) => [name!, value!])))),
  })

test.each([
  ['the session cookie, over GraphQL', overGraph, () => ({ cookie: session, origin })],
  ['the session cookie, over REST', overRest, () => ({ cookie: session, origin })],
  ['a token from a page of ours, over GraphQL', overGraph, () => ({ ...bearer, origin })],
  ['a token from a page of ours, over REST', overRest, () => ({ ...bearer, origin })],
] as const)('who begins with %s gets a cookie of this host alone, and only that browser finishes', async (_, begin, headers) => {
  const begun = await begin(headers())
  expect(linesOf(begun)).toEqual([expect.stringMatching(/^browser=[\w-]{43}; Path=\/; HttpOnly; SameSite=Lax$/)])
  for (const cookie of ['', `browser=${'x'.repeat(43)}`, session]) {
    const lured = await comeBack(begun, cookie)
    expect([lured.status, lured.text]).toEqual([400, expect.stringContaining('another browser')])
  }
  const own = await comeBack(begun, cookiesOf(begun))
  expect([own.status, own.text]).toEqual([200, expect.stringContaining('can now be used by <bdi>Bakery</bdi>')])
})

test('a browser with its cookie keeps it, and a read sets none', async () => {
  const known = `${session}; browser=${'k'.repeat(43)}`
  expect(linesOf(await overGraph({ cookie: known, origin }))).toEqual([])
  expect(linesOf(await door.ask('POST', '/graphql', { headers: { cookie: session, origin }, body: { query: '{ viewer { kind } }' } }))).toEqual([])
})

test.each([
  ['a program', () => bearer],
  ['a program that claims to be somebody’s browser', () => ({ ...bearer, 'x-browser-fingerprint': '0'.repeat(64) })],
  ['a page of ours on another origin, which need not keep cookies', () => ({ ...bearer, origin: 'http://publishing.localhost:4000' })],
  ['a page that is not ours', () => ({ ...bearer, origin: 'https://foreign.example' })],
  ['a page on another host, where the cookie would not come back to', () => ({ ...bearer, origin, host: 'publishing.localhost:4000' })],
] as const)('what %s begins is confirmed in a browser before anything is connected', async (_, headers) => {
  const begun = await overRest(headers())
  expect([begun.status, linesOf(begun)]).toEqual([200, []])
  const shown = await comeBack(begun, '')
  expect([shown.status, shown.text]).toEqual([200, expect.stringContaining('the brand “<bdi>Bakery</bdi>” of the organization “<bdi>Acme</bdi>”')])
  expect(linesOf(shown)).toHaveLength(1)
})

test('a browser that starts and confirms a connection at the same address gets the account connected', async () => {
  const back = await agree(await overRest(bearer))
  const shown = await door.ask('GET', back, { headers: browserMarks })
  const done = await sendForm(shown, back, cookiesOf(shown))
  expect([done.status, done.text]).toEqual([200, expect.stringContaining('can now be used by <bdi>Bakery</bdi>')])
})

test('answers 413 with the page’s limit to a form that is larger', async () => {
  const at = '/publishing/api/integrations/x/callback'
  const send = (bytes: number) => door.ask('POST', at, { headers: { 'content-type': 'application/x-www-form-urlencoded' }, body: Buffer.alloc(bytes, 'a') })
  expect((await send(16 * 1024)).status).toBe(400)
  expect(await send(16 * 1024 + 1)).toMatchObject({ status: 413, json: { limit: 16 * 1024 } })
})
