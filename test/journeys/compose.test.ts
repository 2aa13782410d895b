import { describe, expect, it } from 'vitest'
import { browserPath } from '../browser/browser.ts'
import { isAsked, openWeb } from './visit.ts'

/** A picture of one red dot. */
const dot = Buffer.from('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==', 'base64')

const dayAhead = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10)

describe.runIf(isAsked && browserPath)('writing posts in a browser', () => {
  it('P-02 writes one text for two networks with a separate text for one and a picture that is uploaded meanwhile, and schedules both', async () => {
    await using stack = new AsyncDisposableStack()
    const web = await openWeb(stack)
    const { page, enter, findings, violations } = await web.visit({ viewport: { width: 1280, height: 1800 } })
    await enter(`${web.publishing}/compose`)
    await page.getByLabel('LinkedIn (person)').check()
    await page.getByLabel('Text', { exact: true }).fill('For both networks')
    await page.getByRole('button', { name: 'Write another text for X' }).click()
    await page.getByLabel('Text for X').fill('For X alone')
    await page.getByRole('button', { name: 'Add media' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.locator('input[type=file]').setInputFiles({ name: 'dot.png', mimeType: 'image/png', buffer: dot })
    await dialog.getByRole('button', { name: 'dot.png' }).click()
    expect(await findings()).toEqual([])
    await dialog.getByRole('button', { name: 'Add 1 item' }).click()
    await page.getByLabel('What dot.png shows').fill('A red dot')
    await page.getByText(/Saved as a draft/).waitFor()
    await page.getByText('Title, link, campaign and tags').click()
    await page.getByLabel('Tags').fill('spring')
    expect(await findings()).toEqual([])
    await page.getByLabel('Day and time').fill(`${dayAhead(41)}T12:00`)
    await page.getByRole('button', { name: 'Schedule post' }).click()
    await page.waitForURL(url => url.pathname === '/posts')
    await page.getByRole('link', { name: 'For X alone' }).waitFor()
    await page.getByRole('link', { name: 'For both networks' }).waitFor()
    expect(await violations()).toEqual([])
  })

  it('shows each network’s problems while typing, and asks before leaving unsaved text', async () => {
    await using stack = new AsyncDisposableStack()
    const web = await openWeb(stack)
    const { page, enter } = await web.visit()
    await enter(`${web.publishing}/compose`)
    await page.getByLabel('Text', { exact: true }).fill('x'.repeat(300))
    await page.locator('.preview[data-platform=X]').getByText('300 of 280').waitFor()
    await page.locator('.preview[data-platform=X] .note').first().waitFor()
    await page.getByText(/Saved as a draft/).waitFor()
    await page.getByLabel('Text', { exact: true }).fill('Not saved yet')
    const asked = new Promise<string>(resolve =>
      page.once('dialog', dialog => {
        resolve(dialog.type())
        void dialog.dismiss()
      }),
    )
    await page.close({ runBeforeUnload: true })
    expect(await asked).toBe('beforeunload')
  })

  it('creates one draft from what is typed during the first save', async () => {
    await using stack = new AsyncDisposableStack()
    const web = await openWeb(stack)
    const { page, enter } = await web.visit()
    const { promise: goesOn, resolve: goOn } = Promise.withResolvers<void>()
    const saves: string[] = []
    await page.route(/\/graphql$/, async route => {
      const name = /(?:Create|Update)Draft/.exec(route.request().postData() ?? '')?.[0]
      if (name) saves.push(name)
      if (name === 'CreateDraft') await goesOn
      await route.fallback()
    })
    await enter(`${web.publishing}/compose`)
    const text = page.getByLabel('Text', { exact: true })
    await text.fill('First words')
    await expect.poll(() => saves.length, { timeout: 10_000 }).toBe(1)
    await text.fill('First words, and more')
    // So long the next save waits for a pause, and then for the first.
    const typedAt = await page.evaluate<number>('performance.now()')
    await expect.poll(() => page.evaluate(`performance.now() > ${typedAt + 2500}`), { timeout: 10_000 }).toBe(true)
    goOn()
    await page.getByText(/Saved as a draft/).waitFor()
    expect(saves).toEqual(['CreateDraft', 'UpdateDraft'])
  })

  it('writes a thread of three posts', async () => {
    await using stack = new AsyncDisposableStack()
    const web = await openWeb(stack)
    const { page, enter } = await web.visit()
    await enter(`${web.publishing}/compose`)
    await page.getByLabel('Text', { exact: true }).fill('First of three')
    for (const number of [2, 3]) {
      await page.getByRole('button', { name: 'Add a post to the thread' }).click()
      await page.getByLabel(`Post ${number} of the thread`).fill(`Part ${number}`)
    }
    await page.getByLabel('Day and time').fill(`${dayAhead(42)}T12:00`)
    await page.getByRole('button', { name: 'Schedule post' }).click()
    await page.waitForURL(url => url.pathname === '/posts')
    for (const text of ['First of three', 'Part 2', 'Part 3']) await page.getByRole('link', { name: text }).waitFor()
  })

  it('P-07 continues an interrupted upload, and edits and files the asset', async () => {
    await using stack = new AsyncDisposableStack()
    const web = await openWeb(stack)
    const { page, enter, violations } = await web.visit()
    await enter(`${web.publishing}/media`)
    let cuts = 2
    await page.route(/\/media\/uploads\//, route => (route.request().method() === 'PATCH' && cuts-- > 0 ? route.abort('connectionreset') : route.fallback()))
    await page.locator('input[type=file]').first().setInputFiles({ name: 'cut.png', mimeType: 'image/png', buffer: dot })
    await page.getByText('It is in the library').waitFor()
    expect(cuts).toBeLessThan(1)
    await page.getByRole('button', { name: 'New folder' }).click()
    await page.getByLabel('Name of the folder').fill('Dots')
    await page.getByRole('button', { name: 'Create folder' }).click()
    await page.getByRole('link', { name: /^Dots/ }).waitFor()
    await page.locator('[data-asset]').getByRole('link', { name: 'cut.png' }).click()
    const panel = page.getByRole('region', { name: 'Item of the library' })
    await panel.getByLabel('Title').fill('Red dot')
    await panel.getByRole('button', { name: /No folder/ }).click()
    await page.getByRole('option', { name: 'Dots' }).click()
    await panel.getByRole('button', { name: 'Save changes' }).click()
    await page.getByText('Your changes were saved').waitFor()
    await page.getByRole('link', { name: /^Dots/ }).click()
    await page.locator('[data-asset]').getByRole('link', { name: 'Red dot' }).waitFor()
    await expect.poll(() => page.locator('[data-asset]').count()).toBe(1)
    expect(await violations()).toEqual([])
  })
})
