import { describe, expect, it } from 'vitest'
import { browserPath } from '../browser/browser.ts'
import { isAsked, openWeb } from './visit.ts'

describe.runIf(isAsked && browserPath)('the settings of the launcher in a browser', () => {
  it('keeps households in personal context: created, invited to, joined, declined, renamed, shown, left and deleted', async () => {
    await using stack = new AsyncDisposableStack()
    const web = await openWeb(stack)
    const { page, enter, findings, violations } = await web.visit({ reducedMotion: 'reduce' })
    const address = `${web.launcher}/settings/households`
    await enter(address)
    // In an organization the page offers personal context, and comes back to itself there.
    await page.getByText('Households belong to people').waitFor()
    expect(await findings()).toEqual([])
    await page.getByRole('button', { name: 'Switch to personal context' }).click()
    await page.getByText('create a household and invite them').waitFor()
    expect(new URL(page.url()).pathname).toBe('/settings/households')
    expect(await findings()).toEqual([])

    await page.getByRole('button', { name: 'Create household' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('button', { name: 'Create household' }).click()
    await dialog.getByText('This cannot be empty.').waitFor()
    await dialog.getByLabel('Name of the household').fill('Garden Street')
    expect(await findings()).toEqual([])
    await page.keyboard.press('Enter')
    const household = page.getByRole('region', { name: 'Garden Street' })
    await household.getByText('(you)').waitFor()
    await household.getByText('A household keeps an owner').waitFor()
    // Its only owner can neither leave nor become less.
    expect(await household.getByRole('button', { name: /^Remove|^Role of/ }).count()).toBe(0)

    const invite = async (email: string) => {
      await household.getByRole('button', { name: 'Invite person to Garden Street' }).click()
      await dialog.getByLabel('Mail address').fill(email)
      await dialog.getByRole('button', { name: 'Send invitation' }).click()
      await household.getByText(email).waitFor()
    }
    await household.getByRole('button', { name: 'Invite person to Garden Street' }).click()
    await dialog.getByLabel('Mail address').fill('nobody')
    await dialog.getByRole('button', { name: 'Send invitation' }).click()
    await dialog.getByText('This is no mail address.').waitFor()
    expect(await findings()).toEqual([])
    await page.keyboard.press('Escape')
    for (const email of ['member@demo.test', 'admin@demo.test']) await invite(email)
    expect(await findings()).toEqual([])

    const member = await web.visit({ reducedMotion: 'reduce' })
    await member.enter(address, 'member@demo.test')
    await member.page.getByRole('button', { name: 'Switch to personal context' }).click()
    await member.page.getByText('As Adult').waitFor()
    expect(await member.findings()).toEqual([])
    await member.page.getByRole('button', { name: 'Join household: Garden Street' }).click()
    const joined = member.page.getByRole('region', { name: 'Garden Street' })
    await joined.getByText('Adults see the household and invite others.').waitFor()
    expect(await member.page.getByRole('button', { name: /^Join household/ }).count()).toBe(0)
    expect(await joined.getByRole('button', { name: /^Remove|^Role of/ }).count()).toBe(0)

    // The address that the mail of an invitation names.
    const admin = await web.visit()
    await admin.enter(`${web.url}/launcher/settings/households`, 'admin@demo.test')
    await admin.page.getByRole('button', { name: 'Switch to personal context' }).click()
    await admin.page.getByRole('button', { name: 'Decline invitation: Garden Street' }).click()
    await admin.page.getByText('create a household and invite them').waitFor()

    await page.reload()
    await household.getByRole('button', { name: /Role of/ }).waitFor()
    expect(await household.getByText('admin@demo.test').count()).toBe(0)
    const more = household.getByRole('button', { name: 'More: Garden Street' })
    await more.click()
    await page.getByRole('menuitem', { name: 'Show on your pages' }).click()
    await household.getByText('Shown on your pages').waitFor()
    await more.click()
    await page.getByRole('menuitem', { name: 'Rename household' }).click()
    await dialog.getByLabel('Name of the household').fill('Garden Street 4')
    await dialog.getByRole('button', { name: 'Rename household' }).click()
    const renamed = page.getByRole('region', { name: 'Garden Street 4' })
    await renamed.waitFor()
    await page.reload()
    await renamed.getByText('Shown on your pages').waitFor()

    // Once there is another owner, the first one may leave.
    await renamed.getByRole('button', { name: /Role of/ }).click()
    await page.getByRole('option', { name: 'Owner' }).click()
    await renamed.getByText('Owners change everything here').waitFor()
    expect(await findings()).toEqual([])
    await renamed.getByRole('button', { name: 'More: Garden Street 4' }).click()
    await page.getByRole('menuitem', { name: 'Leave household' }).click()
    await page.getByRole('alertdialog').getByRole('button', { name: 'Leave household' }).click()
    await page.getByText('create a household and invite them').waitFor()

    await member.page.reload()
    const last = member.page.getByRole('region', { name: 'Garden Street 4' })
    await last.getByText('A household keeps an owner').waitFor()
    await last.getByRole('button', { name: 'More: Garden Street 4' }).click()
    await member.page.getByRole('menuitem', { name: 'Delete household' }).click()
    await member.page.getByRole('alertdialog').getByText('This cannot be taken back.').waitFor()
    expect(await member.findings()).toEqual([])
    await member.page.getByRole('alertdialog').getByRole('button', { name: 'Delete household' }).click()
    await member.page.getByText('create a household and invite them').waitFor()
    expect([...(await violations()), ...(await member.violations())]).toEqual([])
  }, 240_000)
})
