import { DomainError } from '../../../platform/errors.ts'
import { readText, requireText } from '../../../platform/ids.ts'
import type { LineRow } from '../stores/order.ts'

/** What an order may hold. Lengths in characters, amounts in minor units. */
export const most = {
  lines: 100,
  quantity: 1_000_000,
  total: 999_999_999_999n,
  /** Before what is taken off: more than 64 bits hold could not be kept. */
  subtotal: 2n ** 63n - 1n,
  name: 200,
  sku: 120,
  description: 500,
  reference: 120,
} as const

/** A line as it is given: amounts in minor units, the rate in percent as text. */
export interface GivenLine {
  readonly name: string
  readonly sku?: string | null | undefined
  readonly quantity?: number | null | undefined
  readonly unitAmountMinor: bigint
  readonly discountMinor?: bigint | null | undefined
  readonly taxRate?: string | null | undefined
}

/** What an order comes to, in minor units of its currency. */
export interface Amounts {
  readonly lines: readonly LineRow[]
  readonly subtotalMinor: bigint
  readonly discountMinor: bigint
  readonly taxMinor: bigint
  readonly totalMinor: bigint
}

/** A rate has up to four decimals: 100 % are a million of these parts. */
const partsOfPercent = 10_000n
const partsOfWhole = 100n * partsOfPercent

const refuse = (field: string, sentence: string): never => {
  throw new DomainError('BAD_USER_INPUT', sentence, { field })
}

/**
 * Works out an order from its lines; every line is rounded by itself, so that what the lines say adds up to what the order says.
 * @throws BAD_USER_INPUT with the `field` that cannot be, such as `lines[2].taxRate`
 */
export function workOut(given: readonly GivenLine[]): Amounts {
  if (given.length < 1 || given.length > most.lines) refuse('lines', `An order has 1 to ${most.lines} lines, not ${given.length}.`)
  const worked = given.map((line, index) => workOutLine(line, `lines[${index}]`))
  const sum = (pick: (line: (typeof worked)[number]) => bigint) => worked.reduce((all, line) => all + pick(line), 0n)
  const amounts = {
    lines: worked.map(({ row }) => row),
    subtotalMinor: sum(({ gross }) => gross),
    discountMinor: sum(({ discount }) => discount),
    taxMinor: sum(({ tax }) => tax),
    totalMinor: sum(({ total }) => total),
  }
  if (amounts.totalMinor < 1n) refuse('lines', 'The lines come to nothing: an order is worth at least 1 in minor units.')
  if (amounts.subtotalMinor > most.subtotal)
    refuse('lines', `The lines come to ${amounts.subtotalMinor} in minor units before their discounts: the maximum is ${most.subtotal}.`)
  if (amounts.totalMinor > most.total) refuse('lines', `The lines come to ${amounts.totalMinor} in minor units: the maximum is ${most.total}.`)
  return amounts
}

function workOutLine(line: GivenLine, at: string) {
  const name = requireText(line.name, `${at}.name`, most.name)
  const sku = readText(line.sku, `${at}.sku`, most.sku)
  const quantity = line.quantity ?? 1
  if (!Number.isInteger(quantity) || quantity < 1 || quantity > most.quantity) refuse(`${at}.quantity`, `quantity must be 1 to ${most.quantity}.`)
  const unit = line.unitAmountMinor
  // What is dearer than any order is no price.
  if (unit < 0n || unit > most.total) refuse(`${at}.unitAmountMinor`, `unitAmountMinor must be 0 to ${most.total} minor units.`)
  const gross = BigInt(quantity) * unit
  const discount = line.discountMinor ?? 0n
  if (discount < 0n || discount > gross) refuse(`${at}.discountMinor`, `discountMinor must be 0 to ${gross}, what the line comes to without it.`)
  const taxRate = line.taxRate ?? '0'
  const net = gross - discount
  const tax = taxOf(net, readRate(taxRate, `${at}.taxRate`))
  const total = net + tax
  const row: LineRow = {
    name,
    sku,
    quantity,
    unitAmountMinor: String(unit),
    discountMinor: String(discount),
    taxRate,
    taxMinor: String(tax),
    totalMinor: String(total),
  }
  return { row, gross, discount, tax, total }
}

/** The tax of an amount that is not negative, rounded half up to the minor unit. @param rate in ten-thousandths of a percent */
export const taxOf = (net: bigint, rate: bigint): bigint => (2n * net * rate + partsOfWhole) / (2n * partsOfWhole)

/** Reads a rate in percent as ten-thousandths of a percent. */
function readRate(text: string, field: string): bigint {
  const [, digits = '', decimals = ''] =
    /^(\d{1,3})(?:\.(\d{1,4}))?$/.exec(text) ?? refuse(field, 'taxRate is percent from 0 to 100 with at most four decimals, as text: "8.875".')
  const rate = BigInt(digits) * partsOfPercent + BigInt(decimals.padEnd(4, '0'))
  return rate <= partsOfWhole ? rate : refuse(field, `taxRate is ${text}: 100 percent are the most.`)
}
