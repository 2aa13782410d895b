import { expect, test } from 'vitest'
import { createBoundClock, systemClock } from '../../../platform/clock.ts'

const start = new Date('2027-01-01T00:00:00.000Z')

test('the system’s clock returns the present', () => {
  const before = Date.now()
  const moment = systemClock.now().getTime()
  expect(moment).toBeGreaterThanOrEqual(before)
  expect(moment).toBeLessThanOrEqual(Date.now())
})

test('a bound clock stands still until it is moved, forward or back, or set', () => {
  const clock = createBoundClock(start)
  expect([clock.now(), clock.now()]).toEqual([start, start])
  clock.advance(1_500)
  expect(clock.now()).toEqual(new Date('2027-01-01T00:00:01.500Z'))
  clock.advance(-2_000)
  expect(clock.now()).toEqual(new Date('2026-12-31T23:59:59.500Z'))
  clock.set(new Date('2030-06-01T12:00:00.000Z'))
  expect(clock.now()).toEqual(new Date('2030-06-01T12:00:00.000Z'))
})

test('changing a moment that a bound clock was given or returned does not change the clock', () => {
  const given = new Date(start)
  const clock = createBoundClock(given)
  given.setFullYear(1999)
  clock.now().setFullYear(1999)
  expect(clock.now()).toEqual(start)
})
