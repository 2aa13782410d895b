import type { Transaction } from 'sequelize'
import { transactionLock } from '../../../platform/sql/lock.ts'
import { statement } from '../../../platform/sql/statement.ts'
import { json, type Row, stamps, table, text, truth, uuid } from '../../../platform/sql/table.ts'
import { type Rows, store } from '../../store/store.ts'

/** One step, with null for what its kind does not have. */
export interface WorkflowStep {
  readonly kind: 'LAUNCH' | 'ACTION' | 'LINK'
  readonly title: string
  readonly app: string | null
  readonly returnTo: string | null
  readonly actionKind: string | null
  readonly url: string | null
}

export const workflows = table('launcher.workflows', {
  id: uuid.key,
  /** Null in personal context. */
  organizationId: uuid.maybe,
  /** The person who made it; null for a key or a service. */
  userId: uuid.maybe,
  name: text,
  shared: truth,
  steps: json.of<readonly WorkflowStep[]>(),
  ...stamps,
})

export type LauncherWorkflowRow = Row<typeof workflows>

/** One change of the workflows of an owner at a time: a person's in a context, or those that an organization shares. */
const lockOwner = transactionLock('launcher.workflows', 2)
const countOwn = statement(
  'select count(*)::int as count from launcher.workflows where user_id = $1 and organization_id is not distinct from $2::uuid and not shared',
)
const countShared = statement('select count(*)::int as count from launcher.workflows where organization_id = $1 and shared')

const ownSql = (rows: Rows<typeof workflows>) => ({
  /** Counts the workflows beside one, shared or the person's own, and keeps others from adding any until the transaction ends. */
  async countBeside(
    { organizationId, userId, shared }: Pick<LauncherWorkflowRow, 'organizationId' | 'userId' | 'shared'>,
    transaction: Transaction,
  ): Promise<number> {
    await rows.read(lockOwner, [organizationId ?? '', shared ? '' : userId], transaction)
    const counted = shared
      ? rows.read<{ count: number }>(countShared, [organizationId], transaction)
      : rows.read<{ count: number }>(countOwn, [userId, organizationId], transaction)
    return (await counted)[0]!.count
  },
})

/** Condition for workflows of the active context: the person's own, and shared ones. */
export const seenWorkflow = `t.organization_id is not distinct from :organization::uuid and (t.shared or t.user_id = :person)`

export const workflowStore = store(workflows, { what: 'workflow', tenancy: { where: seenWorkflow }, filters: {} }, ownSql)
