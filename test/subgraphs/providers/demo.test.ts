import { expect, test } from 'vitest'
import { removeDemo } from '../../../db/demo-removal.ts'
import { provideDemo as providePeople } from '../../../subgraphs/identity/setup/demo.ts'
import { provideDemo } from '../../../subgraphs/providers/demo/demo.ts'
import { supergraph } from '../../kit/supergraph.ts'
import { person } from '../../kit/viewers.ts'
import { createCredential } from './documents.ts'

test('creates the demo’s sandbox credential once; it follows the sandbox’s address unless a person changed it', async () => {
  await using graph = await supergraph()
  const { organizationId, userId } = await providePeople(graph.platform.identity, null)
  const provide = (sandbox: string) => provideDemo(graph.platform.providers.job(`user:${userId}`), { organizationId, userId, sandbox })
  const found = () => graph.rows('select organization_id, provider, name, base_url, level, masked from providers.credentials where organization_id is not null')
  await Promise.all([provide('http://localhost:4100'), provide('http://localhost:4100')])
  const made = { organization_id: organizationId, provider: 'custom', name: 'demo-models', level: 'ORGANIZATION', masked: '••••dels' }
  expect(await found()).toEqual([{ ...made, base_url: 'http://localhost:4100/openai/v1' }])
  await provide('http://localhost:51234')
  expect(await found()).toEqual([{ ...made, base_url: 'http://localhost:51234/openai/v1' }])
  await graph.rows(`update providers.credentials set base_url = 'https://models.test/v1' where organization_id is not null`)
  await provide('http://localhost:4100')
  expect(await found()).toEqual([{ ...made, base_url: 'https://models.test/v1' }])
  const { credentials } = graph.platform.providers.job('test')
  const [kept] = await graph.rows<{ id: string; secret: string }>('select id, secret from providers.credentials where organization_id is not null')
  expect(credentials.open(kept!)).toMatch(/^sk-sandbox-/)
})

test('creates a platform credential for each vendor of the sandbox once, and keeps one that a person stored', async () => {
  await using graph = await supergraph()
  const { organizationId, userId } = await providePeople(graph.platform.identity, null)
  const { owner } = await graph.seed.owner()
  const input = { provider: 'openai', level: 'PLATFORM', fields: [{ name: 'apiKey', value: 'sk-somebodys-own' }] }
  ;(await graph.execute(createCredential, { input }, { as: person(userId, owner.organizationId!, ['platform_super_admin']) })).data()
  const provide = () => provideDemo(graph.platform.providers.job(`user:${userId}`), { organizationId, userId, sandbox: 'http://localhost:4100' })
  await Promise.all([provide(), provide()])
  await provide()
  const kept = await graph.rows<{ provider: string; masked: string }>(
    'select provider, masked from providers.credentials where organization_id is null order by provider',
  )
  const networks = ['facebook', 'instagram', 'linkedin', 'linkedin_page', 'threads', 'x', 'youtube']
  expect(kept.map(({ provider }) => provider)).toEqual(['anthropic', 'openai', 'stripe', ...networks].sort())
  expect(new Set(kept.map(({ provider }) => provider)).size).toBe(kept.length)
  expect(kept.find(({ provider }) => provider === 'openai')!.masked).toBe('••••-own')
})

test('the demo allows a model that is about to be retired and one without a price, once; both are removed with the demo', async () => {
  await using graph = await supergraph()
  const { organizationId, userId } = await providePeople(graph.platform.identity, null)
  const provide = () => provideDemo(graph.platform.providers.job(`user:${userId}`), { organizationId, userId, sandbox: 'http://localhost:4100' })
  const allowed = async () => (await graph.rows(`select allowed_models as names from providers.model_preferences where capability = 'CHAT'`))[0]!.names
  const platforms = await allowed()
  await Promise.all([provide(), provide()])
  expect(await allowed()).toEqual([...(platforms as string[]), 'openai/gpt-3.5-turbo', 'openai/demo-unpriced'])
  await graph.rows(`update providers.model_preferences set allowed_models = array['openai/gpt-5-mini'] where capability = 'CHAT'`)
  await provide()
  expect(await allowed()).toEqual(['openai/gpt-5-mini'])
  await graph.rows(`update providers.model_preferences set allowed_models = array['openai/gpt-5-mini', 'openai/gpt-3.5-turbo'] where capability = 'CHAT'`)
  await removeDemo(graph.database.sequelize)
  expect(await allowed()).toEqual(['openai/gpt-5-mini'])
  expect(await graph.rows(`select name from providers.models where created_by = 'system:demo'`)).toEqual([])
})

test('removes with the demo the platform credentials that demo people stored, because their password is public', async () => {
  await using graph = await supergraph()
  await providePeople(graph.platform.identity, null)
  const [admin] = await graph.rows<{ userId: string; organizationId: string }>(
    `select m.user_id as "userId", m.organization_id as "organizationId" from identity.memberships m where 'platform_super_admin' = any(m.roles)`,
  )
  const { owner } = await graph.seed.owner()
  const make = async (organizationId: string, provider: string) => {
    const as = person(admin!.userId, organizationId, ['platform_super_admin'])
    const input = { provider, level: 'PLATFORM', fields: [{ name: 'apiKey', value: 'sk-x' }] }
    ;(await graph.execute(createCredential, { input }, { as })).data()
  }
  await make(admin!.organizationId, 'openai')
  await make(owner.organizationId!, 'google')
  await removeDemo(graph.database.sequelize)
  expect(await graph.rows('select provider from providers.credentials')).toEqual([{ provider: 'google' }])
})
