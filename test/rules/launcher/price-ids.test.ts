import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { readConfig } from '../../../config.ts'
import { readPriceIds } from '../../../subgraphs/launcher/engines/commerce/price-ids.ts'

const folder = mkdtempSync(join(tmpdir(), 'prices-'))
const file = join(folder, 'prices.json')
afterAll(() => rmSync(folder, { recursive: true }))

const written = (content: unknown): string => {
  writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content))
  return file
}

describe('readPriceIds', () => {
  it('reads ids by package and interval, and leaves out what the file does', () => {
    expect(
      readPriceIds(written({ three: { month: 'price_1', year: 'price_2' }, everything: { month: 'price_3' }, free_workspace: { year: 'price_4' } })),
    ).toEqual({
      ...{ THREE: { MONTH: 'price_1', YEAR: 'price_2' }, EVERYTHING: { MONTH: 'price_3' }, FREE_WORKSPACE: { YEAR: 'price_4' } },
    })
    expect(readPriceIds(written({}))).toEqual({})
  })

  it.each([
    ['no JSON', '{', /is no JSON$/],
    ['a list', [], /the file is no object$/],
    ['an unknown package', { four: {} }, /the file has four: packages are three, five, ten, everything and free_workspace/],
    ['an unknown interval', { three: { week: 'price_1' } }, /three has week: /],
    ['a free workspace by the month', { free_workspace: { month: 'price_1' } }, /free_workspace has month: /],
    ['an amount in place of an id', { three: { month: 15 } }, /three\.month is no text$/],
    ['what is no id', { three: { month: 'price 1' } }, /three\.month is no id of a price, such as price_1AbC$/],
    ['one price for two intervals', { three: { month: 'price_1', year: 'price_1' } }, /price_1 is the price of two packages or intervals/],
  ])('refuses %s', (_, content, message) => {
    expect(() => readPriceIds(written(content))).toThrow(message)
  })

  it('stops the start with a line that names the setting and the file', () => {
    const missing = join(folder, 'none.json')
    expect(() => readConfig({ BILLING_PRICES: missing })).toThrow(`BILLING_PRICES: ${missing} cannot be read (ENOENT): name a file of JSON`)
    expect(() => readConfig({ BILLING_PRICES: written({ three: { month: '' } }) })).toThrow(`BILLING_PRICES: ${file}: three.month is no id of a price`)
    expect(readConfig({ BILLING_PRICES: written({ ten: { year: 'price_9' } }) }).billing.prices).toEqual({ TEN: { YEAR: 'price_9' } })
    expect(readConfig({}).billing.prices).toBeNull()
  })
})
