import type { Transaction } from 'sequelize'
import { statement } from '../../../../platform/sql/statement.ts'
import { integer, json, moment, type Row, selectList, stamps, table, text, uuid } from '../../../../platform/sql/table.ts'
import { type Rows, store } from '../../../store/store.ts'
import type { Json, Risk, StepKind } from '../workflow.ts'
import type { FailureCode } from './run.ts'

export type StepStatus = 'PENDING' | 'RUNNING' | 'WAITING' | 'SUCCEEDED' | 'FAILED' | 'UNKNOWN' | 'SKIPPED' | 'CANCELLED'

/**
 * How far a step has got that takes several: a person's word, the other organization's, then the call; of a model's call the tools that it wants
 * called. Null for all others.
 */
export type Phase = 'GATE' | 'POLICY' | 'CALL' | 'TOOLS'

/** A tool that a model wants called. */
export interface ToolCallRow {
  /** By which the model knows it, and the name that the tool was offered under. */
  readonly id: string
  readonly name: string
  /** The tool; null for a name that was not offered. */
  readonly connectorId: string | null
  readonly tool: string | null
  /** As the model wrote them; an object where the call is made. */
  readonly arguments: Json
  /** Whether a person is asked first, and how much harm it can do. */
  readonly asks: boolean
  readonly risk: Risk
  /** What the model is told came of it; null while it is under way. */
  readonly result: string | null
}

/** What a model said before it wants tools called, and which. */
export interface RoundRow {
  readonly text: string
  /** Of a reply: the length of all that it said up to here. */
  readonly written?: number
  readonly calls: readonly ToolCallRow[]
}

export const steps = table('agents.run_steps', {
  runId: uuid.key,
  id: uuid.key,
  organizationId: uuid,
  key: text,
  kind: text.of<StepKind>(),
  status: text.of<StepStatus>(),
  phase: text.of<Phase>().maybe,
  attempt: integer,
  tries: integer.or(0),
  input: json.of<Json>().maybe,
  output: json.of<Json>().maybe,
  failureCode: text.of<FailureCode>().maybe,
  failureMessage: text.maybe,
  approvalId: uuid.maybe,
  policyId: uuid.maybe,
  childRunId: uuid.maybe,
  callId: uuid.maybe,
  rounds: json.of<readonly RoundRow[]>().maybe,
  childrenFrom: integer.or(1),
  dueAt: moment.maybe,
  startedAt: moment.maybe,
  finishedAt: moment.maybe,
  ...stamps,
})

export type StepRow = Row<typeof steps>

const ofRun = statement(`select ${selectList(steps, 't')} from agents.run_steps t where t.run_id = $1`)

const stepSql = (rows: Rows<typeof steps>) => ({
  /** The steps of a run that have begun; who holds the run may rely on them. */
  ofRun: (runId: string, transaction: Transaction): Promise<StepRow[]> => rows.read(ofRun, [runId], transaction),
})

export const stepStore = store(steps, { what: 'step', tenancy: { by: 'organizationId' }, manyBy: { runId: 't.started_at, t.id' }, writtenOften: true }, stepSql)
