/**
 * The platform with everything on: a key is checked at the door, two hard limits hold the call back and pay for it, and it is on record before its answer goes
 * out. Argument: the origin of the model. Says besides what one call sends to the database.
 */
import { createRouter } from '../../router/router.ts'
import { countStatements } from '../../test/kit/statements.ts'
import { supergraph } from '../../test/kit/supergraph.ts'
import { seedCredential } from '../../test/subgraphs/providers/credential/seed.ts'

const origin = process.argv[2]!
const graph = await supergraph({ trusts: [origin], addresses: { openai: `${origin}/v1` } })
const { platform, publicUrl, clock, job } = graph
const { owner } = await graph.seed.owner()
await seedCredential(graph, { organizationId: null, provider: 'openai', name: 'OpenAI', secret: 'sk-bench' })
const limit = 'mutation($input: CreateSpendLimitInput!) { createSpendLimit(input: $input) { id } }'
const most = { period: 'MONTH', hardLimitMicros: 1_000_000_000_000 }
for (const scope of [
  { scopeType: 'ORGANIZATION', scopeValue: owner.organizationId },
  { scopeType: 'APP', scopeValue: 'app_providers' },
])
  (await graph.execute(limit, { input: { ...scope, ...most } }, { as: owner })).data()
const key = 'mutation { createApiKey(input: { name: "Bench", scopes: ["providers:ai.invoke"], rateLimit: 6000 }) { secret } }'
const { secret } = (await graph.execute(key, {}, { as: owner })).data().createApiKey

const router = await createRouter({
  engine: platform.engine,
  authority: platform.identity.authority,
  subgraphs: platform.subgraphs,
  host: '127.0.0.1',
  port: 0,
  publicUrl,
  environment: 'production',
  clock,
  log: job.log,
  readiness: [],
})
const { port } = await router.listen()
const [path, headers] = ['/providers/api/ai/chat/completions', { authorization: `Bearer ${secret}` }]
const body = JSON.stringify({ model: 'openai/gpt-5-mini', messages: [{ role: 'user', content: 'Say another, twenty times.' }] })
const call = async () => {
  const answer = await fetch(`http://127.0.0.1:${port}${path}`, { method: 'POST', headers: { ...headers, 'content-type': 'application/json' }, body })
  if (answer.status !== 200) throw new Error(`answered ${answer.status} ${await answer.text()}`)
  await answer.arrayBuffer()
}
// Warm, and then a minute later: an organization has only so many calls in one.
for (let rounds = 0; rounds < 150; rounds++) await Promise.all(Array.from({ length: 10 }, call))
await clock.advance(61_000)
for (let calls = 0; calls < 20; calls++) await call()
const { statements } = await countStatements(call)
process.send?.({ port, path, headers, statements: statements.map(text => text.replace(/\s+/g, ' ').slice(0, 60)) })
process.on('disconnect', () => process.exit())
