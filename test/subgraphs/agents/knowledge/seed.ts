import { newId } from '../../../../platform/ids.ts'
import { chunksOf } from '../../../../subgraphs/agents/engines/knowledge/chunks.ts'
import { hashOf } from '../../../../subgraphs/agents/engines/knowledge/indexing.ts'
import type { Visibility } from '../../../../subgraphs/agents/stores/knowledge/knowledge-source.ts'
import { inTransaction } from '../../../../subgraphs/store/write.ts'
import type { Supergraph } from '../../../kit/supergraph.ts'

/** An indexed source with one document and everything that a source may lack, past every rule. @returns the ids of both */
export async function seedKnowledge(
  { clock, platform }: Pick<Supergraph, 'clock' | 'platform'>,
  { organizationId, text = 'The moon is round.', visibility = 'ORGANIZATION' }: { organizationId: string; text?: string; visibility?: Visibility },
): Promise<{ readonly id: string; readonly documentId: string }> {
  const now = clock.now()
  const [id, documentId] = [newId(now), newId(now)]
  const job = platform.agents.job('user:seed')
  const stamps = { createdAt: now, updatedAt: now, createdBy: 'user:seed' }
  await inTransaction(job, async ({ transaction }) => {
    const source = { id, organizationId, title: 'A source', kind: 'TEXT', visibility, url: 'https://page.test/', status: 'READY', checkedAt: now } as const
    const actions = [{ kind: 'LINK', label: 'Open', url: 'https://page.test/', iosUrl: null, androidUrl: null }] as const
    const failure = { code: 'UPSTREAM_FAILED', message: 'It could not be read again.' } as const
    await job.knowledgeSources.insert({ ...source, actions, failure, indexedAt: now, ...stamps }, transaction)
    const document = { id: documentId, organizationId, sourceId: id, title: 'A source', searchConfig: 'english' } as const
    await job.documents.insert({ ...document, url: source.url, contentHash: hashOf(text), chunks: 1, indexedAt: now, ...stamps }, transaction)
    await job.documents.writeText(documentId, text, transaction)
    await job.chunks.replace({ ...document, visibility, version: 1 }, chunksOf(text), transaction)
  })
  return { id, documentId }
}
