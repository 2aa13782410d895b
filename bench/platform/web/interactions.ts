import type { Browser, Page } from 'playwright-core'
import { openVisit, slow3G, usual } from './visit.ts'

/** The longest that a person waits for what they did to show, in ms: INP. */
export const interactionBudget = 200

/** What a person does on a page, and how long each of it takes to show. */
export interface Interaction {
  readonly name: string
  /** The slowest of what was pressed and typed, in ms, as the browser counts it (in steps of 8). */
  readonly inp: number
}

interface Act {
  readonly name: string
  readonly app: string
  readonly path: string
  act(page: Page): Promise<void>
}

const text = 'A sentence that is typed as fast as people type.'
const region = (page: Page, name: string) => page.getByRole('region', { name, exact: true })

const acts: readonly Act[] = [
  {
    ...{ name: 'open a post beside the list, and close it', app: 'publishing', path: '/posts' },
    async act(page) {
      await page.getByRole('table').getByRole('link').first().click()
      await page.getByRole('button', { name: 'Close' }).waitFor()
      await page.getByRole('button', { name: 'Close' }).click()
    },
  },
  {
    ...{ name: 'open an order beside the list', app: 'payments', path: '/orders' },
    async act(page) {
      await page.getByRole('table', { name: 'Orders' }).getByRole('link').first().click()
      await region(page, 'Order').getByText('Subtotal').waitFor()
    },
  },
  {
    ...{ name: 'type a post', app: 'publishing', path: '/compose' },
    async act(page) {
      await page.getByLabel('Text', { exact: true }).pressSequentially(text, { delay: 80 })
    },
  },
  {
    ...{ name: 'switch from month to week and back', app: 'publishing', path: '/calendar' },
    async act(page) {
      await page.getByRole('link', { name: 'Week', exact: true }).click()
      await page.waitForURL(/view=week/)
      await page.getByRole('link', { name: 'Month', exact: true }).click()
      await page.waitForURL(url => !url.search.includes('week'))
    },
  },
  {
    ...{ name: 'open a filter, and choose', app: 'payments', path: '/orders' },
    async act(page) {
      await page.getByRole('button', { name: /^State/ }).click()
      await page.getByRole('menuitemcheckbox').or(page.getByRole('menuitemradio')).or(page.getByRole('menuitem')).first().click()
    },
  },
  {
    ...{ name: 'open a form', app: 'payments', path: '/orders' },
    async act(page) {
      await page.getByRole('button', { name: 'Create order' }).first().click()
      await page.getByRole('dialog').getByLabel('Item').waitFor()
      await page.getByRole('dialog').getByLabel('Item').pressSequentially('Booth', { delay: 80 })
    },
  },
  {
    ...{ name: 'go to another page', app: 'agents', path: '/overview' },
    async act(page) {
      await page.getByRole('link', { name: 'Runs', exact: true }).click()
      await page.getByRole('table').first().waitFor()
    },
  },
]

const observe = `window.longest = 0
new PerformanceObserver(list => { for (const each of list.getEntries()) if (each.interactionId) longest = Math.max(longest, each.duration) })
  .observe({ type: 'event', durationThreshold: 16, buffered: true })`

/** Does each of it on the slow machine of the budgets. @param url of a platform with demo data */
export async function measureInteractions(url: string, browser: Browser): Promise<readonly Interaction[]> {
  const { port } = new URL(url)
  const measured: Interaction[] = []
  for (const { name, app, path, act } of acts) {
    const { page, on } = await openVisit(browser, `http://${app}.localhost:${port}${path}`, { script: observe })
    await on(usual)
    await act(page)
    // The browser tells of an event once the frame after it is drawn.
    await new Promise(resolve => setTimeout(resolve, 1000))
    measured.push({ name: `${app}${path}: ${name}`, inp: await page.evaluate<number>('longest') })
    await page.context().close()
  }
  return measured
}

/** What a person does at the edge of a network, and how long that takes, in ms. */
export interface Journey {
  readonly name: string
  readonly ms: number
}

/** Goes a person's ways at the edge of a network, from the press to what it shows. @param url of a platform with demo data */
export async function measureJourneys(url: string, browser: Browser): Promise<readonly Journey[]> {
  const { port } = new URL(url)
  const measured: Journey[] = []
  const { page, on } = await openVisit(browser, `http://publishing.localhost:${port}/dashboard`, { width: 390 })
  await on(slow3G)
  const step = async (name: string, act: () => Promise<unknown>) => {
    const since = performance.now()
    await act()
    measured.push({ name, ms: performance.now() - since })
  }
  const goTo = async (name: string) => {
    const all = page.getByRole('button', { name: 'Menu', exact: true })
    if (await all.isVisible()) await all.click()
    await page.getByRole('link', { name, exact: true }).first().click()
  }
  await step('publishing: from the dashboard to the posts', async () => {
    await goTo('Posts')
    await page.getByRole('table').getByRole('link').first().waitFor()
  })
  await step('publishing: open a post', async () => {
    await page.getByRole('table').getByRole('link').first().click()
    await page.getByRole('button', { name: 'Close' }).waitFor()
    await page.locator('.panel[data-state=ready]').waitFor()
  })
  await step('publishing: write a post, and have it checked', async () => {
    await goTo('Write post')
    await page.getByLabel('Text', { exact: true }).fill(text)
    await page
      .getByText(new RegExp(`${text.length} of `))
      .first()
      .waitFor()
  })
  await step('publishing: have it kept as a draft', () => page.getByText(/Saved as a draft/).waitFor())
  await page.context().close()
  return measured
}
