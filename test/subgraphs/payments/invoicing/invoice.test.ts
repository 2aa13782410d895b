import { describe, expect, it } from 'vitest'
import { newId } from '../../../../platform/ids.ts'
import { inTransaction } from '../../../../subgraphs/store/write.ts'
import { seedCustomer } from '../parties/customer/seed.ts'
import { type Office, openOffice } from './stage.ts'

const eur = (amountMinor: number) => ({ amountMinor, currency: 'EUR' })
const day = 86_400_000
const reasonOf = async (asked: ReturnType<Office['ask']>) => (await asked).refused('CONFLICT').extensions.reason
const fieldOf = async (asked: ReturnType<Office['ask']>) => (await asked).refused('BAD_USER_INPUT').extensions.field
const numbered = (prefix: string, count: number) => Array.from({ length: count }, (_, index) => `${prefix}-${String(index + 1).padStart(6, '0')}`)

describe('updateOrder', () => {
  it('is refused while an issued invoice says what is paid, and by whom', async () => {
    await using office = await openOffice()
    const { shop } = office
    const { id, orderId } = await office.finalized()
    await shop.pay(orderId, { capture: false })
    await shop.change('voidOrder', { orderId })
    const [link] = await shop.graph.rows<{ id: string }>('select id from payments.payment_links where order_id = $1', [orderId])
    await shop.change('closePaymentLink', { id: link!.id }, shop.owner, 'id')
    expect(await shop.read(orderId)).toMatchObject({ status: 'DRAFT' })
    const lines = [{ name: 'Less', unitAmountMinor: 1 }]
    expect((await shop.ask('updateOrder', { id: orderId, lines })).refused('CONFLICT').extensions).toMatchObject({ reason: 'ALREADY_INVOICED', invoiceId: id })
    expect((await shop.ask('updateOrder', { id: orderId, customerId: null })).refused('CONFLICT').extensions.reason).toBe('ALREADY_INVOICED')
    await shop.change('updateOrder', { id: orderId, description: 'words are free' })
  })
})

describe('createInvoice', () => {
  it('writes a draft of lines, with amounts worked out and without a number', async () => {
    await using office = await openOffice()
    const lines = [{ name: 'Seat', quantity: 3, unitAmountMinor: 1000, discountMinor: 500, taxRate: '19' }]
    const draft = await office.draft({ lines, memo: 'Thank you', metadata: [{ key: 'po', value: '7' }] })
    expect(draft).toMatchObject({ status: 'DRAFT', number: null, orderId: null, paymentUrl: null, memo: 'Thank you', metadata: [{ key: 'po', value: '7' }] })
    expect(draft).toMatchObject({ subtotal: eur(3000), discount: eur(500), tax: eur(475), total: eur(2975), amountDue: eur(2975), version: 1 })
    expect(await office.log(draft.id)).toMatchObject([{ action: 'createInvoice' }])
  })

  it('takes the lines of an order, and refuses a second invoice of it, another customer and a cancelled order', async () => {
    await using office = await openOffice()
    const { shop, ask } = office
    const order = await shop.order(1234)
    const draft = await office.draft({ orderId: order.id })
    expect(draft).toMatchObject({ orderId: order.id, total: eur(1234), merchantId: order.merchantId })
    expect(await reasonOf(ask('createInvoice', { customerId: office.customerId, orderId: order.id }))).toBe('ALREADY_INVOICED')
    const other = await seedCustomer(shop.graph, { organizationId: shop.organizationId })
    await shop.graph.rows('update payments.orders set customer_id = $1 where id = $2', [office.customerId, order.id])
    expect(await fieldOf(ask('createInvoice', { customerId: other.id, orderId: order.id }))).toBe('customerId')
    const gone = await shop.order()
    await shop.change('cancelOrder', { id: gone.id })
    expect(await reasonOf(ask('createInvoice', { customerId: office.customerId, orderId: gone.id }))).toBe('ILLEGAL_MOVE')
  })

  it('makes one invoice when an order is invoiced twenty times at once, and one for twenty repetitions of a key', async () => {
    await using office = await openOffice()
    const { id: orderId } = await office.shop.order()
    const { customerId } = office
    const answers = await Promise.all(Array.from({ length: 20 }, () => office.ask('createInvoice', { customerId, orderId })))
    expect(answers.filter(answer => !answer.error)).toHaveLength(1)
    const input = { customerId, currency: 'EUR', lines: [{ name: 'x', unitAmountMinor: 5 }], idempotencyKey: 'once' }
    const repeated = await Promise.all(Array.from({ length: 20 }, () => office.change('createInvoice', input)))
    expect(new Set(repeated.map(({ id }) => id)).size).toBe(1)
    expect(await reasonOf(office.ask('createInvoice', { ...input, memo: 'another' }))).toBe('KEY_REUSED')
  })

  it.each([
    ['neither order nor lines', {}, 'lines'],
    ['lines without a currency', { lines: [{ name: 'x', unitAmountMinor: 1 }] }, 'currency'],
    ['a memo of 1,001 characters', { currency: 'EUR', lines: [{ name: 'x', unitAmountMinor: 1 }], memo: 'x'.repeat(1001) }, 'memo'],
    ['a line that costs less than nothing', { currency: 'EUR', lines: [{ name: 'x', unitAmountMinor: -1 }] }, 'lines[0].unitAmountMinor'],
  ])('rejects %s with BAD_USER_INPUT', async (_, input, field) => {
    await using office = await openOffice()
    expect(await fieldOf(office.ask('createInvoice', { customerId: office.customerId, ...input }))).toBe(field)
  })
})

describe('updateInvoice', () => {
  it('changes a draft, refuses everything but metadata later, and deletes drafts alone', async () => {
    await using office = await openOffice()
    const { id } = await office.draft({ memo: 'a' })
    const lines = [{ name: 'Two', quantity: 2, unitAmountMinor: 700 }]
    expect(await office.change('updateInvoice', { id, lines, memo: null, expectedVersion: 1 })).toMatchObject({ total: eur(1400), memo: null, version: 2 })
    expect(await reasonOf(office.ask('updateInvoice', { id, memo: 'b', expectedVersion: 1 }))).toBe('STALE_VERSION')
    const { number } = await office.change('finalizeInvoice', { id })
    expect(await reasonOf(office.ask('updateInvoice', { id, memo: 'b' }))).toBe('ILLEGAL_MOVE')
    expect(await office.change('updateInvoice', { id, metadata: [{ key: 'a', value: '1' }] })).toMatchObject({ number, metadata: [{ key: 'a', value: '1' }] })
    expect(await reasonOf(office.ask('deleteInvoice', { id }))).toBe('ILLEGAL_MOVE')
    const draft = await office.draft()
    expect(await office.change('deleteInvoice', { id: draft.id })).toMatchObject({ id: draft.id })
    ;(await office.ask('deleteInvoice', { id: draft.id })).refused('NOT_FOUND')
  })

  it('leaves the lines of an invoice of an order to the order', async () => {
    await using office = await openOffice()
    const { id: orderId } = await office.shop.order(100)
    const { id } = await office.draft({ orderId })
    expect(await fieldOf(office.ask('updateInvoice', { id, lines: [{ name: 'x', unitAmountMinor: 1 }] }))).toBe('lines')
    await office.shop.change('updateOrder', { id: orderId, lines: [{ name: 'Later', unitAmountMinor: 300 }] })
    expect(await office.change('finalizeInvoice', { id })).toMatchObject({ total: eur(300), lines: [{ name: 'Later' }] })
  })
})

describe('finalizeInvoice', () => {
  it('gives a number, a day on which it is due, and an order that waits to be paid', async () => {
    await using office = await openOffice()
    const { graph } = office.shop
    const invoice = await office.finalized()
    expect(invoice).toMatchObject({ number: 'INV-000001', status: 'FINALIZED', amountDue: eur(1000), order: { status: 'PENDING' } })
    expect(invoice.issuedAt).toBe(graph.clock.now().toISOString())
    expect(Date.parse(invoice.dueAt) - Date.parse(invoice.issuedAt)).toBe(14 * day)
    const { order } = (
      await graph.execute(`{ order(id: "${invoice.orderId}") { customerId invoice { id } total { amountMinor } } }`, {}, { as: office.shop.owner })
    ).data()
    expect(order).toEqual({ customerId: office.customerId, invoice: { id: invoice.id }, total: { amountMinor: 1000 } })
    expect(await office.log(invoice.id)).toMatchObject([{ action: 'createInvoice' }, { action: 'finalizeInvoice' }])
    expect(invoice.paymentUrl).toMatch(/^http:\/\/localhost:4000\/payments\/pay\/[\w-]{32}$/)
    const dueAt = graph.clock.in(-3 * day).toISOString()
    expect(await office.finalized({ dueAt })).toMatchObject({ dueAt, number: 'INV-000002' })
  })

  it('numbers fifty invoices that are finalized at once without a gap, each merchant by itself', async () => {
    await using office = await openOffice()
    const { shop } = office
    const other = await shop.change('createMerchant', { name: 'Second', invoicePrefix: 'SEC' }, shop.owner, 'id')
    const drafts = await Promise.all(Array.from({ length: 50 }, (_, index) => office.draft(index % 5 === 0 ? { merchantId: other.id } : {})))
    const done = await Promise.all(drafts.map(({ id }) => office.change('finalizeInvoice', { id })))
    expect(done.map(({ number }) => number).sort()).toEqual([...numbered('INV', 40), ...numbered('SEC', 10)])
  })

  it('gives a number back that was rolled back', async () => {
    await using office = await openOffice()
    const job = office.shop.graph.platform.payments.job('test')
    const { merchantId } = await office.finalized()
    const given: string[] = []
    const failing = inTransaction(job, async ({ transaction }) => {
      given.push(await job.invoices.nextNumber(merchantId, office.shop.organizationId, transaction))
      throw new Error('rolled back')
    })
    await expect(failing).rejects.toThrow('rolled back')
    expect(given).toEqual(['000002'])
    expect((await office.finalized()).number).toBe('INV-000002')
  })

  it('answers a repeated key with the same invoice, and refuses to finalize twice', async () => {
    await using office = await openOffice()
    const { id } = await office.draft()
    const once = { id, idempotencyKey: 'finalize' }
    const answers = await Promise.all(Array.from({ length: 10 }, () => office.change('finalizeInvoice', once)))
    expect(new Set(answers.map(({ number }) => number))).toEqual(new Set(['INV-000001']))
    expect(await reasonOf(office.ask('finalizeInvoice', { id }))).toBe('ILLEGAL_MOVE')
    expect((await office.finalized()).number).toBe('INV-000002')
  })

  it('is PAID at once for an order that is paid', async () => {
    await using office = await openOffice()
    const { id: orderId } = await office.shop.paid(2500)
    const invoice = await office.finalized({ orderId })
    expect(invoice).toMatchObject({ status: 'PAID', number: 'INV-000001', amountDue: eur(0), paymentUrl: null, order: { status: 'PAID' } })
    expect(invoice.paidAt).not.toBeNull()
  })

  it('refuses a suspended merchant, an erased customer and a cancelled order', async () => {
    await using office = await openOffice()
    const { shop, ask } = office
    const { id: merchantId } = await shop.change('createMerchant', { name: 'Second' }, shop.owner, 'id')
    const [suspended, erased] = [await office.draft({ merchantId }), await office.draft()]
    await shop.change('suspendMerchant', { id: merchantId }, shop.owner, 'id')
    expect(await reasonOf(ask('finalizeInvoice', { id: suspended.id }))).toBe('MERCHANT_SUSPENDED')
    const { id: orderId } = await shop.order()
    const cancelled = await office.draft({ orderId })
    await shop.change('cancelOrder', { id: orderId })
    expect(await reasonOf(ask('finalizeInvoice', { id: cancelled.id }))).toBe('ILLEGAL_MOVE')
    await shop.change('eraseCustomer', { id: office.customerId }, shop.owner, 'id')
    expect(await reasonOf(ask('finalizeInvoice', { id: erased.id }))).toBe('CUSTOMER_ERASED')
  })
})

describe('an invoice', () => {
  it('is PAID with its order, in one transaction, and says so in the audit log', async () => {
    await using office = await openOffice()
    const { id, orderId } = await office.finalized()
    await office.shop.pay(orderId, { paymentMethodToken: 'pm_card_chargeDeclined' })
    expect(await office.read(id)).toMatchObject({ status: 'FINALIZED', order: { status: 'FAILED' } })
    await office.shop.pay(orderId)
    expect(await office.read(id)).toMatchObject({ status: 'PAID', amountDue: eur(0), paymentUrl: null, version: 3, order: { status: 'PAID' } })
    const log = await office.log(id)
    expect(log.at(-1)).toEqual({ action: 'invoice.paid', changes: [{ field: 'status', before: 'FINALIZED', after: 'PAID' }] })
  })

  it('is unknown to another organization', async () => {
    await using office = await openOffice()
    const { outsider } = await office.shop.graph.seed.owner().outsider()
    const { id } = await office.draft()
    for (const name of ['updateInvoice', 'deleteInvoice', 'finalizeInvoice', 'voidInvoice', 'markInvoicePaid'])
      (await office.ask(name, { id }, outsider)).refused('NOT_FOUND')
  })
})

describe('voidInvoice and markInvoicePaid', () => {
  it('end an invoice that is to be paid, and cancel its order', async () => {
    await using office = await openOffice()
    const [given, paid] = [await office.finalized(), await office.finalized()]
    const voided = await office.change('voidInvoice', { id: given.id, reason: 'wrong customer' })
    expect(voided).toMatchObject({ status: 'VOID', number: given.number, amountDue: eur(0), order: { status: 'CANCELLED' } })
    expect((await office.log(given.id)).at(-1).changes).toContainEqual({ field: 'reason', before: null, after: 'wrong customer' })
    const marked = await office.change('markInvoicePaid', { id: paid.id, reference: 'transfer 17' })
    expect(marked).toMatchObject({ status: 'PAID', amountDue: eur(0), order: { status: 'CANCELLED' } })
    for (const id of [given.id, paid.id, (await office.draft()).id])
      for (const name of ['voidInvoice', 'markInvoicePaid'])
        expect((await office.ask(name, { id })).refused('CONFLICT').extensions).toMatchObject({ reason: 'ILLEGAL_MOVE', from: expect.any(String) })
    expect((await office.finalized()).number).toBe('INV-000003')
  })

  it('refuse while money is held or under way', async () => {
    await using office = await openOffice()
    const { id, orderId } = await office.finalized()
    await office.shop.pay(orderId, { capture: false })
    expect(await reasonOf(office.ask('voidInvoice', { id }))).toBe('ILLEGAL_MOVE')
    await office.shop.graph.rows(`update payments.orders set payment_phase = 'UNKNOWN' where id = $1`, [orderId])
    expect(await reasonOf(office.ask('markInvoicePaid', { id }))).toBe('OUTCOME_UNKNOWN')
    expect(await office.read(id)).toMatchObject({ status: 'FINALIZED' })
  })

  it('count once when both and a payment come at the same moment', async () => {
    await using office = await openOffice()
    const { id, orderId } = await office.finalized()
    const asked = [
      office.ask('voidInvoice', { id }),
      office.ask('markInvoicePaid', { id }),
      office.shop.ask('payOrder', { orderId, paymentMethodToken: 'pm_card_visa' }),
    ]
    const done = (await Promise.all(asked)).filter(answer => !answer.error)
    expect(done).toHaveLength(1)
    const { status, order } = await office.read(id)
    expect([
      ['VOID', 'CANCELLED'],
      ['PAID', 'CANCELLED'],
      ['PAID', 'PAID'],
    ]).toContainEqual([status, order.status])
  })
})

describe('invoices', () => {
  it('are found by status, customer and merchant, newest first, in the organization alone', async () => {
    await using office = await openOffice()
    const { shop } = office
    const { outsider } = await shop.graph.seed.owner().outsider()
    const first = await office.draft()
    await shop.graph.clock.advance(1000)
    const second = await office.finalized()
    const found = async (filter: object, as = shop.owner) => {
      const text = `query($status: InvoiceStatus, $customerId: ID, $merchantId: ID) {
        invoices(status: $status, customerId: $customerId, merchantId: $merchantId) { nodes { id } totalCount } }`
      return (await shop.graph.execute(text, { ...filter }, { as })).data().invoices.nodes.map(({ id }: { id: string }) => id)
    }
    expect(await found({})).toEqual([second.id, first.id])
    expect(await found({ status: 'DRAFT' })).toEqual([first.id])
    expect(await found({ customerId: office.customerId, merchantId: first.merchantId })).toEqual([second.id, first.id])
    expect(await found({ customerId: newId() })).toEqual([])
    expect(await found({}, outsider)).toEqual([])
  })
})
