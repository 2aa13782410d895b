/**
 * A crowded organization behind the whole router, as a process whose processor time can be read: 500 members, 50 brands, 10,000 posts.
 * Says `{ url, token, ids, polite }` to its parent, the last being the owner of another organization and its brand, and what it has cost so far whenever it is sent anything.
 */

import { openRouter } from '../door/platform.ts'
import { crowd } from '../kit/crowd.ts'
import { supergraph } from '../kit/supergraph.ts'

const graph = await supergraph()
const { owner, member, brand, post } = await graph.seed.owner().member().brand().post()
await crowd(graph.database.sequelize, brand.organizationId, { members: 498, brands: 49, posts: 9_999 })
const other = await graph.seed.owner().brand()
await graph.rows('analyze')
const router = await openRouter(graph.platform.engine)
router.signIn('owner', { userId: owner.userId!, organizationId: owner.organizationId!, roles: ['owner'] })
router.signIn('polite', { userId: other.owner.userId!, organizationId: other.owner.organizationId!, roles: ['owner'] })
const ids = { brand: brand.id, post: post.id, user: member.userId }

process.on('message', () => {
  const { user, system } = process.cpuUsage()
  process.send!({ cpuMs: (user + system) / 1000, megabytes: process.memoryUsage.rss() / 1e6 })
})
process.on(
  'disconnect',
  () =>
    void router
      .close()
      .then(() => graph[Symbol.asyncDispose]())
      .finally(() => process.exit()),
)
process.send!({ url: router.url, token: await router.token('owner'), ids, polite: { token: await router.token('polite'), brand: other.brand.id } })
