import { describe, expect, it } from 'vitest'
import { textBefore } from '../../web/publishing/approvals/changed.ts'
import { daysOf, mondayOf, stepped, turned } from '../../web/publishing/calendar/views.ts'
import { movedTo } from '../../web/publishing/thread/order.ts'
import { matching } from '../../web/shell/frame/palette/match.ts'

describe('daysOf', () => {
  it('shows six weeks of a month from a Monday on, the week of a day, or a month from it on', () => {
    expect([daysOf('month', '2026-03-15')[0], daysOf('month', '2026-03-15').length]).toEqual(['2026-02-23', 42])
    expect(daysOf('week', '2026-03-15')).toEqual(['2026-03-09', '2026-03-10', '2026-03-11', '2026-03-12', '2026-03-13', '2026-03-14', '2026-03-15'])
    expect(daysOf('list', '2026-03-15')[0]).toBe('2026-03-15')
  })
})

describe('mondayOf', () => {
  it.each([
    ['2026-03-09', '2026-03-09'],
    ['2026-03-15', '2026-03-09'],
  ])('finds the Monday of %s', (day, monday) => {
    expect(mondayOf(day)).toBe(monday)
  })
})

describe('turned', () => {
  it('goes by months from the first day, so that none is left out after a long one', () => {
    expect(turned('month', '2026-01-31', 1)).toBe('2026-02-01')
    expect(turned('week', '2026-03-15', -1)).toBe('2026-03-08')
  })
})

describe('stepped', () => {
  it.each([
    ['ArrowRight', 'month', false, '2026-03-02T09:00'],
    ['ArrowRight', 'month', true, '2026-02-28T09:00'],
    ['ArrowDown', 'month', false, '2026-03-08T09:00'],
    ['ArrowDown', 'week', false, '2026-03-01T09:15'],
    ['ArrowUp', 'week', false, '2026-03-01T08:45'],
    ['a', 'week', false, null],
  ] as const)('moves by %s in a %s', (key, view, isRightToLeft, expected) => {
    expect(stepped('2026-03-01T09:00', key, view, isRightToLeft)).toBe(expected)
  })
})

describe('movedTo', () => {
  it('puts one at another place and leaves the order of the others', () => {
    expect(movedTo(['a', 'b', 'c'], 'c', 0)).toEqual(['c', 'a', 'b'])
    expect(movedTo(['a', 'b', 'c'], 'a', 9)).toEqual(['b', 'c', 'a'])
    expect(movedTo(['a', 'b'], 'unknown', 0)).toEqual(['a', 'b'])
  })
})

describe('textBefore', () => {
  it('finds the newest version that said something else', () => {
    const versions = [
      { version: 1, copy: 'first' },
      { version: 3, copy: 'now' },
      { version: 2, copy: 'second' },
    ]
    expect(textBefore('now', versions)).toBe('second')
    expect(textBefore('only', [{ version: 1, copy: 'only' }])).toBeNull()
  })
})

describe('matching', () => {
  const ways = ['Calendar', 'Brands', 'Post calendar'].map(name => ({ id: name, name, to: '/' }))
  it('finds names with every word, those that begin with it first', () => {
    expect(matching(ways, 'cal').map(({ name }) => name)).toEqual(['Calendar', 'Post calendar'])
    expect(matching(ways, 'calendar post').map(({ name }) => name)).toEqual(['Post calendar'])
  })
})
