import { describe, expect, it } from 'vitest'
import { apps } from '../../web/serve/apps.ts'
import { browserPath } from '../browser/browser.ts'
import { isAsked, openWeb } from './visit.ts'

const widths = [1280, 390] as const
const themes = ['light', 'dark'] as const

describe.runIf(isAsked && browserPath)('every page', () => {
  it.each(apps)('of $app has no finding of axe, wide and narrow, in both themes, and scrolls sideways at 320 px nowhere', async ({ app, pages }) => {
    await using stack = new AsyncDisposableStack()
    const web = await openWeb(stack)
    const { page, enter, findings, violations } = await web.visit({ reducedMotion: 'reduce' })
    const found: string[] = []
    for (const { paths } of Object.values(pages)) {
      await enter(`${web[app]}${paths[0]}`)
      for (const width of widths)
        for (const colorScheme of themes) {
          await page.setViewportSize({ width, height: 844 })
          await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
          found.push(...(await findings()).map(finding => `${paths[0]} ${width} ${colorScheme} ${finding}`))
        }
      await page.setViewportSize({ width: 320, height: 640 })
      const over = await page.evaluate<number>('document.documentElement.scrollWidth - document.documentElement.clientWidth')
      if (over > 0) found.push(`${paths[0]} scrolls ${over} px sideways`)
    }
    expect(found).toEqual([])
    expect(await violations()).toEqual([])
  })
})
