import { expect, test } from 'vitest'
import { supergraph } from '../../../../kit/supergraph.ts'
import { seedCredential } from '../../credential/seed.ts'
import { createCredential } from '../../documents.ts'
import { seedLimit } from '../../spend/seed.ts'
import { seedCall } from '../seed.ts'

test('G-11 the widget counts failing credentials of its own organization, and is notified of new ones', async () => {
  await using graph = await supergraph()
  const { owner, outsider } = await graph.seed.owner().outsider()
  const shown = async (as = owner) =>
    (await graph.execute('{ providersWidget { statistics { key value } items { id } nextAction { url } } }', {}, { as })).data().providersWidget
  const live = await graph.subscribe('subscription { widgetUpdated { app payload { statistics { key value } } } }', {}, { as: owner })
  const { id } = await seedCredential(graph, { organizationId: owner.organizationId })
  await graph.rows(`update providers.credentials set status = 'FAILING' where id = $1`, [id])
  await graph.execute(createCredential, { input: { provider: 'openai', fields: [{ name: 'apiKey', value: 'sk-x' }] } }, { as: owner })
  expect(await shown()).toEqual({
    statistics: [
      { key: 'callsToday', value: 0 },
      { key: 'failedCallsToday', value: 0 },
      { key: 'spendThisMonthCents', value: 0 },
      { key: 'credentialsFailing', value: 1 },
    ],
    items: [],
    nextAction: { url: 'http://localhost:4000/providers/api/credentials' },
  })
  await expect.poll(() => JSON.stringify(live.events)).toContain('{"key":"credentialsFailing","value":1}')
  await live.end()
  expect((await shown(outsider)).nextAction).toBeNull()
})

test('G-11 the widget counts calls of today, this month’s costs, and shows the limit closest to its end', async () => {
  await using graph = await supergraph()
  const { owner, organization } = await graph.seed.owner()
  const organizationId = organization.id
  const ago = (hours: number) => new Date(graph.clock.now().getTime() - hours * 3_600_000)
  await seedCall(graph, { organizationId, costMicros: 15_000n })
  await seedCall(graph, { organizationId, status: 'FAILED', costMicros: 0n })
  // Yesterday was another month.
  await seedCall(graph, { organizationId, costMicros: 9_000_000n, createdAt: ago(24) })
  const limit = { organizationId, period: 'TOTAL' as const, hardLimitMicros: 100n }
  await seedLimit(graph, { ...limit, scopeType: 'APP', scopeValue: 'app_a', spentMicros: 49n })
  const shown = async () =>
    (await graph.execute('{ providersWidget { statistics { key value } nextAction { url } } }', {}, { as: owner })).data().providersWidget
  expect(await shown()).toEqual({
    statistics: [
      { key: 'callsToday', value: 2 },
      { key: 'failedCallsToday', value: 1 },
      { key: 'spendThisMonthCents', value: 2 },
      { key: 'credentialsFailing', value: 0 },
    ],
    nextAction: null,
  })
  await seedLimit(graph, { ...limit, scopeType: 'APP', scopeValue: 'app_b', spentMicros: 60n })
  const nearest = await seedLimit(graph, { ...limit, scopeType: 'APP', scopeValue: 'app_c', spentMicros: 70n })
  expect((await shown()).nextAction).toEqual({ url: `http://localhost:4000/providers/api/limits/${nearest}` })
})
