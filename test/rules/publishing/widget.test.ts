import { describe, expect, test } from 'vitest'
import { dayOf, weekBegin } from '../../../platform/clock.ts'
import { payload } from '../../../subgraphs/publishing/insight/widget/rules.ts'

const none = { scheduledToday: 0, failed: 0, publishedThisWeek: 0, next: null }
const next = (copy: string) => ({ ...none, next: { id: 'p', copy, scheduledAt: new Date('2027-03-01T10:00:00.000Z') } })
const title = (copy: string) => payload(next(copy), 'http://localhost:4000').items[0]!.title

describe('P-19 today and this week are UTC', () => {
  test.each([
    ['2027-03-01T00:00:00.000Z', '2027-03-01', '2027-03-02'],
    ['2027-03-01T23:59:59.999Z', '2027-03-01', '2027-03-02'],
    ['2028-02-28T23:59:59.999Z', '2028-02-28', '2028-02-29'],
    ['2026-12-31T12:00:00.000Z', '2026-12-31', '2027-01-01'],
  ])('the day around %s', (at, from, to) => {
    expect(dayOf(new Date(at))).toEqual({ from: new Date(`${from}T00:00:00.000Z`), to: new Date(`${to}T00:00:00.000Z`) })
  })

  test.each([
    ['a Monday’s first moment', '2027-03-01T00:00:00.000Z', '2027-03-01'],
    ['a Sunday’s last', '2027-03-07T23:59:59.999Z', '2027-03-01'],
    ['the Monday after', '2027-03-08T00:00:00.000Z', '2027-03-08'],
    ['a week over the turn of the year', '2027-01-02T12:00:00.000Z', '2026-12-28'],
    ['a Thursday', '2027-03-04T12:00:00.000Z', '2027-03-01'],
  ])('the week of %s begins on its Monday', (_what, at, from) => {
    expect(weekBegin(new Date(at))).toEqual(new Date(`${from}T00:00:00.000Z`))
  })
})

describe('P-19 content of the widget', () => {
  test('the three figures, in their order, with zeros', () => {
    const { statistics, items, nextAction } = payload(none, 'http://localhost:4000')
    expect(statistics.map(({ key, value }) => [key, value])).toEqual([
      ['scheduledToday', 0],
      ['failed', 0],
      ['publishedThisWeek', 0],
    ])
    expect([items, nextAction]).toEqual([[], null])
    const labels = statistics.map(({ label }) => label)
    expect(labels.every(label => /\S/.test(label)) && new Set(labels).size === 3).toBe(true)
  })

  test('has the next post’s first line, cut at 80 user-perceived characters', () => {
    expect(title('First line\nsecond')).toBe('First line')
    expect(title('x'.repeat(80))).toBe('x'.repeat(80))
    expect(title('😀'.repeat(81))).toBe(`${'😀'.repeat(79)}…`)
    expect(title('\n\n')).toBe('Untitled post')
    expect([title(' First line \nsecond'), title(`  ${'x'.repeat(80)}  `), title('  \nsecond')]).toEqual(['First line', 'x'.repeat(80), 'Untitled post'])
  })

  test('the next post with its time and the address where it is read', () => {
    expect(payload(next('a'), 'http://a.test').items).toEqual([
      { id: 'p', title: 'a', at: new Date('2027-03-01T10:00:00.000Z'), url: 'http://a.test/publishing/posts/p' },
    ])
  })

  test('has tasks for people: failed posts', () => {
    expect(payload({ ...none, failed: 1 }, 'http://a.test').nextAction).toEqual({
      label: 'Look at the failed post',
      url: 'http://a.test/publishing/posts?status=failed',
    })
    expect(payload({ ...none, failed: 2 }, 'http://a.test').nextAction?.label).toContain('2')
  })

  test('does not depend on the time of its creation: equal facts give equal content', () => {
    expect(payload(next('a'), 'http://a.test')).toEqual(payload(next('a'), 'http://a.test'))
  })
})
