import { describe, expect, it } from 'vitest'
import { apps } from '../../web/serve/apps.ts'
import { browserPath } from '../browser/browser.ts'
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
