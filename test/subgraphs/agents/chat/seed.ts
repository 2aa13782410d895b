import { newId } from '../../../../platform/ids.ts'
import { inTransaction } from '../../../../subgraphs/store/write.ts'
import type { Supergraph } from '../../../kit/supergraph.ts'

/** A session of an organization's chat with a question and an answer, past every rule. */
export async function seedSession({ clock, platform }: Pick<Supergraph, 'clock' | 'platform'>, organizationId: string): Promise<string> {
  const now = clock.now()
  const id = newId(now)
  const job = platform.agents.job('user:seed')
  const times = { expiresAt: now, startedAt: now, lastTurnAt: now, createdAt: now }
  await inTransaction(job, async ({ transaction }) => {
    await job.chatSessions.insert({ id, organizationId, clearanceHash: id, addressHash: 'x', persona: 'guide', ...times }, transaction)
    const source = { title: 'A page', url: 'https://page.test/', quote: 'Round.', documentId: newId(now) }
    const turn = { sessionId: id, organizationId, at: now, sources: [source] }
    await job.chatTurns.insert({ ...turn, id: newId(now), role: 'AGENT', text: 'Round.', mode: 'EXTRACTIVE' }, transaction)
  })
  return id
}
