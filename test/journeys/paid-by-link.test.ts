import { describe, expect, it } from 'vitest'
import { browserPath } from '../browser/browser.ts'
import { isAsked, openWeb } from './visit.ts'

describe.runIf(isAsked && browserPath)('an order in a browser', () => {
  it('is written, paid by its link by somebody without an account, and given back by two people', async () => {
    await using stack = new AsyncDisposableStack()
    const web = await openWeb(stack)
    const one = await web.visit({ viewport: { width: 1280, height: 1200 } })
    const dialog = one.page.getByRole('dialog')
    const order = one.page.getByRole('region', { name: 'Order', exact: true })
    await one.enter(`${web.payments}/orders`)
    await one.page.getByRole('button', { name: 'Create order' }).first().click()
    await dialog.getByLabel('Item').fill('Boat')
    await dialog.getByLabel('Price, EUR').fill('2000')
    await dialog.getByRole('button', { name: 'Create order' }).click()
    await order.getByText('€2,000.00').first().waitFor()
    await order.getByRole('button', { name: 'Create payment link' }).click()
    await dialog.getByRole('button', { name: 'Create payment link' }).click()
    const address = await dialog.getByText(/^http.*\/pay\//).innerText()
    await dialog.getByRole('button', { name: 'Close' }).last().click()

    const payer = await web.visit({ viewport: { width: 390, height: 844 } })
    await payer.page.goto(address)
    await payer.page.getByRole('link', { name: 'Pay', exact: true }).click()
    await order.getByText('Paid', { exact: true }).first().waitFor({ timeout: 60_000 })
    expect(await one.findings()).toEqual([])

    await order.getByRole('button', { name: 'Refund order' }).click()
    await dialog.getByLabel('Amount, EUR').fill('1200')
    await dialog.getByRole('button', { name: 'Refund €1,200.00' }).click()
    await one.page.getByText('The refund of €1,200.00 waits for a second person').waitFor()
    const two = await web.visit({ viewport: { width: 1280, height: 1200 } })
    await two.enter(`${web.payments}/overview`, 'admin@demo.test')
    await two.page.locator('[data-waits=refundsAwaitingApproval]').getByRole('link').click()
    await two.page.getByRole('link', { name: '€1,200.00' }).click()
    await two.page.getByRole('button', { name: 'Approve refund' }).click()
    await two.page.getByRole('dialog').getByRole('button', { name: 'Approve refund' }).click()
    await two.page.getByText('€1,200.00 goes back').waitFor()
    expect(await two.findings()).toEqual([])
    // The first person's page tells it by itself.
    await order
      .getByText(/Partly refunded/i)
      .first()
      .waitFor({ timeout: 60_000 })
    expect([...(await one.violations()), ...(await two.violations())]).toEqual([])
  }, 180_000)
})
