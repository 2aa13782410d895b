import { expect, test } from 'vitest'
import { supergraph } from '../../../kit/supergraph.ts'
import { person } from '../../../kit/viewers.ts'
import { governance, setFallbackChain, setModelPreference, settings } from './documents.ts'
import { factsToLauncher } from './seed.ts'

const platforms = {
  CHAT: ['openai/gpt-5-mini', 'anthropic/claude-haiku-4-5'],
  IMAGE: ['openai/gpt-image-1', 'openai/gpt-image-1-mini'],
  TRANSCRIPTION: ['openai/gpt-4o-mini-transcribe', 'openai/whisper-1'],
  EMBEDDING: ['openai/text-embedding-3-small'],
} as const

/** Prices by quality, of a square and of other sizes. */
const imagePrices = (...byQuality: readonly (readonly [square: number, other: number])[]) =>
  byQuality.flatMap(([square, other], at) => {
    const quality = ['low', 'medium', 'high'][at]
    return [
      { quality, size: '1024x1024', micros: square },
      { quality, size: '1024x1536', micros: other },
      { quality, size: '1536x1024', micros: other },
    ]
  })

test('a platform begins with models, a preference and a chain for each capability, and with prices', async () => {
  await using graph = await supergraph()
  const { owner } = await graph.seed.owner()
  const found = (await graph.execute(settings, {}, { as: owner })).data()
  expect(found.modelPreferences).toEqual(
    Object.entries(platforms).map(([capability, models]) => ({ capability, model: models[0], allowedModels: models, level: 'PLATFORM' })),
  )
  expect(found.fallbackChains).toEqual(Object.entries(platforms).map(([capability, models]) => ({ capability, models, level: 'PLATFORM' })))
  const { aiModels } = (
    await graph.execute(
      '{ aiModels(capability: IMAGE) { nodes { name provider lifecycle configured imageMicros imagePrices { quality size micros } inputMicrosPerMillion } totalCount } }',
      {},
      { as: owner },
    )
  ).data()
  expect(aiModels).toEqual({
    nodes: [
      {
        name: 'openai/gpt-image-1',
        provider: 'openai',
        lifecycle: 'ACTIVE',
        configured: true,
        imageMicros: 40_000,
        imagePrices: imagePrices([11_000, 16_000], [40_000, 63_000], [167_000, 250_000]),
        inputMicrosPerMillion: null,
      },
      {
        name: 'openai/gpt-image-1-mini',
        provider: 'openai',
        lifecycle: 'ACTIVE',
        configured: true,
        imageMicros: 10_000,
        imagePrices: imagePrices([5_000, 6_000], [10_000, 15_000], [36_000, 52_000]),
        inputMicrosPerMillion: null,
      },
    ],
    totalCount: 2,
  })
})

test('pages and filters of models hold together', async () => {
  await using graph = await supergraph()
  const { owner } = await graph.seed.owner()
  const page = async (variables: object) =>
    (
      await graph.execute(
        'query ($first: Int, $after: String, $lifecycle: ModelLifecycle) { aiModels(first: $first, after: $after, lifecycle: $lifecycle) { nodes { name } pageInfo { hasNextPage endCursor } totalCount } }',
        { ...variables },
        { as: owner },
      )
    ).data().aiModels
  const names: string[] = []
  for (let after: string | null = null; ; ) {
    const { nodes, pageInfo, totalCount }: { nodes: { name: string }[]; pageInfo: { hasNextPage: boolean; endCursor: string }; totalCount: number } =
      await page({ first: 3, after })
    expect(totalCount).toBe(7)
    names.push(...nodes.map(({ name }) => name))
    if (!pageInfo.hasNextPage) break
    after = pageInfo.endCursor
  }
  expect(names).toEqual(Object.values(platforms).flat())
  await graph.rows(`update providers.models set lifecycle = 'DEPRECATED', retires_at = $1 where name = 'openai/whisper-1'`, [graph.clock.in(1)])
  expect((await page({ lifecycle: 'DEPRECATED' })).nodes).toEqual([{ name: 'openai/whisper-1' }])
  expect((await page({ lifecycle: 'RETIRED' })).nodes).toEqual([])
  await graph.clock.advance(1)
  expect((await page({ lifecycle: 'RETIRED' })).nodes).toEqual([{ name: 'openai/whisper-1' }])
})

test('an organization sets its own preference, calls follow at once, and it can return to the platform’s; other organizations are unaffected', async () => {
  await using graph = await supergraph()
  const [{ owner }, { owner: outsider }] = [await graph.seed.owner(), await graph.seed.owner()]
  const { models } = graph.platform.providers.job('test')
  const answers = async (as = owner) =>
    (await models.candidates({ capability: 'IMAGE', organizationId: as.organizationId!, named: null, fallback: true, mayOverride: false })).candidates.map(
      ({ name }) => name,
    )
  const [large, small] = platforms.IMAGE
  expect(await answers()).toEqual([large, small])
  const set = async (input: object) =>
    (await graph.execute(setModelPreference, { input: { capability: 'IMAGE', ...input } }, { as: owner })).data().setModelPreference
  expect(await set({ model: small, allowedModels: [small] })).toEqual({ capability: 'IMAGE', model: small, allowedModels: [small], level: 'ORGANIZATION' })
  expect(await answers()).toEqual([small])
  expect(await answers(outsider)).toEqual([large, small])
  // What is left out stays as it was.
  expect((await graph.execute(setModelPreference, { input: { capability: 'IMAGE', model: large } }, { as: owner })).code).toBe('BAD_USER_INPUT')
  expect(await set({ model: small, allowedModels: [large, small] })).toMatchObject({ allowedModels: [large, small] })
  expect(await set({ model: large })).toMatchObject({ model: large, allowedModels: [large, small] })
  const chain = async (of: readonly string[] | null) =>
    (await graph.execute(setFallbackChain, { input: { capability: 'IMAGE', models: of } }, { as: owner })).data().setFallbackChain
  expect(await chain([])).toEqual({ capability: 'IMAGE', models: [], level: 'ORGANIZATION' })
  expect(await answers()).toEqual([large])
  expect(await chain(null)).toEqual({ capability: 'IMAGE', models: [large, small], level: 'PLATFORM' })
  expect(await set({ model: null })).toEqual({ capability: 'IMAGE', model: large, allowedModels: [large, small], level: 'PLATFORM' })
  const actions = await graph.rows<{ action: string }>('select action from providers.audit_entries where tenant_id = $1 order by at, id', [
    owner.organizationId,
  ])
  expect(actions.map(({ action }) => action).sort()).toEqual([
    'fallback_chain.removed',
    'fallback_chain.updated',
    'model_preference.removed',
    'model_preference.updated',
    'model_preference.updated',
    'model_preference.updated',
  ])
})

test('an invalid setting is rejected with its field, and nothing is stored', async () => {
  await using graph = await supergraph()
  const { owner } = await graph.seed.owner()
  const refused = async (document: string, input: object) => {
    const { error } = await graph.execute(document, { input }, { as: owner })
    return [error?.extensions.code, error?.extensions.field]
  }
  const preference = (input: object) => refused(setModelPreference, { capability: 'CHAT', ...input })
  const chain = (models: readonly string[] | null, more: object = {}) => refused(setFallbackChain, { capability: 'CHAT', models, ...more })
  const mini = 'openai/gpt-5-mini'
  expect(await preference({ model: 'openai/none' })).toEqual(['BAD_USER_INPUT', 'model'])
  expect(await preference({ model: 'gpt-5-mini' })).toEqual(['BAD_USER_INPUT', 'model'])
  expect(await preference({ model: 'openai/gpt-image-1' })).toEqual(['BAD_USER_INPUT', 'model'])
  expect(await preference({ model: 'nobody/here' })).toEqual(['BAD_USER_INPUT', 'model'])
  expect(await preference({ model: mini, allowedModels: ['anthropic/claude-haiku-4-5'] })).toEqual(['BAD_USER_INPUT', 'model'])
  expect(await preference({ model: mini, allowedModels: [mini, mini] })).toEqual(['BAD_USER_INPUT', 'allowedModels[1]'])
  expect(await preference({ model: mini, allowedModels: [mini, 'openai/none'] })).toEqual(['BAD_USER_INPUT', 'allowedModels[1]'])
  expect(await preference({ model: mini, allowedModels: Array.from({ length: 101 }, (_, at) => `a/${at}`) })).toEqual(['BAD_USER_INPUT', 'allowedModels'])
  expect(await preference({ model: null, allowedModels: [mini] })).toEqual(['BAD_USER_INPUT', 'allowedModels'])
  expect(await preference({ model: mini, level: 'PLATFORM' })).toEqual(['FORBIDDEN', undefined])
  expect(await chain([mini, mini])).toEqual(['BAD_USER_INPUT', 'models[1]'])
  expect(await chain(['openai/gpt-image-1'])).toEqual(['BAD_USER_INPUT', 'models[0]'])
  expect(await chain(Array.from({ length: 11 }, (_, at) => `a/${at}`))).toEqual(['BAD_USER_INPUT', 'models'])
  expect(await chain([mini], { level: 'PLATFORM' })).toEqual(['FORBIDDEN', undefined])
  expect(await graph.rows('select id from providers.model_preferences where organization_id is not null')).toEqual([])
  expect(await graph.rows('select id from providers.audit_entries')).toEqual([])
})

test('super admins of the platform decide which models may be called: allowed ones are no candidates any more, and removed ones are not called', async () => {
  await using graph = await supergraph()
  const { owner } = await graph.seed.owner()
  const superAdmin = person(owner.userId!, owner.organizationId!, ['platform_super_admin'])
  await graph.rows(
    `insert into providers.models (id, name, provider, capability, first_seen_at, created_at, updated_at, created_by)
     values (gen_random_uuid(), 'openai/gpt-5-nano', 'openai', 'CHAT', '2026-01-01', '2026-01-01', '2026-01-01', 'system:sources')`,
  )
  const { models } = graph.platform.providers.job('test')
  const ask = (named: string) => models.candidates({ capability: 'CHAT', organizationId: owner.organizationId!, named, fallback: false, mayOverride: true })
  await expect(ask('openai/gpt-5-nano')).rejects.toMatchObject({ extensions: { code: 'FORBIDDEN', reason: 'model_not_allowed' } })
  await expect(ask('gpt-5-nano')).rejects.toMatchObject({ extensions: { code: 'FORBIDDEN', reason: 'model_not_allowed' } })
  await expect(ask('openai/none')).rejects.toMatchObject({ extensions: { code: 'NOT_FOUND', reason: 'model_not_found' } })
  const candidates = async () =>
    (await graph.execute(governance, {}, { as: owner })).data().modelGovernance.candidateModels.map(({ model }: { model: string }) => model)
  expect(await candidates()).toEqual(['openai/gpt-5-nano'])
  const input = { capability: 'CHAT', model: 'openai/gpt-5-mini', allowedModels: ['openai/gpt-5-mini', 'openai/gpt-5-nano'], level: 'PLATFORM' }
  ;(await graph.execute(setModelPreference, { input }, { as: superAdmin })).data()
  expect((await ask('gpt-5-nano')).first.name).toBe('openai/gpt-5-nano')
  expect(await candidates()).toEqual(['anthropic/claude-haiku-4-5'])
  await expect(ask('anthropic/claude-haiku-4-5')).rejects.toMatchObject({ extensions: { reason: 'model_not_allowed' } })
  expect((await graph.execute(setModelPreference, { input: { capability: 'CHAT', level: 'PLATFORM' } }, { as: superAdmin })).code).toBe('BAD_USER_INPUT')
  expect((await graph.execute(setFallbackChain, { input: { capability: 'CHAT', level: 'PLATFORM' } }, { as: superAdmin })).code).toBe('BAD_USER_INPUT')
})

test('models of an organization’s own custom provider can be preferred and chained, and those of others are not found', async () => {
  await using graph = await supergraph({ trusts: ['http://localhost:1'] })
  const [{ owner }, { owner: outsider }] = [await graph.seed.owner(), await graph.seed.owner()]
  const create = `mutation ($input: CreateCredentialInput!) { createCredential(input: $input) { id } }`
  const input = { provider: 'custom', name: 'mine', baseUrl: 'http://localhost:1/v1', fields: [{ name: 'apiKey', value: 'sk-x' }] }
  ;(await graph.execute(create, { input }, { as: owner })).data()
  const chain = { capability: 'CHAT', models: ['openai/gpt-5-mini', 'mine/llama/3'] }
  expect((await graph.execute(setFallbackChain, { input: chain }, { as: owner })).data().setFallbackChain.models).toEqual(chain.models)
  expect((await graph.execute(setFallbackChain, { input: chain }, { as: outsider })).code).toBe('BAD_USER_INPUT')
  const { models } = graph.platform.providers.job('test')
  const ask = async (as: typeof owner, named: string | null) =>
    (await models.candidates({ capability: 'CHAT', organizationId: as.organizationId!, named, fallback: true, mayOverride: false })).candidates
  expect((await ask(owner, null)).map(({ name, provider, upstream }) => [name, provider, upstream])).toEqual([
    ['openai/gpt-5-mini', 'openai', 'gpt-5-mini'],
    ['mine/llama/3', 'custom', 'llama/3'],
  ])
  expect((await ask(owner, 'mine/other'))[0]).toMatchObject({ name: 'mine/other', inputMicrosPerMillion: null })
  await expect(ask(outsider, 'mine/other')).rejects.toMatchObject({ extensions: { reason: 'model_not_found' } })
})

test('managers are notified once when a model that they have set is retired, and again when that is resolved', async () => {
  await using graph = await supergraph()
  const [{ owner }, { owner: outsider }] = [await graph.seed.owner(), await graph.seed.owner()]
  await graph.rows(
    `update providers.models set lifecycle = 'DEPRECATED', retires_at = '2030-06-30T00:00:00Z', replacement = 'openai/gpt-5-mini' where name = 'openai/whisper-1'`,
  )
  const chain = async (models: readonly string[] | null, as = owner) =>
    (await graph.execute(setFallbackChain, { input: { capability: 'TRANSCRIPTION', models } }, { as })).data()
  await chain(['openai/whisper-1'])
  await chain(['openai/whisper-1', 'openai/gpt-4o-mini-transcribe'])
  await chain(['openai/gpt-4o-mini-transcribe'], outsider)
  const told = await factsToLauncher(graph)
  expect(told).toEqual([
    {
      kind: 'attention.opened',
      body: expect.objectContaining({
        key: `model:${owner.organizationId}:openai/whisper-1`,
        kind: 'MODEL_DEPRECATED',
        organizationId: owner.organizationId,
        audience: 'managers',
        title: 'openai/whisper-1 ends on 2030-06-30',
        dueAt: '2030-06-30T00:00:00.000Z',
      }),
    },
  ])
  await chain(null)
  expect((await factsToLauncher(graph)).at(-1)).toEqual({ kind: 'attention.closed', body: { key: `model:${owner.organizationId}:openai/whisper-1` } })
})

test('fifty concurrent changes leave one setting, with an audit entry for each', async () => {
  await using graph = await supergraph()
  const { owner } = await graph.seed.owner()
  const input = { capability: 'IMAGE', model: 'openai/gpt-image-1-mini' }
  await Promise.all(Array.from({ length: 50 }, async () => (await graph.execute(setModelPreference, { input }, { as: owner })).data()))
  expect(await graph.rows('select model, version from providers.model_preferences where organization_id is not null')).toEqual([
    { model: 'openai/gpt-image-1-mini', version: 50 },
  ])
  expect((await graph.rows('select id from providers.audit_entries')).length).toBe(50)
})

test('selecting models costs two statements without a cache, and none within a second', async () => {
  await using graph = await supergraph()
  const { owner } = await graph.seed.owner()
  const { models } = graph.platform.providers.job('test')
  const ask = () => models.candidates({ capability: 'CHAT', organizationId: owner.organizationId!, named: null, fallback: true, mayOverride: false })
  models.forget()
  const statements = async (work: () => Promise<unknown>) => (await graph.statements(work)).filter(each => /providers\.(?:models|model_preferences)/.test(each))
  expect(await statements(() => Promise.all([ask(), ask()]))).toHaveLength(2)
  expect(await statements(ask)).toHaveLength(0)
  await graph.clock.advance(1000)
  expect(await statements(ask)).toHaveLength(2)
})
