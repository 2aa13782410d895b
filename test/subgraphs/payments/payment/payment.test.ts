import { describe, expect, it } from 'vitest'
import { newId } from '../../../../platform/ids.ts'
import { runTransaction } from '../../../../subgraphs/payments/engines/payment/run.ts'
import { dies } from '../../../kit/dies.ts'
import { openShop } from './stage.ts'

const eur = (amountMinor: number) => ({ amountMinor, currency: 'EUR' })

describe('payOrder', () => {
  it('takes the whole order by one call to the processor, and books it', async () => {
    await using shop = await openShop()
    const { id } = await shop.order(2500)
    const paid = await shop.pay(id)
    expect(paid).toMatchObject({
      ...{ status: 'PAID', paymentPhase: 'NONE', failure: null, captured: eur(2500), refunded: eur(0), refundable: eur(2500), due: eur(0) },
      transactions: { nodes: [{ type: 'PURCHASE', status: 'SUCCEEDED', attempts: 1, failure: null }] },
    })
    const [transaction] = paid.transactions.nodes
    expect(await shop.received(id, 'payment_intents')).toMatchObject([
      { idempotencyKey: transaction.id, metadata: { order_id: id, transaction_id: transaction.id }, moved: 2500, id: transaction.processorId },
    ])
    expect([await shop.booked(id, 'processor'), await shop.booked(id, 'merchant')]).toEqual([2500, -2500])
    expect(await shop.facts()).toEqual([
      {
        kind: 'order.paid',
        body: { orderId: id, organizationId: shop.organizationId, merchantId: paid.merchantId, amountMinor: 2500, currency: 'EUR', at: expect.any(String) },
      },
    ])
    expect(await shop.graph.rows('select payment_method, next_attempt_at from payments.transactions')).toEqual([
      { payment_method: null, next_attempt_at: null },
    ])
  })

  it('answers a declined card with FAILED and its reason, posts nothing, and takes the next card', async () => {
    await using shop = await openShop()
    const { id } = await shop.order()
    const declined = await shop.pay(id, { paymentMethodToken: 'pm_card_chargeDeclinedInsufficientFunds' })
    expect(declined).toMatchObject({ status: 'FAILED', paymentPhase: 'NONE', failure: { code: 'INSUFFICIENT_FUNDS', retryable: true }, due: eur(1000) })
    expect(await shop.pay(id, { paymentMethodToken: 'pm_card_authenticationRequired' })).toMatchObject({
      status: 'FAILED',
      failure: { code: 'AUTHENTICATION_REQUIRED', retryable: false },
    })
    expect(await shop.booked(id, 'processor')).toBe(0)
    expect(await shop.pay(id)).toMatchObject({ status: 'PAID', failure: null })
  })

  it.each([
    ['BHD', 6497, { status: 'PAID', captured: { amountMinor: 6497, currency: 'BHD' } }],
    ['MGA', 1550, { status: 'FAILED', failure: { code: 'AMOUNT_REFUSED' } }],
  ])('leaves it to the processor whether it takes an amount when it can write it: %s %i', async (currency, unitAmountMinor, then) => {
    await using shop = await openShop()
    const { id } = await shop.change('createOrder', { currency, lines: [{ name: 'Ticket', unitAmountMinor }] })
    expect(await shop.pay(id)).toMatchObject(then)
  })

  it('takes the money once when twenty pay at once', async () => {
    await using shop = await openShop()
    const { id } = await shop.order()
    const answers = await Promise.all(Array.from({ length: 20 }, () => shop.ask('payOrder', { orderId: id, paymentMethodToken: 'pm_card_visa' })))
    const lost = answers.filter(answer => answer.error)
    expect(lost).toHaveLength(19)
    expect(new Set(lost.map(({ error }) => error!.extensions.code))).toEqual(new Set(['CONFLICT']))
    expect(await shop.received(id, 'payment_intents')).toHaveLength(1)
    expect(await shop.read(id)).toMatchObject({ status: 'PAID', captured: eur(1000) })
  })

  it('does it once for a key, and marks what it answers again', async () => {
    await using shop = await openShop()
    const { id } = await shop.order()
    const input = { orderId: id, paymentMethodToken: 'pm_card_visa', idempotencyKey: 'k' }
    const answers = await Promise.all(Array.from({ length: 10 }, () => shop.change('payOrder', input)))
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set(['PAID']))
    expect(await shop.received(id, 'payment_intents')).toHaveLength(1)
    const other = await shop.ask('payOrder', { ...input, capture: false })
    expect(other.refused('CONFLICT').extensions.reason).toBe('KEY_REUSED')
  })

  it('changes nothing when the processor cannot be reached, and the key is free again', async () => {
    await using shop = await openShop()
    const { id } = await shop.order()
    const input = { orderId: id, paymentMethodToken: 'pm_card_visa', idempotencyKey: 'k' }
    const away = await shop.graph.x.away()
    expect((await shop.ask('payOrder', input)).refused('UPSTREAM_FAILED').extensions.reason).toBe('NOT_SENT')
    await away[Symbol.asyncDispose]()
    expect(await shop.read(id)).toMatchObject({ status: 'DRAFT', paymentPhase: 'NONE', transactions: { nodes: [] } })
    expect(await shop.change('payOrder', input)).toMatchObject({ status: 'PAID' })
  })

  it('changes nothing without a credential of the processor', async () => {
    await using shop = await openShop()
    const { id } = await shop.order()
    await shop.graph.rows('delete from providers.credentials')
    const refusal = await shop.ask('payOrder', { orderId: id, paymentMethodToken: 'pm_card_visa' })
    expect(refusal.refused('CONFLICT').extensions.reason).toBe('NO_CREDENTIAL')
    expect(await shop.read(id)).toMatchObject({ status: 'DRAFT', transactions: { nodes: [] } })
  })

  it('is refused while the merchant is suspended, and nothing is sent', async () => {
    await using shop = await openShop()
    const { id, merchantId } = await shop.order()
    await shop.change('suspendMerchant', { id: merchantId }, shop.owner, 'status')
    const refusal = await shop.ask('payOrder', { orderId: id, paymentMethodToken: 'pm_card_visa' })
    expect(refusal.refused('CONFLICT').extensions.reason).toBe('MERCHANT_SUSPENDED')
    expect(await shop.read(id)).toMatchObject({ status: 'DRAFT', transactions: { nodes: [] } })
    expect(await shop.received(id, 'payment_intents')).toEqual([])
  })

  it.each(['4242424242424242', 'tok_visa', '', null])('refuses %j as a payment method, and repeats none of it', async paymentMethodToken => {
    await using shop = await openShop()
    const { id } = await shop.order()
    const { error } = await shop.ask('payOrder', { orderId: id, paymentMethodToken })
    expect(error!.extensions).toMatchObject({ code: 'BAD_USER_INPUT', field: 'paymentMethodToken' })
    if (paymentMethodToken) expect(JSON.stringify([error, shop.graph.log])).not.toContain(paymentMethodToken)
  })
})

describe('an unknown outcome', () => {
  it('blocks the order until the same call under the same key tells it, and is booked once', async () => {
    await using shop = await openShop()
    const { id } = await shop.order()
    await shop.arm('status-after-accept', { status: 503 })
    const unknown = await shop.pay(id)
    expect(unknown).toMatchObject({ status: 'PENDING', paymentPhase: 'UNKNOWN', captured: eur(0) })
    expect(unknown.transactions.nodes).toMatchObject([{ status: 'UNKNOWN', failure: { code: 'OUTCOME_UNKNOWN' } }])
    for (const [name, input] of [
      ['payOrder', { orderId: id, paymentMethodToken: 'pm_card_visa' }],
      ['captureOrder', { orderId: id }],
      ['voidOrder', { orderId: id }],
      ['cancelOrder', { id }],
    ] as const)
      expect((await shop.ask(name, input)).refused('CONFLICT').extensions.reason, name).toBe('OUTCOME_UNKNOWN')
    expect((await shop.facts()).map(({ kind, body }) => [kind, body.kind])).toEqual([['attention.opened', 'PAYMENT_UNKNOWN']])
    await shop.pass(8_000)
    await expect
      .poll(() => shop.read(id))
      .toMatchObject({ status: 'PAID', captured: eur(1000), transactions: { nodes: [{ status: 'SUCCEEDED', attempts: 2 }] } })
    expect(await shop.received(id, 'payment_intents')).toHaveLength(1)
    expect(await shop.booked(id, 'processor')).toBe(1000)
    expect((await shop.facts()).map(({ kind }) => kind)).toEqual(['attention.opened', 'attention.closed', 'order.paid'])
  })

  it('is ended by a person’s word, which nobody else can contradict', async () => {
    await using shop = await openShop()
    const { id } = await shop.order()
    await shop.arm('status', { status: 500 })
    const { transactions } = await shop.pay(id)
    const [{ id: transactionId }] = transactions.nodes
    const resolve = (input: object) => shop.ask('resolveTransaction', { id: transactionId, ...input }, shop.owner, 'id status completedAt')
    expect((await resolve({ outcome: 'SUCCEEDED' })).refused('BAD_USER_INPUT').extensions.field).toBe('processorId')
    const answers = await Promise.all(Array.from({ length: 5 }, () => resolve({ outcome: 'FAILED', note: 'looked it up' })))
    expect(answers.filter(answer => !answer.error)).toHaveLength(1)
    expect((await resolve({ outcome: 'FAILED' })).refused('CONFLICT').extensions).toMatchObject({ reason: 'ILLEGAL_MOVE', from: 'FAILED' })
    expect(await shop.read(id)).toMatchObject({ status: 'FAILED', paymentPhase: 'NONE' })
    const log = await shop.graph.execute(
      '{ paymentAuditLog(action: "resolveTransaction") { nodes { entityId user { id } changes { field after } } } }',
      {},
      { as: shop.owner },
    )
    expect(log.data().paymentAuditLog.nodes).toEqual([
      { entityId: transactionId, user: { id: shop.owner.userId }, changes: [{ field: 'note', after: 'looked it up' }] },
    ])
    expect(await shop.pay(id)).toMatchObject({ status: 'PAID' })
  })

  it('is logged when the processor carries it out after a person said that it failed', async () => {
    await using shop = await openShop()
    const { id } = await shop.order()
    await shop.arm('status', { status: 500 })
    const [{ id: transactionId }] = (await shop.pay(id)).transactions.nodes
    const job = shop.graph.platform.payments.job('janitor')
    const charge: typeof job.processor.charge = async what => {
      await shop.change('resolveTransaction', { id: transactionId, outcome: 'FAILED' }, shop.owner, 'status')
      return job.processor.charge(what)
    }
    await runTransaction(Object.create(job, { processor: { value: { ...job.processor, charge } } }), transactionId, false)
    expect(await shop.read(id)).toMatchObject({ status: 'FAILED', captured: eur(0) })
    expect(shop.graph.log.filter(line => line.includes('carried out a transaction that is recorded as failed'))).toEqual([
      expect.stringContaining(transactionId),
    ])
  })

  it.each([
    'intention-recorded',
    'processor-answered',
  ])('of a process that died at %s is found when its lease is over, and the money taken once', async point => {
    await using shop = await openShop()
    const { id } = await shop.order()
    await dies(point, () => shop.ask('payOrder', { orderId: id, paymentMethodToken: 'pm_card_visa' }))
    expect(await shop.read(id)).toMatchObject({ status: 'PENDING', paymentPhase: 'PROCESSING' })
    await shop.pass(40_000)
    await expect.poll(() => shop.read(id)).toMatchObject({ status: 'PAID', paymentPhase: 'NONE', captured: eur(1000) })
    expect(await shop.received(id, 'payment_intents')).toHaveLength(1)
    expect(await shop.booked(id, 'processor')).toBe(1000)
  })
})

describe('an authorization', () => {
  it('holds the money without a posting, and is captured in part, once', async () => {
    await using shop = await openShop()
    const { id } = await shop.order(2000)
    expect(await shop.pay(id, { capture: false })).toMatchObject({ status: 'PENDING', paymentPhase: 'AUTHORIZED', captured: eur(0), due: eur(2000) })
    expect(await shop.booked(id, 'processor')).toBe(0)
    for (const amountMinor of [0, 2001])
      expect((await shop.ask('captureOrder', { orderId: id, amountMinor })).refused('BAD_USER_INPUT').extensions.field).toBe('amountMinor')
    expect(await shop.change('captureOrder', { orderId: id, amountMinor: 1500 })).toMatchObject({ status: 'PAID', captured: eur(1500), due: eur(0) })
    expect((await shop.ask('captureOrder', { orderId: id })).refused('CONFLICT').extensions).toMatchObject({
      reason: 'ILLEGAL_MOVE',
      from: 'PAID',
      verb: 'capture',
    })
    expect(await shop.booked(id, 'merchant')).toBe(-1500)
  })

  it('that is voided leads back to a draft; captured and voided at once it does one of both', async () => {
    await using shop = await openShop()
    const [one, two] = [await shop.order(), await shop.order()]
    for (const { id } of [one, two]) await shop.pay(id, { capture: false })
    expect(await shop.change('voidOrder', { orderId: one.id })).toMatchObject({ status: 'DRAFT', paymentPhase: 'NONE', due: eur(1000) })
    const raced = await Promise.all([shop.ask('captureOrder', { orderId: two.id }), shop.ask('voidOrder', { orderId: two.id })])
    expect(raced.filter(answer => answer.error).map(({ error }) => error!.extensions.code)).toEqual(['CONFLICT'])
    const { status } = await shop.read(two.id)
    expect(await shop.booked(two.id, 'processor')).toBe(status === 'PAID' ? 1000 : 0)
  })

  it('is released after seven days', async () => {
    await using shop = await openShop()
    const { id } = await shop.order()
    await shop.pay(id, { capture: false })
    await shop.graph.clock.advance(7 * 86_400_000 - 120_000)
    await shop.pass(60_000)
    expect(await shop.read(id)).toMatchObject({ paymentPhase: 'AUTHORIZED' })
    await shop.pass(120_000)
    await expect.poll(() => shop.read(id)).toMatchObject({ status: 'DRAFT', paymentPhase: 'NONE' })
  })

  it('is tried once an hour to be released after seven days while the processor is away', async () => {
    await using shop = await openShop()
    const { id } = await shop.order()
    await shop.pay(id, { capture: false })
    const tries = () => shop.graph.rows(`select id from payments.audit_entries where subject_id = $1 and action = 'order.void_begun'`, [id])
    await shop.graph.clock.advance(7 * 86_400_000)
    const away = await shop.graph.x.away()
    await shop.pass(60_000)
    await expect.poll(tries).toHaveLength(1)
    await expect.poll(() => shop.read(id)).toMatchObject({ status: 'PENDING', paymentPhase: 'AUTHORIZED' })
    await away[Symbol.asyncDispose]()
    await shop.graph.clock.advance(600_000)
    await shop.pass(60_000)
    expect(await tries()).toHaveLength(1)
    await shop.graph.clock.advance(3_000_000)
    await shop.pass(60_000)
    await expect.poll(() => shop.read(id)).toMatchObject({ status: 'DRAFT', paymentPhase: 'NONE' })
  })

  it('is released when its order is cancelled, which takes the right to do so', async () => {
    await using shop = await openShop()
    const { id } = await shop.order()
    await shop.pay(id, { capture: false })
    const { key } = await shop.graph.seed.owner().key()
    const creator = { ...key, organizationId: shop.organizationId, scopes: ['payments:payments.create'] }
    expect((await shop.ask('cancelOrder', { id }, creator, 'id')).refused('FORBIDDEN').extensions.scope).toBe('payments:transactions.write')
    expect(await shop.change('cancelOrder', { id, reason: 'sold out' })).toMatchObject({ status: 'CANCELLED', paymentPhase: 'NONE' })
    expect((await shop.ask('payOrder', { orderId: id, paymentMethodToken: 'pm_card_visa' })).refused('CONFLICT').extensions).toMatchObject({
      ...{ reason: 'ILLEGAL_MOVE', from: 'CANCELLED', verb: 'pay', possible: [] },
    })
  })
})

describe('updateOrder', () => {
  it('changes a draft, its amounts with its lines, and nothing that is more than a draft', async () => {
    await using shop = await openShop()
    const { id, version } = await shop.order()
    const update = (more: object) => shop.ask('updateOrder', { id, ...more }, shop.owner, 'version description total { amountMinor }')
    const changed = (
      await update({ lines: [{ name: 'Chair', unitAmountMinor: 700, quantity: 2 }], description: 'two chairs', expectedVersion: version })
    ).data()
    expect(changed.updateOrder).toEqual({ version: version + 1, description: 'two chairs', total: { amountMinor: 1400 } })
    expect((await update({ description: 'late', expectedVersion: version })).refused('CONFLICT').extensions.reason).toBe('STALE_VERSION')
    await shop.pay(id)
    expect((await update({ description: 'later' })).refused('CONFLICT').extensions).toMatchObject({ reason: 'ILLEGAL_MOVE', from: 'PAID', verb: 'update' })
  })

  it('is refused for another organization’s order as for none', async () => {
    await using shop = await openShop()
    const { outsider } = await shop.graph.seed.owner().outsider()
    const { id } = await shop.order()
    for (const [name, input] of [
      ['payOrder', { orderId: id, paymentMethodToken: 'pm_card_visa' }],
      ['captureOrder', { orderId: id }],
      ['cancelOrder', { id }],
      ['updateOrder', { id }],
    ] as const)
      (await shop.ask(name, input, outsider, 'id')).refused('NOT_FOUND')
    ;(await shop.ask('payOrder', { orderId: newId(), paymentMethodToken: 'pm_card_visa' }, outsider, 'id')).refused('NOT_FOUND')
  })
})

describe('orderUpdated', () => {
  it('tells of each step of the order that is followed, and of no other', async () => {
    await using shop = await openShop()
    const [one, other] = [await shop.order(), await shop.order()]
    const live = await shop.graph.subscribe('subscription($id: ID) { orderUpdated(orderId: $id) { id status } }', { id: one.id }, { as: shop.owner })
    await shop.pay(other.id)
    await shop.pay(one.id)
    await expect.poll(() => JSON.stringify(live.events)).toContain('PAID')
    expect(JSON.stringify(live.events)).not.toContain(other.id)
    await live.end()
  })
})
