import { expect, it } from 'vitest'
import { launch } from '../kit/launch.ts'
import { supergraph } from '../kit/supergraph.ts'
import { seedMovements } from '../subgraphs/payments/ledger/seed.ts'
import { seedOrder } from '../subgraphs/payments/order/seed.ts'

it('npm run ledger:verify prints a line a merchant and ends with exit code 1 when a ledger does not hold', async () => {
  await using graph = await supergraph()
  const { owner, outsider } = await graph.seed.owner().outsider()
  const [one, other] = [await seedOrder(graph, { organizationId: owner.organizationId! }), await seedOrder(graph, { organizationId: outsider.organizationId! })]
  const verify = async () => {
    const run = launch(process.execPath, ['scripts/operate/ledger-verify.ts'], { DATABASE_URL: graph.database.url })
    return { code: await run.ended, lines: run.said().trim().split('\n') }
  }
  expect(await verify()).toEqual({ code: 0, lines: ['ledger: 0 entries, 0 problems'] })
  for (const order of [one, one, other]) await seedMovements(graph, order)
  const whole = await verify()
  expect(whole.lines.slice(0, -1).map(line => line.split(/\s+/)[0])).toEqual([one.merchantId, other.merchantId].sort())
  expect([whole.code, whole.lines.at(-1)]).toEqual([0, 'ledger: 6 entries, 0 problems'])
  await graph.rows(`begin; set local session_replication_role = 'replica';
    update payments.ledger_entries set amount_minor = 1 where merchant_id = '${one.merchantId}' and sequence = 1; commit`)
  const broken = await verify()
  expect(broken.lines.find(line => line.startsWith(one.merchantId))).toMatch(
    /chain broken at 1; movement \S+ does not balance; balance of processor EUR .*; entries sum to -999 EUR/,
  )
  expect([broken.code, broken.lines.at(-1)]).toEqual([1, 'ledger: 6 entries, 4 problems'])
})
