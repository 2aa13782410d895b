import { describe, expect, test } from 'vitest'
import { failure, failureKinds, failureSentence, kindOfFailure } from '../../../subgraphs/publishing/delivery/failure.ts'
import {
  answerableMs,
  askAgainAfterMs,
  attemptSeen,
  beginWithinMs,
  claimMs,
  doubtSince,
  dueAt,
  type Ending,
  fail,
  isDue,
  isFree,
  isHeldBy,
  isLate,
  reconcileForMs,
  repliesTo,
  settle,
  settleAttempt,
  shutUntil,
  timeoutMs,
  wait,
  waitForLimit,
  wayOf,
  yieldsTo,
} from '../../../subgraphs/publishing/delivery/rules.ts'
import type { Platform } from '../../../subgraphs/publishing/network/network.ts'
import type { Claimant } from '../../../subgraphs/publishing/stores/attempt.ts'
import { farthestClaimMs, farthestWaitMs, hasCome, sendMs } from '../../../subgraphs/publishing/stores/pace.ts'
import { inMs, now, postRow } from './post-row.ts'

const due = postRow({ status: 'SCHEDULED', scheduledAt: now, version: 4, claimId: 'claim', claimUntil: inMs(1), deliveryPhase: 'SENDING' })
const published = postRow({ status: 'PUBLISHED', publishedAt: now, platformPostId: '17' })

describe('P-06 a due post', () => {
  test('from its time on, and not a millisecond before', () => {
    expect([isDue(due, null, now), isDue(due, null, inMs(-1)), isDue(due, null, inMs(1))]).toEqual([true, false, true])
  })

  test('only while it is scheduled', () => {
    for (const status of ['DRAFT', 'PUBLISHED', 'FAILED'] as const) expect(isDue({ ...due, status }, null, now)).toBe(false)
    expect(isDue({ ...due, scheduledAt: null }, null, now)).toBe(false)
  })

  test('needs no approval, or has it', () => {
    const approvals = ['NONE', 'APPROVED', 'PENDING', 'CHANGES_REQUESTED', 'REJECTED'] as const
    expect(approvals.map(approval => isDue({ ...due, approval }, null, now))).toEqual([true, true, false, false, false])
  })
})

describe('P-08 a later post of a thread', () => {
  test.each([
    ['nothing before it', null, false],
    ['a published one with its id', published, false],
    ['a draft', postRow(), true],
    ['a scheduled one', due, true],
    ['a failed one', postRow({ status: 'FAILED' }), true],
    ['a failed one that the network named', { ...published, status: 'FAILED' as const }, true],
    ['a published one that the network never named', { ...published, platformPostId: null }, true],
  ])('behind %s', (_what, predecessor, held) => {
    expect([isHeldBy(predecessor), isDue(due, predecessor, now)]).toEqual([held, !held])
  })

  test('answers the earlier one on the same network, and stands alone after one of another', () => {
    const nowhere = { mine: null, earlier: null }
    expect(repliesTo(due, published, nowhere)).toBe('17')
    expect(repliesTo(due, { ...published, platform: 'THREADS' }, nowhere)).toBe(null)
    expect(repliesTo(due, null, nowhere)).toBe(null)
  })

  test('is a comment only at the same place, and a separate post where a network has no threads', () => {
    const page = (externalId: string) => ({ kind: 'PAGE', externalId, name: null }) as const
    const on = (platform: Platform) => [postRow({ ...due, platform }), { ...published, platform }] as const
    expect(repliesTo(...on('FACEBOOK'), { mine: page('1'), earlier: { ...page('1'), name: 'One' } })).toBe('17')
    expect(repliesTo(...on('FACEBOOK'), { mine: page('1'), earlier: page('2') })).toBe(null)
    expect(repliesTo(...on('FACEBOOK'), { mine: page('1'), earlier: null })).toBe(null)
    expect(repliesTo(...on('LINKEDIN'), { mine: null, earlier: null })).toBe(null)
  })
})

describe('P-11 the destination of a post', () => {
  const page = (externalId: string, changes: object = {}) =>
    ({ kind: 'PAGE', externalId, name: externalId, selected: true, isDefault: false, available: true, reason: null, ...changes }) as const
  const connection = (id: string, targets: readonly ReturnType<typeof page>[], authorId = 'me') => ({
    id,
    platform: 'FACEBOOK' as const,
    active: true,
    authorId,
    connectedAt: now,
    externalAccountId: `account ${id}`,
    targets,
  })
  const target = (externalId: string) => ({ kind: 'PAGE', externalId, name: null }) as const
  const post = (externalId: string | null) => ({ platform: 'FACEBOOK' as const, authorId: 'me', target: externalId === null ? null : target(externalId) })
  const [mine, theirs] = [connection('a', [page('1', { isDefault: true })]), connection('b', [page('2'), page('3', { available: false })], 'you')]

  test('is its named place, by a connection with it selected, or the default one', () => {
    expect(wayOf([mine, theirs], post('2'))).toMatchObject({ connection: { id: 'b' }, target: { externalId: '2' } })
    expect(wayOf([mine, theirs], post(null))).toMatchObject({ connection: { id: 'a' }, target: { externalId: '1' } })
  })

  test('is missing when the place is not selected, accepts no posts, there is no default, or nothing is connected', () => {
    const failed = [wayOf([mine], post('2')), wayOf([theirs], post('3')), wayOf([theirs], post(null)), wayOf([], post('2'))]
    expect(failed.map(way => ('failed' in way ? way.failed : null))).toEqual([...Array(3).fill('TARGET_UNAVAILABLE'), 'NO_CONNECTION'])
  })
})

describe('a network’s rate limit', () => {
  const limit = (remaining: number, ms: number) => ({ limit: 10, remaining, resetsAt: inMs(ms).toISOString() })

  test('closes until its time, and is open while anything remains, or the time is unknown', () => {
    expect(shutUntil(limit(0, 60_000), now)).toEqual(inMs(60_000))
    expect([limit(1, 60_000), limit(0, 0), { ...limit(0, 1), resetsAt: null }, null].map(each => shutUntil(each, now))).toEqual([null, null, null, null])
  })

  test('is waited for up to an hour, counted from when the post began to wait', () => {
    expect(waitForLimit({ waitingSince: null, waits: 0 }, inMs(timeoutMs), now)).toEqual({ waitsUntil: inMs(timeoutMs), waitingSince: now, waits: 1 })
    expect(waitForLimit({ waitingSince: null, waits: 0 }, inMs(timeoutMs + 1), now)).toBe(null)
    expect(waitForLimit({ waitingSince: inMs(-2), waits: 3 }, inMs(timeoutMs - 1), now)).toBe(null)
  })
})

describe('P-09 a post at the end of its attempt', () => {
  const free = { deliveryPhase: 'NONE', claimId: null, claimUntil: null, waitsUntil: null, waitingSince: null, waits: 0, prepared: null, prepareAt: null }

  test('delivered: published, with the network’s id and without a failure', () => {
    const before = { ...due, failureCode: 'OUTCOME_UNKNOWN', failureMessage: 'who knows', failedAt: now }
    expect(settle(before, { outcome: 'delivered', platformPostId: '9', permalink: 'https://x.test/9' }, now, 'BY_LISTING')).toEqual({
      ...free,
      status: 'PUBLISHED',
      publishedAt: now,
      platformPostId: '9',
      permalink: 'https://x.test/9',
      failureCode: null,
      failureMessage: null,
      failedAt: null,
    })
  })

  test('refused: failed, with the code, a sentence and the moment; never an id', () => {
    const changes = settle(due, { outcome: 'refused', code: 'DUPLICATE_CONTENT', detail: 'again' }, now, 'BY_LISTING')
    expect(changes).toMatchObject({ ...free, status: 'FAILED', failureCode: 'DUPLICATE_CONTENT', failedAt: now })
    expect(changes).not.toHaveProperty('platformPostId')
  })

  test('refused for its credentials: the connection has expired', () => {
    expect(settle(due, { outcome: 'refused', code: 'ACCESS_EXPIRED', detail: 'no' }, now, 'BY_LISTING').failureCode).toBe('CONNECTION_EXPIRED')
  })

  test('unknown: failed and open', () => {
    expect(settle(due, { outcome: 'unknown', detail: 'silence' }, now, 'BY_LISTING')).toMatchObject({
      status: 'FAILED',
      deliveryPhase: 'UNKNOWN',
      failureCode: 'OUTCOME_UNKNOWN',
      claimUntil: null,
    })
  })

  test('every failure has a sentence about the next step, with the network’s name', () => {
    for (const code of Object.keys(failureSentence) as (keyof typeof failureSentence)[]) {
      const { failureMessage } = failure(code, 'X', 'a detail', now)
      expect(failureMessage, code).toMatch(/^.*\bX\b.*[.:].+\.$/)
      expect(failureMessage, code).toMatch(/reschedule|resolveDelivery/)
    }
  })
})

describe('failure codes', () => {
  test('all say what to do next, and an unknown one counts as the network’s', () => {
    expect(Object.keys(failureKinds).sort()).toEqual(Object.keys(failureSentence).sort())
    for (const { advice } of Object.values(failureKinds)) expect(advice).toMatch(/^[A-Z].+\.$/)
    expect(kindOfFailure('NOBODY_KNOWS').category).toBe('NETWORK')
  })

  test('are retryable only if the unchanged post may succeed', () => {
    const retryable = Object.entries(failureKinds).flatMap(([code, kind]) => (kind.retryable ? [code] : []))
    expect(retryable.sort()).toEqual(['NETWORK_UNAVAILABLE', 'NOT_DELIVERED', 'RATE_LIMITED'])
  })

  test('refer to a person where the network cannot be asked', () => {
    const { failureMessage } = settle(due, { outcome: 'unknown', detail: 'silence' }, now, 'NONE')
    expect(failureMessage).toMatch(/cannot be asked.*resolveDelivery/)
    expect(failureMessage).not.toMatch(/being asked/)
  })
})

test.each([
  [null, 'SCHEDULED', null, null],
  ['NOT_SENT', 'SCHEDULED', null, null],
  ['NOT_SENT', 'FAILED', 'REFUSED', 'NETWORK_UNAVAILABLE'],
  ['NOT_DELIVERED', 'FAILED', 'REFUSED', 'NOT_DELIVERED'],
  ['REFUSED', 'FAILED', 'REFUSED', 'CONNECTION_EXPIRED'],
  ['UNKNOWN', 'FAILED', 'UNKNOWN', 'OUTCOME_UNKNOWN'],
  ['DELIVERED', 'PUBLISHED', 'DELIVERED', null],
] as const)('an attempt with the outcome %s of a %s post is seen as %s, %s', (outcome, status, seen, code) => {
  expect(attemptSeen({ outcome, refusal: 'ACCESS_EXPIRED' }, { status })).toEqual({ outcome: seen, code })
})

test('P-10 the time limits fit together: no worker takes over while a call may be running', () => {
  const [renewal, call] = [8_000, 10_000]
  expect(claimMs).toBeGreaterThan(renewal)
  expect(sendMs).toBeGreaterThan(beginWithinMs + call)
})

test('P-10 a call begins within three seconds of its attempt, or not at all', () => {
  expect([0, 3_000, 3_001].map(after => isLate({ startedAt: now }, inMs(after)))).toEqual([false, false, true])
})

test('a network is asked about an unknown outcome for a day, and a duplicate may refer to a week-old attempt', () => {
  const day = 24 * 60 * 60_000
  expect(reconcileForMs).toBe(day)
  expect(doubtSince({ startedAt: now })).toEqual(inMs(-7 * day))
})

describe('a moment that was written down', () => {
  test.each([
    ['none', null, true],
    ['one that is past', -1, true],
    ['this one', 0, true],
    ['the next', 1, false],
    ['the farthest that can be meant', 1_000, false],
    ['one beyond it, of a clock that was set back since', 1_001, true],
  ])('%s has come: %s', (_what, at, come) => expect(hasCome(at === null ? null : inMs(at), now, 1_000)).toBe(come))

  test('of a claim holds until its end, and not for longer than the longest claim', () => {
    expect([isFree(postRow(), now), isFree(due, now), isFree(due, inMs(1))]).toEqual([true, false, true])
    const until = (milliseconds: number) => isFree({ claimUntil: inMs(milliseconds) }, now)
    expect([until(sendMs), until(farthestClaimMs), until(farthestClaimMs + 1)]).toEqual([false, false, true])
  })
})

describe('when a post is to be sent', () => {
  test.each([
    ['at its time, when it has not waited', 0, null, 0],
    ['at its time, also while that is to come', 60_000, null, 60_000],
    ['when it is tried again', -60_000, 5_000, 5_000],
    ['at its time again, once the wait is over', -60_000, -1, -60_000],
    ['at its time, when that was moved behind the end of a wait', 10_000, 5_000, 10_000],
    ['as far ahead as a pause may be', -60_000, farthestWaitMs, farthestWaitMs],
    ['at its time, when a clock that was set back since wrote a wait beyond that', -60_000, farthestWaitMs + 1, -60_000],
  ])('%s', (_what, scheduledAt, waitsUntil, at) => {
    expect(dueAt({ ...due, scheduledAt: inMs(scheduledAt), waitsUntil: waitsUntil === null ? null : inMs(waitsUntil) }, now)).toEqual(inMs(at))
  })

  test('never, unless it is scheduled', () => {
    for (const status of ['DRAFT', 'PUBLISHED', 'FAILED'] as const) expect(dueAt({ ...due, status }, now)).toBe(null)
    expect(dueAt({ ...due, scheduledAt: null }, now)).toBe(null)
  })

  test('not before the end of its wait, to the millisecond', () => {
    const waiting = { ...due, waitsUntil: inMs(5_000) }
    expect([isDue(waiting, null, inMs(4_999)), isDue(waiting, null, inMs(5_000))]).toEqual([false, true])
  })
})

describe('P-09 an unsent post', () => {
  test('waits longer each time, up to an hour after the first attempt, and then fails', () => {
    expect([0, 1, 2, 3, 4, 30].map(waits => wait({ waitingSince: now, waits }, now)?.waitsUntil)).toEqual(
      [5_000, 10_000, 20_000, 40_000, 60_000, 60_000].map(inMs),
    )
    expect(wait({ waitingSince: null, waits: 0 }, now)).toEqual({ waitingSince: now, waitsUntil: inMs(5_000), waits: 1 })
    expect(wait({ waitingSince: now, waits: 60 }, inMs(timeoutMs - 1))?.waitsUntil).toEqual(inMs(timeoutMs))
    expect(wait({ waitingSince: now, waits: 60 }, inMs(timeoutMs))).toBe(null)
  })
})

describe('P-10 two open attempts with one text for one account', () => {
  const attempt = (id: string, startedAt: number, changes: Partial<Claimant> = {}): Claimant => ({
    id,
    startedAt: inMs(startedAt),
    outcome: 'UNKNOWN',
    refusal: null,
    ...changes,
  })

  test('are looked up in order; a rejected duplicate comes after others', () => {
    const [first, second] = [attempt('b', 0), attempt('a', 1)]
    expect([yieldsTo(second, first, now), yieldsTo(first, second, now)]).toEqual([true, false])
    const duplicate = attempt('c', -1, { refusal: 'DUPLICATE_CONTENT' })
    expect([yieldsTo(duplicate, second, now), yieldsTo(second, duplicate, now)]).toEqual([true, false])
    expect([yieldsTo(attempt('b', 0), attempt('a', 0), now), yieldsTo(attempt('a', 0), attempt('b', 0), now)]).toEqual([true, false])
  })

  test('an attempt never yields to itself', () => {
    expect(yieldsTo(attempt('a', 0), attempt('a', 0), now)).toBe(false)
  })

  test('one that may still be answered is waited for, at most a minute', () => {
    const open = attempt('b', 0, { outcome: null })
    expect([yieldsTo(attempt('a', -1), open, inMs(answerableMs - 1)), yieldsTo(attempt('a', -1), open, inMs(answerableMs))]).toEqual([true, false])
  })
})

test('the network is asked soon at first, then every five minutes', () => {
  expect([0, 1, 2, 7, 8, 60].map(askAgainAfterMs)).toEqual([2_000, 4_000, 8_000, 256_000, 300_000, 300_000])
})

describe('the end of an attempt', () => {
  const at = new Date('2027-03-01T09:00:00.000Z')
  const ended = { finishedAt: at, platformPostId: null, detail: null, refusal: null, reconcileAt: null }

  test.each([
    [
      { outcome: 'delivered', platformPostId: '7', permalink: null },
      { outcome: 'DELIVERED', platformPostId: '7' },
    ],
    [
      { outcome: 'refused', code: 'NETWORK_REFUSED', detail: 'No.' },
      { outcome: 'REFUSED', detail: 'No.', refusal: 'NETWORK_REFUSED' },
    ],
    [
      { outcome: 'unknown', detail: 'Silence.' },
      { outcome: 'UNKNOWN', detail: 'Silence.', reconcileAt: new Date(at.getTime() + 1000) },
    ],
    [
      { outcome: 'unknown', detail: 'Twice.', refusal: 'DUPLICATE_CONTENT' },
      { outcome: 'UNKNOWN', detail: 'Twice.', refusal: 'DUPLICATE_CONTENT', reconcileAt: new Date(at.getTime() + 1000) },
    ],
  ] as const)('%j', (delivery, becomes) => {
    expect(settleAttempt(delivery as Ending, at, 'BY_ID')).toEqual({ ...ended, ...becomes })
  })

  test('with unknown outcome causes no questions where the network cannot be asked', () => {
    expect(settleAttempt({ outcome: 'unknown', detail: 'Silence.' }, at, 'NONE').reconcileAt).toBe(null)
  })

  test.each([
    ['CLAIMED', 3],
    ['NONE', 2],
  ] as const)('before it began: a post that is given up in phase %s has made %i', (deliveryPhase, attempts) => {
    const post = postRow({ status: 'SCHEDULED', deliveryPhase, attempts: 2, waits: 4, waitsUntil: at, waitingSince: at })
    expect(fail(post, 'NO_CONNECTION', 'None.', at)).toMatchObject({
      status: 'FAILED',
      attempts,
      deliveryPhase: 'NONE',
      claimId: null,
      claimUntil: null,
      waits: 0,
      waitsUntil: null,
      waitingSince: null,
      failureCode: 'NO_CONNECTION',
      failedAt: at,
    })
  })
})
