import { describe, expect, it } from 'vitest'
import { browserPath } from '../browser/browser.ts'
import { isAsked, openWeb } from './visit.ts'

describe.runIf(isAsked && browserPath)('knowledge in a browser', () => {
  it('adds a source, finds the passage that answers a question, and deletes the source', async () => {
    await using stack = new AsyncDisposableStack()
    const web = await openWeb(stack)
    const { page, enter, findings, violations } = await web.visit({ viewport: { width: 1280, height: 1200 } })
    const dialog = page.getByRole('dialog')
    await enter(`${web.agents}/knowledge`)
    await page.getByRole('button', { name: 'Add source' }).first().click()
    await dialog.getByLabel('Title').fill('Returns')
    await dialog.getByRole('button', { name: 'Add source' }).click()
    await dialog.getByText('This cannot be empty.').waitFor()
    await dialog
      .getByRole('textbox', { name: 'Text', exact: true })
      .fill('Lamps can be returned within thirty days. Books that were opened cannot be returned.')
    expect(await findings()).toEqual([])
    await dialog.getByRole('button', { name: 'Add source' }).click()
    const source = page.getByRole('region', { name: 'Source', exact: true })
    await source.getByText('Ready', { exact: true }).waitFor()
    expect(await findings()).toEqual([])
    await page.getByRole('searchbox', { name: 'Ask a question' }).fill('Until when can I return lamps?')
    const passages = page.getByRole('region', { name: 'Passages that answer' })
    await passages.locator('mark', { hasText: 'Lamps can be returned within thirty days.' }).waitFor()
    expect(await findings()).toEqual([])
    await passages.getByRole('link', { name: 'Returns' }).click()
    await source.getByRole('button', { name: 'Delete source' }).click()
    await page.getByRole('alertdialog').getByRole('button', { name: 'Delete source' }).click()
    // Those of the demo stay.
    await page.locator('[data-source]', { hasText: 'Returns' }).waitFor({ state: 'detached' })
    expect(await page.locator('[data-source]').count()).toBeGreaterThan(0)
    expect(await violations()).toEqual([])
  })
})
