import type { Transaction } from 'sequelize'
import { transactionLock } from '../../../../platform/sql/lock.ts'
import { statement } from '../../../../platform/sql/statement.ts'
import { integer, json, moment, type Row, selectList, stamps, table, text, texts, truth, uuid, whole } from '../../../../platform/sql/table.ts'
import type { Condition } from '../../../store/filter/filters.ts'
import { type Rows, store } from '../../../store/store.ts'
import type { Json } from '../workflow.ts'

export type FailureCode =
  | 'TOOL_ERROR'
  | 'UPSTREAM_FAILED'
  | 'STEP_TIMEOUT'
  | 'NOT_PERMITTED'
  | 'APPROVAL_REJECTED'
  | 'APPROVAL_EXPIRED'
  | 'POLICY_DENIED'
  | 'POLICY_EXPIRED'
  | 'POLICY_MISMATCH'
  | 'NO_MODEL'
  | 'BUDGET_EXCEEDED'
  | 'PROFILE_NOT_ALLOWED'
  | 'TEMPLATE_MISSING'
  | 'NOT_A_LIST'
  | 'LIST_TOO_LONG'
  | 'CHILD_FAILED'
  | 'OUTCOME_UNKNOWN'

export interface Failure {
  readonly code: FailureCode
  readonly message: string
}

export type RunStatus = 'QUEUED' | 'RUNNING' | 'WAITING_APPROVAL' | 'WAITING_POLICY' | 'WAITING_TIMER' | 'SUCCEEDED' | 'FAILED' | 'CANCELLED'
export type RunTrigger = 'MANUAL' | 'SCHEDULE' | 'EVENT' | 'WEBHOOK' | 'OPERATOR' | 'PARENT' | 'TEST'

/** The output that a step of a trial has without being executed. */
export interface Pinned {
  readonly stepKey: string
  readonly output: Json
}

export const runs = table('agents.runs', {
  id: uuid.key,
  organizationId: uuid,
  workflowId: uuid.maybe,
  planId: uuid,
  status: text.of<RunStatus>().or('QUEUED'),
  trigger: text.of<RunTrigger>(),
  cursor: integer.or(0),
  input: json.of<Json>().maybe,
  output: json.of<Json>().maybe,
  failureCode: text.of<FailureCode>().maybe,
  failureMessage: text.maybe,
  failureStepKey: text.maybe,
  parentId: uuid.maybe,
  lineage: texts.or([]),
  /** Of the MAP step that began it: its id, the item's place in the list, and the attempt. */
  parentStepId: uuid.maybe,
  itemIndex: whole.maybe,
  parentAttempt: integer.maybe,
  /** Outputs of a trial's steps that are not worked out. */
  pinned: json.of<readonly Pinned[]>().maybe,
  startedById: uuid.maybe,
  wakeAt: moment.maybe,
  claimId: uuid.maybe,
  waitsForChild: truth.or(false),
  startedAt: moment.maybe,
  finishedAt: moment.maybe,
  ...stamps,
})

export type RunRow = Row<typeof runs>

const columns = selectList(runs, 't')
// Each organization has its turn, however many runs of another are due.
const due = statement(
  `select id, organization_id as "organizationId" from (
     select id, organization_id, wake_at, row_number() over (partition by organization_id order by wake_at) as turn
       from agents.runs where wake_at <= $1 and organization_id <> all($2::uuid[])
   ) due where turn <= $3 order by turn, wake_at limit $4`,
)
const nextDue = statement('select min(wake_at) as at from agents.runs where wake_at > $1 and wake_at <= $2')
const peek = statement(`select ${columns} from agents.runs t where t.id = $1`)
const prolong = statement('update agents.runs set wake_at = $3 where id = $1 and claim_id = $2')
const lockBeginning = transactionLock('agents.beginning_runs')
const running = statement(
  `select count(*)::int as runs from (select from agents.runs where organization_id = $1 and status = 'RUNNING' and not waits_for_child limit $2) running`,
)
const isInQueue = statement(`select exists (select from agents.runs where workflow_id = $1 and trigger = 'SCHEDULE' and status = 'QUEUED') as waits`)
// The condition is the id alone, so the statement waits for the lock of a look: a run that is due already may be about to wait again.
const wake = statement('update agents.runs set wake_at = case when claim_id is null then least(wake_at, $2) else wake_at end where id = $1')
// A run that is being looked at is passed over, for two that wait for each other would end one of them: see `killSwitches.heldFor`.
const wakeAll = statement(
  `update agents.runs set wake_at = $2
    where id in (select id from agents.runs where organization_id = $1 and wake_at > $2 and claim_id is null for no key update skip locked)`,
)
const unended = `select id from agents.runs where organization_id = $2
    and status in ('QUEUED', 'RUNNING', 'WAITING_APPROVAL', 'WAITING_POLICY', 'WAITING_TIMER') and $1 = any(lineage) limit 1000`
const below = statement(unended)
const wakeBelow = statement(
  `with below as materialized (${unended}),
     woken as (
       update agents.runs set wake_at = $3 where id in (
         select r.id from agents.runs r where r.id in (select id from below) and r.claim_id is null and (r.wake_at is null or r.wake_at > $3)
           for no key update skip locked
       )
     )
   select count(*)::int as left from below`,
)
const isStopped = statement(
  `select exists (
     select from agents.runs where id = any($1::uuid[]) and (
       status = 'CANCELLED' or (status = 'FAILED' and failure_code = 'STEP_TIMEOUT' and extract(epoch from finished_at - created_at) >= $2)
     )
   ) as stopped`,
)
// Of each item the run that was begun last.
const mapped = statement(
  `select distinct on (item_index) item_index::int as "itemIndex", status, parent_attempt as attempt, octet_length(output::text) as bytes
     from agents.runs where parent_step_id = $1 and parent_attempt >= $2 order by item_index, created_at desc, id desc`,
)
const mappedOutputs = statement(
  `select distinct on (item_index) item_index::int as "itemIndex", output
     from agents.runs where parent_step_id = $1 and parent_attempt >= $2 order by item_index, created_at desc, id desc`,
)
// Their one step knows best what came of the call, which may have been resolved, or have outlived its run.
const toolRuns = statement(
  `select distinct on (r.item_index) r.item_index::int as "itemIndex", r.status, r.failure_code as "failureCode",
       s.status as "stepStatus", coalesce(s.output, r.output) as output, coalesce(s.failure_message, r.failure_message) as "failureMessage"
     from agents.runs r left join agents.run_steps s on s.run_id = r.id
    where r.parent_step_id = $1 and r.parent_attempt >= $2 and r.item_index >= $3 order by r.item_index, r.created_at desc, r.id desc`,
)
const unclearBelow = statement(
  `with recursive below (id, status) as (
     select id, status from agents.runs where parent_id = $1 and (parent_step_id = any($2::uuid[]) or id = any($3::uuid[]))
     union all select r.id, r.status from agents.runs r join below b on r.parent_id = b.id
   )
   select s.id, s.key, s.status from below b join agents.run_steps s on s.run_id = b.id
    where s.status = 'UNKNOWN' or (s.status = 'RUNNING' and b.status = 'CANCELLED') order by s.status desc, s.id limit 1`,
)
const changedSince = statement(`select ${columns} from agents.runs t where t.organization_id = $1 and t.updated_at >= $2 order by t.updated_at limit 1000`)

/** The run of one item of a MAP step. */
export interface MappedRun {
  readonly itemIndex: number
  readonly status: RunStatus
  /** The attempt of the step that began it. */
  readonly attempt: number
  /** How long its output is; null for none. */
  readonly bytes: number | null
}

/** The run of a tool that a model wanted called. */
export interface ToolRun extends Pick<MappedRun, 'itemIndex' | 'status'>, Pick<RunRow, 'output' | 'failureCode' | 'failureMessage'> {
  /** The status of its one step; null before that begins. */
  readonly stepStatus: string | null
}

/** A step whose effect may stand or not: nobody knows, or its call outlives its run. */
export interface UnclearStep {
  readonly id: string
  readonly key: string
  readonly status: 'UNKNOWN' | 'RUNNING'
}

export interface DueRun {
  readonly id: string
  readonly organizationId: string
}

function runSql(rows: Rows<typeof runs>) {
  return {
    /** Runs to look at by now: so many of an organization and together. @param without organizations that have enough under way */
    due: (now: Date, without: readonly string[], perOrganization: number, max: number): Promise<DueRun[]> =>
      rows.read<DueRun>(due, [now, without, perOrganization, max]),

    /** When the next run is due until a moment; null for none. */
    async nextDue(now: Date, until: Date): Promise<Date | null> {
      const [found] = await rows.read<{ at: Date | null }>(nextDue, [now, until])
      return found?.at ?? null
    },

    /** A run as it stands, without a lock. */
    async peek(id: string, transaction: Transaction): Promise<RunRow | null> {
      const [run] = await rows.read(peek, [id], transaction)
      return run ?? null
    },

    /** Keeps others from taking over a run whose call this process makes. */
    async prolong(id: string, claimId: string, until: Date): Promise<void> {
      await rows.read(prolong, [id, claimId, until])
    },

    /**
     * Whether one more run of an organization may begin, where `max` may be under way. After a yes no other of its runs begins before the
     * transaction ends, so that several processes together begin no more.
     */
    async hasRoom(organizationId: string, max: number, transaction: Transaction): Promise<boolean> {
      const count = async () => (await rows.read<{ runs: number }>(running, [organizationId, max], transaction))[0]!.runs
      // Runs that wait for their place look often: they find it taken without a lock.
      if ((await count()) >= max) return false
      await rows.read(lockBeginning, [organizationId], transaction)
      return (await count()) < max
    },

    /** Whether a run that the schedule of a workflow has begun still waits for its turn. */
    async isScheduledInQueue(workflowId: string, transaction: Transaction): Promise<boolean> {
      const [found] = await rows.read<{ waits: boolean }>(isInQueue, [workflowId], transaction)
      return found!.waits
    },

    /** Has a run looked at by then, unless a call of it is under way, after which it is looked at by itself. */
    async wake(id: string, at: Date, transaction: Transaction): Promise<void> {
      await rows.read(wake, [id, at], transaction)
    },

    /** The same for every run of an organization that goes on by itself some time, unless it is being looked at. */
    async wakeAll(organizationId: string, at: Date, transaction: Transaction): Promise<void> {
      await rows.read(wakeAll, [organizationId, at], transaction)
    },

    /** Ids of the runs below one that have not ended, a thousand at most. */
    async below(id: string, organizationId: string): Promise<readonly string[]> {
      return (await rows.read<{ id: string }>(below, [id, organizationId])).map(found => found.id)
    },

    /** The present run of each item of a MAP step. @param since the attempt from which on they count */
    mapped: (stepId: string, since: number, transaction: Transaction): Promise<MappedRun[]> => rows.read<MappedRun>(mapped, [stepId, since], transaction),

    /** The outputs of the same runs, by the item. */
    async mappedOutputs(stepId: string, since: number, transaction: Transaction): Promise<ReadonlyMap<number, Json>> {
      const found = await rows.read<{ itemIndex: number; output: Json }>(mappedOutputs, [stepId, since], transaction)
      return new Map(found.map(({ itemIndex, output }) => [itemIndex, output]))
    },

    /** Has the runs below one that have not ended looked at, a thousand at most. @returns how many there are */
    async wakeBelow(id: string, organizationId: string, at: Date, transaction: Transaction): Promise<number> {
      const [found] = await rows.read<{ left: number }>(wakeBelow, [id, organizationId, at], transaction)
      return found!.left
    },

    /** The present run of each tool call of a model's step. @param since the attempt from which on they count @param from the first call */
    toolRuns: (stepId: string, since: number, from: number, transaction: Transaction): Promise<ToolRun[]> =>
      rows.read<ToolRun>(toolRuns, [stepId, since, from], transaction),

    /**
     * A step of unclear effect in the runs that steps of a run have begun, and in those below them; null for none.
     * @param stepIds    of steps that begin runs of items and of tools
     * @param childRunIds runs that other steps have begun
     */
    async unclearBelow(id: string, stepIds: readonly string[], childRunIds: readonly string[], transaction: Transaction): Promise<UnclearStep | null> {
      const [found] = await rows.read<UnclearStep>(unclearBelow, [id, stepIds, childRunIds], transaction)
      return found ?? null
    },

    /** Whether one of these runs was cancelled, or has ended because it was so many seconds old. */
    async isStopped(ids: readonly string[], maxSeconds: number, transaction: Transaction): Promise<boolean> {
      if (ids.length === 0) return false
      const [found] = await rows.read<{ stopped: boolean }>(isStopped, [ids, maxSeconds], transaction)
      return found!.stopped
    },

    /** Runs of an organization that were changed since, the earliest first, a thousand at most. */
    changedSince: (organizationId: string, since: Date): Promise<RunRow[]> => rows.read(changedSince, [organizationId, since]),
  }
}

/** Whether a run `t` is the trial of a draft, or below one. */
const trial = "t.trigger = 'TEST'"
const ofTrigger: Condition<RunTrigger> = (trigger, { bind }) => (trigger === 'TEST' ? trial : `t.trigger = ${bind(trigger)}`)

/** The runs of MAP steps, in the order of their lists. */
export const mappedRunStore = store(runs, {
  what: 'run',
  tenancy: { by: 'organizationId' },
  filters: { parentStepId: 'eq' },
  sorted: { by: 'itemIndex', way: 'asc', name: 'item' },
})

export const runStore = store(
  runs,
  {
    what: 'run',
    tenancy: { by: 'organizationId' },
    filters: { workflowId: 'eq', status: 'eq', trigger: ofTrigger, isTrial: (wanted: boolean) => (wanted ? trial : `not (${trial})`) },
    lists: { ofWorkflow: { below: 'workflowId', order: 'newest first', only: `not (${trial})` } },
    writtenOften: true,
  },
  runSql,
)
