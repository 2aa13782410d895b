import { describe, expect, it, test } from 'vitest'
import { inTransaction } from '../../../subgraphs/store/write.ts'
import type { Viewer } from '../../../subgraphs/viewer.ts'
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

describe('a quota of what a caller creates in a day', () => {
  const document = 'mutation($input: CreatePersonProfileInput!) { createPersonProfile(input: $input) { id } }'
  const profilesADay = 10

  it('holds to the unit when fifty arrive at once', async () => {
    await using graph = await supergraph({ quotas: { profilesADay } })
    const { owner, member } = await graph.seed.owner().member()
    const make = (as: Viewer) => graph.execute(document, { input: { displayName: 'Ada' } }, { as })
    const all = await Promise.all(Array.from({ length: 50 }, () => make(owner)))
    const refused = all.filter(({ code }) => code === 'RATE_LIMITED')
    expect([all.filter(({ code }) => code === undefined).length, refused.length]).toEqual([profilesADay, 50 - profilesADay])
    expect((await make(member)).code).toBeUndefined()
  })

  it('is counted without a lock far from the limit, and under one where others could lead past it', async () => {
    await using graph = await supergraph()
    const { owner } = await graph.seed.owner()
    const { agents } = graph.platform
    const job = agents.job('test')
    const hold = await graph.database.sequelize.transaction()
    const count = (most: number) => inTransaction(job, ({ transaction }) => job.agents.madeBy(`user:${owner.userId}`, graph.clock.now(), most, transaction))
    await job.agents.madeBy(`user:${owner.userId}`, graph.clock.now(), 1_000, hold)
    expect((await count(1_001)).today).toBe(0)
    let isCounted = false
    const late = count(1_000).then(() => {
      isCounted = true
    })
    await expect.poll(async () => (await graph.rows(`select 1 from pg_locks where locktype = 'advisory' and not granted`)).length).toBe(1)
    expect(isCounted).toBe(false)
    await hold.commit()
    await late
  })
})
