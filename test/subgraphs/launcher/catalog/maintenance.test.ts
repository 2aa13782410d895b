import { expect, test } from 'vitest'
import { scopesOf } from '../../../../subgraphs/scopes.ts'
import { supergraph } from '../../../kit/supergraph.ts'
import { seedPlatformApps } from './seed.ts'

test('an app under maintenance says so within a second, until when, and is back by itself', async () => {
  await using graph = await supergraph()
  await seedPlatformApps(graph)
  const { owner, outsider } = await graph.seed.owner().outsider()
  const administrator = { ...outsider, roles: ['platform_super_admin'], scopes: scopesOf(['platform_super_admin']) }
  const entry = async () =>
    (await graph.execute('{ catalogEntry(app: "providers") { status statusUntil } }', {}, { as: owner })).data().catalogEntry as { status: string }
  const { id } = (await graph.execute('{ service(slug: "providers") { id } }', {}, { as: owner })).data().service
  const set = (until: string | null) =>
    graph.execute(
      'mutation($id: ID!, $until: DateTime) { setServiceMaintenance(input: { serviceId: $id, until: $until }) { id } }',
      { id, until },
      { as: administrator },
    )
  await graph.clock.run(1_000)
  expect(await entry()).toEqual({ status: 'AVAILABLE', statusUntil: null })
  const until = graph.clock.in(60_000).toISOString()
  ;(await set(until)).data()
  await graph.clock.run(1_000)
  await expect.poll(entry).toEqual({ status: 'MAINTENANCE', statusUntil: until })
  await graph.clock.advance(60_000)
  expect(await entry()).toEqual({ status: 'AVAILABLE', statusUntil: null })
  ;(await set(graph.clock.in(60_000).toISOString())).data()
  await graph.clock.run(1_000)
  await expect.poll(async () => (await entry()).status).toBe('MAINTENANCE')
  ;(await set(null)).data()
  await graph.clock.run(1_000)
  await expect.poll(async () => (await entry()).status).toBe('AVAILABLE')
})
