import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { readCsv } from '../../../subgraphs/publishing/post/import/csv.ts'
import { readRows } from '../../../subgraphs/publishing/post/import/rows.ts'
import { instantIn } from '../../../subgraphs/publishing/post/zone.ts'
import { refusalOf } from '../refusal.ts'

const read = (text: string) => readCsv(text, 500)

describe('CSV', () => {
  test('is read back unchanged, whatever its fields contain', () => {
    const field = fc.string({ unit: fc.constantFrom('a', '"', ',', '\n', '\r', 'é', ' ', ';') })
    const write = (records: readonly (readonly string[])[], end: string) =>
      records.map(fields => fields.map(each => `"${each.replaceAll('"', '""')}"`).join(',')).join(end)
    fc.assert(
      fc.property(fc.array(fc.array(field, { minLength: 2, maxLength: 4 }), { minLength: 1, maxLength: 6 }), fc.constantFrom('\n', '\r\n'), (records, end) => {
        expect(read(write(records, end)).map(({ fields }) => fields)).toEqual(records)
      }),
    )
  })

  test('reports the line of each record, also after multi-line fields, and skips empty lines and a byte order mark', () => {
    expect(read('\uFEFFa,b\r\n"x\ny",z\n\n1,2\n')).toEqual([
      { line: 1, fields: ['a', 'b'] },
      { line: 2, fields: ['x\ny', 'z'] },
      { line: 5, fields: ['1', '2'] },
    ])
  })

  test.each(['a,"b', 'a,"b"c', 'a,b"c', '"a" ,b'])('that is none is refused with its line: %s', text => {
    expect(refusalOf(() => read(`x,y\n${text}`)).extensions).toEqual({ code: 'BAD_USER_INPUT', field: 'csv', line: 2 })
  })
})

test('a cell of a mebibyte of carriage returns is a cell', () => {
  const cell = '\r'.repeat(1024 * 1024)
  expect(read(`x,${cell}y`)[0]!.fields).toEqual(['x', `${cell}y`])
})

test.each([
  ['a record of a million fields', ','.repeat(1_000_000), 'more than 100 columns'],
  ['a million empty lines', '\n'.repeat(1_000_000), 'more than 10000 lines are empty'],
  ['300,000 empty fields in quotes', '""\n'.repeat(300_000), 'more than 10000 lines are empty'],
])('%s is refused before all of it is read', (_, text, why) => {
  expect(refusalOf(() => read(`x,y\n${text}`)).message).toContain(why)
})

test('a cell of half a million doubled quotes is a cell', () => {
  expect(read(`x,"${'""'.repeat(500_000)}"`)[0]!.fields).toEqual(['x', '"'.repeat(500_000)])
})

describe('a file of posts', () => {
  const row = (text: string, header = 'platform,copy,scheduledAt', zone = 'UTC') => readRows(`${header}\n${text}\n`, zone)[0]!

  test('names its columns in any order, and needs two of them', () => {
    expect(row('Hello,x', 'copy,platform').post).toMatchObject({ platform: 'X', content: { copy: 'Hello' }, scheduledAt: null, threadKey: null })
    for (const header of ['copy', 'platform,copy,colour', 'platform,copy,copy', ''])
      expect(refusalOf(() => readRows(`${header}\nx,y`, 'UTC')).extensions.field).toBe('csv')
  })

  test.each([
    ['semicolons', '\uFEFFplatform;copy\r\nx;"He said ""yes"""\r\n'],
    ['semicolons', '"platform";"copy"\r\n"x";"Hello"'],
    ['tabs', 'platform\tcopy\nx\tHello "you"'],
  ])('whose columns are parted by %s is refused with that, and not for its quotes', (what, text) => {
    expect(refusalOf(() => readRows(text, 'UTC')).message).toContain(what)
  })

  test('has times of the brand’s zone, or with an offset', () => {
    const at = (cell: string) => row(`x,Hello,${cell}`, undefined, 'Europe/Berlin').post?.scheduledAt?.toISOString()
    expect(at('2027-03-01T09:30')).toBe('2027-03-01T08:30:00.000Z')
    expect(at('2027-07-01 09:30:15')).toBe('2027-07-01T07:30:15.000Z')
    expect(at('2027-03-01T09:30+0200')).toBe('2027-03-01T07:30:00.000Z')
    expect(at('2027-03-01T09:30:00Z')).toBe('2027-03-01T09:30:00.000Z')
  })

  test.each([
    ['platform', 'myspace,Hello,'],
    ['scheduledAt', 'x,Hello,tomorrow'],
    ['scheduledAt', 'x,Hello,2027-13-01T00:00Z'],
    ['scheduledAt', 'x,Hello,2027-02-29T09:30'],
    ['scheduledAt', 'x,Hello,2028-02-30T09:30:00Z'],
    ['scheduledAt', 'x,Hello,2027-04-31T09:30'],
    ['scheduledAt', 'x,Hello,2027-11-31T10:00:00+02:00'],
    ['scheduledAt', 'x,Hello,2027-05-02T24:00'],
    ['scheduledAt', 'x,Hello,2027-05-02T24:00:00Z'],
    ['scheduledAt', 'x,Hello,2027-05-02T23:60'],
    ['csv', 'x,Hello'],
  ])('tells what is wrong with a row: %s', (field, text) => {
    expect(row(text)).toMatchObject({ line: 2, post: null, problems: [{ severity: 'ERROR', code: 'CELL_INVALID', field }] })
  })

  test('has 500 rows and a mebibyte at most', () => {
    const file = (rows: number, copy = 'y') => `platform,copy\n${`x,${copy}\n`.repeat(rows)}`
    expect(readRows(file(500), 'UTC')).toHaveLength(500)
    expect(refusalOf(() => readRows(file(501), 'UTC')).message).toContain('500')
    expect(refusalOf(() => readRows(file(1, 'é'.repeat(600_000)), 'UTC')).message).toContain('1048576')
  })
})

describe('a local time in a time zone', () => {
  test.each([
    ['Europe/Berlin', '2027-03-28T01:59', '2027-03-28T00:59:00.000Z'],
    // This local time does not exist (start of summer time).
    ['Europe/Berlin', '2027-03-28T02:30', '2027-03-28T01:30:00.000Z'],
    ['Europe/Berlin', '2027-03-28T03:00', '2027-03-28T01:00:00.000Z'],
    // This local time exists twice: the first one counts.
    ['Europe/Berlin', '2027-10-31T02:30', '2027-10-31T00:30:00.000Z'],
    ['Europe/Berlin', '2027-10-31T03:00', '2027-10-31T02:00:00.000Z'],
    ['Asia/Kathmandu', '2027-01-01T00:00', '2026-12-31T18:15:00.000Z'],
    ['UTC', '2027-01-01T00:00', '2027-01-01T00:00:00.000Z'],
  ])('%s %s', (zone, local, moment) => {
    expect(instantIn(zone, local).toISOString()).toBe(moment)
  })

  test('is rejected if it is invalid', () => expect(instantIn('UTC', 'soon').getTime()).toBeNaN())
})
