import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  believedForMs,
  type Candidate,
  chooseConnection,
  isBeingRenewed,
  isJustRenewed,
  mustRenew,
  renewalMs,
  renewalPace,
  renewBeforeMs,
  waitForTokenMs,
} from '../../../subgraphs/publishing/connection/rules.ts'
import { inMs, now } from './post-row.ts'

const candidate = (id: string, changes: Partial<Candidate> = {}): Candidate => ({
  id,
  platform: 'X',
  active: true,
  authorId: 'somebody',
  connectedAt: now,
  externalAccountId: `account of ${id}`,
  targets: [],
  ...changes,
})

describe('P-07 the connection for a post', () => {
  const theirs = candidate('b')
  const own = candidate('c', { authorId: 'author', connectedAt: inMs(-1000) })

  test('is the author’s own active one, however old', () => {
    expect(chooseConnection([theirs, own], 'X', 'author')).toBe(own)
  })

  test('else another active one of the brand', () => {
    expect(chooseConnection([theirs, { ...own, active: false }], 'X', 'author')).toBe(theirs)
    expect(chooseConnection([theirs], 'X', null)).toBe(theirs)
  })

  test('else none: inactive connections and those of another network are not used', () => {
    expect(chooseConnection([{ ...own, active: false }, candidate('d', { platform: 'THREADS', authorId: 'author' })], 'X', 'author')).toBe(null)
    expect(chooseConnection([], 'X', 'author')).toBe(null)
  })

  test('of several the latest authorized, then the smaller id', () => {
    const latest = candidate('z', { connectedAt: inMs(1) })
    expect(chooseConnection([theirs, latest, candidate('a')], 'X', 'author')).toBe(latest)
    expect(chooseConnection([theirs, candidate('a')], 'X', 'author')?.id).toBe('a')
  })

  test('does not depend on their order', () => {
    const any = fc.uniqueArray(
      fc.record({
        id: fc.uuid(),
        platform: fc.constantFrom('X' as const, 'THREADS' as const),
        active: fc.boolean(),
        authorId: fc.constantFrom('author', 'somebody'),
        connectedAt: fc.constantFrom(inMs(0), inMs(1)),
        externalAccountId: fc.constant('account'),
        targets: fc.constant([]),
      }),
      { selector: one => one.id, maxLength: 8 },
    )
    fc.assert(
      fc.property(any, candidates => {
        const chosen = chooseConnection(candidates, 'X', 'author')
        expect(chooseConnection(candidates.toReversed(), 'X', 'author')).toBe(chosen)
        const usable = candidates.filter(({ active, platform }) => active && platform === 'X')
        expect(chosen === null).toBe(usable.length === 0)
        if (usable.some(({ authorId }) => authorId === 'author')) expect(chosen?.authorId).toBe('author')
      }),
    )
  })
})

test('a token is renewed a minute before its expiry; one without expiry is not', () => {
  expect([mustRenew(inMs(renewBeforeMs), now), mustRenew(inMs(renewBeforeMs - 1), now), mustRenew(inMs(-1), now), mustRenew(null, now)]).toEqual([
    false,
    true,
    true,
    false,
  ])
})

test.each([
  ['never', null, false],
  ['up to this moment', 0, false],
  ['in the past', -1, false],
  ['for a moment more', 1, true],
  ['for as long as a worker may', renewalMs, true],
  ['for a moment longer, as a worker that read the clock later', renewalMs + 50, true],
  ['for longer than any worker may, as a clock wrote that was set back since', renewalMs + 60_001, false],
])('whoever claimed a renewal %s keeps others from it: %s', (_what, until, held) => {
  expect(isBeingRenewed({ renewalUntil: until === null ? null : inMs(until) }, now)).toBe(held)
})

test('a worker may renew for longer than a network takes to answer', () => {
  expect(renewalMs).toBeGreaterThan(30_000)
})

test('a worker counts as dead after several missed heartbeats, within the time that anyone waits for a token', () => {
  expect(believedForMs({ renewalBeats: 1 }, renewalPace)).toBeGreaterThan(3 * renewalPace.beatMs)
  expect(believedForMs({ renewalBeats: 1 }, renewalPace)).toBeLessThan(waitForTokenMs - 4 * renewalPace.lookEveryMs)
})

test('a worker of a version without heartbeats has the whole time of its claim', () => {
  expect(believedForMs({ renewalBeats: 0 }, renewalPace)).toBe(renewalMs)
})

test.each([
  [0, true],
  [-29_999, true],
  [-30_000, false],
  [29_999, true],
  [30_000, false],
  [-3600_000, false],
])('a token that was brought %i ms from now came a moment ago: %s', (at, fresh) => {
  expect(isJustRenewed({ renewedAt: inMs(at) }, now)).toBe(fresh)
})
