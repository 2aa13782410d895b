import { describe, expect, it } from 'vitest'
import { browserPath } from '../browser/browser.ts'
import { signIn } from '../kit/client.ts'
import { isAsked, openWeb } from './visit.ts'

const requestAccess = 'mutation($input: RequestAccessInput!) { requestAccess(input: $input) { id version } }'
const decide = 'mutation($input: DecideAccessRequestInput!) { decideAccessRequest(input: $input) { id } }'

describe.runIf(isAsked && browserPath)('the inbox of the launcher in a browser', () => {
  it('lists what a person was told, tells new ones live, and keeps what is read and archived', async () => {
    await using stack = new AsyncDisposableStack()
    const web = await openWeb(stack)
    const { page, enter, ready, findings, violations } = await web.visit({ reducedMotion: 'reduce' })
    await enter(`${web.launcher}/actions`, 'member@demo.test')
    await page.getByRole('link', { name: /^Notifications/ }).click()
    await page.waitForURL(url => url.pathname === '/actions/notifications')
    const lines = page.locator('[data-notification]')
    await lines.first().waitFor()
    const count = await lines.count()
    const unread = () => lines.getByText('Unread', { exact: true }).count()
    expect(await unread()).toBe(count)
    expect(await findings()).toEqual([])

    // A manager declines what the person asked for: it is told here without a reload, and moves nothing before one wants to see it.
    const [own, owner] = [await signIn(web.url, 'member@demo.test'), await signIn(web.url, 'owner@demo.test')]
    const { requestAccess: asked } = await own.query<{ requestAccess: { id: string; version: number } }>(requestAccess, { input: { app: 'time-sheet' } })
    await owner.query(decide, { input: { id: asked.id, decision: 'DECLINE', comment: 'Not this year', expectedVersion: asked.version } })
    await page.getByRole('button', { name: '1 new notification' }).click()
    const told = page.locator('[data-notification]', { hasText: 'Not this year' })
    await told.waitFor()
    expect(await lines.count()).toBe(count + 1)

    await told.getByRole('button', { name: /^Mark as read/ }).click()
    await told.getByRole('button', { name: /^Mark as unread/ }).waitFor()
    await expect.poll(unread).toBe(count)
    await told.getByRole('button', { name: /^Archive/ }).click()
    await expect.poll(() => told.count()).toBe(0)
    await page.getByRole('button', { name: 'Archived', exact: true }).click()
    await told.waitFor()
    expect(new URL(page.url()).search).toBe('?show=archived')
    expect(await findings()).toEqual([])
    await page.reload()
    await ready()
    await told.getByRole('button', { name: /^Restore/ }).click()
    await page.getByText('What you archive stays here').waitFor()

    await page.getByRole('button', { name: 'All', exact: true }).click()
    await told.waitFor()
    await page.keyboard.press('j')
    await expect.poll(() => page.evaluate('document.activeElement.closest("[data-notification]") !== null')).toBe(true)
    await page.getByRole('button', { name: 'Mark all as read' }).click()
    await expect.poll(unread).toBe(0)
    await page.getByRole('button', { name: 'Unread', exact: true }).click()
    await page.getByText('You have read everything.').waitFor()
    expect(await violations()).toEqual([])
  })
})
