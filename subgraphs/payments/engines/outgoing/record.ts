import type { LineRow } from '../../stores/order.ts'

/** An amount as REST shows it: whole minor units, which a number holds exactly. */
export const moneyOf = (amountMinor: bigint | string, currency: string) => ({ amountMinor: Number(amountMinor), currency })

/** A value of an enum as REST shows it. */
export const lower = (value: string): string => value.toLowerCase()

/** Lines of an order or invoice as REST shows them. */
export const lineRecords = (lines: readonly LineRow[], currency: string): readonly object[] =>
  lines.map(({ name, sku, quantity, unitAmountMinor, discountMinor, taxRate, taxMinor, totalMinor }) => ({
    ...{ name, sku, quantity, unitAmount: moneyOf(unitAmountMinor, currency), discount: moneyOf(discountMinor, currency), taxRate },
    ...{ tax: moneyOf(taxMinor, currency), total: moneyOf(totalMinor, currency) },
  }))
