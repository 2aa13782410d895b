import { createClient } from 'graphql-ws'
import { expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { readConfig } from '../../config.ts'
import { amountFor } from '../../router/engine/operation/cost/amount.ts'
import { estimateOf } from '../../router/engine/operation/cost/estimate.ts'
import { findOperation, type Operation } from '../../router/engine/operation/operation.ts'
import { ownSupergraph } from '../../router/start/engine.ts'
import * as agents from '../../subgraphs/agents/ask.generated.ts'
import { mostRead } from '../../subgraphs/agents/engines/connect/platform/tools.ts'
import * as launcher from '../../subgraphs/launcher/ask.generated.ts'
import * as payments from '../../subgraphs/payments/ask.generated.ts'
import * as publishing from '../../subgraphs/publishing/connection/integration/ask.generated.ts'
import { openRouter } from '../door/platform.ts'
import { openDoor } from '../kit/door.ts'
import { supergraph } from '../kit/supergraph.ts'

const deep = (levels: number): string => `organization { brands(first: 100) { nodes { id ${levels > 0 ? deep(levels - 1) : ''} } } }`
const dear = `{ viewer { ${deep(3)} } }`
const tooExpensive = {
  message: expect.stringMatching(/^The operation may cost [\d,]+, and 20,000 is the most: .* viewer\.organization\.brands\.nodes\[100\]\.organization\./),
  extensions: { code: 'OPERATION_TOO_EXPENSIVE', cost: { estimated: 103_030_303, max: 20_000 } },
}

test('over HTTP a rejection by cost is a result with 200, whatever media type the client accepts; over WebSocket and SSE too', async () => {
  await using graph = await supergraph()
  const { owner } = await graph.seed.owner().brand()
  const router = await openRouter(graph.platform.engine)
  await using _ = { [Symbol.asyncDispose]: () => router.close() }
  router.signIn('owner', { userId: owner.userId!, organizationId: owner.organizationId!, roles: ['owner'] })
  const authorization = `Bearer ${await router.token('owner')}`
  for (const accept of ['application/json', 'application/graphql-response+json']) {
    const answer = await router.gql(dear, { authorization, accept })
    expect([answer.status, answer.json]).toEqual([200, { data: null, errors: [tooExpensive] }])
  }
  const shown = await router.gql('{ brands { nodes { id } } }', { authorization, 'x-graphql-cost': 'show' })
  expect(shown.json.extensions).toEqual({ cost: { estimated: 21, actual: 2, max: 20_000 } })

  const client = createClient({ url: `ws://127.0.0.1:${router.port}/graphql`, webSocketImpl: WebSocket, connectionParams: { Authorization: authorization } })
  const results = async (query: string) => {
    const found: unknown[] = []
    for await (const result of client.iterate({ query })) found.push(result)
    return found
  }
  expect(await results(dear)).toEqual([{ data: null, errors: [tooExpensive] }])
  expect(await results(`subscription { postStatusChanged(brandId: "x") { brand { ${deep(3)} } } }`)).toEqual([
    { data: null, errors: [expect.objectContaining({ extensions: expect.objectContaining({ code: 'OPERATION_TOO_EXPENSIVE' }) })] },
  ])
  await client.dispose()

  const events = await fetch(`${router.url}/graphql`, {
    method: 'POST',
    headers: { authorization, accept: 'text/event-stream', 'content-type': 'application/json' },
    body: JSON.stringify({ query: dear }),
  })
  expect(await events.text()).toContain('OPERATION_TOO_EXPENSIVE')
})

/** The kit reads no environment, so a most may be less than operators can set. */
const cheap = { running: { remote: { ...readConfig({}).remote, maxCost: 3 } } }

test('a REST route is exempt from the cost limit, because the platform wrote its operation', async () => {
  await using graph = await supergraph({ ...cheap, now: new Date().toISOString() })
  await using door = await openDoor(graph)
  const password = 'a password of this test'
  await graph.platform.identity.provision({
    password,
    people: [{ email: 'owner@test.test', name: 'Owner' }],
    organizations: [{ slug: 'acme', name: 'Acme', members: [{ email: 'owner@test.test', roles: ['owner'] }] }],
    keys: [],
  })
  const headers = await door.signIn('owner@test.test', password)
  const query = '{ brands(first: 50) { nodes { id } } }'
  const asked = await door.ask('POST', '/graphql', { headers, body: { query } })
  expect(asked.json).toMatchObject({ data: null, errors: [{ extensions: { code: 'OPERATION_TOO_EXPENSIVE', cost: { estimated: 51, max: 3 } } }] })
  expect(await door.ask('GET', '/publishing/api/brands?first=50', { headers })).toMatchObject({ status: 200, json: { brands: [] } })
})

const graph = ownSupergraph()
const documentsOf = (module: object) => Object.entries(module).filter(([name]) => name.endsWith('Document'))
const dearest = (document: never, most: number) => {
  const operation = findOperation(document, undefined) as Operation
  const given = Object.fromEntries(operation.definition.variableDefinitions?.map(({ variable }) => [variable.name.value, most]) ?? [])
  return amountFor(estimateOf(operation, graph).total, given)
}

test('services’ own operations cost less than half of the smallest limit that operators can set', () => {
  const asked = [agents, launcher, payments, publishing].flatMap(documentsOf)
  expect(asked.length).toBeGreaterThan(4)
  for (const [name, document] of asked) expect(dearest(document as never, name.startsWith('ToolRead') ? mostRead : 100), name).toBeLessThan(1000 / 2)
})
