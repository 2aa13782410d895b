import { expect, test } from 'vitest'
import { addressesFrom } from '../../../../subgraphs/providers/engines/third-party/addresses.ts'
import { type Supergraph, supergraph } from '../../../kit/supergraph.ts'
import { person } from '../../../kit/viewers.ts'
import { governance, syncModels } from './documents.ts'
import { factsToLauncher } from './seed.ts'

/** A platform with a sandbox, and somebody who may have sources asked. */
async function world() {
  const graph = await supergraph({ sandbox: true })
  const { owner } = await graph.seed.owner()
  const superAdmin = person(owner.userId!, owner.organizationId!, ['platform_super_admin'])
  const control = async (path: string, body?: object) => {
    const answer = await fetch(`${graph.x.origin}/_control/${path}`, {
      ...(body && { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
    })
    if (!answer.ok) throw new Error(await answer.text())
    return answer.json()
  }
  return {
    graph,
    owner,
    superAdmin,
    spoil: (network: string, fault: object) => control('faults', { network, ...fault }),
    reads: async () => ((await control('requests?network=models-dev')) as unknown[]).length,
    sync: async (sources?: readonly string[]) => (await graph.execute(syncModels, { input: { sources } }, { as: superAdmin })).data().syncModels,
    governance: async () => (await graph.execute(governance, {}, { as: owner })).data().modelGovernance,
    model: async (name: string) => (await graph.rows<Record<string, unknown>>('select * from providers.models where name = $1', [name]))[0],
    [Symbol.asyncDispose]: () => graph[Symbol.asyncDispose](),
  }
}

const keep = (graph: Supergraph, superAdmin: ReturnType<typeof person>, provider: string, key: string) =>
  graph.execute(
    'mutation ($input: CreateCredentialInput!) { createCredential(input: $input) { id } }',
    { input: { provider, level: 'PLATFORM', fields: [{ name: 'apiKey', value: key }] } },
    { as: superAdmin },
  )

test('a run reads every source and stores each result; candidates, prices, limits and ends are known then', async () => {
  await using stage = await world()
  const { graph, superAdmin } = stage
  ;(await keep(graph, superAdmin, 'openai', 'sk-sandbox-of-the-platform')).data()
  await graph.rows(`update providers.models set input_micros_per_million = 1, context_tokens = null where name = 'openai/gpt-5-mini'`)
  const run = await stage.sync()
  expect(run).toMatchObject({ added: 3, changed: 7, retired: 0, finishedAt: expect.any(String) })
  expect(run.sources).toEqual([
    { name: 'openai', kind: 'PROVIDER_API', status: 'HEALTHY', failure: null, models: 9 },
    { name: 'anthropic', kind: 'PROVIDER_API', status: 'NEVER', failure: expect.stringContaining('no credential'), models: 0 },
    { name: 'google', kind: 'PROVIDER_API', status: 'NEVER', failure: expect.stringContaining('no credential'), models: 0 },
    { name: 'models-dev', kind: 'OPEN_CATALOG', status: 'HEALTHY', failure: null, models: 5 },
  ])
  expect(await stage.model('openai/gpt-5-mini')).toMatchObject({ configured: true, input_micros_per_million: '250000', context_tokens: 400_000 })
  expect(await stage.model('openai/gpt-5-nano')).toMatchObject({ configured: false, input_micros_per_million: '50000', output_micros_per_million: '400000' })
  expect(await stage.model('openai/gpt-3.5-turbo')).toMatchObject({
    lifecycle: 'DEPRECATED',
    retires_at: new Date('2030-06-30T00:00:00Z'),
    replacement: 'openai/gpt-5-mini',
  })
  // The list of a provider and the open catalogue alike say since when there is a model.
  for (const [name, day] of [
    ['openai/gpt-image-1', '2025-04-23'],
    ['anthropic/claude-haiku-4-5', '2025-10-15'],
  ] as const)
    expect((await stage.model(name))?.released_at, name).toEqual(new Date(day))
  expect(await stage.model('elsewhere/large')).toBeUndefined()
  const { candidateModels, sources, lifecycle } = await stage.governance()
  expect(candidateModels.map(({ model }: { model: string }) => model).sort()).toEqual(['openai/demo-unpriced', 'openai/gpt-3.5-turbo', 'openai/gpt-5-nano'])
  expect(sources).toHaveLength(4)
  expect(lifecycle).toHaveLength(7)
  expect(await stage.sync()).toMatchObject({ added: 0, changed: 0, retired: 0 })
  expect(await graph.rows(`select action from providers.audit_entries where action like 'models.%'`)).toEqual([
    { action: 'models.synchronised' },
    { action: 'models.synchronised' },
  ])
})

test('ten concurrent requests share one run and one read', async () => {
  await using stage = await world()
  await stage.spoil('models-dev', { fault: 'slow', delayMs: 400 })
  const before = await stage.reads()
  const runs = await Promise.all(Array.from({ length: 10 }, () => stage.sync()))
  expect(new Set(runs.map(({ id }) => id)).size).toBe(1)
  expect((await stage.reads()) - before).toBe(1)
  expect(runs.every(({ finishedAt }) => finishedAt)).toBe(true)
  const later = await stage.sync(['models-dev'])
  expect(later.id).not.toBe(runs[0].id)
})

test.for([
  [{ fault: 'status', status: 500 }, 'answered 500'],
  [{ fault: 'malformed' }, 'no JSON'],
  [{ fault: 'wrong-type' }, 'no JSON'],
  [{ fault: 'accept-then-reset' }, 'could not be asked'],
  [{ fault: 'reset-mid-stream' }, 'models-dev:'],
] as const)('a source that fails (%o) keeps what it said last and says so; the next good answer heals it', async ([fault, sentence]) => {
  await using stage = await world()
  await stage.sync(['models-dev'])
  await stage.spoil('models-dev', fault)
  const { sources } = await stage.sync(['models-dev'])
  expect(sources.at(-1)).toMatchObject({ status: 'FAILING', models: 5, failure: expect.stringContaining(sentence) })
  const governed = (await stage.governance()).sources.at(-1)
  expect(governed).toMatchObject({ status: 'FAILING', lastSuccessAt: expect.any(String), failure: expect.stringContaining(sentence) })
  expect(await stage.model('openai/gpt-5-nano')).toMatchObject({ input_micros_per_million: '50000' })
  expect((await stage.sync(['models-dev'])).sources.at(-1)).toMatchObject({ status: 'HEALTHY', failure: null })
})

test('only super admins of the platform may start a run, of existing sources', async () => {
  await using stage = await world()
  const { graph, owner, superAdmin } = stage
  expect((await graph.execute(syncModels, { input: {} }, { as: owner })).code).toBe('UNAUTHORIZED_FIELD_OR_TYPE')
  const { error } = await graph.execute(syncModels, { input: { sources: ['models-dev', 'nobody'] } }, { as: superAdmin })
  expect(error?.extensions).toMatchObject({ code: 'BAD_USER_INPUT', field: 'sources[1]' })
  expect(await graph.rows('select id from providers.model_syncs')).toEqual([])
})

test('takes over a run whose process died when its claim expires, and ignores that process’s later writes', async () => {
  await using stage = await world()
  const { graph } = stage
  await graph.rows(`insert into providers.model_syncs (id, started_at, ends_by) values (gen_random_uuid(), $1, $2)`, [
    graph.clock.in(-90_000),
    graph.clock.in(0),
  ])
  const run = await stage.sync(['models-dev'])
  expect(run.added).toBeGreaterThan(0)
  expect(await graph.rows('select count(*)::int as left from providers.model_syncs where finished_at is null')).toEqual([{ left: 0 }])
})

test('a key that a provider rejects is reported at the source and the credential, and shown nowhere', async () => {
  await using stage = await world()
  const { graph, superAdmin } = stage
  ;(await keep(graph, superAdmin, 'openai', 'sk-refused-everywhere-1234')).data()
  const { sources } = await stage.sync(['openai'])
  expect(sources[0]).toMatchObject({ status: 'FAILING', failure: 'openai: it answered 401' })
  await graph.platform.providers.job('test').credentialsInUse.settled()
  expect(await graph.rows('select status from providers.credentials where organization_id is null')).toEqual([{ status: 'FAILING' }])
})

test('hides a model after its end date, and warns organizations that use it before', async () => {
  await using stage = await world()
  const { graph, owner } = stage
  await stage.sync(['models-dev'])
  await graph.rows(`update providers.models set configured = true where name = 'openai/gpt-3.5-turbo'`)
  await graph.rows(`update providers.model_preferences set allowed_models = allowed_models || 'openai/gpt-3.5-turbo'::text where capability = 'CHAT'`)
  const set = 'mutation ($input: SetFallbackChainInput!) { setFallbackChain(input: $input) { models } }'
  ;(await graph.execute(set, { input: { capability: 'CHAT', models: ['openai/gpt-3.5-turbo', 'openai/gpt-5-mini'] } }, { as: owner })).data()
  expect((await factsToLauncher(graph)).map(({ body }) => body.kind)).toEqual(['MODEL_DEPRECATED'])
  const { models } = graph.platform.providers.job('test')
  const ask = (named: string | null) =>
    models.candidates({ capability: 'CHAT', organizationId: owner.organizationId!, named, fallback: true, mayOverride: false })
  expect((await ask('gpt-3.5-turbo')).candidates.map(({ name }) => name)).toEqual(['openai/gpt-3.5-turbo', 'openai/gpt-5-mini'])
  await graph.clock.advance(new Date('2030-06-30T00:00:00Z').getTime() - graph.clock.now().getTime())
  await expect(ask('gpt-3.5-turbo')).rejects.toMatchObject({ extensions: { reason: 'model_not_found' } })
  expect((await ask(null)).candidates.map(({ name }) => name)).toEqual(['openai/gpt-5-mini'])
  expect(await stage.sync(['models-dev'])).toMatchObject({ retired: 1 })
  expect(await stage.sync(['models-dev'])).toMatchObject({ retired: 0, changed: 0 })
})

test('sources are played by the sandbox in the demo, and the real ones are read without it', () => {
  const nothing = {
    openai: null,
    anthropic: null,
    google: null,
    stripe: null,
    youtube: null,
    modelsDev: null,
    aiGatewayUrl: null,
    aiGatewayToken: null,
    studio: null,
  }
  expect(addressesFrom(nothing, 'http://localhost:4100')).toMatchObject({
    openai: 'http://localhost:4100/openai/v1',
    modelsDev: 'http://localhost:4100/models-dev',
  })
  expect(addressesFrom(nothing, null)).toMatchObject({ openai: 'https://api.openai.com/v1', modelsDev: 'https://models.dev', studio: null, aiGateway: null })
  expect(addressesFrom({ ...nothing, openai: 'https://models.test/v1' }, 'http://localhost:4100').openai).toBe('https://models.test/v1')
})
