import { describe, expect, it } from 'vitest'
import { browserPath } from '../browser/browser.ts'
import { compare } from './pictures/compare.ts'
import { isAsked, openWeb } from './visit.ts'

const widths = [1280, 390] as const
const themes = ['light', 'dark'] as const

describe.runIf(isAsked && browserPath)('pictures', () => {
  it('of every component, in both themes and both directions, wide and narrow, are those that were accepted', async () => {
    await using stack = new AsyncDisposableStack()
    const web = await openWeb(stack)
    const found: (string | null)[] = []
    for (const width of widths) {
      // As tall as what is looked at: no more is drawn than is seen.
      const { page, enter } = await web.visit({ viewport: { width, height: 4_000 }, reducedMotion: 'reduce', colorScheme: 'light' })
      await enter(`${web.launcher}/design`)
      await page.evaluate('document.fonts.ready')
      // What opens choices is loaded when the page is there.
      await page.locator('[aria-haspopup=listbox]').last().waitFor()
      await page.evaluate(`for (const bar of document.querySelectorAll('.bar, .rail')) bar.style.display = 'none'`)
      for (const sample of await page.locator('section.sample').all()) {
        const name = (await sample.getAttribute('aria-label'))!.replace(', ', '-')
        // What loads says after a while that it takes long.
        const mask = [sample.locator('[data-state=loading]')]
        const picture = await sample.screenshot({ animations: 'disabled', caret: 'hide', mask, maskColor: '#808080' })
        found.push(await compare(`design-${name}-${width}`, picture))
      }
    }
    expect(found.filter(each => each !== null)).toEqual([])
  }, 300_000)

  it('of sign-in and of pages of the marketing site, in both themes, wide and narrow, are those that were accepted', async () => {
    await using stack = new AsyncDisposableStack()
    const web = await openWeb(stack)
    const found: (string | null)[] = []
    for (const width of widths)
      for (const colorScheme of themes) {
        const { page } = await web.visit({ viewport: { width, height: 900 }, reducedMotion: 'reduce', colorScheme })
        const look = async (name: string) => {
          await page.evaluate('document.fonts.ready')
          const picture = await page.screenshot({ animations: 'disabled', caret: 'hide', fullPage: true })
          found.push(await compare(`${name}-${colorScheme}-${width}`, picture))
        }
        await page.goto(`${web.publishing}/login`)
        await look('login')
        await page.goto(`${web.marketing}/`)
        await page.getByRole('button', { name: 'Accept all' }).waitFor()
        await look('home')
        await page.getByRole('button', { name: 'Decline all' }).click()
        for (const name of ['pricing', 'contact']) {
          await page.goto(`${web.marketing}/${name}`)
          await look(name)
        }
      }
    expect(found.filter(each => each !== null)).toEqual([])
  }, 300_000)
})
