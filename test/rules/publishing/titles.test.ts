import { describe, expect, it } from 'vitest'
import { titleOfPost } from '../../../subgraphs/publishing/news/announce.ts'
import { calendarOf } from '../../../subgraphs/publishing/planning/calendar/ical.ts'
import { entryOfPost } from '../../../subgraphs/publishing/planning/calendar/rules.ts'
import { postRow } from './post-row.ts'

const at = new Date('2027-03-01T09:30:00Z')

describe('the title of a post', () => {
  it.each([
    [{ title: 'A film', copy: 'About it' }, 'A film'],
    [{ title: ' ', copy: 'About it' }, 'About it'],
    [{ title: null, copy: 'About it' }, 'About it'],
    [{ title: null, copy: '' }, 'Untitled post'],
  ])('is its own one, or the beginning of its text: %j', (post, expected) => expect(titleOfPost(post)).toBe(expected))

  it('has 80 user-perceived characters at most, and is found without reading a long line', () => {
    const of = (copy: string) => titleOfPost({ title: null, copy })
    for (const character of ['a', 'ä', '😀']) {
      expect(of(character.repeat(80))).toBe(character.repeat(80))
      for (const length of [81, 82, 60_000]) expect(of(character.repeat(length))).toBe(`${character.repeat(79)}…`)
      expect(of(`a${character.repeat(80)}`)).toBe(`a${character.repeat(78)}…`)
    }
  })

  it('is used in the calendar and in iCal', () => {
    const post = { ...postRow({ status: 'SCHEDULED', scheduledAt: at }), title: 'A film', copy: '' }
    expect(entryOfPost(post, { timeZone: 'UTC' }).title).toBe('A film')
    expect([...calendarOf({ name: 'Brand' }, [post])].join('')).toContain('X: A film')
  })
})

describe('a calendar of many posts', () => {
  it('is written in pieces of fifty posts, and whole', () => {
    const posts = Array.from({ length: 120 }, (_, n) => ({ ...postRow({ status: 'SCHEDULED', scheduledAt: at }), title: `Post ${n}` }))
    const pieces = [...calendarOf({ name: 'Brand' }, posts)]
    const counts = pieces.map(piece => piece.match(/BEGIN:VEVENT/g)?.length ?? 0)
    expect(counts).toEqual([0, 50, 50, 20, 0])
    const whole = pieces.join('')
    expect([whole.startsWith('BEGIN:VCALENDAR\r\n'), whole.endsWith('END:VEVENT\r\nEND:VCALENDAR\r\n')]).toEqual([true, true])
  })
})
