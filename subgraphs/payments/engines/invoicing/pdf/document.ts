import type { InvoiceRow } from '../../../stores/invoicing/invoice.ts'
import { decimalsOf } from '../amount.ts'

/** A line of a document as it is printed. */
export interface PrintedLine {
  readonly name: string
  readonly sku: string | null
  readonly quantity: string
  readonly unitAmount: string
  readonly discount: string | null
  readonly taxRate: string
  readonly total: string
}

/** What an invoice says on paper: texts alone, amounts in decimals. The same invoice always says the same. */
export interface InvoiceDocument {
  readonly number: string
  readonly currency: string
  /** Of the merchant, the name first. */
  readonly from: readonly string[]
  /** Of the customer, the name first. */
  readonly to: readonly string[]
  readonly issuedAt: Date
  readonly issuedOn: string
  readonly dueOn: string
  readonly lines: readonly PrintedLine[]
  readonly subtotal: string
  /** Null where nothing is taken off. */
  readonly discount: string | null
  readonly tax: string
  readonly total: string
  readonly memo: string | null
  readonly paymentUrl: string | null
}

/** The day of a moment, by UTC: `2026-02-28`. */
export const dayOf = (at: Date): string => at.toISOString().slice(0, 10)

const given = (texts: readonly (string | null)[]): readonly string[] => texts.filter(text => text !== null)

/** Returns what an invoice says on paper. @throws Error for a draft, which nobody gets on paper */
export function documentOf(invoice: InvoiceRow): InvoiceDocument {
  const { number, currency, parties, issuedAt, dueAt, lines, subtotalMinor, discountMinor, taxMinor, totalMinor, memo, paymentUrl } = invoice
  if (!parties || !issuedAt || !dueAt || number === null) throw new Error(`the invoice ${invoice.id} was not issued: it has no document`)
  const { merchant, customer } = parties
  const amount = (minor: bigint) => decimalsOf(minor, currency)
  return {
    ...{ number, currency, issuedAt, issuedOn: dayOf(issuedAt), dueOn: dayOf(dueAt), memo, paymentUrl },
    from: given([merchant.legalName ?? merchant.name, merchant.country, merchant.taxId && `Tax ID ${merchant.taxId}`, merchant.supportEmail]),
    to: given([customer.name, customer.reference && `Reference ${customer.reference}`]),
    lines: lines.map(({ name, sku, quantity, unitAmountMinor, discountMinor: off, taxRate, totalMinor: total }) => ({
      ...{ name, sku, quantity: String(quantity), unitAmount: amount(BigInt(unitAmountMinor)), taxRate: `${taxRate} %` },
      discount: off === '0' ? null : amount(-BigInt(off)),
      total: amount(BigInt(total)),
    })),
    subtotal: amount(subtotalMinor),
    discount: discountMinor === 0n ? null : amount(-discountMinor),
    tax: amount(taxMinor),
    total: amount(totalMinor),
  }
}
