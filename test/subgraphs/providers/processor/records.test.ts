import { describe, expect, test } from 'vitest'
import { eur, type ProcessorStage, processorStage, service } from './stage.ts'

const day = 24 * 3600_000
const pay = { amount: eur(2500), paymentMethodId: 'pm_card_visa', confirm: true }
const document = `query($types: [ProcessorRecordType!], $since: DateTime!, $until: DateTime!, $first: Int, $after: String) {
  processorRecords(types: $types, since: $since, until: $until, first: $first, after: $after) {
    nodes { id type status amount { amountMinor currency } createdAt metadata } edges { cursor node { id } }
    pageInfo { hasNextPage hasPreviousPage endCursor } totalCount } }`

const around = ({ graph }: ProcessorStage) => ({
  since: new Date(graph.clock.now().getTime() - day).toISOString(),
  until: new Date(graph.clock.now().getTime() + day).toISOString(),
})
const ask = (stage: ProcessorStage, variables: object, as = stage.payments) => stage.graph.execute(document, { ...around(stage), ...variables }, { as })
const page = async (stage: ProcessorStage, variables: object = {}, as = stage.payments) => (await ask(stage, variables, as)).data().processorRecords

/** Some of everything, of several seconds. */
async function busyDay(stage: ProcessorStage): Promise<readonly string[]> {
  const { change, graph } = stage
  const made: string[] = []
  for (let round = 0; round < 3; round += 1) {
    const { id: paymentIntentId } = await change('createProcessorPaymentIntent', { ...pay, metadata: { round } })
    const { id: transfer } = await change('createProcessorTransfer', { amount: eur(500), destinationAccountId: 'acct_demo' })
    made.push(paymentIntentId, transfer, (await change('createProcessorRefund', { paymentIntentId, amount: eur(100) })).id)
    await graph.clock.advance(1000)
    made.push((await change('reverseProcessorTransfer', { id: transfer, amount: eur(200) })).id)
    made.push((await change('createProcessorPaymentIntent', { ...pay, paymentMethodId: 'pm_card_createDispute' })).id)
  }
  return made
}

describe('G-08 the processor’s records', () => {
  test('is each thing once, the newest first, page by page, with its state and money', async () => {
    await using stage = await processorStage()
    const made = await busyDay(stage)
    const whole = await page(stage, { first: 100 })
    expect(whole).toMatchObject({ totalCount: made.length + 3, pageInfo: { hasNextPage: false, hasPreviousPage: false } })
    const disputes = whole.nodes.filter(({ type }: { type: string }) => type === 'DISPUTE')
    expect(disputes).toHaveLength(3)
    expect(whole.nodes.map(({ id }: { id: string }) => id).sort()).toEqual([...made, ...disputes.map(({ id }: { id: string }) => id)].sort())
    const moments = whole.nodes.map(({ createdAt }: { createdAt: string }) => createdAt)
    expect(moments).toEqual([...moments].sort().reverse())
    const byType = Object.fromEntries(whole.nodes.map((node: { type: string }) => [node.type, node]))
    expect(byType).toMatchObject({
      PAYMENT_INTENT: { status: 'SUCCEEDED', amount: eur(2500) },
      REFUND: { status: 'SUCCEEDED', amount: eur(100) },
      TRANSFER: { status: null, amount: eur(500) },
      TRANSFER_REVERSAL: { status: null, amount: eur(200) },
      DISPUTE: { status: 'NEEDS_RESPONSE', amount: eur(2500) },
    })
    for (const first of [1, 4]) {
      const seen: string[] = []
      let after: string | null = null
      do {
        const { nodes, pageInfo, totalCount } = await page(stage, { first, after })
        expect(totalCount).toBeNull()
        seen.push(...nodes.map(({ id }: { id: string }) => id))
        after = pageInfo.hasNextPage ? pageInfo.endCursor : null
      } while (after)
      expect(seen).toEqual(whole.nodes.map(({ id }: { id: string }) => id))
    }
  })

  test('continues after any entry, and is stable under new records', async () => {
    await using stage = await processorStage()
    await busyDay(stage)
    const whole = await page(stage, { first: 100 })
    await stage.graph.clock.advance(1000)
    await stage.change('createProcessorPaymentIntent', pay)
    const rest = await page(stage, { first: 100, after: whole.edges[6].cursor })
    expect(rest.nodes).toEqual(whole.nodes.slice(7))
    // Of a list that nothing was shown of yet, too.
    const begun = await page(stage, { first: 1 })
    await stage.graph.clock.advance(1000)
    await stage.change('createProcessorRefund', { paymentIntentId: begun.nodes[0].id, amount: eur(100) })
    expect((await page(stage, { first: 100, after: begun.edges[0].cursor })).nodes).toEqual(whole.nodes)
    expect((await ask(stage, { after: 'nonsense' })).refused('BAD_USER_INPUT').extensions.field).toBe('after')
  })

  test('are limited to a period, whose end is excluded, and to the requested types', async () => {
    await using stage = await processorStage()
    const start = stage.graph.clock.now().getTime()
    await busyDay(stage)
    const at = (ms: number) => new Date(start + ms).toISOString()
    const within = await page(stage, { since: at(1000), until: at(2000), types: ['REFUND', 'PAYMENT_INTENT'] })
    expect(within.nodes.map(({ type, createdAt }: { type: string; createdAt: string }) => [type, createdAt])).toEqual([
      ['PAYMENT_INTENT', at(1000)],
      ['PAYMENT_INTENT', at(1000)],
      ['REFUND', at(1000)],
    ])
    expect((await page(stage, { since: at(999), until: at(1001), types: ['REFUND'] })).nodes).toHaveLength(1)
    expect((await page(stage, { since: at(1001), until: at(1999), types: ['REFUND'] })).nodes).toEqual([])
    expect((await page(stage, { since: at(1001), until: at(2001), types: ['REFUND'] })).nodes).toMatchObject([{ createdAt: at(2000) }])
    expect((await ask(stage, { since: at(1000), until: at(1000) })).refused('BAD_USER_INPUT').extensions.field).toBe('until')
    expect((await ask(stage, { types: [] })).refused('BAD_USER_INPUT').extensions.field).toBe('types')
  })

  test('require the right to create them: transfers need TRANSFERS, the rest PAYMENTS; each list counts as a call', async () => {
    await using stage = await processorStage()
    await busyDay(stage)
    const launcher = service(stage.organizationId, ['PAYMENTS', 'EMAIL'], 'app_launcher')
    const types = async (as: typeof launcher, variables: object = {}) =>
      [...new Set((await page(stage, { first: 100, ...variables }, as)).nodes.map(({ type }: { type: string }) => type))].sort()
    expect(await types(launcher)).toEqual(['DISPUTE', 'PAYMENT_INTENT', 'REFUND'])
    expect(await types(service(stage.organizationId, ['TRANSFERS']))).toEqual(['TRANSFER', 'TRANSFER_REVERSAL'])
    ;(await ask(stage, { types: ['REFUND', 'TRANSFER'] }, launcher)).refused('FORBIDDEN')
    ;(await ask(stage, {}, service(stage.organizationId, ['EMAIL'], 'app_launcher'))).refused('FORBIDDEN')
    ;(await ask(stage, {}, stage.owner)).refused('FORBIDDEN')
    const rows = (await stage.calls()).filter(({ operation }) => operation === 'processorRecords')
    expect(rows.map(({ app_id, units, cost_micros }) => [app_id, units, Number(cost_micros)]).sort()).toEqual([
      ['app_launcher', 3, 300],
      ['app_payments', 2, 200],
    ])
  })
})
