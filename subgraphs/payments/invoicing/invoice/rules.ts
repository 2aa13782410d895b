import { DomainError } from '../../../../platform/errors.ts'
import { readText } from '../../../../platform/ids.ts'
import { readMetadata } from '../../order/metadata.ts'
import { type Amounts, type GivenLine, workOut } from '../../order/rules.ts'
import { given } from '../../parties/read.ts'
import type { InvoiceRow, InvoiceStatus } from '../../stores/invoicing/invoice.ts'
import type { MetadataRow, OrderRow } from '../../stores/order.ts'

/** Lengths in characters, how often an invoice is mailed again within an hour, and how many of its mails are shown. */
export const most = { memo: 1_000, reason: 500, reference: 120, resendsAnHour: 5 } as const

/** What somebody may do with an invoice. */
export type InvoiceVerb = 'update' | 'delete' | 'finalize' | 'void' | 'mark_paid' | 'credit' | 'resend' | 'print'

const moves: Readonly<Record<InvoiceVerb, readonly InvoiceStatus[]>> = {
  update: ['DRAFT'],
  delete: ['DRAFT'],
  finalize: ['DRAFT'],
  void: ['FINALIZED'],
  mark_paid: ['FINALIZED'],
  credit: ['PAID'],
  resend: ['FINALIZED'],
  print: ['FINALIZED', 'PAID', 'VOID'],
}

/** @throws CONFLICT, reason ILLEGAL_MOVE with `from`, `verb` and `possible` */
export function requireInvoiceMove({ status: from }: Pick<InvoiceRow, 'status'>, verb: InvoiceVerb): void {
  if (moves[verb].includes(from)) return
  const possible = (Object.keys(moves) as InvoiceVerb[]).filter(each => moves[each].includes(from))
  const rest = possible.length > 0 ? `it allows ${possible.join(', ')}` : 'it allows nothing more'
  throw new DomainError('CONFLICT', `An invoice that is ${from} does not allow ${verb}: ${rest}.`, { reason: 'ILLEGAL_MOVE', from, verb, possible })
}

/** What is still to be paid of an invoice, in minor units. */
export const amountDueOf = ({ status, totalMinor }: Pick<InvoiceRow, 'status' | 'totalMinor'>): bigint =>
  status === 'DRAFT' || status === 'FINALIZED' ? totalMinor : 0n

const refuse = (field: string, sentence: string): never => {
  throw new DomainError('BAD_USER_INPUT', sentence, { field })
}

/** What an invoice asks money for: an order, or lines of its own. */
export type Subject = { readonly orderId: string } | { readonly orderId: null; readonly currency: string; readonly amounts: Amounts }

/** Reads what a new invoice is of. @throws BAD_USER_INPUT unless exactly one of an order, and lines with their currency, is given */
export function readSubject(input: {
  readonly orderId?: string | null | undefined
  readonly currency?: string | null | undefined
  readonly lines?: readonly GivenLine[] | null | undefined
}): Subject {
  const { orderId, currency, lines } = input
  const hasOrder = typeof orderId === 'string'
  if (hasOrder && (lines || currency)) refuse(lines ? 'lines' : 'currency', 'The lines and the currency are those of orderId: give the order alone.')
  if (hasOrder) return { orderId }
  if (!lines) return refuse('lines', 'An invoice has an orderId, or lines with their currency: give one of the two.')
  if (!currency) return refuse('currency', 'Lines need a currency: name that in which they are priced.')
  return { orderId: null, currency, amounts: workOut(lines) }
}

/** An order's lines and what they come to, for an invoice of it. */
export const amountsOf = ({ currency, lines, subtotalMinor, discountMinor, taxMinor, totalMinor }: OrderRow) => ({
  ...{ currency, lines, subtotalMinor, discountMinor, taxMinor, totalMinor },
})

/**
 * Requires that an order may be invoiced to a customer.
 * @throws CONFLICT, reason ILLEGAL_MOVE, for one that is cancelled; BAD_USER_INPUT for one that names another customer or merchant
 */
export function requireInvoiceable(order: OrderRow, { customerId, merchantId }: { readonly customerId: string; readonly merchantId: string | null }): void {
  if (order.status === 'CANCELLED')
    throw new DomainError('CONFLICT', 'The order is cancelled, and nothing is paid for it any more: make another order.', {
      ...{ reason: 'ILLEGAL_MOVE', from: order.status, verb: 'invoice', possible: [] },
    })
  if (order.customerId !== null && order.customerId !== customerId) refuse('customerId', 'The order names another customer: invoice the customer of the order.')
  if (merchantId !== null && order.merchantId !== merchantId) refuse('merchantId', 'The order is sold by another merchant: leave merchantId out.')
}

/** What people may say of an invoice; undefined stays, null removes. */
export interface InvoiceEdit {
  readonly customerId?: string | null | undefined
  readonly currency?: string | null | undefined
  readonly lines?: readonly GivenLine[] | null | undefined
  readonly dueAt?: Date | null | undefined
  readonly memo?: string | null | undefined
  readonly metadata?: readonly MetadataRow[] | null | undefined
}

/**
 * Returns what an edit changes. Metadata alone may be changed in every state.
 * @throws BAD_USER_INPUT with the field that is wrong; CONFLICT, reason ILLEGAL_MOVE
 */
export function editInvoice(invoice: InvoiceRow, { customerId, currency, lines, dueAt, memo, metadata }: InvoiceEdit): Partial<InvoiceRow> {
  const read = readMetadata(metadata)
  const touchesMore = [customerId, currency, lines, dueAt, memo].some(each => each !== undefined)
  if (touchesMore || read === undefined) requireInvoiceMove(invoice, 'update')
  for (const [field, value] of Object.entries({ customerId, currency, lines }))
    if (value === null) refuse(field, `${field} cannot be removed: leave it out to keep it.`)
  if (invoice.orderId !== null && (lines || currency))
    refuse(lines ? 'lines' : 'currency', 'The lines and the currency of this invoice are those of its order: change the order.')
  return given({
    customerId,
    currency,
    ...(lines && workOut(lines)),
    dueAt,
    memo: memo === undefined ? undefined : readText(memo, 'memo', most.memo),
    metadata: read,
  }) as Partial<InvoiceRow>
}

const dayMs = 86_400_000

/** When an invoice is due that is issued now. @param days as the settings say, where it names no day itself */
export const dueOn = ({ dueAt }: Pick<InvoiceRow, 'dueAt'>, days: number, issuedAt: Date): Date => dueAt ?? new Date(issuedAt.getTime() + days * dayMs)
