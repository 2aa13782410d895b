import { describe, it } from 'vitest'
import { browserPath } from '../browser/browser.ts'
import { isAsked, openWeb } from './visit.ts'

describe.runIf(isAsked && browserPath)('agents in a browser', () => {
  it('makes a profile, adds a text, and reads it again', async () => {
    await using stack = new AsyncDisposableStack()
    const web = await openWeb(stack)
    const { page, enter } = await web.visit()
    await enter(`${web.agents}/profiles`)
    await page.getByRole('button', { name: 'Create profile' }).first().click()
    await page.getByRole('dialog').getByLabel('Name').fill('Ada of the journey')
    await page.getByRole('dialog').getByRole('button', { name: 'Create profile' }).click()
    const panel = page.getByRole('region', { name: 'Profile' })
    await panel.getByRole('heading', { name: 'Ada of the journey' }).waitFor()
    await panel.getByRole('button', { name: 'Add source' }).click()
    await page.getByRole('dialog').getByLabel('Title').fill('A letter')
    await page.getByRole('dialog').getByLabel('Text', { exact: true }).fill('We ship on Thursdays. We answer every question, and we say when we do not know.')
    await page.getByRole('dialog').getByRole('button', { name: 'Add source' }).click()
    await panel.getByRole('button', { name: 'Read A letter' }).click()
    await page.getByRole('dialog').getByText('We ship on Thursdays.').waitFor()
  })
})
