import { describe, expect, it } from 'vitest'
import { contentsOf, deleting, isShown, nextMoment, topicOf, topicsFor } from '../../../subgraphs/launcher/dashboard/announcement/rules.ts'
import { ordered, shownOf } from '../../../subgraphs/launcher/dashboard/favourite/rules.ts'
import { requireLink } from '../../../subgraphs/launcher/dashboard/place.ts'
import { personChanges } from '../../../subgraphs/launcher/dashboard/settings/rules.ts'
import { moved } from '../../../subgraphs/launcher/dashboard/shared-link/rules.ts'
import type { AnnouncementRow } from '../../../subgraphs/launcher/stores/dashboard/announcement.ts'
import type { FavouriteRow } from '../../../subgraphs/launcher/stores/dashboard/favourite.ts'

const now = new Date('2026-03-02T09:00:00Z')
const at = (seconds: number) => new Date(now.getTime() + 1_000 * seconds)
const id = (number: number) => `0197a3c2-5e1f-7c4b-9d2e-3f4a5b6c7d${String(number).padStart(2, '0')}`
const favourite = (number: number, app: string | null = null) => ({ id: id(number), app }) as FavouriteRow

describe('requireLink', () => {
  it('takes https everywhere, and http on this machine in development alone', () => {
    expect(requireLink('https://demo.example', 'url', false)).toBe('https://demo.example/')
    for (const url of ['http://localhost:4000/', 'http://docs.localhost/', 'http://127.0.0.1/', 'http://[::1]/']) {
      expect(requireLink(url, 'url', true)).toBe(url)
      expect(() => requireLink(url, 'url', false)).toThrow('begins with https://')
    }
    for (const url of ['http://demo.example/', 'javascript:alert(1)', 'nonsense', '', 'ftp://localhost/', 'https://me:secret@demo.example/'])
      expect(() => requireLink(url, 'url', true), url).toThrow()
  })
})

describe('ordered', () => {
  it('keeps the place of what is not shown', () => {
    const present = [favourite(1), favourite(2, 'gone'), favourite(3), favourite(4)]
    const shown = shownOf(present, () => false)
    expect(ordered(present, shown, [id(4), id(1), id(3)])).toEqual([id(4), id(2), id(1), id(3)])
    for (const wrong of [
      [id(1), id(3)],
      [id(1), id(3), id(3)],
      [id(1), id(2), id(3)],
      [id(1), id(3), id(4), id(4)],
    ])
      expect(() => ordered(present, shown, wrong)).toThrow('name each of the 3 once')
  })

  it('takes ids in capitals', () => expect(ordered([favourite(1)], [favourite(1)], [id(1).toUpperCase()])).toEqual([id(1)]))
})

describe('shownOf', () => {
  it('cuts at fifty', () =>
    expect(
      shownOf(
        Array.from({ length: 60 }, (_, number) => favourite(number)),
        () => false,
      ),
    ).toHaveLength(50))
})

describe('moved', () => {
  it.each([
    [0, ['b', 'a', 'c']],
    [1, ['a', 'b', 'c']],
    [2, ['a', 'c', 'b']],
    [9, ['a', 'c', 'b']],
  ])('to %i', (place, expected) => expect(moved(['a', 'b', 'c'], 'b', place)).toEqual(expected))
})

describe('announcements', () => {
  const times = (startsAt: Date, endsAt: Date | null) => ({ startsAt, endsAt })
  it('begin, then end, then do neither', () => {
    expect(nextMoment(times(at(1), at(2)), now)).toEqual(at(1))
    expect(nextMoment(times(now, at(2)), now)).toEqual(at(2))
    expect(nextMoment(times(now, null), now)).toBeNull()
    expect(nextMoment(times(at(-2), now), now)).toBeNull()
  })

  it('have contents with their next moment, and refuse an end that is none', () => {
    const text = { title: 'x', body: 'y' }
    expect(contentsOf({ ...text, from: at(5), until: at(6) }, null, now, false)).toEqual({
      ...{ ...text, severity: 'INFO', url: null, startsAt: at(5), endsAt: at(6), nextAt: at(5) },
    })
    for (const until of [at(5), at(4)]) expect(() => contentsOf({ ...text, from: at(5), until }, null, now, false)).toThrow('until is not after from')
    expect(() => contentsOf({ ...text, from: at(-5), until: now }, null, now, false)).toThrow('until has passed')
  })

  it('are shown before they begin to those who manage them alone', () => {
    const row = { startsAt: at(1), audience: 'ORGANIZATION' as const }
    expect([isShown(row, { roles: ['member'] }, now), isShown(row, { roles: ['admin'] }, now)]).toEqual([false, true])
    expect(isShown(row, { roles: ['member'] }, at(1))).toBe(true)
    expect(isShown({ ...row, audience: 'PLATFORM' }, { roles: ['owner'] }, now)).toBe(false)
  })

  it('are over when they are deleted, and keep an earlier end', () => {
    expect(deleting({ startsAt: at(-9), endsAt: at(9) }, now).endsAt).toEqual(now)
    expect(deleting({ startsAt: at(-9), endsAt: at(-1) }, now).endsAt).toEqual(at(-1))
  })

  it('have topics that each of their readers listens to, and nobody else', () => {
    const of = (audience: AnnouncementRow['audience'], organizationId: string | null, startsAt = now) => topicOf({ audience, organizationId, startsAt }, now)
    const hears = (roles: readonly string[], organizationId: string | null, topic: string) => topicsFor({ roles, organizationId }).includes(topic)
    for (const [topic, member, manager, elsewhere, platform] of [
      [of('ORGANIZATION', 'a'), true, true, false, false],
      [of('ORGANIZATION', 'a', at(1)), false, true, false, false],
      [of('MANAGERS', 'a'), false, true, false, false],
      [of('PLATFORM', null), true, true, true, true],
      [of('PLATFORM', null, at(1)), false, false, false, true],
    ] as const)
      expect([hears(['member'], 'a', topic), hears(['owner'], 'a', topic), hears(['owner'], 'b', topic), hears(['platform_admin'], 'admin', topic)]).toEqual([
        ...[member, manager, elsewhere, platform],
      ])
  })
})

describe('personChanges', () => {
  it('mentions what is given alone, in its canonical form', () => {
    expect(personChanges({})).toEqual({})
    expect(personChanges({ locale: 'EN-gb', timeZone: 'asia/kolkata', theme: null })).toEqual({
      locale: 'en-GB',
      timeZone: expect.any(String),
      theme: 'SYSTEM',
    })
    expect(personChanges({ startPage: '/apps?x=1#y' })).toEqual({ startPage: '/apps?x=1#y' })
    for (const startPage of ['', 'apps', '//a', '/\\a', '/a\\b', '/ä', '/a b', '/\t/a']) expect(() => personChanges({ startPage }), startPage).toThrow()
  })
})
