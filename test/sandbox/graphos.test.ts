import { ApolloServer } from '@apollo/server'
import { ApolloServerPluginUsageReporting } from '@apollo/server/plugin/usageReporting'
import { expect, it } from 'vitest'
import { send, stage } from './stage.ts'

it('takes the reports that Apollo Server sends, and refuses what is none', { timeout: 30_000 }, async () => {
  await using world = await stage()
  const endpointUrl = `${world.sandbox.origin}/graphos`
  const server = new ApolloServer({
    typeDefs: 'type Query { hello: String }',
    apollo: { key: 'service:shop:key', graphRef: 'shop@prod' },
    plugins: [ApolloServerPluginUsageReporting({ endpointUrl, sendReportsImmediately: true, sendTraces: false, fieldLevelInstrumentation: 0 })],
  })
  await server.executeOperation({ query: 'query Greeting { hello }' }, { contextValue: {} })
  await server.stop()
  const received = async () => (await send(`${world.sandbox.origin}/_control/received?network=graphos`)).body
  await expect
    .poll(received, { timeout: 10_000 })
    .toMatchObject([{ report: { header: { graphRef: 'shop@prod' }, tracesPerQuery: { '# Greeting\nquery Greeting{hello}': {} } } }])

  const url = `${endpointUrl}/api/ingress/traces`
  const headers = { 'x-api-key': 'service:shop:key', 'content-encoding': 'gzip' }
  expect((await send(url, { method: 'POST', headers: {}, body: 'x' })).status).toBe(401)
  expect((await send(url, { method: 'POST', headers: { 'x-api-key': 'k' }, body: 'x' })).status).toBe(400)
  expect((await send(url, { method: 'POST', headers, body: 'no gzip' })).status).toBe(400)
})
