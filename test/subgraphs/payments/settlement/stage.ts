import { randomUUID } from 'node:crypto'
import { connectedAccounts } from '../../../../sandbox/stripe/refunds.ts'
import { anonymous, type Viewer } from '../../../../subgraphs/viewer.ts'
import type { Answer } from '../../../kit/answer.ts'
import { openShop, type Shop } from '../payment/stage.ts'

export const fields = `id externalBatchId status contentHash settledTotal { amountMinor } reversedTotal { amountMinor } lineCount version
  lines { nodes { lineId status transferId failure { code } } }
  callbacks { id sequence type status attempts { status error } }`

/** The settlement service, as the router knows it by its token. */
export const settlementService = (organizationId: string | null): Viewer => ({
  ...{ ...anonymous, kind: 'service', appId: 'app_settlement', onlyAt: 'payments', organizationId },
  scopes: ['payments:settlements.write'],
  context: organizationId === null ? 'personal' : 'organization',
})

// biome-ignore lint/suspicious/noExplicitAny: an answer has the shape that each test asks for
type Any = any

/** A shop whose payouts come from the settlement service. */
export interface Settlement extends AsyncDisposable {
  readonly shop: Shop
  readonly service: Viewer
  submit(batch: object, as?: Viewer): Promise<Answer>
  read(id: string): Promise<Any>
  /** Waits until a batch has a status and its callbacks are over. */
  settled(id: string, status: string): Promise<Any>
  /** Bodies of callbacks that were taken for a batch, in the order in which they came. */
  told(externalBatchId: string): Promise<Any[]>
  /** Transfers and reversals that the processor took for a batch. */
  moved(id: string): Promise<Any[]>
}

export const batchOf = (amounts: readonly number[], more: object = {}) => {
  const lines = amounts.map((amountMinor, at) => ({ lineId: randomUUID(), payer: `org-${at}`, payee: connectedAccounts[at % 2]!, amountMinor, reference: 'r' }))
  const total = amounts.reduce((all, each) => all + each, 0)
  return { externalBatchId: randomUUID(), currency: 'EUR', controlTotalMinor: total, lineCount: lines.length, lines, ...more }
}

export async function openSettlement(): Promise<Settlement> {
  const shop = await openShop()
  const service = settlementService(shop.organizationId)
  const get = async (network: string): Promise<Any[]> => (await fetch(`${shop.graph.x.origin}/_control/received?network=${network}`)).json() as Promise<Any[]>
  const read: Settlement['read'] = async id =>
    (await shop.graph.execute(`query($id: ID!) { settlementBatch(id: $id) { ${fields} } }`, { id }, { as: shop.owner })).data().settlementBatch
  return {
    ...{ shop, service, read },
    submit: (batch, as = service) => shop.ask('submitSettlementBatch', batch, as, 'id status externalBatchId'),
    async settled(id, status) {
      for (let tries = 0; tries < 400; tries += 1) {
        const batch = await read(id)
        if (batch.status === status && batch.callbacks.every((each: Any) => each.status !== 'PENDING')) return batch
        await shop.pass(500)
      }
      throw new Error(`the batch stayed ${JSON.stringify(await read(id))}`)
    },
    told: async externalBatchId =>
      (await get('settlement')).filter(({ text }) => text.includes(externalBatchId)).map(each => ({ ...each, body: JSON.parse(each.text) })),
    moved: async id => (await get('stripe')).filter(each => /transfers$|reversals$/.test(each.path ?? '') && JSON.stringify(each).includes(id)),
    [Symbol.asyncDispose]: () => shop[Symbol.asyncDispose](),
  }
}
