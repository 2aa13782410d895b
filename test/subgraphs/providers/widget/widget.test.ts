import { expect, test } from 'vitest'
import { supergraph } from '../../../kit/supergraph.ts'
import { seedCredential } from '../credential/seed.ts'
import { createCredential } from '../documents.ts'

test('G-11 the widget counts credentials that fail, of its own organization alone, and is told when one is made', async () => {
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
