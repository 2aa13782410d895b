import { describe, expect, it } from 'vitest'
import { refundThreshold } from '../../../../../subgraphs/payments/admin/settings/rules.ts'
import { shared } from '../../../../kit/shared.ts'
import { supergraph } from '../../../../kit/supergraph.ts'

const fields = '{ defaultCurrency captureMode checkoutMinutes invoiceDueDays refundApprovalThresholds { amountMinor currency } reminderDays version }'
const read = `{ paymentSettings ${fields} }`
const update = `mutation($input: UpdatePaymentSettingsInput!) { updatePaymentSettings(input: $input) ${fields} }`
const createMerchant = 'mutation($input: CreateMerchantInput!) { createMerchant(input: $input) { defaultCurrency } }'
const defaults = {
  defaultCurrency: 'EUR',
  captureMode: 'AUTOMATIC',
  checkoutMinutes: 60,
  invoiceDueDays: 14,
  refundApprovalThresholds: [],
  reminderDays: [3, 7, 14],
  version: 1,
}

const world = shared(() => supergraph())

describe('paymentSettings', () => {
  it('has its defaults until somebody changes one, and is each organization’s own', async () => {
    const graph = world()
    const { owner, outsider } = await graph.seed.owner().outsider()
    expect((await graph.execute(read, {}, { as: owner })).data().paymentSettings).toEqual(defaults)
    const input = { captureMode: 'MANUAL', reminderDays: [], refundApprovalThresholds: [{ amountMinor: 0, currency: 'JPY' }], expectedVersion: 1 }
    const { expectedVersion: _, ...wanted } = input
    const changed = (await graph.execute(update, { input }, { as: owner })).data().updatePaymentSettings
    expect(changed).toEqual({ ...defaults, ...wanted, version: 2 })
    expect((await graph.execute(read, {}, { as: owner })).data().paymentSettings).toEqual(changed)
    expect((await graph.execute(read, {}, { as: outsider })).data().paymentSettings).toEqual(defaults)
  })
})

describe('updatePaymentSettings', () => {
  it.each([
    ['29 minutes', { checkoutMinutes: 29 }, 'checkoutMinutes'],
    ['1,441 minutes', { checkoutMinutes: 1441 }, 'checkoutMinutes'],
    ['366 days', { invoiceDueDays: 366 }, 'invoiceDueDays'],
    ['six reminders', { reminderDays: [1, 2, 3, 4, 5, 6] }, 'reminderDays'],
    ['reminders out of order', { reminderDays: [3, 2] }, 'reminderDays'],
    ['one day twice', { reminderDays: [3, 3] }, 'reminderDays'],
    ['a day before the due day', { reminderDays: [-1] }, 'reminderDays'],
    ['null', { captureMode: null }, 'captureMode'],
    ['a negative threshold', { refundApprovalThresholds: [{ amountMinor: -1, currency: 'EUR' }] }, 'refundApprovalThresholds[0].amountMinor'],
    [
      'two thresholds of one currency',
      {
        refundApprovalThresholds: [
          { amountMinor: 1, currency: 'EUR' },
          { amountMinor: 2, currency: 'EUR' },
        ],
      },
      'refundApprovalThresholds',
    ],
  ])('rejects %s with BAD_USER_INPUT and changes nothing', async (_, input, field) => {
    const graph = world()
    const { owner } = await graph.seed.owner()
    expect((await graph.execute(update, { input }, { as: owner })).refused('BAD_USER_INPUT').extensions.field).toBe(field)
    expect((await graph.execute(read, {}, { as: owner })).data().paymentSettings).toEqual(defaults)
  })

  it('rejects an older version with CONFLICT, also for the first change', async () => {
    const graph = world()
    const { owner } = await graph.seed.owner()
    const change = () => graph.execute(update, { input: { checkoutMinutes: 90, expectedVersion: 1 } }, { as: owner })
    const codes = [(await change()).code, (await change()).refused('CONFLICT').extensions.reason]
    expect(codes).toEqual([undefined, 'STALE_VERSION'])
  })

  it('gives new merchants its currency when they name none', async () => {
    const graph = world()
    const { owner } = await graph.seed.owner()
    await graph.execute(update, { input: { defaultCurrency: 'CHF' } }, { as: owner })
    expect((await graph.execute(createMerchant, { input: { name: 'Bakery' } }, { as: owner })).data().createMerchant.defaultCurrency).toBe('CHF')
  })
})

describe('refundThreshold', () => {
  it('is 1,000 major units of the currency unless the settings say another amount', () => {
    const settings = { refundApprovalThresholds: [{ currency: 'EUR', amountMinor: '5' }] }
    expect(['EUR', 'USD', 'JPY', 'BHD', 'CLF'].map(currency => refundThreshold(settings, currency))).toEqual([5n, 100_000n, 1_000n, 1_000_000n, 10_000_000n])
  })
})
