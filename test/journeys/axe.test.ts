import { describe, expect, it } from 'vitest'
import { apps } from '../../web/serve/apps.ts'
import { browserPath } from '../browser/browser.ts'
import { signIn } from '../kit/client.ts'
import { isAsked, openWeb, pagesOf } from './visit.ts'

const widths = [1280, 390] as const
/** An id of no record. */
const nobody = '00000000-0000-7000-8000-000000000000'
const themes = ['light', 'dark'] as const

describe.runIf(isAsked && browserPath)('every page', () => {
  it.each(
    apps,
  )('of $app has no finding of axe, wide and narrow, in both themes and for records that there are not, and scrolls sideways at 320 px nowhere', async ({
    app,
    ...rest
  }) => {
    await using stack = new AsyncDisposableStack()
    const web = await openWeb(stack)
    const { page, enter, findings, violations } = await web.visit({ reducedMotion: 'reduce' })
    const found: string[] = []
    for (const { paths } of pagesOf(rest)) {
      await enter(`${web[app]}${paths[0]}`)
      for (const width of widths)
        for (const colorScheme of themes) {
          await page.setViewportSize({ width, height: 844 })
          await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
          found.push(...(await findings()).map(finding => `${paths[0]} ${width} ${colorScheme} ${finding}`))
        }
      // A page that could not read anything has little that axe could find. The gallery shows a failure on purpose, and a
      // page that is only of one record is opened for a record that does not exist.
      const mayFail = paths[0] === '/design' || paths[0].includes('/:')
      if (!mayFail && (await page.locator('[data-state=error]').count()) > 0) found.push(`${paths[0]} shows a failure`)
      await page.setViewportSize({ width: 320, height: 640 })
      const over = await page.evaluate<number>('document.documentElement.scrollWidth - document.documentElement.clientWidth')
      if (over > 0) found.push(`${paths[0]} scrolls ${over} px sideways`)
      // The page of a record that there is not says so, beside its list.
      for (const path of paths.slice(1)) {
        await page.setViewportSize({ width: 1280, height: 844 })
        await enter(`${web[app]}${path.replace(/:\w+/, nobody)}`)
        await page.locator('[data-state=error]').or(page.locator('.panel, .region')).first().waitFor()
        found.push(...(await findings()).map(finding => `${path} ${finding}`))
      }
    }
    expect(found).toEqual([])
    expect(await violations()).toEqual([])
  }, 600_000)
})

describe.runIf(isAsked && browserPath)('onboarding', () => {
  it('has no finding of axe at any step, wide and narrow, in both themes, and scrolls sideways at 320 px nowhere', async () => {
    await using stack = new AsyncDisposableStack()
    const web = await openWeb(stack)
    const found: string[] = []
    const look = async (step: string, { page, findings }: Awaited<ReturnType<typeof web.visit>>) => {
      for (const width of widths)
        for (const colorScheme of themes) {
          await page.setViewportSize({ width, height: 844 })
          await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
          found.push(...(await findings()).map(finding => `${step} ${width} ${colorScheme} ${finding}`))
        }
      await page.setViewportSize({ width: 320, height: 640 })
      const over = await page.evaluate<number>('document.documentElement.scrollWidth - document.documentElement.clientWidth')
      if (over > 0) found.push(`${step} scrolls ${over} px sideways`)
      await page.setViewportSize({ width: 1280, height: 844 })
    }
    // The only person of the demo without a recovery address.
    const unfinished = await web.visit({ reducedMotion: 'reduce' })
    await unfinished.enter(`${web.launcher}/onboarding`, 'peer@demo.test')
    const { page } = unfinished
    await page.getByLabel('Recovery address').waitFor()
    await look('address', unfinished)
    await page.getByLabel('Recovery address').fill('peer@demo.test')
    await page.getByRole('button', { name: 'Send the link' }).click()
    await page.getByRole('alert').waitFor()
    await look('refused', unfinished)
    await page.getByLabel('Recovery address').fill('peer.other@demo.test')
    await page.getByRole('button', { name: 'Send the link' }).click()
    await page.getByText('We sent a link to peer.other@demo.test.').waitFor()
    await look('sent', unfinished)
    await page.getByRole('button', { name: 'I have opened it' }).click()
    await page.getByText('The link has not been opened yet.').waitFor()
    await look('not opened', unfinished)

    const owner = await signIn(web.url, 'owner@demo.test')
    await owner.query('mutation($input: CreateOrganizationInput!) { createOrganization(input: $input) { id } }', { input: { name: 'Fresh', slug: 'fresh' } })
    const manager = await web.visit({ reducedMotion: 'reduce' })
    await manager.enter(`${web.launcher}/dashboard`)
    await manager.page.getByRole('button', { name: 'Account' }).click()
    await manager.page.getByRole('menuitem', { name: 'Fresh' }).click()
    await manager.page.waitForURL(url => url.pathname === '/onboarding')
    await manager.page.getByText('Choose what Fresh begins with.').waitFor()
    await look('organization', manager)
    expect(found).toEqual([])
    expect([...(await unfinished.violations()), ...(await manager.violations())]).toEqual([])
  }, 300_000)
})
