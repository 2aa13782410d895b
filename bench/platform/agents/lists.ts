import { supergraph } from '../../../test/kit/supergraph.ts'
import { seedWorkflow } from '../../../test/subgraphs/agents/workflow/seed.ts'
import { measureStatements, type Work } from '../../load/statements.ts'

/** Runs that one statement writes. */
const part = 20_000
/** Ms that the median of a list's statement may take. */
const most = 10

/** Measures lists of an organization that has many runs. @param runs how often each is asked @param rows how many runs there are */
export async function measureRunLists(runs: number, rows: number): Promise<string> {
  await using graph = await supergraph()
  const { owner } = await graph.seed.owner()
  const organizationId = owner.organizationId!
  const workflows = await Promise.all(Array.from({ length: 20 }, () => seedWorkflow(graph, { organizationId })))
  // In parts, each within the time of a statement.
  for (let from = 1; from <= rows; from += part)
    await graph.rows(
      `insert into agents.runs (id, organization_id, workflow_id, plan_id, status, trigger, failure_code, failure_message, failure_step_key, cursor, started_at,
           finished_at, created_at, updated_at, created_by)
         select gen_random_uuid(), $2, ($3::uuid[])[1 + n % 20], ($4::uuid[])[1 + n % 20], case when n % 50 = 0 then 'FAILED' else 'SUCCEEDED' end,
             case when n % 7 = 0 then 'TEST' when n % 3 = 0 then 'SCHEDULE' else 'MANUAL' end, case when n % 50 = 0 then 'TOOL_ERROR' end,
             case when n % 50 = 0 then 'It failed.' end, case when n % 50 = 0 then 'note' end, 1, at, at, at, at, 'bench'
           from (select n, $5::timestamptz - n * interval '20 seconds' as at from generate_series($1::int, $1::int + $6::int - 1) n) dated`,
      [from, organizationId, workflows.map(({ id }) => id), workflows.map(({ planId }) => planId), graph.clock.now(), part],
    )
  await graph.rows('analyze agents.runs')
  const ask = (document: string) => async () => (await graph.execute(document, {}, { as: owner })).data()
  const page = (given = '') => ask(`{ runs(first: 50${given}) { nodes { id status trigger createdAt } pageInfo { hasNextPage endCursor } } }`)
  const { endCursor } = (await page()()).runs.pageInfo
  const workflowId = workflows[0]!.id
  const works = new Map<string, Work>([
    ['first page of 50', page()],
    ['second page', page(`, after: "${endCursor}"`)],
    ['failed ones', page(', status: FAILED')],
    ['none that waits', page(', status: WAITING_APPROVAL')],
    ['of a workflow', page(`, workflowId: "${workflowId}"`)],
    ['failed ones of a workflow', page(`, workflowId: "${workflowId}", status: FAILED`)],
    ['by a schedule', page(', trigger: SCHEDULE')],
    ['trials', page(', trigger: TEST')],
    ['by a hook, none', page(', trigger: WEBHOOK')],
    ['through its workflow', ask(`{ workflow(id: "${workflowId}") { runs(first: 50) { nodes { id status } } } }`)],
  ])
  const pattern = /^\s*\(?(select|with).*agents\./is
  const { table, late } = await measureStatements({ url: graph.database.url, works, pattern, runs, only: undefined, mostMs: () => most })
  for (const plan of late) console.error(plan)
  return `${rows.toLocaleString('en')} runs of one organization, by ${workflows.length} workflows; ${runs} runs of each statement; the longest statement of each list. A list has ${most} ms: ${late.length} take longer.

${table}`
}
