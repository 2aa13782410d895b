import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { requireSignature } from '../../../subgraphs/http/processor-signature.ts'
import { isOpenDispute, moveOf, statusOf } from '../../../subgraphs/payments/engines/dispute/rules.ts'
import { isStale, outcomeOf, pauses, tryMs } from '../../../subgraphs/payments/engines/webhook/rules.ts'
import type { DisputeStatus } from '../../../subgraphs/payments/stores/events/dispute.ts'
import { signatureOf } from '../../subgraphs/payments/events/stage.ts'

const now = new Date('2027-03-01T09:00:00.000Z')

describe('a try of an event', () => {
  it.each(pauses.map((pause, index) => [index + 1, pause]))('that is number %i and fails is followed by another after %i ms', (attempts, pause) => {
    for (const tried of ['NOT_YET', 'THREW'] as const)
      expect(outcomeOf({ attempts }, tried, now)).toEqual({ status: 'FAILED', nextAttemptAt: new Date(now.getTime() + pause) })
  })

  it('ends as DEAD after the last pause', () => {
    expect(outcomeOf({ attempts: pauses.length + 1 }, 'NOT_YET', now)).toMatchObject({ status: 'DEAD', nextAttemptAt: null, processedAt: now })
  })

  it('takes less time than any two pauses are apart from it, so a try under way is told from one that waits', () => {
    expect(pauses).not.toContain(tryMs)
  })

  it.each([
    ['DONE', { status: 'PROCESSED', reason: null }],
    ['BACKWARDS', { status: 'IGNORED', reason: 'STALE' }],
    [{ ignored: 'MODE' }, { status: 'IGNORED', reason: 'MODE' }],
  ] as const)('that came to %j ends the event', (tried, ends) => {
    expect(outcomeOf({ attempts: 1 }, tried, now)).toMatchObject({ ...ends, nextAttemptAt: null, processedAt: now })
  })
})

describe('an event', () => {
  it('is stale when it is older than what was learned, and not when it is of the same moment or nothing was learned', () => {
    expect([isStale(new Date(0), new Date(1)), isStale(new Date(1), new Date(1)), isStale(new Date(2), new Date(1)), isStale(now, null)]).toEqual([
      true,
      false,
      false,
      false,
    ])
  })
})

describe('a signature', () => {
  const body = Buffer.from('{"id":"evt_1"}')
  const passes = (header: string, at = now, secrets = ['whsec_one', 'whsec_two']) => {
    try {
      requireSignature(header, body, secrets, at)
      return true
    } catch {
      return false
    }
  }

  it.each(['whsec_one', 'whsec_two'])('of %s counts for five minutes before and after, and no longer', secret => {
    const header = signatureOf(body.toString(), now, secret)
    const at = (seconds: number) => passes(header, new Date(now.getTime() + seconds * 1000))
    expect([-301, -300, 0, 300, 301].map(at)).toEqual([false, true, true, true, false])
  })

  it('counts for nothing where no secret is set, or the header is any other text', () => {
    expect(passes(signatureOf(body.toString(), now, 'whsec_one'), now, [])).toBe(false)
    fc.assert(fc.property(fc.string(), header => !passes(header)))
  })
})

describe('a dispute', () => {
  const word = fc.constantFrom('needs_response', 'under_review', 'won', 'lost', 'warning_needs_response', 'anything')

  it('books the same in the end whatever events come how often and in whatever order, by its last status alone', () => {
    fc.assert(
      fc.property(fc.array(word, { maxLength: 12 }), fc.bigInt({ min: 1n, max: 999_999_999_999n }), (words, amountMinor) => {
        const accounts = new Map<string, bigint>()
        let status: DisputeStatus | null = null
        let held = 0n
        for (const each of words) {
          const to = statusOf(each)
          const move = to && moveOf(status, to, { amountMinor })
          if (!to || !move) continue
          status = to
          held += move.heldMinor
          for (const { account, amountMinor: by } of move.bookings.flatMap(({ legs }) => legs)) accounts.set(account, (accounts.get(account) ?? 0n) + by)
        }
        const on = (account: string) => accounts.get(account) ?? 0n
        const [isOpen, isLost] = [status !== null && isOpenDispute(status), status === 'LOST']
        expect(on('disputes')).toBe(isOpen ? amountMinor : 0n)
        expect(on('processor')).toBe(isOpen || isLost ? -amountMinor : 0n)
        expect(on('merchant')).toBe(isLost ? amountMinor : 0n)
        expect(held).toBe(isOpen || isLost ? amountMinor : 0n)
      }),
    )
  })

  it('does not leave what the bank decided', () => {
    for (const from of ['WON', 'LOST'] as const)
      for (const to of ['OPEN', 'UNDER_REVIEW', 'WON', 'LOST'] as const)
        if (to !== from) expect(moveOf(from, to, { amountMinor: 1n }), `${from} to ${to}`).toBeNull()
  })
})
