import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { exponents, fromProcessor } from '../../../subgraphs/currencies.ts'
import { checkCurrency, toProcessor } from '../../../subgraphs/providers/processor/stripe/amounts.ts'

const refusal = (currency: string, amountMinor: bigint) => {
  try {
    toProcessor({ amountMinor, currency }, 'amount')
    return null
  } catch (error) {
    return (error as { extensions: { code: string; field: string } }).extensions
  }
}

describe('G-08 an amount as Stripe counts it', () => {
  test.each<readonly [string, bigint, number]>([
    ['EUR', 1250n, 1250],
    ['JPY', 1250n, 1250],
    // Three decimals: whether the last may be another than 0 is Stripe's to say.
    ['KWD', 5120n, 5120],
    ['KWD', 5124n, 5124],
    // No minor unit by ISO 4217, hundredths at Stripe.
    ['ISK', 5n, 500],
    ['UGX', 7n, 700],
    // Hundredths by ISO 4217, no minor unit at Stripe.
    ['MGA', 1500n, 15],
    ['HUF', 1045n, 1045],
    ['TWD', 1045n, 1045],
  ])('%s %s is %s', (currency, amountMinor, amount) => {
    expect(toProcessor({ amountMinor, currency }, 'amount')).toEqual({ amount, currency: currency.toLowerCase() })
    expect(fromProcessor(amount, currency.toLowerCase())).toEqual({ amountMinor, currency })
  })

  test.each<readonly [string, bigint]>([
    ['MGA', 1550n],
    ['EUR', 0n],
    ['EUR', -1n],
    ['EUR', 10n ** 20n],
    // A currency that Stripe does not support.
    ['IQD', 1000n],
    ['CLF', 10_000n],
    ['UYI', 1n],
  ])('%s %s is refused, and not rounded', (currency, amountMinor) => {
    expect(refusal(currency, amountMinor)).toEqual({ code: 'BAD_USER_INPUT', field: 'amount' })
  })

  test('converts every amount to Stripe and back unchanged, for every currency, or refuses it', () => {
    fc.assert(
      fc.property(fc.constantFrom(...exponents.keys()), fc.bigInt(1n, 10n ** 12n), (currency, amountMinor) => {
        if (refusal(currency, amountMinor)) return
        const { amount, currency: code } = toProcessor({ amountMinor, currency }, 'amount')
        expect(fromProcessor(amount, code)).toEqual({ amountMinor, currency })
      }),
      { numRuns: 2000 },
    )
  })

  test('can be negative for credits on invoices', () => {
    expect(fromProcessor(-1500, 'eur')).toEqual({ amountMinor: -1500n, currency: 'EUR' })
    expect(fromProcessor(-500, 'isk')).toEqual({ amountMinor: -5n, currency: 'ISK' })
  })

  test('must have the currency of the whole', async () => {
    const yen = { amountMinor: 500n, currency: 'JPY' }
    await expect(checkCurrency(yen, async () => ({ currency: 'eur' }))).rejects.toMatchObject({ extensions: { field: 'amount.currency' } })
    await checkCurrency(yen, async () => ({ currency: 'jpy' }))
    await checkCurrency(null, () => Promise.reject(new Error('nobody asks')))
  })
})
