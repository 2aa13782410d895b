import { describe, expect, it } from 'vitest'
import { type DiffPiece, diffWords } from '../../web/design/history/words.ts'
import { spread } from '../../web/publishing/bulk/spread.ts'
import { csvOf } from '../../web/shell/parts/csv.ts'

const side = (pieces: readonly DiffPiece[], without: DiffPiece['kind']) =>
  pieces
    .filter(({ kind }) => kind !== without)
    .map(({ text }) => text)
    .join('')

describe('diffWords', () => {
  it.each([
    ['the old text', 'the new text'],
    ['', 'only new'],
    ['only old', ''],
    ['a b c d', 'b d e'],
    ['two  spaces\nand a line', 'two spaces\nand a line'],
  ])('gives both texts back for %j and %j', (before, after) => {
    const pieces = diffWords(before, after)
    expect(side(pieces, 'added')).toBe(before)
    expect(side(pieces, 'removed')).toBe(after)
  })

  it('keeps what both have in common', () => {
    expect(diffWords('the old text', 'the new text')).toEqual([
      { kind: 'same', text: 'the ' },
      { kind: 'removed', text: 'old' },
      { kind: 'added', text: 'new' },
      { kind: 'same', text: ' text' },
    ])
  })

  it('shows texts of thousands of words whole', () => {
    const long = 'word '.repeat(2000)
    expect(diffWords(long, `${long}more`).map(({ kind }) => kind)).toEqual(['removed', 'added'])
  })
})

describe('csvOf', () => {
  it.each([
    ['plain', 'plain'],
    ['a, b', '"a, b"'],
    ['say "hi"', '"say ""hi"""'],
    ['two\nlines', '"two\nlines"'],
    ['=1+1', "'=1+1"],
    ['@all', "'@all"],
  ])('writes %j as %j', (value, cell) => {
    expect(csvOf([[value]])).toBe(`${cell}\r\n`)
  })

  it('leaves a negative number a number', () => {
    expect(csvOf([[-1]])).toBe('-1\r\n')
  })

  it('parts rows by CRLF and leaves what is missing empty', () => {
    expect(
      csvOf([
        ['id', 'at'],
        ['1', null],
      ]),
    ).toBe('id,at\r\n1,\r\n')
  })
})

describe('spread', () => {
  it('gives each post its time, so many minutes after the one before', () => {
    expect(spread(new Date('2026-03-02T09:00:00Z'), 30, 3).map(at => at.toISOString().slice(11, 16))).toEqual(['09:00', '09:30', '10:00'])
  })
})
