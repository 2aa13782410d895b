import type { Transaction } from 'sequelize'
import { statement } from '../../../../platform/sql/statement.ts'
import { integer, json, moment, type Row, selectList, stamps, table, text, uuid } from '../../../../platform/sql/table.ts'
import { type Rows, store } from '../../../store/store.ts'
import type { Json, StepKind } from '../workflow.ts'
import type { FailureCode } from './run.ts'

export type StepStatus = 'PENDING' | 'RUNNING' | 'WAITING' | 'SUCCEEDED' | 'FAILED' | 'UNKNOWN' | 'SKIPPED' | 'CANCELLED'

/** How far a step has got that takes several: a person's word, the other organization's, then the call. Null for all others. */
export type Phase = 'GATE' | 'POLICY' | 'CALL'

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
