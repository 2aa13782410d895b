import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { parse } from 'graphql'
import { expect, test } from 'vitest'
import { createRemoteAsk, type Seals } from '../../../router/apart/ask.ts'
import type { Fetch, FetchCall, Transport } from '../../../router/engine/engine.ts'
import { createRemoteTransport } from '../../../router/engine/transport/remote.ts'
import { openEngine, ownSupergraph } from '../../../router/start/engine.ts'
import { anonymous } from '../../../subgraphs/viewer.ts'

/** What an engine gave the fetches of an operation, whose clock stands at 1000: their own time in ms, and the operation's end. */
async function times(kind: 'native' | 'apollo', texts: readonly string[]) {
  const given: (readonly [number, number])[] = []
  const transport = {
    fetch: async ({ timeoutMs = 0 }: Fetch, { deadline }: FetchCall) => {
      given.push([timeoutMs, deadline!])
      return { data: null }
    },
  } as Partial<Transport> as Transport
  const log = { error() {}, warn() {} }
  const engine = await openEngine(kind, { supergraphSdl: ownSupergraph(), transport, log, now: () => 1000, operationTimeoutMs: 30_000 })
  for (const text of texts) await engine.execute({ document: parse(text), variables: {}, viewer: anonymous, requestId: 'r' })
  return given
}

const drawing = 'generateImages(input: { brandId: "x", prompt: "y" }) { images { id } }'

test.each(['native', 'apollo'] as const)('a field that takes long has its time, and its operation with it; no other has (%s)', async kind => {
  expect(
    await times(kind, [
      `mutation { ${drawing} }`,
      '{ brands { totalCount } }',
      'mutation { ...long } fragment long on Mutation { ... { createImages(input: { prompt: "y" }) { model } } }',
    ]),
  ).toEqual([
    [75_000, 76_000],
    [0, 31_000],
    [60_000, 61_000],
  ])
})

test('publishing’s model calls have less time than publishing’s callers, so a generated image is still stored', () => {
  const of = (field: string) => ownSupergraph().patience.get(field) ?? 0
  expect(of('Mutation.createImages')).toBe(60_000)
  expect(of('Mutation.generateImages')).toBeGreaterThan(of('Mutation.createImages'))
  for (const field of ['Query.trends', 'Mutation.refreshTrends']) expect(of(field)).toBeGreaterThan(of('Mutation.createCompletion'))
})

/** Somebody who takes 200 ms for an answer. */
async function slow(answer: object) {
  const server = createServer((request, response) => {
    request.resume()
    setTimeout(() => response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer)), 200)
  })
  await new Promise<void>(done => {
    server.listen(0, '127.0.0.1', done)
  })
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    [Symbol.dispose]: () => {
      server.closeAllConnections()
      server.close()
    },
  }
}

test('waits for a remote subgraph as long as the field’s limit allows, within the time of the operation', async () => {
  using server = await slow({ data: { a: 1 } })
  const transport = createRemoteTransport({ subgraphs: new Map([['one', { url: `${server.origin}/graphql` }]]), timeoutMs: 50 })
  const asked = (timeoutMs: number | undefined, left: number) => {
    const fetch: Fetch = { subgraph: 'one', document: parse('mutation { a }'), text: 'mutation { a }', kind: 'mutation', timeoutMs }
    const operation = { statement: <R>(run: () => Promise<R>) => run(), read() {}, characters: 0 } as unknown as FetchCall['operation']
    return transport.fetch(fetch, { variables: {}, viewer: anonymous, requestId: 'r', deadline: performance.now() + left, operation })
  }
  expect(await asked(5_000, 5_000)).toMatchObject({ data: { a: 1 } })
  await expect(asked(undefined, 5_000)).rejects.toThrow('No answer within 50 ms')
  await expect(asked(5_000, 20)).rejects.toThrow(/No answer within \d\d ms/)
  await transport.close()
})

test('waits for a call of a distributed service as long as the caller states', async () => {
  using server = await slow({ data: { a: 1 } })
  const ask = createRemoteAsk([server.origin], { of: () => undefined } as Partial<Seals> as Seals, 'a token')
  const viewer = { userId: null, organizationId: null, roles: [], scopes: [], context: 'organization' as const }
  const asked = (timeoutMs?: number) => ask(parse('mutation { a }') as never, {}, { appId: 'app_publishing', viewer, ...(timeoutMs && { timeoutMs }) })
  expect(await asked()).toEqual({ a: 1 })
  await expect(asked(50)).rejects.toMatchObject({ extensions: { code: 'UPSTREAM_FAILED' } })
})
