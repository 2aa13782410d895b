import type { Scope } from '../../../../subgraphs/scopes.ts'
import {
  type AccessRows,
  accountants,
  byScope,
  byScopeEachTheirOwn,
  change,
  constant,
  type Ids,
  type RouteRow,
  readOrders,
  row,
  services,
} from '../../../access/row.ts'
import { seedBatch } from './seed.ts'
import { batchOf } from './stage.ts'

const read: readonly Scope[] = ['payments:transactions.read']
const write: readonly Scope[] = ['payments:settlements.write']
const { lines, ...batch } = batchOf([100])
const inBatch = (selection: string) => (ids: Ids) => `{ settlementBatch(id: "${ids.batch}") { ${selection} } }`
const line = lines[0]!
const submission = `externalBatchId: "b", currency: "EUR", controlTotalMinor: "100", lineCount: 1,
  lines: [{ lineId: "l", payer: "p", payee: "${line.payee}", amountMinor: "100" }]`

const reading = (at: string, path: (ids: Ids) => string, cells: string): RouteRow => ({
  at: `GET /payments/api/${at}`,
  scopes: read,
  less: readOrders,
  cells,
  path,
})
const posting = (at: string, cells: string, path: (ids: Ids) => string, body: object): RouteRow => ({
  ...{ at: `POST /payments/api/${at}`, scopes: write, less: readOrders, cells, path },
  body: () => body,
})

export const access: AccessRows = {
  async made({ graph, owner, outsider }) {
    await seedBatch(graph, { organizationId: outsider.organizationId! })
    const { batch: made, callbackId } = await seedBatch(graph, { organizationId: owner.organizationId! })
    await graph.rows(`update payments.settlement_lines set status = 'FAILED', failure_code = 'ACCOUNT_UNKNOWN' where batch_id = $1`, [made.id])
    return { batch: made.id, callback: callbackId }
  },
  fields: [
    row('Query.settlementBatch', read, readOrders, byScope, inBatch('id'), 'settlementBatch'),
    row('Query.settlementBatches', read, readOrders, byScopeEachTheirOwn, constant('{ settlementBatches { nodes { id } } }'), 'settlementBatches'),
    row('SettlementBatch.lines', read, readOrders, byScope, inBatch('lines { nodes { lineId } }'), 'settlementBatch.lines'),
    row('SettlementLine.failure', read, readOrders, byScope, inBatch('lines { nodes { failure { code } } }'), 'settlementBatch.lines.nodes.failure'),
    row('SettlementBatch.callbacks', read, readOrders, byScope, inBatch('callbacks { id }'), 'settlementBatch.callbacks'),
    row(
      'Subscription.settlementBatchUpdated',
      read,
      readOrders,
      byScope,
      ids => `subscription { settlementBatchUpdated(id: "${ids.batch}") { id } }`,
      'settlementBatchUpdated',
    ),
    row(
      'Mutation.submitSettlementBatch',
      write,
      readOrders,
      services,
      change('submitSettlementBatch', () => submission, 'id'),
      'submitSettlementBatch',
    ),
    row(
      'Mutation.reverseSettlementBatch',
      write,
      readOrders,
      services,
      change('reverseSettlementBatch', ids => `id: "${ids.batch}"`, 'id'),
      'reverseSettlementBatch',
    ),
    row(
      'Mutation.resendSettlementCallback',
      write,
      readOrders,
      accountants,
      change('resendSettlementCallback', ids => `id: "${ids.callback}"`, 'id'),
      'resendSettlementCallback',
    ),
  ],
  routes: [
    reading('settlement-batches', () => '/payments/api/settlement-batches', byScopeEachTheirOwn),
    reading('settlement-batches/:id', ids => `/payments/api/settlement-batches/${ids.batch}`, byScope),
    reading('settlement-batches/:id/callbacks', ids => `/payments/api/settlement-batches/${ids.batch}/callbacks`, byScope),
    posting('settlement-batches', services, () => '/payments/api/settlement-batches', { ...batch, lines }),
    posting('settlement-batches/:id/reversal', services, ids => `/payments/api/settlement-batches/${ids.batch}/reversal`, {}),
    posting('settlement-callbacks/:id/resend', accountants, ids => `/payments/api/settlement-callbacks/${ids.callback}/resend`, {}),
  ],
}
