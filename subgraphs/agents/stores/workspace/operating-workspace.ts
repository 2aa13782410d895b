import type { Transaction } from 'sequelize'
import { idOfName } from '../../../../platform/ids.ts'
import { statement } from '../../../../platform/sql/statement.ts'
import { json, type Row, stamps, table, uuid } from '../../../../platform/sql/table.ts'
import { type Rows, store } from '../../../store/store.ts'
import type { Json } from '../workflow.ts'

export const operatingWorkspaces = table('agents.operating_workspaces', {
  id: uuid.key,
  organizationId: uuid,
  state: json.of<Json>().or({}),
  ...stamps,
})

export type OperatingWorkspaceRow = Row<typeof operatingWorkspaces>

/** The id of an organization's workspace: known before its row is written. */
export const workspaceIdOf = (organizationId: string): string => idOfName(organizationId, 'operating workspace')

/** The workspace of an organization in which nothing was written yet. */
export const emptyWorkspace = (organizationId: string): OperatingWorkspaceRow => ({
  ...{ id: workspaceIdOf(organizationId), organizationId, state: {}, version: 1 },
  ...{ createdAt: new Date(0), updatedAt: new Date(0), createdBy: 'system' },
})

const provide = statement(
  `insert into agents.operating_workspaces (id, organization_id, created_at, updated_at, created_by) values ($1, $2, $3, $3, $4)
   on conflict (id) do nothing returning id`,
)

const workspaceSql = (rows: Rows<typeof operatingWorkspaces>) => ({
  /** Writes the empty workspace of an organization, unless it has one. */
  async provide(organizationId: string, createdBy: string, now: Date, transaction: Transaction): Promise<void> {
    await rows.read(provide, [workspaceIdOf(organizationId), organizationId, now, createdBy], transaction)
  },
})

export const operatingWorkspaceStore = store(operatingWorkspaces, { what: 'workspace', tenancy: { by: 'organizationId' } }, workspaceSql)
