import { expect, test } from 'vitest'
import { exponents, isCurrency } from '../../subgraphs/currencies.ts'

test.each([
  ['JPY', 0],
  ['EUR', 2],
  ['HUF', 2],
  ['BHD', 3],
  ['CLF', 4],
])('the minor unit of %s has %i decimals', (code, exponent) => {
  expect(exponents.get(code)).toBe(exponent)
})

test('a text other than an active currency in capitals is no currency', () => {
  for (const code of ['eur', 'XXQ', '', 'EU', 'EURO', 'DEM', 'XXX', 'XAU', 'HRK', 'toString']) expect(isCurrency(code), code).toBe(false)
})

test('each code is listed once, in order, and Unicode knows those of most countries', () => {
  const codes = [...exponents.keys()]
  expect(codes).toEqual([...new Set(codes)].sort())
  const young = new Set(['XAD', 'XCG', 'ZWG', 'VED', 'SLE'])
  const unitsOfAccount = new Set(['BOV', 'CHE', 'CHW', 'CLF', 'COU', 'MXV', 'USN', 'UYI', 'UYW'])
  const known = new Set(Intl.supportedValuesOf('currency'))
  expect(codes.filter(code => !known.has(code) && !young.has(code) && !unitsOfAccount.has(code))).toEqual([])
})
