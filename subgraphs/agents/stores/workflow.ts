import type { Transaction } from 'sequelize'
import { statement } from '../../../platform/sql/statement.ts'
import { integer, json, moment, type Row, selectList, stamps, table, text, uuid } from '../../../platform/sql/table.ts'
import { type Rows, store } from '../../store/store.ts'
import { countByCaller } from '../../store/usage.ts'

/** A value that JSON can hold. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [name: string]: Json }

export type StepKind = 'MODEL' | 'TOOL' | 'APPROVAL' | 'DELAY' | 'BRANCH' | 'RUN' | 'MAP' | 'REPORT' | 'TASK'

export type Operator = 'EQUALS' | 'NOT_EQUALS' | 'CONTAINS' | 'GREATER' | 'LESS' | 'EXISTS'

/** What a BRANCH compares; both sides may be templates. */
export interface Condition {
  readonly left: Json
  readonly operator: Operator
  readonly right: Json
}

export type Risk = 'LOW' | 'MEDIUM' | 'HIGH'

/** What a person may answer at a gate. */
export type Verdict = 'APPROVE' | 'EDIT' | 'REJECT' | 'RESPOND'

/** Where a step waits for a person. */
export interface Gate {
  readonly title: string
  readonly description: string | null
  readonly risk: Risk
  readonly allowed: readonly Verdict[]
  readonly expiresInSeconds: number
  readonly onExpiry: 'REJECT' | 'APPROVE'
  /** After how long the approval becomes urgent; null: never. */
  readonly escalateAfterSeconds: number | null
  /** The people who alone may decide; null or absent: whoever has the scope. */
  readonly approvers?: readonly string[] | null
  /** How many different people have to approve the same arguments. @default 1 */
  readonly required?: number
}

/** One step of a plan, as it is stored: everything is given, and null where it does not belong to the kind. */
export interface PlanStep {
  readonly key: string
  readonly kind: StepKind
  readonly title: string | null
  /** A later key or `end`; null: the following step. */
  readonly next: string | null
  /** Where a refused gate or policy, or a false condition, leads; null: the run fails, and after a false condition ends. */
  readonly otherwise: string | null
  readonly timeoutSeconds: number
  readonly retries: number
  readonly agentId: string | null
  readonly prompt: string | null
  readonly connectorId: string | null
  readonly tool: string | null
  readonly arguments: Json
  readonly gate: Gate | null
  readonly counterparty: string | null
  readonly purpose: string | null
  readonly policyTimeoutSeconds: number | null
  readonly seconds: number | null
  readonly condition: Condition | null
  readonly workflowId: string | null
  readonly text: string | null
  /** For MAP, absent in plans of earlier versions: the template that gives the list. */
  readonly list?: string | null
  /** How the arguments of a MAP name an item. */
  readonly itemName?: string | null
  /** How many runs of a MAP are under way at once. */
  readonly concurrency?: number | null
  /** Whether a MAP goes on after an item that failed. */
  readonly onItemFailure?: 'STOP' | 'SKIP' | null
}

export type WorkflowStatus = 'DRAFT' | 'PUBLISHED' | 'ARCHIVED'

/** What begins runs of a workflow. */
export interface TriggerRow {
  readonly kind: 'MANUAL' | 'EVENT' | 'SCHEDULE' | 'WEBHOOK'
  /** The fact that begins one; null for other kinds. */
  readonly event: string | null
  /** When a SCHEDULE begins one: five fields, in the time zone; null or absent for other kinds. */
  readonly cron?: string | null
  readonly timeZone?: string | null
  /** Whether calls of a WEBHOOK must be signed; null or absent for other kinds. */
  readonly signed?: boolean | null
}

export const workflows = table('agents.workflows', {
  id: uuid.key,
  organizationId: uuid,
  name: text,
  description: text.maybe,
  status: text.of<WorkflowStatus>().or('DRAFT'),
  trigger: json.of<TriggerRow>(),
  draft: json.of<readonly PlanStep[]>(),
  publishedPlanId: uuid.maybe,
  plans: integer.or(0),
  event: text.maybe,
  nextAt: moment.maybe,
  ...stamps,
})

export type WorkflowRow = Row<typeof workflows>

const waitingFor = statement(
  `select ${selectList(workflows, 't')} from agents.workflows t where t.organization_id = $1 and t.event = $2 order by t.created_at limit 100`,
)
// Each organization has its turn, however many schedules of another are due.
const dueIds = statement(
  `select id from (
     select id, next_at, row_number() over (partition by organization_id order by next_at) as turn from agents.workflows where next_at <= $1
   ) due order by turn, next_at limit $2`,
)
const lockDue = statement(`select ${selectList(workflows, 't')} from agents.workflows t where t.id = $1 and t.next_at <= $2 for no key update skip locked`)
const nextTurn = statement('select min(next_at) as at from agents.workflows where next_at > $1 and next_at <= $2')
const named = statement(`select ${selectList(workflows, 't')} from agents.workflows t where t.id = any($1::uuid[])`)
const writtenToday = countByCaller(workflows)

const workflowSql = (rows: Rows<typeof workflows>) => ({
  /** Published workflows of an organization that a fact of this kind begins, a hundred at most. */
  waitingFor: (organizationId: string, event: string, transaction: Transaction): Promise<WorkflowRow[]> =>
    rows.read(waitingFor, [organizationId, event], transaction),

  /** Ids of workflows whose schedule is due, so many at most. */
  async due(now: Date, max: number): Promise<readonly string[]> {
    return (await rows.read<{ id: string }>(dueIds, [now, max])).map(({ id }) => id)
  },

  /** Locks a workflow whose schedule is due; null where another process has it. */
  async lockDue(id: string, now: Date, transaction: Transaction): Promise<WorkflowRow | null> {
    const [due] = await rows.read(lockDue, [id, now], transaction)
    return due ?? null
  },

  /** When the next schedule is due until a moment; null for none. */
  async nextTurn(now: Date, until: Date): Promise<Date | null> {
    const [found] = await rows.read<{ at: Date | null }>(nextTurn, [now, until])
    return found?.at ?? null
  },

  /** Workflows by their ids, whosever they are. */
  named: (ids: readonly string[], transaction: Transaction): Promise<WorkflowRow[]> => rows.read(named, [ids], transaction),

  madeBy: writtenToday(rows),
})

export const workflowStore = store(workflows, { what: 'workflow', tenancy: { by: 'organizationId' }, filters: { status: 'eq' } }, workflowSql)

/** A plan as it was published, or as an operator's action made it. */
export const plans = table('agents.plans', {
  id: uuid.key,
  organizationId: uuid,
  workflowId: uuid.maybe,
  number: integer,
  steps: json.of<readonly PlanStep[]>(),
  createdAt: moment,
  createdBy: text,
})

export type PlanRow = Row<typeof plans>

const planBy = statement(`select ${selectList(plans, 't')} from agents.plans t where t.id = $1`)

const numbered = statement(`select ${selectList(plans, 't')} from agents.plans t where t.workflow_id = $1 and t.number = $2`)

const planSql = (rows: Rows<typeof plans>) => ({
  /** A published plan of a workflow that the viewer may see, by its number; null where there is none. */
  async numbered(workflowId: string, number: number): Promise<PlanRow | null> {
    const [plan] = await rows.read(numbered, [workflowId, number])
    return plan ?? null
  },

  /** A plan, within a transaction: plans never change. */
  async inside(id: string, transaction: Transaction): Promise<PlanRow> {
    const [plan] = await rows.read(planBy, [id], transaction)
    if (!plan) throw new Error(`the plan ${id} does not exist any more`)
    return plan
  },
})

export const planStore = store(plans, { what: 'plan', tenancy: { by: 'organizationId' } }, planSql)
