import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type GivenLine, taxOf, workOut } from '../../../subgraphs/payments/order/rules.ts'
import { refusalOf } from '../refusal.ts'

const line = (unitAmountMinor: bigint, more: Partial<GivenLine> = {}): GivenLine => ({ name: 'Ticket', unitAmountMinor, ...more })
/** The dearest line there is, with all but one taken off. */
const dearest = line(999_999_999_999n, { quantity: 1_000_000, discountMinor: 999_999_999_998_999_999n })
/** Lines of nothing that come to so much before what is taken off. */
const piecesOf = (gross: bigint) =>
  [line(gross / 1_000_000n, { quantity: 1_000_000 }), line(gross % 1_000_000n)].map(each => ({
    ...each,
    discountMinor: BigInt(each.quantity ?? 1) * each.unitAmountMinor,
  }))
const amounts = (...lines: GivenLine[]) => {
  const { subtotalMinor, discountMinor, taxMinor, totalMinor } = workOut(lines)
  return [subtotalMinor, discountMinor, taxMinor, totalMinor]
}

describe('Y-01 the total of an order', () => {
  test('is the sum of its lines: net is quantity times price less discount, and tax is added to it', () => {
    const lines = [line(333n, { quantity: 3, taxRate: '8.875' }), line(200n, { taxRate: '0.25' }), line(1000n, { discountMinor: 100n, taxRate: '19' })]
    expect(workOut(lines).lines.map(({ taxMinor }) => taxMinor)).toEqual(['89', '1', '171'])
    expect(amounts(...lines)).toEqual([2199n, 100n, 261n, 2360n])
  })

  test('a line without quantity, discount and rate is one item without discount and tax', () => {
    expect(workOut([line(500n, { sku: ' A-1 ' })]).lines).toEqual([
      { name: 'Ticket', sku: 'A-1', quantity: 1, unitAmountMinor: '500', discountMinor: '0', taxRate: '0', taxMinor: '0', totalMinor: '500' },
    ])
  })

  test.each([
    [1n, '50', 1n],
    [1n, '49.9999', 0n],
    [199n, '0.25', 0n],
    [200n, '0.25', 1n],
    [999_999_999_999n, '100', 999_999_999_999n],
  ])('half a minor unit is rounded up: %s at %s percent is %s', (net, rate, tax) => {
    const parts = BigInt(Math.round(Number(rate) * 10_000))
    expect(taxOf(net, parts)).toBe(tax)
  })

  test('tax is the nearest whole amount, by long division', () => {
    fc.assert(
      fc.property(fc.bigInt(0n, 10n ** 12n), fc.integer({ min: 0, max: 1_000_000 }), (net, rate) => {
        const tax = taxOf(net, BigInt(rate))
        // net · rate = tax · 1000000 + rest, with the rest between minus half, and less than half, of a million.
        const rest = net * BigInt(rate) - tax * 1_000_000n
        expect(rest >= -500_000n && rest < 500_000n).toBe(true)
      }),
    )
  })

  test('the lines add up to the order’s totals, for any lines', () => {
    const lines = fc.array(
      fc.record({
        name: fc.constant('Thing'),
        unitAmountMinor: fc.bigInt(1n, 9_000_000n),
        quantity: fc.integer({ min: 1, max: 1000 }),
        percentOff: fc.bigInt(0n, 99n),
        taxRate: fc.integer({ min: 0, max: 1_000_000 }).map(parts => (parts / 10_000).toFixed(4)),
      }),
      { minLength: 1, maxLength: 50 },
    )
    fc.assert(
      fc.property(lines, given => {
        const worked = workOut(
          given.map(({ percentOff, ...rest }) => ({ ...rest, discountMinor: (BigInt(rest.quantity) * rest.unitAmountMinor * percentOff) / 100n })),
        )
        const sum = (name: 'discountMinor' | 'taxMinor' | 'totalMinor') => worked.lines.reduce((all, each) => all + BigInt(each[name]), 0n)
        expect([sum('discountMinor'), sum('taxMinor'), sum('totalMinor')]).toEqual([worked.discountMinor, worked.taxMinor, worked.totalMinor])
        expect(worked.totalMinor).toBe(worked.subtotalMinor - worked.discountMinor + worked.taxMinor)
      }),
    )
  })
})

describe('an invalid order', () => {
  test.each<[string, string, readonly GivenLine[]]>([
    ['no line', 'lines', []],
    ['a hundred and one lines', 'lines', Array.from({ length: 101 }, () => line(1n))],
    ['nothing to pay', 'lines', [line(0n)]],
    ['everything taken off', 'lines', [line(5n, { discountMinor: 5n })]],
    ['more than an order may come to', 'lines', [line(999_999_999_999n, { quantity: 2 })]],
    ['more than that with its tax', 'lines', [line(999_999_999_999n, { taxRate: '0.0001' })]],
    ['more than 64 bits hold, though all but a little is taken off', 'lines', Array.from({ length: 10 }, () => dearest)],
    ['a negative price', 'lines[0].unitAmountMinor', [line(-1n)]],
    ['a price above any order', 'lines[1].unitAmountMinor', [line(1n), line(1_000_000_000_000n)]],
    ['no quantity', 'lines[0].quantity', [line(1n, { quantity: 0 })]],
    ['a million and one', 'lines[0].quantity', [line(1n, { quantity: 1_000_001 })]],
    ['a discount above the line', 'lines[0].discountMinor', [line(100n, { discountMinor: 101n })]],
    ['a negative discount', 'lines[0].discountMinor', [line(100n, { discountMinor: -1n })]],
    ['five decimals', 'lines[0].taxRate', [line(100n, { taxRate: '19.00001' })]],
    ['above a hundred percent', 'lines[0].taxRate', [line(100n, { taxRate: '100.0001' })]],
    ['a rate that is negative', 'lines[0].taxRate', [line(100n, { taxRate: '-1' })]],
    ['a rate in words', 'lines[0].taxRate', [line(100n, { taxRate: 'nineteen' })]],
    ['a rate without digits before its point', 'lines[0].taxRate', [line(100n, { taxRate: '.5' })]],
    ['no name', 'lines[0].name', [line(1n, { name: '  ' })]],
    ['a name of 201 characters', 'lines[0].name', [line(1n, { name: 'x'.repeat(201) })]],
    ['a name that no text holds', 'lines[0].name', [line(1n, { name: 'a\0b' })]],
    ['half a character', 'lines[0].name', [line(1n, { name: 'a\ud800' })]],
  ])('%s is refused, and the error names %s', (_, field, lines) => {
    expect(refusalOf(() => workOut(lines))).toMatchObject({ code: 'BAD_USER_INPUT', extensions: { field } })
  })

  test('an order at the limits is accepted', () => {
    expect(workOut([line(999_999_999_999n)]).totalMinor).toBe(999_999_999_999n)
    expect(workOut(Array.from({ length: 100 }, () => line(1n, { name: 'x'.repeat(200), taxRate: '100' }))).totalMinor).toBe(200n)
    expect(workOut([line(1n, { quantity: 1_000_000 })]).totalMinor).toBe(1_000_000n)
    expect(workOut([line(999_999_999_999n), line(2n, { quantity: 2, discountMinor: 4n })]).totalMinor).toBe(999_999_999_999n)
    expect(workOut(Array.from({ length: 9 }, () => dearest)).totalMinor).toBe(9n)
    const rest = 2n ** 63n - 1n - 9n * 999_999_999_999_000_000n
    const upTo = (last: bigint) => String(workOut([...Array.from({ length: 9 }, () => dearest), ...piecesOf(last)]).subtotalMinor)
    expect(upTo(rest)).toBe(String(2n ** 63n - 1n))
    expect(refusalOf(() => upTo(rest + 1n)).extensions.field).toBe('lines')
  })
})
