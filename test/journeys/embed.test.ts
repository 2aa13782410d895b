import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, it } from 'vitest'
import { browserPath } from '../browser/browser.ts'
import { isAsked, openWeb } from './visit.ts'

/** A page of somebody else. Its own policy is as strict as one can be that lets the chat in. @param script what puts the chat there */
async function serveForeignPage(stack: AsyncDisposableStack) {
  let script = ''
  let from = ''
  const server = createServer((_, answer) => {
    answer.setHeader('content-security-policy', `default-src 'none'; script-src ${from}; connect-src ${from}; require-trusted-types-for 'script'`)
    answer.setHeader('content-type', 'text/html; charset=utf-8')
    answer.end(`<!doctype html><html lang="en"><head><title>Harbour shop</title></head><body><main><h1>Harbour shop</h1></main>${script}</body></html>`)
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  stack.defer(() => void server.close())
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    origin,
    put(html: string) {
      script = html
      from = new URL(/src="([^"]+)"/.exec(html)![1]!).origin
    },
  }
}

describe.runIf(isAsked && browserPath)('the public chat in a browser', () => {
  it('names who answers, is put on a page of somebody else, answers a visitor there, and shows what was asked', async () => {
    await using stack = new AsyncDisposableStack()
    const foreign = await serveForeignPage(stack)
    const web = await openWeb(stack, { PUBLIC_CHAT_ORIGINS: foreign.origin })
    const { page, enter, findings, violations } = await web.visit({ viewport: { width: 1280, height: 1200 } })
    const dialog = page.getByRole('dialog')
    await enter(`${web.agents}/chat-site`)
    const who = page.getByRole('region', { name: 'Who answers visitors' })
    await who.getByText('Visitors are answered', { exact: true }).waitFor()
    await who.getByRole('button', { name: 'Add persona' }).click()
    await dialog.getByRole('button', { name: 'Add persona' }).click()
    await dialog.getByText('This cannot be empty.').first().waitFor()
    await dialog.getByLabel('Name', { exact: true }).fill('Harbour Hanna')
    expect(await dialog.getByLabel('Short name').inputValue()).toBe('harbour-hanna')
    await dialog.getByLabel('Short name').fill('Harbour Hanna')
    await dialog.getByLabel('Greeting').fill('Ahoy! What is it?')
    await dialog.getByRole('button', { name: 'Add persona' }).click()
    await dialog.getByText(/write small letters/).waitFor()
    await dialog.getByLabel('Short name').fill('hanna')
    await dialog.getByRole('checkbox', { name: 'Answers where a page names nobody' }).check()
    expect(await findings()).toEqual([])
    await dialog.getByRole('button', { name: 'Add persona' }).click()
    await who.locator('[data-persona=hanna]').getByText('Answers where a page names nobody').waitFor()
    await who.getByRole('button', { name: 'Change blocked words' }).click()
    await dialog.getByLabel('Blocked words').fill('swindle\nfraud')
    await dialog.getByRole('button', { name: 'Save changes' }).click()
    await who.getByText('swindle, fraud').waitFor()
    await page.getByText('What visitors ask will be here for 30 days.').waitFor()
    expect(await findings()).toEqual([])

    foreign.put(await who.locator('code', { hasText: '<script' }).innerText())
    const guest = await web.visit({ viewport: { width: 390, height: 844 } })
    await guest.page.goto(foreign.origin)
    await guest.page.getByRole('button', { name: 'Ask a question' }).click()
    const chat = guest.page.getByRole('dialog', { name: 'Harbour Hanna' })
    await chat.getByText('Ahoy! What is it?').waitFor()
    expect(await guest.findings()).toEqual([])
    await chat.getByLabel('Your question').fill('What is this demo about?')
    await chat.getByLabel('Your question').press('Enter')
    await chat.getByRole('button', { name: 'Helpful', exact: true }).click({ timeout: 60_000 })
    await chat.getByText('Your verdict was kept.').waitFor()
    await chat.getByLabel('Your question').fill('Is that a swindle?')
    await chat.getByRole('button', { name: 'Send question' }).click()
    await expect.poll(() => chat.getByRole('button', { name: 'Helpful', exact: true }).count(), { timeout: 60_000 }).toBe(1)
    expect(await guest.findings()).toEqual([])
    expect(await guest.violations()).toEqual([])
    expect(await guest.page.evaluate('JSON.stringify({ ...sessionStorage, ...localStorage }) + document.cookie')).toBe('{}')
    await guest.page.keyboard.press('Escape')
    await guest.page.getByRole('button', { name: 'Ask a question' }).waitFor()

    await page.reload()
    await page.locator('[data-session]').getByRole('link').click()
    const session = page.getByRole('region', { name: 'Session', exact: true })
    await session.getByText('What is this demo about?').waitFor()
    await session.getByText('Helpful', { exact: true }).waitFor()
    await session.getByText('Blocked word').first().waitFor()
    expect(await findings()).toEqual([])
    expect(await violations()).toEqual([])
  }, 180_000)
})
