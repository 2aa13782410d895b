import type { Transaction } from 'sequelize'
import { transactionLock } from '../../../platform/sql/lock.ts'
import { statement } from '../../../platform/sql/statement.ts'
import { moment, type Row, selectList, stamps, table, text, uuid } from '../../../platform/sql/table.ts'
import { createLoader } from '../../store/loader.ts'
import { type Rows, type StoreContext, store } from '../../store/store.ts'

export const reports = table('agents.reports', {
  id: uuid.key,
  organizationId: uuid,
  workflowId: uuid.maybe,
  kind: text.of<'REPORT' | 'ARTIFACT'>().or('REPORT'),
  title: text,
  text,
  runId: uuid,
  ...stamps,
})

export type ReportRow = Row<typeof reports>

/** How a report stood once. */
export interface ReportVersionRow {
  readonly reportId: string
  readonly version: number
  readonly text: string
  readonly createdAt: Date
}

/** The most versions that are kept of one report: the oldest go. */
export const maxVersions = 20

// Of a report that there is not yet, no row can be locked.
const lockTitle = transactionLock('agents.report_titles', 2)
const withTitle = statement(`select ${selectList(reports, 't')} from agents.reports t where t.workflow_id = $1 and t.title = $2 for no key update`)
const addVersion = statement('insert into agents.report_versions (report_id, version, text, created_at) values ($1, $2, $3, $4)')
const dropVersions = statement('delete from agents.report_versions where report_id = $1 and version <= $2')
const versionsOf = statement(
  `select report_id as "reportId", version, text, created_at as "createdAt" from agents.report_versions
    where report_id = any($1::uuid[]) order by version desc`,
)

const reportSql = (rows: Rows<typeof reports>, { reading }: StoreContext) => ({
  /** Locks the report of a workflow with this title; null before its first version, which no other transaction can write meanwhile. */
  async withTitle(workflowId: string, title: string, transaction: Transaction): Promise<ReportRow | null> {
    await rows.read(lockTitle, [workflowId, title], transaction)
    const [found] = await rows.read(withTitle, [workflowId, title], transaction)
    return found ?? null
  },

  /** Keeps a version, and lets go of those beyond the most. */
  async addVersion({ id, version, text }: ReportRow, now: Date, transaction: Transaction): Promise<void> {
    await rows.read(addVersion, [id, version, text, now], transaction)
    if (version > maxVersions) await rows.read(dropVersions, [id, version - maxVersions], transaction)
  },

  /** The versions of reports that the viewer may see, the latest first. */
  versions: createLoader<string, ReportVersionRow[]>(reading, async ids => {
    const found = Map.groupBy(await rows.read<ReportVersionRow>(versionsOf, [ids]), ({ reportId }) => reportId)
    return ids.map(id => found.get(id) ?? [])
  }),
})

export const reportStore = store(reports, { what: 'report', tenancy: { by: 'organizationId' }, filters: { kind: 'eq' } }, reportSql)

export type FeedKind =
  | 'PROFILE_APPLIED'
  | 'PROFILE_ERASED'
  | 'RUN_STARTED'
  | 'RUN_SUCCEEDED'
  | 'RUN_FAILED'
  | 'RUN_CANCELLED'
  | 'APPROVAL_REQUESTED'
  | 'APPROVAL_DECIDED'
  | 'POLICY_REQUESTED'
  | 'POLICY_DECIDED'
  | 'REPORT_WRITTEN'
  | 'TASK_CLOSED'
  | 'KILL_SWITCH'

export const workFeed = table('agents.work_feed', {
  organizationId: uuid.key,
  id: uuid.key,
  at: moment,
  kind: text.of<FeedKind>(),
  title: text,
  actor: text,
  userId: uuid.maybe,
  runId: uuid.maybe,
  approvalId: uuid.maybe,
})

export type WorkFeedItemRow = Row<typeof workFeed>

export const workFeedStore = store(workFeed, {
  what: 'feed item',
  tenancy: { by: 'organizationId' },
  filters: { kind: 'eq', at: 'range' },
  sorted: { by: 'at', way: 'desc', name: 'newest' },
})
