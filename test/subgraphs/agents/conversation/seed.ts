import { newId } from '../../../../platform/ids.ts'
import { inTransaction } from '../../../../subgraphs/store/write.ts'
import type { Supergraph } from '../../../kit/supergraph.ts'
import { seedAgent } from '../agent/seed.ts'
import { seedKnowledge } from '../knowledge/seed.ts'
import { seedRun } from '../workflow/seed.ts'

/** A conversation that an agent began with a reply that broke off, past every rule: with everything that a message may lack. @returns their ids */
export async function seedConversation(
  graph: Pick<Supergraph, 'clock' | 'platform'>,
  { organizationId, userId }: { organizationId: string; userId: string },
): Promise<{ readonly id: string; readonly agentId: string; readonly replyId: string }> {
  const source = await seedKnowledge(graph, { organizationId })
  const { id: runId } = await seedRun(graph, { organizationId, userId })
  const agentId = await seedAgent(graph, { organizationId, knowledgeSourceIds: [source.id] })
  const now = graph.clock.now()
  const [id, questionId, replyId] = [newId(now), newId(now), newId(now)]
  const createdBy = `user:${userId}`
  const job = graph.platform.agents.job(createdBy)
  const stamps = { createdAt: now, updatedAt: now, createdBy }
  const place = { conversationId: id, organizationId, status: 'COMPLETE', ...stamps } as const
  const hits = [{ documentId: source.documentId, start: 0, end: 18, quote: 'The moon is round.', score: 1 }]
  await inTransaction(job, async ({ transaction }) => {
    await job.conversations.insert({ id, organizationId, agentId, title: 'A talk', ...stamps }, transaction)
    await job.conversationMessages.insert({ ...place, id: questionId, role: 'USER', text: 'Is the moon round?' }, transaction)
    const reply = {
      id: replyId,
      runId,
      role: 'AGENT',
      text: 'The moon is round.',
      mode: 'EXTRACTIVE',
      notice: 'Quoted.',
      hits,
      failureCode: 'UPSTREAM_FAILED',
      failureMessage: 'Cut.',
    } as const
    await job.conversationMessages.insert({ ...place, ...reply, status: 'FAILED', createdAt: new Date(now.getTime() - 1) }, transaction)
  })
  return { id, agentId, replyId }
}
