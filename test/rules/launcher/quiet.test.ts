import { describe, expect, it } from 'vitest'
import { dayAfter, localTime } from '../../../platform/clock.ts'
import { nextDigest, quietEnd } from '../../../subgraphs/launcher/engines/notify/quiet.ts'

const endOf = (timeZone: string, [from, to]: readonly [string, string], now: string) =>
  quietEnd({ timeZone, quietFrom: from, quietTo: to }, new Date(now))?.toISOString().slice(0, 16) ?? null

const night = ['22:00', '07:00'] as const

describe('quietEnd', () => {
  it.each([
    ['the evening', 'Europe/Berlin', night, '2026-06-10T20:30:00Z', '2026-06-11T05:00'],
    ['the morning', 'Europe/Berlin', night, '2026-06-11T04:59:59Z', '2026-06-11T05:00'],
    ['the moment at which it ends', 'Europe/Berlin', night, '2026-06-11T05:00:00Z', null],
    ['the moment at which it begins', 'Europe/Berlin', night, '2026-06-10T20:00:00Z', '2026-06-11T05:00'],
    ['the minute before it begins', 'Europe/Berlin', night, '2026-06-10T19:59:59.999Z', null],
    ['hours of one day', 'Europe/Berlin', ['12:00', '14:00'], '2026-06-10T10:30:00Z', '2026-06-10T12:00'],
    ['an offset of quarters of an hour', 'Asia/Kathmandu', night, '2026-06-10T16:15:00Z', '2026-06-11T01:15'],
    ['a minute before quiet in such a zone', 'Asia/Kathmandu', night, '2026-06-10T16:14:00Z', null],
    // Berlin sets its clocks forward on 29 March 2026 at 01:00 UTC, and back on 25 October.
    ['a night that is an hour shorter', 'Europe/Berlin', night, '2026-03-28T22:00:00Z', '2026-03-29T05:00'],
    ['a night that is an hour longer', 'Europe/Berlin', night, '2026-10-24T21:00:00Z', '2026-10-25T06:00'],
    ['an end within the hour that is skipped', 'Europe/Berlin', ['22:00', '02:30'], '2026-03-29T00:30:00Z', '2026-03-29T01:00'],
    ['an end within the hour that comes twice', 'Europe/Berlin', ['22:00', '02:30'], '2026-10-25T00:10:00Z', '2026-10-25T00:30'],
    ['that hour for the second time', 'Europe/Berlin', ['22:00', '02:30'], '2026-10-25T01:10:00Z', '2026-10-25T01:30'],
    // Santiago sets its clocks back on 5 April 2026 at midnight (03:00 UTC), and forward on 6 September at midnight (04:00 UTC).
    ['midnight that comes twice', 'America/Santiago', ['23:30', '00:30'], '2026-04-05T02:45:00Z', '2026-04-05T03:00'],
    ['the second time', 'America/Santiago', ['23:30', '00:30'], '2026-04-05T03:40:00Z', '2026-04-05T04:30'],
    ['midnight that is skipped', 'America/Santiago', ['22:00', '00:30'], '2026-09-06T03:00:00Z', '2026-09-06T04:00'],
    ['the night of that day', 'America/Santiago', night, '2026-09-06T03:00:00Z', '2026-09-06T10:00'],
    // Apia skipped 30 December 2011: after 23:59 of the 29th came the 31st.
    ['a day that is skipped', 'Pacific/Apia', night, '2011-12-30T09:00:00Z', '2011-12-30T17:00'],
    ['a zone beyond the date line', 'Pacific/Apia', night, '2026-06-10T10:00:00Z', '2026-06-10T18:00'],
  ] as const)('finds the end in %s', (_, zone, hours, now, end) => {
    expect(endOf(zone, hours, now)).toBe(end)
  })

  it('finds none without quiet hours', () => {
    expect(quietEnd({ timeZone: 'UTC', quietFrom: null, quietTo: null }, new Date('2026-06-10T20:30:00Z'))).toBeNull()
  })
})

describe('nextDigest', () => {
  const next = (timeZone: string, frequency: 'OFF' | 'DAILY' | 'WEEKLY', at: string, now: string, weekday: 'MONDAY' | 'FRIDAY' = 'MONDAY') =>
    nextDigest({ timeZone, digest: { frequency, at, weekday }, quietFrom: null, quietTo: null }, new Date(now))?.toISOString().slice(0, 16) ?? null

  it.each([
    ['today', 'Europe/Berlin', 'DAILY', '08:00', '2026-06-10T05:59:00Z', '2026-06-10T06:00'],
    ['tomorrow, at the moment itself', 'Europe/Berlin', 'DAILY', '08:00', '2026-06-10T06:00:00Z', '2026-06-11T06:00'],
    ['after the clocks were set forward', 'Europe/Berlin', 'DAILY', '08:00', '2026-03-28T08:00:00Z', '2026-03-29T06:00'],
    ['in the hour that is skipped', 'Europe/Berlin', 'DAILY', '02:30', '2026-03-28T12:00:00Z', '2026-03-29T01:30'],
    ['once in the hour that comes twice', 'Europe/Berlin', 'DAILY', '02:30', '2026-10-25T00:30:00Z', '2026-10-26T01:30'],
    ['at a midnight that is skipped', 'America/Santiago', 'DAILY', '00:00', '2026-09-05T12:00:00Z', '2026-09-06T04:00'],
    ['with an offset of quarters of an hour', 'Asia/Kathmandu', 'DAILY', '08:00', '2026-06-10T00:00:00Z', '2026-06-10T02:15'],
    ['on its weekday', 'Europe/Berlin', 'WEEKLY', '08:00', '2026-06-10T12:00:00Z', '2026-06-15T06:00'],
    ['in a week, on its weekday', 'Europe/Berlin', 'WEEKLY', '08:00', '2026-06-15T06:00:00Z', '2026-06-22T06:00'],
    ['never', 'Europe/Berlin', 'OFF', '08:00', '2026-06-10T12:00:00Z', null],
    ['at midnight as a day longer begins', 'America/Santiago', 'DAILY', '00:00', '2026-04-04T12:00:00Z', '2026-04-05T04:00'],
    ['the day after that', 'America/Santiago', 'DAILY', '00:00', '2026-04-05T04:00:00Z', '2026-04-06T04:00'],
    ['on the day after one that a zone skipped', 'Pacific/Apia', 'DAILY', '08:00', '2011-12-29T18:00:00Z', '2011-12-30T18:00'],
  ] as const)('is due %s', (_, zone, frequency, at, now, due) => {
    expect(next(zone, frequency, at, now)).toBe(due)
  })

  it('leaves out a weekday that a zone skipped', () => {
    expect(next('Pacific/Apia', 'WEEKLY', '08:00', '2011-12-29T20:00:00Z', 'FRIDAY')).toBe('2012-01-05T18:00')
  })

  it.each([
    ['at the end of quiet hours that it lies in', '06:00', '2026-06-10T05:00:00Z', '2026-06-11T05:00'],
    ['at their end also after its own time', '06:00', '2026-06-10T04:30:00Z', '2026-06-10T05:00'],
    ['at their end in the morning after', '23:00', '2026-06-10T03:00:00Z', '2026-06-10T05:00'],
    ['at its own time outside of them', '07:00', '2026-06-10T04:00:00Z', '2026-06-10T05:00'],
  ] as const)('is due %s', (_, at, now, due) => {
    const digest = { frequency: 'DAILY', at, weekday: 'MONDAY' } as const
    expect(nextDigest({ timeZone: 'Europe/Berlin', digest, quietFrom: '22:00', quietTo: '07:00' }, new Date(now))?.toISOString().slice(0, 16)).toBe(due)
  })

  it('comes once on each day of two years, at its time or the first moment after it', () => {
    for (const [timeZone, at] of [
      ['Europe/Berlin', '02:30'],
      ['America/Santiago', '00:00'],
      ['Asia/Kathmandu', '08:15'],
      ['Pacific/Apia', '00:30'],
    ] as const) {
      const from = new Date(timeZone === 'Pacific/Apia' ? '2011-03-01T12:00:00Z' : '2026-01-01T12:00:00Z')
      const days: string[] = []
      for (let now = from; days.length < 730; ) {
        now = nextDigest({ timeZone, digest: { frequency: 'DAILY', at, weekday: 'MONDAY' }, quietFrom: null, quietTo: null }, now)!
        const { day, time } = localTime(timeZone, now)
        days.push(day)
        expect(time >= at && time <= `${String(Number(at.slice(0, 2)) + 1).padStart(2, '0')}${at.slice(2)}`, `${timeZone} ${day} ${time}`).toBe(true)
      }
      const last = days.at(-1)!
      const expected: string[] = []
      for (let day = days[0]!; day <= last; day = dayAfter(day, 1)) if (!(timeZone === 'Pacific/Apia' && day === '2011-12-30')) expected.push(day)
      expect(days).toEqual(expected)
    }
  })
})
