import { expect, test } from 'vitest'
import { newId } from '../../platform/ids.ts'
import { inTransaction } from '../../subgraphs/store/write.ts'
import { identityOf } from '../kit/identity.ts'
import { until } from '../kit/launch.ts'
import { supergraph } from '../kit/supergraph.ts'
import { seedConnection } from '../subgraphs/publishing/connection/seed.ts'
import { seedPost } from '../subgraphs/publishing/post/seed.ts'

const connections = '{ viewer { organization { brands { nodes { connections { id orphaned active author { id name } } } } } } }'
const remove = 'mutation($id: ID!) { removeMember(input: { id: $id }) { id } }'

test('a removed member’s posts, connections and keys stay the organization’s, shown as by somebody who left', async () => {
  await using graph = await supergraph({ sandbox: true })
  await graph.platform.identity.start()
  const { owner, member, brand, organization } = await graph.seed.owner().brand().member()
  const theirs = await seedConnection(graph, { brandId: brand.id, owner }, { by: member, externalAccountId: 'member' })
  const own = await seedConnection(graph, { brandId: brand.id, owner }, { externalAccountId: 'owner' })
  const post = await seedPost(graph, { brandId: brand.id, owner: member })
  const identity = identityOf(graph.database.sequelize, graph.clock)
  const now = graph.clock.now()
  const key = { organizationId: organization.id, id: newId(now), name: 'theirs', hash: 'h', prefix: 'p', scopes: ['publishing:posts.read'] }
  await inTransaction(identity, ({ transaction }) =>
    identity.apiKeys.insert({ ...key, createdAt: now, updatedAt: now, createdBy: `user:${member.userId}` }, transaction),
  )
  const [membership] = await graph.rows<{ id: string }>('select id from identity.memberships where user_id = $1', [member.userId])
  ;(await graph.execute(remove, { id: membership!.id }, { as: owner })).data()

  const found = await until('publishing was told', async () => {
    const { viewer } = (await graph.execute(connections, {}, { as: owner })).data()
    const list = viewer.organization.brands.nodes[0].connections as { id: string; orphaned: boolean }[]
    return list.some(({ orphaned }) => orphaned) && list
  })
  expect(found.toSorted((a, b) => Number(b.orphaned) - Number(a.orphaned))).toEqual([
    { id: theirs.id, orphaned: true, active: true, author: null },
    { id: own.id, orphaned: false, active: true, author: { id: owner.userId, name: expect.any(String) } },
  ])
  expect((await graph.execute('query($id: ID!) { post(id: $id) { copy author { id name } } }', { id: post.id }, { as: owner })).data().post).toEqual({
    copy: post.copy,
    author: null,
  })
  expect((await graph.execute('{ apiKeys { nodes { name revokedAt createdBy { id name } } } }', {}, { as: owner })).data().apiKeys.nodes).toEqual([
    { name: 'theirs', revokedAt: null, createdBy: null },
  ])
  // Somebody who authorizes the account anew makes it that person's.
  await seedConnection(graph, { brandId: brand.id, owner }, { externalAccountId: 'member' })
  const { viewer } = (await graph.execute(connections, {}, { as: owner })).data()
  expect(viewer.organization.brands.nodes[0].connections.map(({ orphaned }: { orphaned: boolean }) => orphaned)).toEqual([false, false])
})
