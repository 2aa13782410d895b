import { inspect } from 'node:util'
import { expect, test } from 'vitest'
import { newId } from '../../../../platform/ids.ts'
import { type Supergraph, supergraph } from '../../../kit/supergraph.ts'
import { seedCredential } from './seed.ts'

const stage = (graph: Supergraph) => graph.platform.providers.job('test').credentialsInUse
const rowOf = async (graph: Supergraph) =>
  (await graph.rows<Record<string, unknown>>('select status, last_used_at, test_message, version from providers.credentials'))[0]!
const kinds = async (graph: Supergraph) => (await graph.rows<{ kind: string }>('select kind from providers.facts order by seq')).map(({ kind }) => kind)

test('G-01 stores a call’s result with the credential: a refusal marks it failing with an alert, a success closes that; its version stays', async () => {
  await using graph = await supergraph()
  const organizationId = newId()
  await seedCredential(graph, { organizationId, provider: 'openai', name: 'OpenAI', secret: 'sk-of-a-test-0001' })
  const inUse = stage(graph)
  const credential = (await inUse.resolve('openai', organizationId))!
  inUse.note(credential, credential.secrets[0], 'taken')
  await inUse.settled()
  expect(await rowOf(graph)).toMatchObject({ status: 'WORKING', last_used_at: graph.clock.now(), version: 1 })
  await graph.clock.advance(2_000)
  const again = (await inUse.resolve('openai', organizationId))!
  inUse.note(again, again.secrets[0], 'refused', 'Incorrect key\nsk-of-a-test-0001')
  await inUse.settled()
  expect(await rowOf(graph)).toMatchObject({ status: 'FAILING', test_message: 'Incorrect key ••••', version: 1 })
  expect(await kinds(graph)).toEqual(['attention.opened'])
  await graph.clock.advance(2_000)
  const third = (await inUse.resolve('openai', organizationId))!
  inUse.note(third, third.secrets[0], 'taken')
  await inUse.settled()
  expect(await kinds(graph)).toEqual(['attention.opened', 'attention.closed'])
})

test('G-01 stores the last use once a minute and caches a credential for one second: a credential costs one statement', async () => {
  await using graph = await supergraph()
  const organizationId = newId()
  await seedCredential(graph, { organizationId, provider: 'openai', name: 'OpenAI' })
  const inUse = stage(graph)
  // Sweeps of the platform ask things of their own meanwhile.
  const asked = async (work: () => Promise<unknown>) =>
    (await graph.statements(work)).filter(each => each.includes('c.provider = $1') || each.startsWith('UPDATE "providers"."credentials"'))
  expect(await asked(() => inUse.resolve('openai', organizationId))).toHaveLength(1)
  expect(await asked(() => inUse.resolve('openai', organizationId))).toHaveLength(0)
  const use = async () => {
    const credential = (await inUse.resolve('openai', organizationId))!
    inUse.note(credential, credential.secrets[0], 'taken')
    await inUse.settled()
  }
  await use()
  await graph.clock.advance(30_000)
  await inUse.resolve('openai', organizationId)
  expect(await asked(use)).toHaveLength(0)
  await graph.clock.advance(31_000)
  await use()
  expect(await rowOf(graph)).toMatchObject({ last_used_at: graph.clock.now() })
})

test('G-01 results of the former secret, or of one replaced meanwhile, do not change the credential’s status', async () => {
  await using graph = await supergraph()
  const organizationId = newId()
  const { id } = await seedCredential(graph, { organizationId, provider: 'openai', name: 'OpenAI' })
  const inUse = stage(graph)
  const before = (await inUse.resolve('openai', organizationId))!
  const job = graph.platform.providers.job('test')
  await graph.rows(`update providers.credentials set secret = $2, previous_secret = $3, grace_ends_at = $4 where id = $1`, [
    ...[id, job.credentials.seal(id, 'sk-new'), job.credentials.sealPrevious(id, 'sk-of-a-test-alone'), graph.clock.in(60_000)],
  ])
  inUse.note(before, before.secrets[0], 'refused')
  await inUse.settled()
  expect(await rowOf(graph)).toMatchObject({ status: 'UNTESTED' })
  inUse.forget()
  const now = (await inUse.resolve('openai', organizationId))!
  expect(now.secrets).toEqual(['sk-new', 'sk-of-a-test-alone'])
  inUse.note(now, 'sk-of-a-test-alone', 'refused')
  inUse.note(now, 'sk-of-a-test-alone', 'taken')
  await inUse.settled()
  expect(await rowOf(graph)).toMatchObject({ status: 'UNTESTED', last_used_at: graph.clock.now() })
  // It comes into no log by mistake.
  expect(JSON.stringify({ ...now })).not.toContain('sk-')
})

test('G-01 a credential that is logged, copied or inspected does not show its secrets', async () => {
  await using graph = await supergraph()
  const organizationId = newId()
  await seedCredential(graph, { organizationId, provider: 'openai', name: 'OpenAI', secret: 'sk-of-a-test-0001' })
  const credential = (await stage(graph).resolve('openai', organizationId))!
  expect(credential.secrets).toEqual(['sk-of-a-test-0001'])
  expect([JSON.stringify(credential), inspect(credential, { depth: 5 }), JSON.stringify({ ...credential })].join(' ')).not.toContain('sk-of')
})

test.each([
  'taken',
  'refused',
] as const)('G-01 a credential that is taken out of use while a call is under way stays so, however that fares: %s', async outcome => {
  await using graph = await supergraph()
  const organizationId = newId()
  await seedCredential(graph, { organizationId, provider: 'openai', name: 'OpenAI' })
  const inUse = stage(graph)
  const credential = (await inUse.resolve('openai', organizationId))!
  await graph.rows(`update providers.credentials set status = 'DISABLED'`)
  inUse.note(credential, credential.secrets[0], outcome)
  await inUse.settled()
  expect(await rowOf(graph)).toMatchObject({ status: 'DISABLED', last_used_at: graph.clock.now() })
  expect(await kinds(graph)).toEqual([])
})
