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
const create = 'mutation { createApiKey(input: { name: "Bench", scopes: ["providers:ai.invoke"], rateLimit: 6000 }) { secret } }'
const newKey = async (): Promise<string> => (await graph.execute(create, {}, { as: owner })).data().createApiKey.secret

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
const path = '/providers/api/ai/chat/completions'
const headersOf = (secret: string) => ({ authorization: `Bearer ${secret}` })
const body = JSON.stringify({ model: 'openai/gpt-5-mini', messages: [{ role: 'user', content: 'Say another, twenty times.' }] })
const callAs = (secret: string) => async () => {
  const answer = await fetch(`http://127.0.0.1:${port}${path}`, { method: 'POST', headers: { ...headersOf(secret), 'content-type': 'application/json' }, body })
  if (answer.status !== 200) throw new Error(`answered ${answer.status} ${await answer.text()}`)
  await answer.arrayBuffer()
}
// As warm as the others are by twenty clients in three seconds, together and alone, for these are two ways; by a key
// each, for one may be used 6,000 times a minute, as an organization may call models.
const [together, alone] = [callAs(await newKey()), callAs(await newKey())]
for (let rounds = 0; rounds < 250; rounds++) await Promise.all(Array.from({ length: 20 }, together))
await clock.advance(61_000)
for (let calls = 0; calls < 5000; calls++) await alone()
await clock.advance(61_000)
const secret = await newKey()
const call = callAs(secret)
for (let calls = 0; calls < 20; calls++) await call()
const { statements } = await countStatements(call)
process.send?.({ port, path, headers: headersOf(secret), statements: statements.map(text => text.replace(/\s+/g, ' ').slice(0, 60)) })
process.on('disconnect', () => process.exit())
