/**
 * Program that takes runs on as a process of the platform does: `own.ts ORIGIN RUNS STEPS`. Each step makes one call and nothing else. It reports
 * when the runs wait, starts on a message, and reports `{ seconds, cpu }` at the end; processor time in ms.
 */
import { once } from 'node:events'
import { setTimeout as pause } from 'node:timers/promises'
import type { CallEnd } from '../../../subgraphs/agents/engines/run/interpret.ts'
import { openRunner } from '../../../subgraphs/agents/engines/run/runner.ts'
import type { Calling } from '../../../subgraphs/agents/engines/run/work.ts'
import { supergraph } from '../../../test/kit/supergraph.ts'
import { planStep } from '../../../test/rules/agents/plans.ts'
import { seedConnector } from '../../../test/subgraphs/agents/connector/seed.ts'
import { seedWorkflow } from '../../../test/subgraphs/agents/workflow/seed.ts'

const [origin, runs, steps] = [process.argv[2]!, Number(process.argv[3]), Number(process.argv[4])]
const organizations = 10
const graph = await supergraph()
await graph.platform.agents.job('runs').runner.stop()
const now = graph.clock.now()
for (let made = 0; made < organizations; made += 1) {
  const { owner } = await graph.seed.owner()
  const organizationId = owner.organizationId!
  const connectorId = await seedConnector(graph, organizationId)
  const given = { connectorId, tool: 'create_note', arguments: { text: '{{input.text}}' } }
  const plan = Array.from({ length: steps }, (_, at) => planStep('TOOL', `step_${at}`, given))
  const { id: workflowId, planId } = await seedWorkflow(graph, { organizationId, steps: plan })
  await graph.rows(
    `insert into agents.runs (id, organization_id, workflow_id, plan_id, trigger, input, wake_at, created_at, updated_at, created_by)
       select gen_random_uuid(), $1, $2, $3, 'MANUAL', '{"text":"bench"}', $4, $4, $4, 'bench' from generate_series(1, $5::int)`,
    [organizationId, workflowId, planId, now, runs / organizations],
  )
}
await graph.rows('analyze agents.runs')

let calls = 0
async function call({ run, step }: Calling): Promise<CallEnd> {
  const body = JSON.stringify({ text: `${run.id} ${step.key}` })
  const answer = await fetch(`${origin}/2/tweets`, { method: 'POST', headers: { 'content-type': 'application/json' }, body })
  await answer.json()
  calls += 1
  return { answer: { done: true } }
}
const runner = openRunner(() => Object.create(graph.platform.agents.job('runs'), { call: { value: call } }))
let [isLooking, isAsked] = [false, false]
async function look(): Promise<void> {
  isAsked = true
  if (isLooking) return
  isLooking = true
  while (isAsked) {
    isAsked = false
    await runner.sweep.run()
  }
  isLooking = false
}
runner.sweep.wakes?.(ms => void setTimeout(() => void look(), ms ?? 0))

process.on('disconnect', () => void graph[Symbol.asyncDispose]().then(() => process.exit()))
process.send!('waiting')
while ((await once(process, 'message'))[0] !== 'begin');
const [begin, before] = [performance.now(), process.cpuUsage()]
void look()
while (calls < runs * steps) await pause(20)
await runner.stop()
const { user, system } = process.cpuUsage(before)
const seconds = (performance.now() - begin) / 1000
const [{ open }] = (await graph.rows<{ open: number }>(`select count(*)::int as open from agents.run_steps where status <> 'SUCCEEDED'`)) as [{ open: number }]
// The end of the last calls is written while the runner stops.
if (open > 0) throw new Error(`${open} steps have not succeeded`)
process.send!({ seconds, cpu: (user + system) / 1000 })
