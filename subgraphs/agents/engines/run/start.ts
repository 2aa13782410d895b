import { newId } from '../../../../platform/ids.ts'
import type { NewRow } from '../../../../platform/sql/table.ts'
import type { WriteTransaction } from '../../../store/books.ts'
import type { FeedKind } from '../../stores/report.ts'
import type { RunRow, RunTrigger, runs } from '../../stores/run/run.ts'
import type { Json } from '../../stores/workflow.ts'
import { writeTask } from '../task/task.ts'
import type { Effect } from './walk.ts'
import type { RunWork } from './work.ts'

/** What begins a run. */
export interface Beginning {
  readonly organizationId: string
  readonly workflowId: string | null
  readonly planId: string
  readonly trigger: RunTrigger
  readonly input: Json
  /** The person who began it; null for keys, schedules and facts. */
  readonly startedById: string | null
  readonly createdBy: string
  /** The run whose step begins it. */
  readonly parent?: Pick<RunRow, 'id' | 'lineage'> | undefined
  /** The item of a MAP step that it is for. */
  readonly item?: Pick<RunRow, 'parentStepId' | 'itemIndex' | 'parentAttempt'> | null | undefined
  readonly pinned?: RunRow['pinned']
}

/** The row of a run that begins: it is looked at at once. */
export const newRun = (id: string, { parent, item, ...beginning }: Beginning, now: Date): NewRow<typeof runs> => ({
  ...beginning,
  ...item,
  id,
  ...(parent && { parentId: parent.id, lineage: [...parent.lineage, parent.id] }),
  ...{ wakeAt: now, createdAt: now, updatedAt: now },
})

/** A line of the work feed. */
export interface FeedLine {
  readonly kind: FeedKind
  readonly title: string
  readonly actor: string
  readonly userId?: string | null
  readonly approvalId?: string
}

/** Writes a line of the work feed about a run. */
export async function writeFeed(
  { workFeed }: Pick<RunWork, 'workFeed'>,
  { id: runId, organizationId }: Pick<RunRow, 'id' | 'organizationId'>,
  line: FeedLine,
  { transaction, now }: WriteTransaction,
): Promise<void> {
  await workFeed.insert({ organizationId, id: newId(now), at: now, runId, ...line }, transaction)
}

/** Writes a report: the next version of the one that the workflow has with this title, else the first of a new one. */
export async function writeReport(job: RunWork, run: RunRow, { step, text, id }: Extract<Effect, { does: 'write' }>, unit: WriteTransaction): Promise<void> {
  const { now, transaction } = unit
  const { reports } = job
  const title = step.title ?? step.key
  const { workflowId, organizationId, createdBy } = run
  const known = workflowId && (await reports.withTitle(workflowId, title, transaction))
  const written = known
    ? await reports.update(known, { text, runId: run.id, version: known.version + 1, updatedAt: now }, transaction)
    : await reports.insert({ id, organizationId, workflowId, title, text, runId: run.id, createdAt: now, updatedAt: now, createdBy }, transaction)
  await reports.addVersion(written, now, transaction)
  await writeFeed(job, run, { kind: 'REPORT_WRITTEN', title, actor: createdBy, userId: run.startedById }, unit)
}

/** Writes the task of a step: it has the step's title, else its key. */
export async function writeStepsTask(job: RunWork, run: RunRow, { step, text, id }: Extract<Effect, { does: 'write' }>, unit: WriteTransaction): Promise<void> {
  await writeTask(job, run, { id, title: step.title ?? step.key, body: text }, unit)
}
