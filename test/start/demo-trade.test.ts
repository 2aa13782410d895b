import { expect, test } from 'vitest'
import { signIn } from '../kit/client.ts'
import { createTestDatabase } from '../kit/database.ts'
import { launchPlatform, newDataFolder, platformEnvironment, readyLine, until } from '../kit/launch.ts'

const everything = `{
  orders(first: 50) { nodes { description status paymentPhase version checkoutSession { status url } } }
  refunds { nodes { status amount { amountMinor } order { description } } }
  invoices { nodes { status number } }
  settlementBatches { nodes { externalBatchId status lines { nodes { status failure { code } } } } }
  disputes { nodes { status evidenceDueBy amount { amountMinor } } }
  ledgerVerification { ok entries unbalancedMovements }
}`

interface World {
  readonly orders: { readonly nodes: { description: string; status: string; paymentPhase: string; version: number; checkoutSession: { url: string } | null }[] }
  readonly refunds: { readonly nodes: { status: string; amount: { amountMinor: number }; order: { description: string } }[] }
  readonly invoices: { readonly nodes: { status: string; number: string | null }[] }
  readonly settlementBatches: {
    readonly nodes: { externalBatchId: string; status: string; lines: { nodes: { status: string; failure: { code: string } | null }[] } }[]
  }
  readonly disputes: { readonly nodes: { status: string; evidenceDueBy: string | null }[] }
  readonly ledgerVerification: { readonly ok: boolean; readonly entries: number }
}

const standing = ({ orders }: World) => Object.fromEntries(orders.nodes.map(({ description, status, version }) => [description, `${status} ${version}`]))

test('the demo has an order, an invoice and a batch in every status, by books that are in order, and the next start changes nothing', async () => {
  await using folder = newDataFolder()
  await using database = await createTestDatabase({ empty: true })
  const environment = { ...(await platformEnvironment(folder)), DATABASE_URL: database.url }
  const open = async () => {
    const platform = launchPlatform(environment)
    const [, url = ''] = await platform.printed(readyLine)
    const owner = await signIn(url)
    return { platform, read: () => owner.query<World & Record<string, unknown>>(everything) }
  }
  const end = async ({ platform }: Awaited<ReturnType<typeof open>>) => {
    platform.child.kill('SIGTERM')
    expect(await platform.ended).toBe(0)
  }
  const first = await open()
  const world = await until(
    'everything has come to its status',
    async () => {
      const found = await first.read()
      const isOver = found.settlementBatches.nodes.length === 2 && found.settlementBatches.nodes.every(({ status }) => /SETTLED$/.test(status))
      return isOver && found.disputes.nodes.length === 1 && found.orders.nodes.every(({ paymentPhase }) => /NONE|AUTHORIZED/.test(paymentPhase)) && found
    },
    60,
  )
  const statusOf = new Map(world.orders.nodes.map(({ description, status, paymentPhase }) => [description, `${status} ${paymentPhase}`]))
  expect(statusOf.get('A workshop for six people')).toBe('DRAFT NONE')
  expect(statusOf.get('One year of the newsletter')).toBe('DRAFT NONE')
  expect(statusOf.get('Two seats in the evening course')).toBe('PENDING NONE')
  expect(world.orders.nodes.find(({ description }) => description.startsWith('Two seats'))!.checkoutSession).toMatchObject({
    ...{ status: 'OPEN', url: expect.stringContaining('/checkout/') },
  })
  expect(statusOf.get('Deposit for the rented projector')).toBe('PENDING AUTHORIZED')
  expect(statusOf.get('Tickets for the open day')).toBe('PAID NONE')
  expect(statusOf.get('Breakfast for ten people')).toBe('PARTIALLY_REFUNDED NONE')
  expect(statusOf.get('Tickets for the concert that was called off')).toBe('REFUNDED NONE')
  expect(statusOf.get('A course in book-keeping')).toBe('FAILED NONE')
  expect(statusOf.get('Catering for the summer party')).toBe('CANCELLED NONE')
  expect(world.refunds.nodes.find(({ status }) => status === 'AWAITING_APPROVAL')).toMatchObject({
    ...{ amount: { amountMinor: 164_900 }, order: { description: 'A machine that is sent back' } },
  })
  const invoices = Map.groupBy(world.invoices.nodes, ({ status }) => status)
  expect([...invoices.keys()].sort()).toEqual(['DRAFT', 'FINALIZED', 'PAID', 'VOID'])
  expect(world.settlementBatches.nodes.map(({ externalBatchId, status }) => `${externalBatchId} ${status}`).sort()).toEqual([
    'demo-payout-1 SETTLED',
    'demo-payout-2 PARTIALLY_SETTLED',
  ])
  const lines = world.settlementBatches.nodes.flatMap(batch => batch.lines.nodes)
  expect(lines.filter(({ status }) => status === 'FAILED')).toMatchObject([{ failure: { code: 'ACCOUNT_UNKNOWN' } }])
  expect(world.disputes.nodes).toMatchObject([{ status: 'OPEN', evidenceDueBy: expect.any(String) }])
  expect(Date.parse(world.disputes.nodes[0]!.evidenceDueBy!)).toBeGreaterThan(Date.now())
  expect(world.ledgerVerification).toMatchObject({ ok: true, unbalancedMovements: [] })
  expect(world.ledgerVerification.entries).toBeGreaterThan(15)
  await end(first)

  const second = await open()
  const again = await second.read()
  await end(second)
  expect(standing(again)).toEqual(standing(world))
  expect(again.ledgerVerification.entries).toBe(world.ledgerVerification.entries)
  expect(second.platform.complained()).not.toContain('is not what it should be')
}, 180_000)
