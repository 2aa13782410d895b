import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  type Connection,
  isMoment,
  isText,
  type Order,
  type PageArguments,
  type PageRequest,
  readPage,
  toConnection,
  writeCursor,
} from '../../../platform/page.ts'
import { refusalOf, verdictOf } from '../refusal.ts'

interface Row {
  readonly at: string
  readonly id: string
}
const order: Order<Row> = { name: 'rows.oldest', position: row => [row.at, row.id], parts: [isMoment, isText] }
const at = '2027-01-01T00:00:00.000Z'
const rows = Array.from({ length: 30 }, (_, index) => ({ at, id: String(index).padStart(2, '0') }))
const count = async () => rows.length

const refusal = (request: PageArguments) => verdictOf(() => readPage(request, order))

/** The list as SQL would give it. */
const select = ({ after, limit }: { after: readonly string[] | null; limit: number }) => rows.filter(row => !after || row.id > after[1]!).slice(0, limit)

describe('pages of a list', () => {
  it('D13 have 20 entries unless the client says 1 to 100', () => {
    expect(readPage({}, order)).toEqual({ first: 20, limit: 21, after: null })
    expect(readPage({ first: 100, after: null }, order).limit).toBe(101)
    for (const first of [0, -1, 101, 1.5, Number.NaN])
      expect(refusalOf(() => readPage({ first }, order))).toMatchObject({ code: 'BAD_USER_INPUT', extensions: { field: 'first' } })
  })

  it('D13 refuse every cursor but their own', () => {
    const cursor = writeCursor(rows[0]!, order)
    expect(readPage({ after: cursor }, order).after).toEqual([at, '00'])
    for (const edge of ['0001-01-01T00:00:00.000Z', '9999-12-31T23:59:59.999Z']) expect(isMoment(edge)).toBe(true)
    const others = [
      writeCursor(rows[0]!, { ...order, name: 'rows.newest' }),
      writeCursor({ at: 'yesterday', id: '1' }, order),
      writeCursor({ at, id: '\0' }, order),
      ...['+275760-09-13', '-000001-01-01', '0000-01-01', '+010000-01-01'].map(day => writeCursor({ at: `${day}T00:00:00.000Z`, id: '1' }, order)),
      writeCursor(rows[0]!, { ...order, position: row => [row.at] }),
      Buffer.from('{"a":1}').toString('base64url'),
      Buffer.from('["rows.oldest",1,2]').toString('base64url'),
      ...['null', '1', '"rows.oldest"', '[]', `["rows.oldest","${at}",2]`, `["rows.oldest","${at}"]`, `["rows.oldest","${at}","00","00"]`].map(text =>
        Buffer.from(text).toString('base64url'),
      ),
      'nonsense',
      '',
    ]
    for (const after of others)
      expect(
        refusalOf(() => readPage({ after }, order)),
        after,
      ).toMatchObject({ code: 'BAD_USER_INPUT', extensions: { field: 'after' } })
    fc.assert(fc.property(fc.string(), after => refusal({ after }) === 'BAD_USER_INPUT'))
  })

  it('D13 contain the whole list, each entry once, and show its end', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 40 }), first => {
        const seen: string[] = []
        let after: string | null = null
        for (;;) {
          const request: PageRequest = readPage({ first, after }, order)
          const page: Connection<Row> = toConnection(select(request), request, order, count)
          expect(page.edges.map(edge => edge.node)).toEqual(page.nodes)
          expect(page.pageInfo.hasPreviousPage).toBe(after !== null)
          seen.push(...page.nodes.map(row => row.id))
          if (!page.pageInfo.hasNextPage) break
          after = page.pageInfo.endCursor
        }
        expect(seen).toEqual(rows.map(row => row.id))
      }),
    )
  })

  it('are counted only on demand, and empty ones have no cursors', async () => {
    let counted = 0
    const page = toConnection([], readPage({}, order), order, async () => ++counted)
    expect(page.pageInfo).toEqual({ hasNextPage: false, hasPreviousPage: false, startCursor: null, endCursor: null })
    expect(counted).toBe(0)
    expect(await page.totalCount()).toBe(1)
  })

  it('hold no more than requested: one extra row tells whether there is a next page', () => {
    const request = readPage({ first: 2 }, order)
    for (const [given, hasNextPage] of [
      [1, false],
      [2, false],
      [3, true],
    ] as const) {
      const { nodes, edges, pageInfo } = toConnection(rows.slice(0, given), request, order, count)
      expect([nodes, edges.length, pageInfo.hasNextPage]).toEqual([rows.slice(0, Math.min(given, 2)), nodes.length, hasNextPage])
      expect([pageInfo.startCursor, pageInfo.endCursor]).toEqual([edges[0]!.cursor, edges.at(-1)!.cursor])
    }
  })

  it('of a list without a position have cursors that are checked by the list’s name alone', () => {
    const single: Order<Row> = { name: 'rows.one', position: () => [], parts: [] }
    expect(readPage({ after: writeCursor(rows[0]!, single) }, single).after).toEqual([])
    for (const text of ['null', '{}', '[]', '["rows"]', '["rows.one",1]', '["rows.one","x"]', '[1]', 'no json'])
      expect(
        verdictOf(() => readPage({ after: Buffer.from(text).toString('base64url') }, single)),
        text,
      ).toBe('BAD_USER_INPUT')
  })

  it.each([
    ['a moment', at, true],
    ['a leap day', '2028-02-29T12:30:00.500Z', true],
    ['a day that is none', '2027-02-29T00:00:00.000Z', false],
    ['a month that is none', '2027-13-01T00:00:00.000Z', false],
    ['a moment of another zone', '2027-01-01T00:00:00.000+01:00', false],
    ['one without milliseconds', '2027-01-01T00:00:00Z', false],
    ['a day alone', '2027-01-01', false],
    ['words', '2027-xx', false],
    ['something before it', ` ${at}`, false],
    ['something after it', `${at} `, false],
    ['nothing', '', false],
  ])('take %s in a cursor for what it is', (_what, value, fits) => expect(isMoment(value)).toBe(fits))

  it('accept any text that the database can store, of 1000 characters at most', () => {
    for (const text of ['', 'a', 'x'.repeat(1000)]) expect(isText(text)).toBe(true)
    for (const text of ['x'.repeat(1001), '\0', 'a\0b']) expect(isText(text)).toBe(false)
  })
})
