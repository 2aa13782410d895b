import type { Transaction } from 'sequelize'
import { statement } from '../../../platform/sql/statement.ts'
import { moment, type Row, selectList, stamps, table, text, uuid } from '../../../platform/sql/table.ts'
import { createLoader } from '../../store/loader.ts'
import { type Rows, type StoreContext, store } from '../../store/store.ts'

export type RequestStatus = 'PENDING' | 'APPROVED' | 'DECLINED' | 'WITHDRAWN'

export const accessRequests = table('launcher.access_requests', {
  id: uuid.key,
  organizationId: uuid,
  app: text,
  reason: text.maybe,
  status: text.of<RequestStatus>(),
  /** The person who asks; null for a key or a service. */
  requestedBy: uuid.maybe,
  decidedBy: uuid.maybe,
  comment: text.maybe,
  decidedAt: moment.maybe,
  ...stamps,
})

export type AccessRequestRow = Row<typeof accessRequests>

/** Condition for visible requests: people see their own, owners and admins all of the organization, and so do keys and services. */
const seen = `t.organization_id = :organization
  and (:person::uuid is null or t.requested_by = :person or :roles::text[] && array['owner', 'admin'])`

const pending = statement(
  `select ${selectList(accessRequests, 't')} from launcher.access_requests t
    where t.organization_id = $1 and t.created_by = $2 and t.app = $3 and t.status = 'PENDING'`,
)
const latest = statement(
  `select distinct on (t.app) ${selectList(accessRequests, 't')} from launcher.access_requests t
    where t.organization_id = $1 and t.requested_by = $2 and t.app = any($3::text[]) order by t.app, t.created_at desc`,
)

const ownSql = (rows: Rows<typeof accessRequests>, { reading, viewer }: StoreContext) => {
  const own = createLoader<string, AccessRequestRow | null>(reading, async apps => {
    const isAsked = viewer?.organizationId && viewer.userId
    const found = isAsked ? await rows.read(latest, [viewer.organizationId, viewer.userId, apps]) : []
    const byApp = new Map(found.map(row => [row.app, row]))
    return apps.map(app => byApp.get(app) ?? null)
  })
  return {
    /** Loads the viewer's own latest request for an app; null when there is none. */
    ownOf: (app: string) => own.load(app),

    /** Returns a requester's pending request for an app; null without one. */
    async pendingOf({ organizationId, createdBy, app }: Pick<AccessRequestRow, 'organizationId' | 'createdBy' | 'app'>, transaction: Transaction) {
      return (await rows.read(pending, [organizationId, createdBy, app], transaction))[0] ?? null
    },
  }
}

export const accessRequestStore = store(
  accessRequests,
  { what: 'access request', tenancy: { where: seen }, lists: { ofOrganization: { below: 'organizationId', order: 'newest first' } } },
  ownSql,
)
