import { expect, test } from 'vitest'
import { inTransaction } from '../../../subgraphs/store/write.ts'
import { supergraph } from '../../kit/supergraph.ts'
import { createOrder } from '../payments/documents.ts'

const hour = 3_600_000
const input = { currency: 'EUR', lines: [{ name: 'Ticket', unitAmountMinor: 1 }] }

test('what a caller wrote within a day is counted up to what it may, since the moment from which a day has to pass until there is room', async () => {
  await using graph = await supergraph()
  const { owner, member } = await graph.seed.owner().member()
  const moments: Date[] = []
  for (const as of [owner, owner, owner, member]) {
    moments.push(graph.clock.now())
    ;(await graph.execute(createOrder, { input }, { as })).data()
    await graph.clock.advance(hour)
  }
  const job = graph.platform.payments.job('test')
  const count = (most: number) => inTransaction(job, ({ transaction }) => job.orders.madeBy(`user:${owner.userId}`, graph.clock.now(), most, transaction))
  expect(await count(5)).toEqual({ inAll: 0, today: 3, todaySince: moments[0] })
  // As after the quota was made smaller, or when several wrote at the same moment.
  expect(await count(2)).toEqual({ inAll: 0, today: 2, todaySince: moments[1] })
  await graph.clock.advance(20 * hour)
  expect(await count(5)).toEqual({ inAll: 0, today: 2, todaySince: moments[1] })
  await graph.clock.advance(2 * hour)
  expect(await count(5)).toEqual({ inAll: 0, today: 0, todaySince: null })
})
