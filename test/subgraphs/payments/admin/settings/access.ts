import type { Scope } from '../../../../../subgraphs/scopes.ts'
import { type AccessRows, byScopeEachTheirOwn, change, constant, readOrders, row } from '../../../../access/row.ts'

const readSettings: readonly Scope[] = ['payments:settings.read']
const writeSettings: readonly Scope[] = ['payments:settings.write']
const writers = 'refused yes refused refused refused yes yes'
const thresholds = 'refundApprovalThresholds: [{ amountMinor: 5, currency: "EUR" }]'

export const access: AccessRows = {
  // A list has to have an entry to be looked into, in either organization.
  async made({ graph, owner, outsider }) {
    const document = `mutation { updatePaymentSettings(input: { ${thresholds} }) { version } }`
    for (const as of [owner, outsider]) (await graph.execute(document, {}, { as })).data()
    return {}
  },
  fields: [
    row('Query.paymentSettings', readSettings, readOrders, byScopeEachTheirOwn, constant('{ paymentSettings { version } }'), 'paymentSettings'),
    row(
      'Mutation.updatePaymentSettings',
      writeSettings,
      readSettings,
      writers,
      change('updatePaymentSettings', () => 'checkoutMinutes: 45', 'version'),
      'updatePaymentSettings',
    ),
  ],
  routes: [
    { at: 'GET /payments/api/settings', scopes: readSettings, less: readOrders, cells: byScopeEachTheirOwn, path: () => '/payments/api/settings' },
    {
      at: 'PUT /payments/api/settings',
      scopes: writeSettings,
      less: readSettings,
      cells: writers,
      path: () => '/payments/api/settings',
      body: () => ({ checkoutMinutes: 45 }),
    },
  ],
}
