import { createHash } from 'node:crypto'
import { newId } from '../../../../platform/ids.ts'
import type { Scope } from '../../../../subgraphs/scopes.ts'
import { type AccessRows, accountants, all, byScope, byScopeEachTheirOwn, change, constant, type Fresh, readOrders, row } from '../../../access/row.ts'
import { seedRepetition } from '../payment/seed.ts'
import { seedDispute, seedFile } from './seed.ts'

const create: readonly Scope[] = ['payments:payments.create']
const read: readonly Scope[] = ['payments:transactions.read']
// Beside a dispute its order is shown to whoever may read orders.
const readBoth: readonly Scope[] = [...read, ...readOrders]
const write: readonly Scope[] = ['payments:transactions.write']
const managersAlone = 'refused refused refused refused refused yes hidden'
const content = 'evidence'
const ofOwner = ({ owner }: Parameters<Fresh>[0]) => ({ organizationId: owner.organizationId!, userId: owner.userId })
/** A dispute that was answered before, under the key that its row sends: the processor has not to be asked again. */
const answered =
  (what: string, more: object): Fresh =>
  async stage => {
    const { id } = await seedDispute(stage.graph, ofOwner(stage))
    await seedRepetition(stage.graph, ofOwner(stage), what, { id, ...more })
    return id
  }
const submitted = answered('submitDisputeEvidence', { evidence: { text: 'A' } })
const accepted = answered('acceptDispute', {})
const withFile: Fresh = async stage => {
  const dispute = await seedDispute(stage.graph, ofOwner(stage))
  const file = await seedFile(stage.graph, dispute)
  const { name, contentType } = file
  const sha256 = createHash('sha256').update(content).digest('hex')
  await seedRepetition(stage.graph, ofOwner(stage), 'createDisputeFile', { disputeId: dispute.id, name, contentType, sha256 }, file.id)
  return dispute.id
}
const key = 'idempotencyKey: "access"'
const again = { 'idempotency-key': 'access' }
const byOrder = 'refused yes refused yes yes yes hidden'

export const access: AccessRows = {
  async made({ graph, owner, outsider }) {
    await seedDispute(graph, { organizationId: outsider.organizationId! })
    const evidenceFiles = [{ id: newId(), name: 'a.pdf', contentType: 'application/pdf', bytes: 4, processorId: 'file_1' }]
    const given = { evidenceText: 'A', evidenceFiles, evidenceBy: owner.userId, evidenceAt: graph.clock.now() }
    const { id, orderId } = await seedDispute(graph, { organizationId: owner.organizationId!, userId: owner.userId }, given)
    return { dispute: id, disputedOrder: orderId }
  },
  fields: [
    row('Query.disputes', read, readOrders, byScopeEachTheirOwn, constant('{ disputes { nodes { id } } }'), 'disputes'),
    row('Query.dispute', read, readOrders, byScope, ids => `{ dispute(id: "${ids.dispute}") { id } }`, 'dispute'),
    row(
      'Mutation.submitDisputeEvidence',
      all,
      read,
      managersAlone,
      change('submitDisputeEvidence', ({ fresh }) => `id: "${fresh}", evidence: { text: "A" }, ${key}`, 'id'),
      'submitDisputeEvidence',
      submitted,
    ),
    row(
      'Mutation.acceptDispute',
      all,
      read,
      managersAlone,
      change('acceptDispute', ({ fresh }) => `id: "${fresh}", ${key}`, 'id'),
      'acceptDispute',
      accepted,
    ),
    row('Dispute.order', readBoth, create, byScope, ids => `{ dispute(id: "${ids.dispute}") { order { id } } }`, 'dispute.order'),
    row('Order.disputes', readBoth, readOrders, byOrder, ids => `{ order(id: "${ids.disputedOrder}") { disputes { id } } }`, 'order.disputes'),
  ],
  routes: [
    {
      ...{ at: 'POST /payments/api/disputes/:id/evidence', scopes: all, less: read, cells: managersAlone, fresh: submitted },
      path: ids => `/payments/api/disputes/${ids.fresh}/evidence`,
      body: () => ({ evidence: { text: 'A' } }),
      headers: { 'content-type': 'application/json', ...again },
    },
    {
      ...{ at: 'POST /payments/api/disputes/:id/accept', scopes: all, less: read, cells: managersAlone, fresh: accepted },
      path: ids => `/payments/api/disputes/${ids.fresh}/accept`,
      body: () => ({}),
      headers: { 'content-type': 'application/json', ...again },
    },
    {
      ...{ at: 'POST /payments/api/disputes/:id/files', scopes: write, less: read, cells: accountants, fresh: withFile },
      path: ids => `/payments/api/disputes/${ids.fresh}/files?name=a.pdf`,
      body: () => Buffer.from(content),
      headers: { 'content-type': 'application/pdf', ...again },
    },
    { at: 'GET /payments/api/disputes', scopes: readBoth, less: create, cells: byScopeEachTheirOwn, path: () => '/payments/api/disputes' },
    { at: 'GET /payments/api/disputes/:id', scopes: readBoth, less: create, cells: byScope, path: ids => `/payments/api/disputes/${ids.dispute}` },
  ],
}
