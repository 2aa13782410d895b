import { parse } from 'graphql'
import { describe, expect, test } from 'vitest'
import { doFor } from '../../platform/caller/cause.ts'
import { createAsk } from '../../router/within/ask.ts'
import { anonymous } from '../../subgraphs/viewer.ts'
import { mode } from '../kit/assembled.ts'
import { until } from '../kit/launch.ts'
import { supergraph } from '../kit/supergraph.ts'
import { restWorld } from '../rest/world.ts'
import { seedConnection } from '../subgraphs/publishing/connection/seed.ts'

type Line = Record<string, unknown>
const headers = { 'x-request-id': 'find-me-1', 'apollographql-client-name': 'walker', 'apollographql-client-version': '2.1' }

describe('everything done for a request', () => {
  test('has its id in the log lines of the router, subgraphs, their calls, jobs, and facts', async () => {
    await using world = await restWorld()
    const { graph } = world
    const lines = (): Line[] => graph.log.map(line => JSON.parse(line))
    const [{ userId }] = (await graph.rows<{ userId: string }>(`select id as "userId" from identity.users where email = 'owner@test.test'`)) as [
      { userId: string },
    ]
    const owner = { ...anonymous, userId }
    await seedConnection(graph, { brandId: world.brandId, owner })
    // Payments knows an organization's name once it has received the fact; before, it asks.
    const unheard = 'select from identity.organizations o where not exists (select from payments.merchants m where m.organization_id = o.id)'
    await until('payments was told of every organization', async () => (await graph.rows(unheard)).length === 0)
    await graph.rows('delete from payments.merchants')
    const order = { currency: 'EUR', lines: [{ name: 'A thing', unitAmountMinor: '100' }] }
    expect(await world.ask('owner', 'POST', '/payments/api/orders', order, headers)).toMatchObject({ status: 201, headers: { 'x-request-id': 'find-me-1' } })
    const user = `user:${userId}`
    const known = { caller: user, client: 'walker@2.1' }
    expect(lines()).toContainEqual(expect.objectContaining({ requestId: 'find-me-1', route: '/payments/api/orders', status: 201, ...known }))
    if (mode === 'apart') {
      // The called subgraph, the router it asks, and the subgraph that answers the name.
      const answered = lines().filter(line => line.msg === 'answered' && line.requestId === 'find-me-1')
      expect(answered.every(({ caller, client }) => (caller === user && client === 'walker@2.1') || String(caller).startsWith('service:'))).toBe(true)
      expect(answered.map(({ route }) => route)).toContain('/internal/ask')
      expect(answered.filter(({ route }) => route === undefined).length).toBeGreaterThanOrEqual(2)
    }

    await graph.x.arm({ fault: 'status', status: 403 })
    const scheduledAt = graph.clock.in(60_000)
    const post = { brandId: world.brandId, platform: 'x', copy: 'Not to be sent', scheduledAt }
    expect(await world.ask('owner', 'POST', '/posts', post, { ...headers, 'x-request-id': 'find-me-2' })).toMatchObject({ status: 201 })
    await graph.clock.advance(59_000)
    await until('the job has told a fact', async () => {
      await graph.clock.run(250)
      return lines().some(line => line.msg === 'fact published' && line.cause === 'find-me-2')
    })
    expect(lines().find(line => line.msg === 'fact published' && line.cause === 'find-me-2')).toMatchObject({
      subgraph: 'publishing',
      kind: 'attention.opened',
      queue: expect.any(String),
      job: expect.any(String),
      caller: user,
      client: 'walker@2.1',
    })
    // Work without a request has no cause.
    for (const line of lines()) if (line.sweep !== undefined) expect(line.requestId).toBeUndefined()
  }, 60_000)

  test('includes a job’s calls, under the id of the request that caused the job', async () => {
    await using graph = await supergraph()
    const { owner } = await graph.seed.owner()
    const asked: string[] = []
    const engine = {
      ...graph.platform.engine,
      execute(request: { requestId: string }) {
        asked.push(request.requestId)
        return graph.platform.engine.execute(request as never)
      },
    }
    const ask = createAsk(
      engine,
      graph.platform.subgraphs.map(({ registration }) => registration),
      async () => true,
    )
    const question = () => ask(parse('{ viewer { kind } }') as never, {}, { appId: 'app_launcher', viewer: owner })
    await doFor({ requestId: 'find-me-3' }, question)
    await doFor({ cause: 'find-me-4', queue: 'q', job: 'j' }, question)
    await question()
    expect(asked.slice(0, 2)).toEqual(['find-me-3', 'find-me-4'])
    expect(asked[2]).toMatch(/^[\da-f-]{36}$/)
  })
})
