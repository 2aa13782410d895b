import { describe, expect, it } from 'vitest'
import { type Office, openOffice } from './stage.ts'

const eur = (amountMinor: number) => ({ amountMinor, currency: 'EUR' })

async function paid(office: Office) {
  const { id, orderId } = await office.finalized()
  await office.shop.pay(orderId)
  return { id, orderId }
}

describe('createCreditNote', () => {
  it('credits parts, then all that is left, and never more than was paid', async () => {
    await using office = await openOffice()
    const { id: invoiceId } = await paid(office)
    const part = await office.change('createCreditNote', { invoiceId, amountMinor: 300, reason: 'late' })
    expect(part).toEqual({ id: expect.any(String), number: 'INV-000001-C1', reason: 'late', amount: eur(300), refund: null, invoice: { id: invoiceId } })
    const over = (await office.ask('createCreditNote', { invoiceId, amountMinor: 701 })).refused('CONFLICT')
    expect(over.extensions).toMatchObject({ reason: 'EXCEEDS_REMAINING', remainingMinor: '700' })
    for (const amountMinor of [0, -1]) (await office.ask('createCreditNote', { invoiceId, amountMinor })).refused('BAD_USER_INPUT')
    expect(await office.change('createCreditNote', { invoiceId })).toMatchObject({ amount: eur(700), number: 'INV-000001-C2' })
    ;(await office.ask('createCreditNote', { invoiceId })).refused('CONFLICT')
    expect(await office.read(invoiceId)).toMatchObject({ status: 'PAID', creditNotes: [{ number: 'INV-000001-C1' }, { number: 'INV-000001-C2' }] })
    expect(await office.log(part.id)).toMatchObject([{ action: 'createCreditNote' }])
  })

  it('stays within what was paid when fifty ask at once', async () => {
    await using office = await openOffice()
    const { id: invoiceId } = await paid(office)
    const answers = await Promise.all(Array.from({ length: 50 }, () => office.ask('createCreditNote', { invoiceId, amountMinor: 100 })))
    expect(answers.filter(answer => !answer.error)).toHaveLength(10)
    expect(new Set(answers.flatMap(({ error }) => (error ? [error.extensions.reason] : [])))).toEqual(new Set(['EXCEEDS_REMAINING']))
  })

  it('gives the amount back with a refund, once for a repeated key', async () => {
    await using office = await openOffice()
    const { id: invoiceId, orderId } = await paid(office)
    const input = { invoiceId, amountMinor: 400, reason: 'REQUESTED_BY_CUSTOMER', refund: true, idempotencyKey: 'note' }
    const [first, again] = [await office.change('createCreditNote', input), await office.change('createCreditNote', input)]
    expect(first.refund).toMatchObject({ status: 'SUCCEEDED', reason: 'REQUESTED_BY_CUSTOMER', note: null })
    expect(again.id).toBe(first.id)
    expect(await office.shop.read(orderId)).toMatchObject({ status: 'PARTIALLY_REFUNDED', refunded: eur(400) })
    const worded = await office.change('createCreditNote', { invoiceId, amountMinor: 100, reason: 'broken', refund: true })
    expect(worded.refund).toMatchObject({ reason: 'OTHER', note: 'broken' })
  })

  it('writes nothing when its refund is refused, or nothing reached the processor', async () => {
    await using office = await openOffice()
    const { id: invoiceId, orderId } = await paid(office)
    await office.shop.change('refundOrder', { orderId, amountMinor: 800, reason: 'OTHER' }, office.shop.owner, 'id')
    const over = (await office.ask('createCreditNote', { invoiceId, amountMinor: 300, refund: true })).refused('CONFLICT')
    expect(over.extensions.reason).toBe('REFUND_EXCEEDS_REMAINING')
    const away = await office.shop.graph.x.away()
    const unsent = (await office.ask('createCreditNote', { invoiceId, amountMinor: 100, refund: true })).refused('UPSTREAM_FAILED')
    expect(unsent.extensions.reason).toBe('NOT_SENT')
    await away[Symbol.asyncDispose]()
    expect((await office.read(invoiceId)).creditNotes).toEqual([])
    expect((await office.change('createCreditNote', { invoiceId, amountMinor: 100 })).number).toBe('INV-000001-C1')
    expect(await office.shop.read(orderId)).toMatchObject({ refundable: eur(200) })
  })

  it('refuses an invoice that is not paid', async () => {
    await using office = await openOffice()
    for (const { id: invoiceId } of [await office.draft(), await office.finalized()])
      expect((await office.ask('createCreditNote', { invoiceId, amountMinor: 1 })).refused('CONFLICT').extensions.reason).toBe('ILLEGAL_MOVE')
  })
})
