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

  it('stands in the calendar and in iCal', () => {
    const post = { ...postRow({ status: 'SCHEDULED', scheduledAt: at }), title: 'A film', copy: '' }
    expect(entryOfPost(post, { timeZone: 'UTC' }).title).toBe('A film')
    expect(calendarOf({ name: 'Brand' }, [post])).toContain('X: A film')
  })
})
