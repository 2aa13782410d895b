import type { Transaction } from 'sequelize'
import { statement } from '../../../../platform/sql/statement.ts'
import { integer, json, moment, type Row, selectList, stamps, table, text, texts, uuid } from '../../../../platform/sql/table.ts'
import { type Rows, store } from '../../../store/store.ts'
import type { Gate, Json, Verdict } from '../workflow.ts'

export type ApprovalStatus = 'PENDING' | 'APPROVED' | 'EDITED' | 'REJECTED' | 'RESPONDED' | 'EXPIRED' | 'CANCELLED'

/** What somebody decided, or what the clock did. */
export interface DecisionRow {
  readonly decision: Verdict
  /** `user:<id>`, `key:<id>`, `link:<id>` or `system`. */
  readonly actor: string
  readonly comment: string | null
  readonly arguments: Json
  /** Of the arguments that it approves; absent in decisions of earlier versions. */
  readonly argumentsHash?: string
  /** The person whose decision it is, where a link brought it. */
  readonly userId?: string | null
  readonly at: string
}

export const approvals = table('agents.approvals', {
  id: uuid.key,
  organizationId: uuid,
  runId: uuid,
  stepId: uuid,
  kind: text.of<'ACTION' | 'QUESTION'>(),
  title: text,
  description: text.maybe,
  risk: text.of<Gate['risk']>(),
  status: text.of<ApprovalStatus>().or('PENDING'),
  connectorId: uuid.maybe,
  tool: text.maybe,
  counterparty: text.maybe,
  arguments: json.of<Json>().maybe,
  argumentsHash: text,
  allowed: texts,
  response: text.maybe,
  onExpiry: text.of<Gate['onExpiry']>(),
  expiresAt: moment,
  escalateAt: moment.maybe,
  escalatedAt: moment.maybe,
  decisions: json.of<readonly DecisionRow[]>().or([]),
  decidedAt: moment.maybe,
  approverIds: texts.maybe,
  required: integer.or(1),
  ...stamps,
})

export type ApprovalRow = Row<typeof approvals>

const columns = selectList(approvals, 't')
const changedSince = statement(`select ${columns} from agents.approvals t where t.organization_id = $1 and t.updated_at >= $2 order by t.updated_at limit 1000`)
const pending = statement(`select ${columns} from agents.approvals t where t.organization_id = $1 and t.status = 'PENDING' order by t.expires_at limit 1000`)
const insertLink = statement(
  'insert into agents.approval_links (id, approval_id, code_hash, expires_at, user_id, created_at, created_by) values ($1, $2, $3, $4, $5, $6, $7)',
)
const linkBy = statement(
  'select id, approval_id as "approvalId", expires_at as "expiresAt", user_id as "userId" from agents.approval_links where code_hash = $1',
)
const useLink = statement('delete from agents.approval_links where id = $1 returning id')

/** An address by which an approval may be decided once. */
export interface ApprovalLink {
  readonly id: string
  readonly approvalId: string
  readonly expiresAt: Date
  /** Whose decision it brings; null: nobody's in particular. */
  readonly userId: string | null
}

const approvalSql = (rows: Rows<typeof approvals>) => ({
  /** Approvals of an organization that were changed since, the earliest first, a thousand at most. */
  changedSince: (organizationId: string, since: Date): Promise<ApprovalRow[]> => rows.read(changedSince, [organizationId, since]),

  /** Approvals of an organization that wait, the first to expire first, a thousand at most. */
  pending: (organizationId: string): Promise<ApprovalRow[]> => rows.read(pending, [organizationId]),

  /** Keeps a link. @param codeHash of its code, which nobody keeps */
  async addLink(link: ApprovalLink & { readonly codeHash: string; readonly createdBy: string }, now: Date, transaction: Transaction): Promise<void> {
    await rows.read(insertLink, [link.id, link.approvalId, link.codeHash, link.expiresAt, link.userId, now, link.createdBy], transaction)
  },

  /** The link with a code, used ones excepted. */
  async linkBy(codeHash: string): Promise<ApprovalLink | null> {
    const [found] = await rows.read<ApprovalLink>(linkBy, [codeHash])
    return found ?? null
  },

  /** Uses a link up. @returns whether it was there */
  async useLink(id: string, transaction: Transaction): Promise<boolean> {
    return (await rows.read<{ id: string }>(useLink, [id], transaction)).length > 0
  },
})

export const approvalStore = store(approvals, { what: 'approval', tenancy: { by: 'organizationId' }, filters: { status: 'eq' } }, approvalSql)
