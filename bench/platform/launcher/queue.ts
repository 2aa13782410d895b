import { supergraph } from '../../../test/kit/supergraph.ts'
import { tableOfOperations, timeOperation } from './operations.ts'

const items = 10_000
/** Ms that the median of a page may take. */
const most = 10

/** Measures the action queue of a person with many items. */
export async function measureQueue(runs: number): Promise<string> {
  await using graph = await supergraph()
  const { owner } = await graph.seed.owner()
  await graph.rows(
    `insert into launcher.action_items (id, app, key, kind, severity, status, organization_id, audience, user_id, subject_id, title, url, opened_at, created_at, updated_at, created_by)
      select gen_random_uuid(), 'publishing', 'post:' || n, 'POST_FAILED', (array['CRITICAL','HIGH','NORMAL','LOW'])[1 + n % 4], 'OPEN', $2, 'person', $3, n::text,
          'Item ' || n, 'https://demo.example/' || n, $4::timestamptz - n * interval '1 minute', $4, $4, 'bench'
        from generate_series(1, $1::int) n`,
    [items, owner.organizationId, owner.userId, graph.clock.now()],
  )
  await graph.rows('analyze launcher.action_items')
  const page = (given: string) => async () =>
    (
      await graph.execute(`{ actionItems(first: 50${given}) { nodes { id title severity openedAt } pageInfo { hasNextPage endCursor } } }`, {}, { as: owner })
    ).data().actionItems
  const { endCursor } = (await page('')()).pageInfo
  const ask = (document: string) => async () => (await graph.execute(document, {}, { as: owner })).data()
  const rows = [
    await timeOperation('first page of 50', runs, page('')),
    await timeOperation('second page', runs, page(`, after: "${endCursor}"`)),
    await timeOperation('counts', runs, ask('{ actionCounts { open } }')),
  ]
  return `${items.toLocaleString('en')} open items of one person; ${runs} runs of each.

${tableOfOperations(rows, most)}`
}
