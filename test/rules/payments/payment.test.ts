import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { DomainError } from '../../../platform/errors.ts'
import { newId } from '../../../platform/ids.ts'
import { dueOf, possibleFor, refundableOf, requireMove, statusWithMoney, type Verb } from '../../../subgraphs/payments/engines/payment/moves.ts'
import { failureOf, type Outcome, outcomeOf } from '../../../subgraphs/payments/engines/payment/outcome.ts'
import { callProcessor } from '../../../subgraphs/payments/engines/payment/processor.ts'
import { nextTry, settle } from '../../../subgraphs/payments/engines/payment/settle.ts'
import { amountOf, requireSecondPerson } from '../../../subgraphs/payments/refund/rules.ts'
import type { OrderRow } from '../../../subgraphs/payments/stores/order.ts'
import type { RefundRow } from '../../../subgraphs/payments/stores/refund.ts'
import type { TransactionRow, TransactionType } from '../../../subgraphs/payments/stores/transaction.ts'
import { refusalOf } from '../refusal.ts'

/** How many random histories are tried: more where time does not matter. */
const runs = Number(process.env.PAYMENT_SEQUENCES ?? 200)
const now = new Date('2027-03-01T09:00:00.000Z')
const total = 1_000n

const draft = (): OrderRow =>
  ({
    ...{ id: newId(), merchantId: newId(), organizationId: newId(), status: 'DRAFT', paymentPhase: 'NONE', currency: 'EUR', totalMinor: total },
    ...{ authorizedMinor: 0n, capturedMinor: 0n, refundedMinor: 0n, returningMinor: 0n, disputedMinor: 0n, processorPaymentId: null },
    ...{ lateMinor: 0n, lateReturnedMinor: 0n, lateKeptMinor: 0n },
    ...{ failureCode: null, failureMessage: null, version: 1 },
  }) as unknown as OrderRow

const transactionOf = (type: TransactionType, amountMinor: bigint, more: Partial<TransactionRow> = {}): TransactionRow =>
  ({
    id: newId(),
    type,
    status: 'PENDING',
    amountMinor,
    currency: 'EUR',
    attempts: 1,
    processorId: null,
    cancelsOrder: false,
    statusBefore: null,
    ...more,
  }) as TransactionRow

type Step =
  | { readonly verb: 'pay'; readonly capture: boolean; readonly outcome: Outcome }
  | { readonly verb: 'capture' | 'refund'; readonly part: number; readonly outcome: Outcome }
  | { readonly verb: 'void' | 'cancel'; readonly outcome: Outcome }
  | { readonly verb: 'learn'; readonly outcome: Outcome }

const outcome: fc.Arbitrary<Outcome> = fc.oneof(
  { weight: 4, arbitrary: fc.constant<Outcome>({ kind: 'SUCCEEDED', processorId: 'x_1' }) },
  fc.constant<Outcome>({ kind: 'FAILED', failure: failureOf('DECLINED') }),
  fc.constant<Outcome>({ kind: 'UNKNOWN' }),
  fc.constant<Outcome>({ kind: 'NOT_SENT', refusal: new DomainError('UPSTREAM_FAILED', 'nothing was sent') }),
)
const part = fc.integer({ min: 1, max: 1_500 })
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ verb: fc.constant('pay' as const), capture: fc.boolean(), outcome }),
  fc.record({ verb: fc.constantFrom('capture' as const, 'refund' as const), part, outcome }),
  fc.record({ verb: fc.constantFrom('void' as const, 'cancel' as const), outcome }),
  fc.record({ verb: fc.constant('learn' as const), outcome }),
)

/** What is known of money by counting it, and by nothing that the rules say. */
class Books {
  order = draft()
  open: { transaction: TransactionRow; refund: RefundRow | null }[] = []
  readonly seen = { captured: 0n, captures: 0, refunded: 0n, processor: 0n, merchant: 0n }

  take(next: Step): void {
    if (next.verb === 'learn') this.learn(next.outcome)
    else {
      const begun = this.begin(next)
      if (begun) this.settle(begun, next.outcome)
    }
  }

  /** @returns null where the rules refuse it */
  private begin(next: Exclude<Step, { verb: 'learn' }>) {
    try {
      if (next.verb === 'refund') {
        const amount = amountOf(this.order, BigInt(next.part), { number: 0, isDisputed: false })
        this.change({ returningMinor: this.order.returningMinor + amount })
        return { transaction: transactionOf('REFUND', amount), refund: { decidedBy: null } as RefundRow }
      }
      requireMove(this.order, next.verb)
    } catch {
      return null
    }
    const { status: statusBefore, authorizedMinor } = this.order
    if (next.verb === 'pay') {
      this.change({ status: 'PENDING', paymentPhase: 'PROCESSING' })
      return { transaction: transactionOf(next.capture ? 'PURCHASE' : 'AUTHORIZE', total, { statusBefore }), refund: null }
    }
    if (next.verb === 'cancel' && authorizedMinor === 0n) {
      this.change({ status: 'CANCELLED' })
      return null
    }
    this.change({ paymentPhase: 'PROCESSING' })
    if (next.verb !== 'capture') return { transaction: transactionOf('VOID', authorizedMinor, { cancelsOrder: next.verb === 'cancel' }), refund: null }
    const amount = BigInt(next.part) > authorizedMinor ? authorizedMinor : BigInt(next.part)
    return { transaction: transactionOf('CAPTURE', amount), refund: null }
  }

  /** Something becomes known, or not, of what nobody knew: the first of them, as the janitor asks. */
  private learn(outcome: Outcome): void {
    const [first] = this.open
    // Of a repetition it is never said that nothing was sent.
    if (first && outcome.kind !== 'NOT_SENT') this.settle(this.open.shift()!, outcome)
  }

  private settle(what: Books['open'][number], outcome: Outcome): void {
    const { order, transaction, bookings } = settle(this.order, what, outcome, now)
    this.change(order)
    for (const { legs } of bookings) for (const { account, amountMinor } of legs) this.seen[account as 'processor' | 'merchant'] += amountMinor
    if (outcome.kind === 'UNKNOWN') this.open.push({ ...what, transaction: { ...what.transaction, ...transaction } })
    if (outcome.kind !== 'SUCCEEDED') return
    const { type, amountMinor } = what.transaction
    if (type === 'PURCHASE' || type === 'CAPTURE') {
      this.seen.captured += amountMinor
      this.seen.captures += 1
    }
    if (type === 'REFUND') this.seen.refunded += amountMinor
  }

  private change(changes: Partial<OrderRow>): void {
    this.order = { ...this.order, ...changes }
  }

  check(): void {
    const { order, seen, open } = this
    expect(seen.captures).toBeLessThanOrEqual(1)
    expect([order.capturedMinor, order.refundedMinor]).toEqual([seen.captured, seen.refunded])
    expect(order.capturedMinor <= total && order.refundedMinor + order.returningMinor <= order.capturedMinor).toBe(true)
    expect([seen.processor, seen.merchant]).toEqual([seen.captured - seen.refunded, seen.refunded - seen.captured])
    const taking = open.filter(({ transaction: { type } }) => type !== 'REFUND')
    expect(taking.length).toBeLessThanOrEqual(1)
    expect(order.paymentPhase === 'UNKNOWN').toBe(taking.length === 1)
    if (seen.captured > 0n) {
      expect(order.status).toBe(statusWithMoney(order))
      expect([order.paymentPhase, dueOf(order)]).toEqual(['NONE', 0n])
    } else expect(['DRAFT', 'PENDING', 'FAILED', 'CANCELLED']).toContain(order.status)
    expect(order.paymentPhase === 'AUTHORIZED').toBe(order.authorizedMinor > 0n && taking.length === 0)
    expect(refundableOf(order)).toBe(seen.captured - seen.refunded - order.returningMinor)
  }
}

describe('an order', () => {
  it('agrees with its money after every step of a random history', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 25 }), steps => {
        const books = new Books()
        for (const next of steps) {
          books.take(next)
          books.check()
        }
      }),
      { numRuns: runs },
    )
  })

  it.each<[OrderRow['status'], OrderRow['paymentPhase'], readonly Verb[]]>([
    ['DRAFT', 'NONE', ['update', 'pay', 'checkout', 'cancel']],
    ['PENDING', 'NONE', ['pay', 'checkout', 'cancel']],
    ['PENDING', 'AUTHORIZED', ['capture', 'void', 'cancel']],
    ['PENDING', 'PROCESSING', []],
    ['PENDING', 'UNKNOWN', []],
    ['FAILED', 'NONE', ['pay', 'checkout', 'cancel']],
    ['PAID', 'NONE', ['refund']],
    ['PARTIALLY_REFUNDED', 'NONE', ['refund']],
    ['REFUNDED', 'NONE', ['refund']],
    ['CANCELLED', 'NONE', []],
  ])('that is %s in phase %s allows %j', (status, paymentPhase, verbs) => {
    expect(possibleFor({ status, paymentPhase })).toEqual(verbs)
  })

  it('names the state and the possible moves when it rejects one', () => {
    expect(refusalOf(() => requireMove({ status: 'PAID', paymentPhase: 'NONE' }, 'cancel')).extensions).toEqual({
      ...{ code: 'CONFLICT', reason: 'ILLEGAL_MOVE', from: 'PAID', verb: 'cancel', possible: ['refund'] },
    })
    expect(refusalOf(() => requireMove({ status: 'PENDING', paymentPhase: 'UNKNOWN' }, 'pay')).extensions.reason).toBe('OUTCOME_UNKNOWN')
  })
})

describe('an outcome', () => {
  const refusal = (code: string, details: object) => Object.assign(new Error('said'), { extensions: { code, ...details } })
  it.each<[object, string, boolean, object]>([
    [
      { reason: 'CARD_REFUSED', processorCode: 'card_declined', declineCode: 'insufficient_funds' },
      'CONFLICT',
      true,
      { failure: { code: 'INSUFFICIENT_FUNDS' } },
    ],
    [{ reason: 'CARD_REFUSED', processorCode: 'expired_card', declineCode: null }, 'CONFLICT', true, { failure: { code: 'EXPIRED_CARD' } }],
    [{ reason: 'CARD_REFUSED', processorCode: 'card_declined', declineCode: 'generic_decline' }, 'CONFLICT', false, { failure: { code: 'DECLINED' } }],
    [{ processorCode: 'charge_already_refunded' }, 'CONFLICT', true, { failure: { code: 'PROCESSOR_ERROR' } }],
    [{ processorCode: 'invalid_amount' }, 'BAD_USER_INPUT', true, { failure: { code: 'AMOUNT_REFUSED' } }],
    [{ field: 'amount' }, 'BAD_USER_INPUT', true, { failure: { code: 'AMOUNT_REFUSED' } }],
    [{ processorCode: 'resource_missing', processorParam: 'payment_method' }, 'NOT_FOUND', true, { failure: { code: 'INVALID_METHOD' } }],
    [{ outcome: 'refused' }, 'UPSTREAM_FAILED', true, { failure: { code: 'PROCESSOR_ERROR' } }],
    [{ outcome: 'refused' }, 'UPSTREAM_FAILED', false, { kind: 'UNKNOWN' }],
    [{ outcome: 'unknown' }, 'UPSTREAM_FAILED', true, { kind: 'UNKNOWN' }],
    [{ reason: 'KEY_IN_USE' }, 'CONFLICT', true, { kind: 'UNKNOWN' }],
    [{ outcome: 'not_sent' }, 'UPSTREAM_FAILED', true, { kind: 'NOT_SENT' }],
    [{ outcome: 'not_sent' }, 'UPSTREAM_FAILED', false, { kind: 'UNKNOWN' }],
    [{ reason: 'NO_CREDENTIAL' }, 'CONFLICT', true, { kind: 'NOT_SENT' }],
    [{}, 'BUDGET_EXCEEDED', true, { kind: 'NOT_SENT' }],
    [{}, 'BUDGET_EXCEEDED', false, { kind: 'UNKNOWN' }],
    [{}, 'UNAUTHORIZED_FIELD_OR_TYPE', true, { kind: 'NOT_SENT' }],
    [{}, 'INTERNAL_SERVER_ERROR', true, { kind: 'UNKNOWN' }],
  ])('of the refusal %j %s, first %s, is %j', (details, code, isFirst, wanted) => {
    expect(outcomeOf(refusal(code, details), isFirst)).toMatchObject(wanted)
  })

  it('that stays unknown is queried after 5 s, 30 s, 2 min, 10 min, 1 h, then hourly for 22 h, then no more', () => {
    const waits = Array.from({ length: 29 }, (_, index) => nextTry(index + 1, now)?.getTime()).map(at =>
      at === undefined ? null : (at - now.getTime()) / 1_000,
    )
    expect(waits).toEqual([5, 30, 120, 600, 3_600, ...Array(22).fill(3_600), null, null])
    expect(waits.reduce<number>((sum, seconds) => sum + (seconds ?? 0), 0)).toBeLessThan(86_400)
  })

  it.each([
    ['re_1', 3_600],
    [null, null],
  ])('that is unknown after a day, and named %s by the processor, is asked for again after %s s', (processorId, seconds) => {
    const transaction = transactionOf('REFUND', 5n, { attempts: 28, processorId })
    const at = settle(draft(), { transaction, refund: null }, { kind: 'UNKNOWN' }, now).transaction!.nextAttemptAt
    expect(at && (at.getTime() - now.getTime()) / 1_000).toBe(seconds)
  })
})

describe('callProcessor', () => {
  const missing = async () =>
    Promise.reject(Object.assign(new Error('there is none'), { extensions: { code: 'NOT_FOUND', processorCode: 'resource_missing' } }))
  const processor = { charge: missing, payment: missing, refund: missing, refundBy: missing, capture: missing, release: missing }

  it.each<[TransactionType, string | null, Outcome['kind']]>([
    ['PURCHASE', 'pi_1', 'UNKNOWN'],
    ['REFUND', 're_1', 'UNKNOWN'],
    ['PURCHASE', null, 'FAILED'],
  ])('of a %s named %s, which the processor does not find, returns %s', async (type, processorId, kind) => {
    const transaction = transactionOf(type, 5n, { processorId })
    expect(await callProcessor(processor, { order: draft(), transaction, refund: null }, false)).toMatchObject({ kind })
  })
})

describe('a refund', () => {
  it.each([
    ['u1', null, 'u1'],
    [null, 'u1', 'u1'],
    [null, null, null],
  ])('asked for by %s, or a key of %s, is not approved by %s', (requestedBy, keyMaker, userId) => {
    expect(refusalOf(() => requireSecondPerson({ requestedBy }, userId, keyMaker)).extensions).toMatchObject({ code: 'FORBIDDEN', reason: 'SAME_PERSON' })
    requireSecondPerson({ requestedBy }, 'u2', keyMaker)
  })
})
