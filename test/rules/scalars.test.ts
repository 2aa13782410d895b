import { parseValue } from 'graphql'
import { describe, expect, it } from 'vitest'
import { scalars } from '../../subgraphs/scalars.ts'

const { BigInt: WholeNumber, DateTime, URL: Address, EmailAddress } = scalars

describe('scalars', () => {
  it('D13 write moments in UTC with milliseconds, as text', () => {
    expect(DateTime.serialize(new Date(0))).toBe('1970-01-01T00:00:00.000Z')
    expect(DateTime.serialize('2027-03-01T10:30:00+01:00')).toBe('2027-03-01T09:30:00.000Z')
    expect(DateTime.parseValue('2027-03-01T10:30:00+01:00')).toEqual(new Date('2027-03-01T09:30:00Z'))
    for (const wrong of ['tomorrow', '2027-02-30T00:00:00Z', 7, '2027-03-01']) expect(() => DateTime.parseValue(wrong), String(wrong)).toThrow()
  })

  it('D12 write whole numbers so that JSON can carry them', () => {
    expect(WholeNumber.serialize(5n)).toBe(5)
    expect(WholeNumber.serialize('9007199254740993')).toBe('9007199254740993')
    expect(JSON.stringify(WholeNumber.serialize(2n ** 100n))).toBe('"1267650600228229401496703205376"')
    expect(WholeNumber.parseValue(5)).toBe(5n)
    expect(WholeNumber.parseLiteral(parseValue('9007199254740993'))).toBe(9007199254740993n)
    for (const wrong of [1.5, '', 'x', true, 2 ** 60, '1e3']) expect(() => WholeNumber.parseValue(wrong), String(wrong)).toThrow()
    expect(() => WholeNumber.parseLiteral(parseValue('true'))).toThrow()
  })

  it('reject invalid addresses', () => {
    expect(Address.serialize('https://example.test')).toBe('https://example.test/')
    expect(() => Address.parseValue('example')).toThrow()
    expect(() => EmailAddress.parseValue('nobody')).toThrow()
  })
})
