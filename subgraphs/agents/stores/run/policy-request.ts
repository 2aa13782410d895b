import type { Transaction } from 'sequelize'
import { statement } from '../../../../platform/sql/statement.ts'
import { integer, json, moment, type Row, selectList, stamps, table, text, uuid } from '../../../../platform/sql/table.ts'
import { type Rows, store } from '../../../store/store.ts'
import type { Json } from '../workflow.ts'

export type PolicyDecision = 'PENDING' | 'HOLD' | 'ALLOW' | 'DENY' | 'EXPIRED' | 'MISMATCH'

export const policyRequests = table('agents.policy_requests', {
  id: uuid.key,
  organizationId: uuid,
  runId: uuid,
  stepId: uuid,
  counterparty: text,
  connectorId: uuid,
  tool: text,
  arguments: json.of<Json>().maybe,
  actionHash: text,
  purpose: text.maybe,
  decision: text.of<PolicyDecision>().or('PENDING'),
  decidedHash: text.maybe,
  reason: text.maybe,
  policyVersion: text.maybe,
  decidedAt: moment.maybe,
  expiresAt: moment,
  acceptedAt: moment.maybe,
  tries: integer.or(0),
  nextAt: moment.maybe,
  ...stamps,
})

export type PolicyRequestRow = Row<typeof policyRequests>

const lockDue = statement(
  `select ${selectList(policyRequests, 't')} from agents.policy_requests t
    where t.next_at <= $1 and t.organization_id <> all($2::uuid[]) order by t.next_at limit 1 for no key update skip locked`,
)
const isDue = statement('select exists (select from agents.policy_requests where next_at <= $1) as due')

const policyRequestSql = (rows: Rows<typeof policyRequests>) => ({
  /** Locks a request for which the service is to be called by now; null if there is none. @param without organizations whose requests are skipped */
  async lockDue(now: Date, without: readonly string[], transaction: Transaction): Promise<PolicyRequestRow | null> {
    const [due] = await rows.read(lockDue, [now, without], transaction)
    return due ?? null
  },

  /** Whether the service is to be called for any request by now. */
  async isDue(now: Date): Promise<boolean> {
    const [found] = await rows.read<{ due: boolean }>(isDue, [now])
    return found!.due
  },
})

export const policyRequestStore = store(policyRequests, { what: 'policy request', tenancy: { by: 'organizationId' } }, policyRequestSql)
