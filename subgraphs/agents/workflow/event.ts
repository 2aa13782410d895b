import { newId } from '../../../platform/ids.ts'
import type { WriteTransaction } from '../../store/books.ts'
import type { Job } from '../context.ts'
import { announceRun, announceWidget } from '../engines/run/announce.ts'
import { newRun } from '../engines/run/start.ts'
import type { RunRow } from '../stores/run/run.ts'
import type { Json } from '../stores/workflow.ts'
import type { EventName } from './rules.ts'

/** Begins a run of every workflow that waits for a fact: the fact is taken once, so each of them is begun once. */
export async function beginWaiting(job: Job, event: EventName, body: Json & { readonly organizationId: string }, { transaction, now }: WriteTransaction) {
  const { organizationId } = body
  if (await isOwnConsequence(job, event, body as { readonly runId?: string; readonly taskId?: string }, transaction)) return undefined
  const begun: RunRow[] = []
  for (const { id: workflowId, publishedPlanId: planId } of await job.workflows.waitingFor(organizationId, event, transaction)) {
    if (planId === null) continue
    const beginning = { organizationId, workflowId, planId, trigger: 'EVENT', input: body, startedById: null, createdBy: 'workflow' } as const
    begun.push(await job.runs.insert(newRun(newId(now), beginning, now), transaction))
  }
  if (begun.length === 0) return undefined
  return () => {
    for (const run of begun) announceRun(job.events, run)
    announceWidget(job.events, organizationId)
    job.runner.soon()
  }
}

/** Facts that runs themselves bring about. */
const ownFacts: readonly string[] = ['task.created', 'run.failed'] satisfies readonly EventName[]

/** Whether a fact follows from a run that such a fact began, itself or above it: it begins nothing, or runs would never end. */
async function isOwnConsequence(
  job: Job,
  event: EventName,
  { runId, taskId }: { readonly runId?: string; readonly taskId?: string },
  transaction: WriteTransaction['transaction'],
): Promise<boolean> {
  if (!ownFacts.includes(event)) return false
  const causeId = event === 'run.failed' ? runId : (await job.tasks.lock(taskId!, transaction))?.runId
  const cause = causeId ? await job.runs.peek(causeId, transaction) : null
  const first = cause?.lineage[0] ? await job.runs.peek(cause.lineage[0], transaction) : cause
  if (first?.trigger !== 'EVENT' || first.workflowId === null) return false
  const [workflow] = await job.workflows.named([first.workflowId], transaction)
  return ownFacts.includes(workflow?.trigger.event ?? '')
}
