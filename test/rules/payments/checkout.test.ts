import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { endSession, expiryOf, nextLook, releaseOf } from '../../../subgraphs/payments/engines/checkout/rules.ts'
import { allowsMove, refundableOf, statusWithMoney } from '../../../subgraphs/payments/engines/payment/moves.ts'
import { failureOf, type Outcome } from '../../../subgraphs/payments/engines/payment/outcome.ts'
import { settle } from '../../../subgraphs/payments/engines/payment/settle.ts'
import { amountOf } from '../../../subgraphs/payments/refund/rules.ts'
import type { CheckoutSessionRow } from '../../../subgraphs/payments/stores/checkout/session.ts'
import type { OrderRow } from '../../../subgraphs/payments/stores/order.ts'
import type { RefundRow } from '../../../subgraphs/payments/stores/refund.ts'
import type { TransactionRow, TransactionType } from '../../../subgraphs/payments/stores/transaction.ts'

/** How many random histories are tried: more where time does not matter. */
const runs = Number(process.env.PAYMENT_SEQUENCES ?? 200)
const now = new Date('2027-03-01T09:00:00.000Z')
const total = 1_000n

type Step =
  | { readonly verb: 'open' | 'link' | 'close' | 'close-link' | 'cancel' | 'visit' | 'return' }
  | { readonly verb: 'hear'; readonly which: number }
  | { readonly verb: 'pay' | 'return-fails' }
  | { readonly verb: 'refund'; readonly part: number }

const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ verb: fc.constantFrom('open' as const, 'link' as const, 'close' as const, 'close-link' as const, 'cancel' as const) }),
  { weight: 2, arbitrary: fc.record({ verb: fc.constantFrom('visit' as const, 'return' as const) }) },
  { weight: 3, arbitrary: fc.record({ verb: fc.constant('hear' as const), which: fc.nat(5) }) },
  fc.record({ verb: fc.constantFrom('pay' as const, 'return-fails' as const) }),
  fc.record({ verb: fc.constant('refund' as const), part: fc.integer({ min: 1, max: 1_500 }) }),
)

/** A session here, and what its page is at the processor. */
interface Page {
  session: CheckoutSessionRow
  page: 'OPEN' | 'COMPLETE' | 'EXPIRED'
  isRecorded: boolean
}

/** One order with its pages, links and money: what came and went is counted by nothing that the rules say. */
class Shop {
  order = {
    ...{ status: 'DRAFT', paymentPhase: 'NONE', totalMinor: total, authorizedMinor: 0n, capturedMinor: 0n, refundedMinor: 0n, returningMinor: 0n },
    ...{ disputedMinor: 0n, lateMinor: 0n, lateReturnedMinor: 0n, lateKeptMinor: 0n, processorPaymentId: null, paidAt: null },
  } as unknown as OrderRow
  pages: Page[] = []
  links = 0
  /** Late money that is on its way back. */
  leaving = 0
  readonly seen = { captured: 0n, refunded: 0n, processor: 0n, own: 0n, kept: 0n }

  take(next: Step): void {
    const open = this.pages.find(({ session }) => session.status === 'OPEN')
    if (next.verb === 'open' || next.verb === 'link') this.lead(next.verb, open)
    else if (next.verb === 'close' && open) this.close(open)
    else if (next.verb === 'close-link' && this.links > 0) this.closeLink(open)
    else if (next.verb === 'cancel' && allowsMove(this.order, 'cancel')) this.cancel(open)
    else if (next.verb === 'visit') this.visit()
    else if (next.verb === 'hear') this.hear(this.pages[next.which])
    else if (next.verb === 'pay' && !open && allowsMove(this.order, 'pay')) this.money('PURCHASE', total, { isLate: false })
    else if ((next.verb === 'return' || next.verb === 'return-fails') && this.leaving > 0) this.giveBack(next.verb === 'return')
    else if (next.verb === 'refund') this.refund(BigInt(next.part))
  }

  private lead(by: 'open' | 'link', open: Page | undefined): void {
    if ((by === 'open' && open) || !allowsMove(this.order, 'checkout')) return
    if (by === 'link') this.links += 1
    else this.pages.push({ session: { status: 'OPEN', captureMode: 'AUTOMATIC' } as CheckoutSessionRow, page: 'OPEN', isRecorded: false })
    this.change({ status: 'PENDING' })
  }

  private close(open: Page): void {
    this.end(open, 'CLOSED')
    if (this.links === 0) this.change(releaseOf(this.order))
  }

  private closeLink(open: Page | undefined): void {
    this.links -= 1
    if (this.links === 0 && !open) this.change(releaseOf(this.order))
  }

  private cancel(open: Page | undefined): void {
    if (open) this.end(open, 'CLOSED')
    this.links = 0
    this.change({ status: 'CANCELLED' })
  }

  private visit(): void {
    const payable = this.pages.find(({ page }) => page === 'OPEN')
    if (payable) payable.page = 'COMPLETE'
  }

  /** The processor is asked about a page: one that was closed here is closed there, unless somebody has paid on it. */
  private hear(page: Page | undefined): void {
    if (!page) return
    if (page.page === 'OPEN' && page.session.status === 'CLOSED') page.page = 'EXPIRED'
    if (page.page === 'OPEN') return
    const isLast = this.links === 0 && !this.pages.some(other => other !== page && other.session.status === 'OPEN')
    const { session, order, money } = endSession(page.session, this.order, page.page, { isRecorded: page.isRecorded, isLast })
    // Only a session that is open here takes money; whatever comes by another one goes back.
    if (money) expect(money.isLate).toBe(page.session.status !== 'OPEN')
    page.session = { ...page.session, ...session }
    this.change(order)
    if (!money) return
    page.isRecorded = true
    this.money(money.type, total, { isLate: money.isLate })
  }

  private money(type: TransactionType, amountMinor: bigint, { isLate }: { readonly isLate: boolean }): void {
    this.settle({ type, amountMinor, isLate, processorId: 'pi_1' }, null, { kind: 'SUCCEEDED', processorId: 'pi_1' })
    this.seen.captured += amountMinor
    if (isLate) this.leaving += 1
    else {
      this.seen.own += amountMinor
      this.links = 0
    }
  }

  private giveBack(isDone: boolean): void {
    this.leaving -= 1
    const outcome: Outcome = isDone ? { kind: 'SUCCEEDED', processorId: 're_1' } : { kind: 'FAILED', failure: failureOf('PROCESSOR_ERROR') }
    this.settle({ type: 'REFUND', amountMinor: total, isLate: false, processorId: null }, { origin: 'AUTOMATIC' }, outcome)
    if (isDone) this.seen.refunded += total
    else this.seen.kept += total
  }

  private refund(asked: bigint): void {
    try {
      const amountMinor = amountOf(this.order, asked, { number: 0, isDisputed: false })
      this.change({ returningMinor: this.order.returningMinor + amountMinor })
      this.settle({ type: 'REFUND', amountMinor, isLate: false, processorId: null }, { origin: 'PLATFORM' }, { kind: 'SUCCEEDED', processorId: 're_2' })
      this.seen.refunded += amountMinor
    } catch {
      // The rules refuse it, and nothing has changed.
    }
  }

  private settle(made: Partial<TransactionRow>, refund: Partial<RefundRow> | null, outcome: Outcome): void {
    const transaction = { attempts: 1, cancelsOrder: false, statusBefore: null, ...made } as TransactionRow
    const { order, bookings } = settle(this.order, { transaction, refund: refund as RefundRow | null }, outcome, now)
    this.change(order)
    for (const { legs } of bookings) for (const { account, amountMinor } of legs) if (account === 'processor') this.seen.processor += amountMinor
  }

  private end(page: Page, status: CheckoutSessionRow['status']): void {
    page.session = { ...page.session, status }
  }

  private change(changes: Partial<OrderRow>): void {
    this.order = { ...this.order, ...changes }
  }

  check(): void {
    const { order, seen } = this
    expect([order.capturedMinor, order.refundedMinor, seen.processor]).toEqual([seen.captured, seen.refunded, seen.captured - seen.refunded])
    expect(seen.own <= total && order.capturedMinor <= total + order.lateMinor).toBe(true)
    expect(order.refundedMinor + order.returningMinor <= order.capturedMinor).toBe(true)
    expect(order.lateReturnedMinor + order.lateKeptMinor + BigInt(this.leaving) * total).toBe(order.lateMinor)
    expect(refundableOf(order)).toBe(seen.captured - seen.refunded - BigInt(this.leaving) * total)
    // Money that was kept is never PENDING, CANCELLED or a draft; without any, an order is none of those that have some.
    if (seen.own + seen.kept > 0n) expect(order.status).toBe(statusWithMoney(order))
    else if (seen.captured === 0n) expect(['DRAFT', 'PENDING', 'FAILED', 'CANCELLED']).toContain(order.status)
    if (order.status === 'PAID') expect(seen.own + seen.kept).toBeGreaterThan(0n)
    if (order.status === 'CANCELLED') expect(seen.own).toBe(0n)
    const isOpen = this.links > 0 || this.pages.some(({ session }) => session.status === 'OPEN')
    if (isOpen && seen.own + seen.kept === 0n) expect(order.status).toBe('PENDING')
    expect(this.pages.filter(({ session }) => session.status === 'OPEN').length).toBeLessThanOrEqual(1)
  }
}

describe('an order with sessions and links', () => {
  it('agrees with its money after every step of a random history, however late money comes', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 30 }), steps => {
        const shop = new Shop()
        for (const next of steps) {
          shop.take(next)
          shop.check()
        }
      }),
      { numRuns: runs },
    )
  }, 600_000)
})

describe('expiryOf', () => {
  it.each([
    [30, 31],
    [60, 60],
    [1_440, 1_439],
  ])('of %i minutes keeps within the bounds of the processor: %i', (minutes, kept) => {
    expect(expiryOf(minutes, now).getTime() - now.getTime()).toBe(kept * 60_000)
  })
})

describe('nextLook', () => {
  const after = (ageMs: number, leftMs: number) =>
    nextLook({ createdAt: new Date(now.getTime() - ageMs), expiresAt: new Date(now.getTime() + leftMs) }, now).getTime() - now.getTime()

  it.each([
    [0, 3_600_000, 5_000],
    [40_000, 3_600_000, 10_000],
    [3_000_000, 3_600_000, 300_000],
    [3_000_000, 9_000, 10_000],
    [3_000_000, -1, 300_000],
  ])('of a session %i ms old that has %i ms left comes after %i ms', (ageMs, leftMs, wanted) => {
    expect(after(ageMs, leftMs)).toBe(wanted)
  })
})
