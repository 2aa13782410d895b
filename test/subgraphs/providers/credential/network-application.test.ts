import { expect, test } from 'vitest'
import { newId } from '../../../../platform/ids.ts'
import { supergraph } from '../../../kit/supergraph.ts'
import { key, person } from '../../../kit/viewers.ts'
import { service } from '../video/stage.ts'
import { seedCredential } from './seed.ts'

test('G-01 hands a network application only to the service that connects accounts, without caching, and audits it for its owner', async () => {
  await using graph = await supergraph()
  const [organizationId, admins] = [newId(), newId()]
  const read = (platform: string, as = service(organizationId)) =>
    graph.platform.providers.http!(new Request(`http://localhost:4000/providers/api/internal/network-applications/${platform}`), as)
  await seedCredential(graph, { organizationId: null, provider: 'x', name: 'X', secret: 'secret-of-the-platform' })
  await graph.rows('insert into providers.platform (organization_id) values ($1)', [admins])
  const answer = await read('x')
  expect([answer.status, answer.headers.get('cache-control')]).toEqual([200, 'no-store'])
  expect(await answer.json()).toMatchObject({ platform: 'x', clientSecret: 'secret-of-the-platform' })
  await seedCredential(graph, { organizationId, provider: 'x', name: 'X', secret: 'secret-of-their-own' })
  await graph.clock.advance(2_000)
  expect(await (await read('x')).json()).toMatchObject({ clientSecret: 'secret-of-their-own' })
  const refusals = [
    await read('tiktok'),
    await read('openai'),
    await read('x', person(newId(), organizationId, ['owner'])),
    await read('x', key(organizationId, ['providers:service.invoke'])),
    await read('x', { ...service(organizationId), operations: ['VIDEO'] }),
    await read('x', { ...service(organizationId), organizationId: null }),
  ]
  expect(refusals.map(({ status }) => status)).toEqual([404, 404, 403, 403, 403, 400])
  expect(await graph.rows('select tenant_id, actor, action from providers.audit_entries order by at')).toEqual(
    [admins, organizationId].map(tenant_id => ({ tenant_id, actor: 'service:app_publishing', action: 'network_application.read' })),
  )
})
