import type { Transaction } from 'sequelize'
import { statement } from '../../../../platform/sql/statement.ts'
import { moment, type Row, selectList, stamps, table, text, uuid } from '../../../../platform/sql/table.ts'
import { type Rows, store } from '../../../store/store.ts'
import { countByCaller } from '../../../store/usage.ts'

export type TaskStatus = 'OPEN' | 'IN_PROGRESS' | 'DONE' | 'CANCELLED'

export const tasks = table('agents.tasks', {
  id: uuid.key,
  organizationId: uuid,
  title: text,
  body: text.maybe,
  status: text.of<TaskStatus>().or('OPEN'),
  assigneeId: uuid.maybe,
  dueAt: moment.maybe,
  runId: uuid.maybe,
  ...stamps,
})

export type TaskRow = Row<typeof tasks>

const unassign = statement(
  `update agents.tasks t set assignee_id = null, version = t.version + 1, updated_at = $3
    where t.organization_id = $1 and t.assignee_id = $2 returning ${selectList(tasks, 't')}`,
)

const writtenToday = countByCaller(tasks)

const taskSql = (rows: Rows<typeof tasks>) => ({
  /** Takes a person away from all tasks of an organization. @returns the tasks as they stand then */
  unassign: (organizationId: string, userId: string, now: Date, transaction: Transaction): Promise<TaskRow[]> =>
    rows.read(unassign, [organizationId, userId, now], transaction),

  madeBy: writtenToday(rows),
})

export const taskStore = store(tasks, { what: 'task', tenancy: { by: 'organizationId' }, filters: { status: 'eq' } }, taskSql)
