import { newId } from '../../../../platform/ids.ts'
import type { FactBody } from '../../../../subgraphs/store/fact-kinds.ts'
import type { Supergraph } from '../../../kit/supergraph.ts'

type Graph = Pick<Supergraph, 'platform' | 'clock' | 'rows'>

/** Tells the launcher, as publishing would, that something waits for somebody. @returns the item's id, and the fact */
export async function seedAttention(
  graph: Graph,
  { organizationId, ...told }: Pick<FactBody<'attention.opened'>, 'organizationId'> & Partial<FactBody<'attention.opened'>>,
) {
  const key = told.key ?? `post:${newId()}`
  const body = {
    key,
    kind: 'POST_FAILED',
    organizationId,
    subjectId: newId(),
    title: 'A post failed',
    url: 'http://localhost:4000/publishing/posts/1',
    at: graph.clock.now().toISOString(),
    audience: 'organization' as const,
    ...told,
  }
  const opened = { id: newId(), from: 'publishing', kind: 'attention.opened', subject: `attention:${key}`, at: graph.clock.now(), body }
  const receipt = await graph.platform.launcher.receive!(opened)
  if (receipt !== 'received') throw new Error(receipt.refused)
  const [item] = await graph.rows<{ id: string }>('select id from launcher.action_items where app = $1 and key = $2', ['publishing', key])
  return { id: item!.id, key, opened }
}

/** Tells the launcher that the cause is gone. */
export async function seedClosed(graph: Graph, key: string): Promise<void> {
  await graph.platform.launcher.receive!({
    id: newId(),
    from: 'publishing',
    kind: 'attention.closed',
    subject: `attention:${key}`,
    at: graph.clock.now(),
    body: { key },
  })
}
