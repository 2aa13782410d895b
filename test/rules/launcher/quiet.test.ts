import { describe, expect, it } from 'vitest'
import { quietEnd } from '../../../subgraphs/launcher/engines/notify/quiet.ts'

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
