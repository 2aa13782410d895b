import type { Viewer } from '../../subgraphs/viewer.ts'
import type { Supergraph } from '../kit/supergraph.ts'
import { anonymous, key } from '../kit/viewers.ts'
import { seedProfile } from '../subgraphs/agents/person-profile/seed.ts'
import { seedOrder } from '../subgraphs/payments/order/seed.ts'
import { seedCredential } from '../subgraphs/providers/credential/seed.ts'

/** Something of every subgraph, every kind of viewer of it, and what arguments of random operations may be. */
export async function platformWorld(graph: Supergraph) {
  const { owner, member, viewer, outsider, organization, brand, thread } = await graph.seed
    .owner()
    .member()
    .viewer()
    .outsider()
    .brand()
    .connection()
    .thread(3, { scheduledAt: graph.clock.in(3_600_000) })
  const reader = key(organization.id, ['publishing:posts.read'])
  const { id: organizationId } = organization
  const order = await seedOrder(graph, { organizationId, userId: member.userId })
  const profile = await seedProfile(graph, { organizationId, subjectId: member.userId! })
  const credential = await seedCredential(graph, { organizationId })
  const ids = [
    brand.id,
    order.id,
    ...Object.values(profile),
    credential.id,
    ...thread.map(({ id }) => id),
    owner.userId,
    organizationId,
    '01990000-0000-7000-8000-00000000dead',
    'no id',
  ]
  const moments = [graph.clock.in(0), graph.clock.in(86_400_000)].map(date => new Date(date).toISOString())
  return {
    viewers: [owner, owner, member, viewer, outsider, reader, anonymous] as readonly Viewer[],
    values: {
      id: ids,
      brandId: [brand.id, null, 'no id'],
      threadId: [thread[0]!.threadId, null],
      authorId: [owner.userId, member.userId, null],
      first: [1, 2, 20, 100, 0],
      status: [null, 'DRAFT', 'SCHEDULED', 'PUBLISHED', 'PAID', 'ACTIVE'],
      platform: [null, 'X'],
      userId: [member.userId, owner.userId, null],
      subjectId: [member.userId, null],
      provider: [null, 'custom', 'openai'],
      scheduledAfter: moments,
      scheduledBefore: moments,
    },
  }
}
