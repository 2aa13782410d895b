import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { until } from '../../kit/launch.ts'
import { isWanted } from '../siege.ts'
import { besiege, type Demo, startDemo } from './world.ts'

/** A server of the operator on loopback, which holds what no caller is to read, and counts who asks for that; the platform itself asks it for other things. */
async function openInner() {
  let asked = 0
  const server = createServer((request, response) => {
    if (request.url?.startsWith('/secret')) asked += 1
    response.writeHead(200, { 'content-type': 'text/plain' }).end('swordfish')
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return { server, origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked: () => asked }
}

/** Has the sandbox lead on from a page of its own, which callers may name, to any address. @returns that page */
async function pageThatLeadsTo(sandbox: string, target: string): Promise<string> {
  const form = {
    mode: 'payment',
    success_url: target,
    cancel_url: target,
    'line_items[0][price_data][currency]': 'usd',
    'line_items[0][price_data][unit_amount]': '500',
    'line_items[0][price_data][product_data][name]': 'A way',
    'line_items[0][quantity]': '1',
  }
  const headers = { authorization: 'Bearer sk_test_of_the_attacks' }
  const answer = await fetch(`${sandbox}/stripe/v1/checkout/sessions`, { method: 'POST', headers, body: new URLSearchParams(form) })
  const { url } = (await answer.json()) as { url: string }
  const page = `${url}?sandbox_approve=0`
  const leading = await fetch(page, { redirect: 'manual' })
  expect([leading.status, leading.headers.get('location')]).toEqual([303, target])
  return page
}

/** How many sources are tried: as many as one page of them has. */
const maxSources = 100

describe.skipIf(!isWanted)('addresses that lead to servers of the operator', () => {
  let inner: Awaited<ReturnType<typeof openInner>>
  let vendor: Awaited<ReturnType<typeof openInner>>
  let demo: Demo
  beforeAll(async () => {
    ;[inner, vendor] = [await openInner(), await openInner()]
    demo = await startDemo({ OUTBOUND_ALLOW: inner.origin, OPENAI_API_URL: `${vendor.origin}/v1` })
  }, 120_000)
  afterAll(async () => {
    await demo?.[Symbol.asyncDispose]()
    for (const each of [inner, vendor]) closeAll(each?.server)
  })

  it('are rejected at each redirect, while another organization is answered as usual', { timeout: 120_000 }, async () => {
    const { hostile, polite, url, sandbox } = demo
    const direct = [inner, vendor].flatMap(({ origin }) => [`${origin}/secret`, `${origin.replace('127.0.0.1', 'localhost')}/secret`])
    const led = await Promise.all(direct.map(target => pageThatLeadsTo(sandbox, target)))
    const { createPersonProfile } = await hostile.query<{ createPersonProfile: { id: string } }>(
      'mutation { createPersonProfile(input: { displayName: "Eve" }) { id } }',
    )
    const personProfileId = createPersonProfile.id
    /** What is sent to each field; a receiver of webhooks and a server of models are never led on. */
    const fields: readonly { readonly document: string; readonly addresses: readonly string[]; input(address: string): object }[] = [
      {
        document: 'mutation($input: CreateProfileSourceInput!) { createProfileSource(input: $input) { id } }',
        addresses: [...direct, ...led],
        input: address => ({ personProfileId, kind: 'DOCUMENT', title: 'Way in', url: address }),
      },
      {
        document: 'mutation($input: ImportMediaInput!) { importMedia(input: $input) { id } }',
        addresses: [...direct, ...led],
        input: address => ({ brandId: hostile.brandId, url: address }),
      },
      {
        document: 'mutation($input: CreateWebhookEndpointInput!) { createWebhookEndpoint(input: $input) { secret } }',
        addresses: direct,
        input: address => ({ brandId: hostile.brandId, url: address, events: ['post.published'] }),
      },
      {
        // Addresses in OUTBOUND_ALLOW are reachable for this purpose only.
        document: 'mutation($input: CreateCredentialInput!) { createCredential(input: $input) { id } }',
        addresses: direct.filter(address => new URL(address).port === new URL(vendor.origin).port),
        input: address => ({
          provider: 'custom',
          name: `c${Math.random().toString(36).slice(2)}`,
          baseUrl: address,
          fields: [{ name: 'apiKey', value: 'x'.repeat(20) }],
        }),
      },
    ]
    const tries = fields.flatMap(({ document, addresses, input }) => addresses.map(address => ({ document, input: () => input(address) })))
    const answers = new Map<string, number>()
    let sourcesTried = 0
    const attempt = async (at: number) => {
      const { document, input } = tries[at % tries.length]!
      const name = /\) \{ (\w+)/.exec(document)![1]!
      // All of them are looked at in one page afterwards.
      if (name === 'createProfileSource' && ++sourcesTried > maxSources) return
      const said = await hostile.query(document, { input: input() }).then(
        () => 'taken',
        error => /"code": "(\w+)"/.exec(String(error))?.[1] ?? String(error).slice(0, 200),
      )
      answers.set(`${name} ${said}`, (answers.get(`${name} ${said}`) ?? 0) + 1)
    }
    const ask = async () => {
      const answer = await fetch(`${url}/publishing/api/brands/${polite.brandId}`, { headers: polite.headers('publishing') })
      const text = await answer.text()
      return answer.status === 200 && text.includes('Demo Brand') ? null : `${answer.status} ${text.slice(0, 200)}`
    }
    const siege = (overAt: number) =>
      Promise.all(
        Array.from({ length: 8 }, async (_, seat) => {
          for (let turn = seat; performance.now() < overAt || turn < tries.length; turn += 8) await attempt(turn)
        }),
      )
    const { peace, during } = await besiege({ ask, everyMs: 25 }, siege)
    const sources = 'query($id: ID!) { personProfile(id: $id) { sources(first: 100) { nodes { status text failure { code } } } } }'
    const found = await until(
      'no source is under way any more',
      async () => {
        const { personProfile } = await hostile.query<{
          personProfile: { sources: { nodes: { status: string; text: string | null; failure: { code: string } | null }[] } }
        }>(sources, { id: personProfileId })
        const { nodes } = personProfile.sources
        return nodes.every(({ status }) => status !== 'PROCESSING') && nodes
      },
      60,
    )
    console.log(
      [
        '| answers | sources | p99 before | during |',
        '| --- | --- | --- | --- |',
        `| ${[...answers].map(([said, count]) => `${count} × ${said}`).join(', ')} | ${found.length} × ${[...new Set(found.map(({ failure }) => failure?.code))].join(', ')} | ${peace.p99.toFixed(1)} ms | ${during.p99.toFixed(1)} ms |`,
      ].join('\n'),
    )
    expect([inner.asked(), vendor.asked()], 'requests that reached the servers of the operator').toEqual([0, 0])
    expect(found.length).toBeGreaterThan(0)
    expect(new Set(found.map(({ status, failure }) => `${status} ${failure?.code}`))).toEqual(new Set(['FAILED ADDRESS_REFUSED']))
    expect([...peace.wrong, ...during.wrong], 'the polite client was answered otherwise').toEqual([])
    expect(during.p99).toBeLessThanOrEqual(2 * peace.p99 + 50)
  })
})

function closeAll(server: Server | undefined): void {
  server?.closeAllConnections()
  server?.close()
}
