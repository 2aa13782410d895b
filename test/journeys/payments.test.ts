import { describe, expect, it } from 'vitest'
import { browserPath } from '../browser/browser.ts'
import { isAsked, openWeb } from './visit.ts'

describe.runIf(isAsked && browserPath)('payments in a browser', () => {
  it('Y-05 creates an order in exact amounts, keeps what was typed over a reload, and holds its token in memory alone', async () => {
    await using stack = new AsyncDisposableStack()
    const web = await openWeb(stack)
    const { page, enter, ready, violations } = await web.visit()
    await enter(`${web.payments}/orders`)
    await page.getByRole('button', { name: 'Create order' }).first().click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Item').fill('Two of a kind')
    await dialog.getByLabel('Quantity').fill('2')
    await dialog.getByLabel('Price, EUR').fill('12.345')
    await dialog.getByRole('button', { name: 'Create order' }).click()
    await dialog.getByText('Write an amount such as 12.50.').waitFor()
    await dialog.getByLabel('Price, EUR').fill('12.34')
    await page.reload()
    await expect.poll(() => `${new URL(page.url()).host} ${new URL(page.url()).pathname}`, { timeout: 15_000 }).toBe(`${new URL(web.payments).host} /orders`)
    await ready()
    expect(await dialog.getByLabel('Price, EUR').inputValue()).toBe('12.34')
    await dialog.getByText('Sum €24.68').waitFor()
    await dialog.getByRole('button', { name: 'Create order' }).click()
    await page.getByRole('region', { name: 'Order' }).getByText('€24.68').first().waitFor()
    expect(await page.evaluate('JSON.stringify({ ...sessionStorage, ...localStorage }) + document.cookie')).not.toMatch(/eyJ|Two of a kind/)
    expect(await violations()).toEqual([])
  })

  it('says that a code was used, with the ways on', async () => {
    await using stack = new AsyncDisposableStack()
    const web = await openWeb(stack)
    const { page } = await web.visit()
    await page.goto(`${web.payments}/callback?sso_code=used`)
    await page.getByText('The link was used already or is too old.').waitFor()
    expect(new URL(page.url()).search).toBe('')
    await page.getByRole('link', { name: 'Try again' }).click()
    await page.waitForURL('**/identity/login?**')
  })
})
