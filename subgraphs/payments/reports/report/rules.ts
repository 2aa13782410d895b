import { dayOf } from '../../../../platform/clock.ts'
import { DomainError } from '../../../../platform/errors.ts'
import type { FailureCode } from '../../stores/order.ts'
import type { Attempts, ReportSums, Span } from '../../stores/report.ts'

/** How many days a report covers, and how many rows it has. */
export const most = { days: 366, rows: 2_000, declines: 11 } as const

const dayMs = 86_400_000

/** @throws BAD_USER_INPUT for an empty span, and for one of more than 366 days */
export function requireSpan(from: Date, to: Date): void {
  if (to <= from) throw new DomainError('BAD_USER_INPUT', 'to does not lie after from: the span is empty.', { field: 'to' })
  if (to.getTime() - from.getTime() > most.days * dayMs)
    throw new DomainError('BAD_USER_INPUT', `from and to are more than ${most.days} days apart: ask for less at once.`, { field: 'to' })
}

const named = (at: Date): string => at.toISOString().slice(0, 10)

/**
 * Cuts a span of time into whole days of UTC and what lies before and behind them.
 * @param to the first moment that is not part of it
 */
export function spanOf(from: Date, to: Date): Span {
  const begun = dayOf(from)
  const first = begun.from.getTime() === from.getTime() ? from : begun.to
  const last = dayOf(to).from
  if (first >= last)
    return {
      days: [named(last), named(last)],
      edges: [
        [from, to],
        [to, to],
      ],
    }
  return {
    days: [named(first), named(last)],
    edges: [
      [from, first],
      [last, to],
    ],
  }
}

/** @throws BAD_USER_INPUT for more rows than a report has */
export function requireRows<Found>(found: readonly Found[]): readonly Found[] {
  if (found.length > most.rows)
    throw new DomainError('BAD_USER_INPUT', `The report has more than ${most.rows} rows: ask for a shorter span, for one merchant, or by currency.`, {
      field: 'to',
    })
  return found
}

const money = (amountMinor: string | bigint, currency: string) => ({ amountMinor: String(amountMinor), currency })

/** A row of the report as it is shown: net is what was taken less what went back and what is disputed. */
export const shownRow = ({ key, currency, orders, capturedMinor, refundedMinor, disputedMinor }: ReportSums) => ({
  key,
  currency,
  orders: Number(orders),
  captured: money(capturedMinor, currency),
  refunded: money(refundedMinor, currency),
  disputed: money(disputedMinor, currency),
  net: money(BigInt(capturedMinor) - BigInt(refundedMinor) - BigInt(disputedMinor), currency),
})

/** Counts payments that were tried, those that went through, and by reason those that were declined, the most frequent reason first. */
export function attemptsOf(found: readonly Attempts[]) {
  const count = (is: (each: Attempts) => boolean) => found.filter(is).reduce((all, each) => all + each.count, 0)
  const declines = found.flatMap(({ status, code, count }) => (status === 'FAILED' ? [{ code: (code ?? 'DECLINED') as FailureCode, count }] : []))
  return {
    attempts: count(() => true),
    succeeded: count(({ status }) => status === 'SUCCEEDED'),
    declines: declines.sort((one, other) => other.count - one.count || (one.code < other.code ? -1 : 1)),
  }
}
