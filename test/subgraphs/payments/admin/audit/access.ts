import type { Scope } from '../../../../../subgraphs/scopes.ts'
import { type AccessRows, byScopeEachTheirOwn, constant, readOrders, row } from '../../../../access/row.ts'

const readAudit: readonly Scope[] = ['payments:audit.read']
// What keys have done names no person: changes of keys in other rows change nothing, so only those of `made` are listed.
const entries = (fields: string) => constant(`{ paymentAuditLog(action: "updateMerchant") { nodes { ${fields} } } }`)

export const access: AccessRows = {
  async made({ graph, owner, outsider }) {
    const create = 'mutation { createMerchant(input: { name: "Audited" }) { id } }'
    const update = 'mutation($id: ID!) { updateMerchant(input: { id: $id, name: "Changed" }) { id } }'
    for (const as of [owner, outsider]) {
      const { id } = (await graph.execute(create, {}, { as })).data().createMerchant
      ;(await graph.execute(update, { id }, { as })).data()
    }
    return {}
  },
  fields: [
    row('Query.paymentAuditLog', readAudit, readOrders, byScopeEachTheirOwn, entries('id'), 'paymentAuditLog'),
    row('PaymentAuditEntry.user', readAudit, readOrders, byScopeEachTheirOwn, entries('user { id }'), 'paymentAuditLog.nodes.user'),
  ],
  routes: [{ at: 'GET /payments/api/audit', scopes: readAudit, less: readOrders, cells: byScopeEachTheirOwn, path: () => '/payments/api/audit' }],
}
