import { describe, expect, it } from 'vitest'
import { browserPath } from '../browser/browser.ts'
import { isAsked, openWeb } from './visit.ts'

describe.runIf(isAsked && browserPath)('the marketing site in a browser', () => {
  it('W-05 stores a decision locally before it is sent, asks once, and asks again on request', async () => {
    await using stack = new AsyncDisposableStack()
    const web = await openWeb(stack)
    const { page, ready, violations } = await web.visit()
    await page.goto(`${web.marketing}/`)
    await page.getByRole('button', { name: 'Decline all' }).click()
    expect(await page.evaluate('JSON.parse(localStorage.getItem("supergraph.consent")).decision')).toBe('decline')
    await page.reload()
    await ready()
    expect(await page.getByRole('button', { name: 'Decline all' }).isVisible()).toBe(false)
    await page.getByRole('button', { name: 'Cookie settings' }).click()
    await page.getByRole('button', { name: 'Accept all' }).waitFor()
    expect(await violations()).toEqual([])
  })

  it('shows a message’s result at the form, and keeps the text when sending failed', async () => {
    await using stack = new AsyncDisposableStack()
    const web = await openWeb(stack)
    const { page } = await web.visit()
    await page.route('**/api/contact', route => route.fulfill({ status: 404, json: {} }))
    await page.goto(`${web.marketing}/feedback`)
    await page.getByLabel('Name').fill('Ada')
    await page.getByLabel('Mail address').fill('ada@test.test')
    await page.getByLabel('Message').fill('It works')
    await page.getByRole('button', { name: 'Send feedback' }).click()
    await page.getByRole('status').getByText('Nothing was sent').waitFor()
    expect(await page.getByLabel('Message').inputValue()).toBe('It works')
    await page.unroute('**/api/contact')
    await page.route('**/api/contact', route => route.fulfill({ status: 202, json: {} }))
    await page.getByRole('button', { name: 'Send feedback' }).click()
    await page.getByRole('status').getByText('it has arrived').waitFor()
  })

  it('takes real messages: feedback, a place on the waitlist and a demo at a free time', async () => {
    await using stack = new AsyncDisposableStack()
    const web = await openWeb(stack)
    const { page, violations } = await web.visit()
    const write = async (path: string, message: string | null) => {
      await page.goto(`${web.marketing}${path}`)
      await page.getByLabel('Name').fill('Ada')
      await page.getByLabel('Mail address').fill('ada@test.test')
      if (message) await page.getByLabel('Message').fill(message)
      await page.locator('button[type=submit]').click()
      await page.getByRole('status').getByText('it has arrived').waitFor()
    }
    await write('/feedback', 'It works')
    await write('/waitlist', null)
    await write('/demo?purpose=enterprise', 'For 400 people')
    expect(await violations()).toEqual([])
  })

  it('has no finding of axe on any page, wide and narrow, and can be read without a script', async () => {
    await using stack = new AsyncDisposableStack()
    const web = await openWeb(stack)
    const { page, findings } = await web.visit({ reducedMotion: 'reduce' })
    const found: string[] = []
    for (const path of ['/', '/product/agents', '/pricing', '/enterprise', '/developers', '/privacy', '/feedback', '/demo', '/checkout/three'])
      for (const width of [1280, 390]) {
        await page.setViewportSize({ width, height: 844 })
        await page.goto(`${web.marketing}${path}`)
        found.push(...(await findings()).map(finding => `${path} ${width} ${finding}`))
      }
    expect(found).toEqual([])
    const { page: bare } = await web.visit({ javaScriptEnabled: false })
    await bare.goto(`${web.marketing}/pricing`)
    await bare.getByRole('heading', { level: 1, name: 'Pricing' }).waitFor()
  })
})
