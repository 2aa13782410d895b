import type { LineRow } from '../stores/order.ts'

const money = (amountMinor: string, currency: string) => ({ amountMinor, currency })

/** Returns kept lines as the graph shows them, with their amounts in the record's currency. */
export const shownLines = (lines: readonly LineRow[], currency: string) =>
  lines.map(({ unitAmountMinor, discountMinor, taxMinor, totalMinor, ...line }) => ({
    ...line,
    unitAmount: money(unitAmountMinor, currency),
    discount: money(discountMinor, currency),
    tax: money(taxMinor, currency),
    total: money(totalMinor, currency),
  }))
