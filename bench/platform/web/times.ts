import type { Browser } from 'playwright-core'
import { apps } from '../../../web/serve/apps.ts'
import { median } from '../../table.ts'
import { openVisit, slow3G, usual } from './visit.ts'

/** Budgets: largest contentful paint in ms, layout shift, and graph operations before the page is ready. */
export const timeBudgets = { lcp: 1800, cls: 0.05, operations: 3, requests: 25 } as const
const rounds = 3

/** Costs of the first visit of a signed-in person's page. */
export interface Times {
  readonly name: string
  readonly lcp: number
  readonly cls: number
  readonly operations: number
  readonly requests: number
  /** When the page is ready at the edge of a network, in ms: the first time, and again with what the browser keeps. */
  readonly slow: number
  readonly slowAgain: number
}

const observe = `window.seen = { lcp: 0, cls: 0 }
new PerformanceObserver(list => { for (const each of list.getEntries()) seen.lcp = each.startTime }).observe({ type: 'largest-contentful-paint', buffered: true })
new PerformanceObserver(list => { for (const each of list.getEntries()) if (!each.hadRecentInput) seen.cls += each.value }).observe({ type: 'layout-shift', buffered: true })`

/**
 * Opens the first page of every workspace in a browser without a cache, three times each, and at the edge of a network.
 * @param url of a platform with demo data
 */
export async function measureTimes(url: string, browser: Browser): Promise<readonly Times[]> {
  const { port } = new URL(url)
  const measured: Times[] = []
  for (const { app, start } of apps) {
    const { page, session, ready, on } = await openVisit(browser, `http://${app}.localhost:${port}${start}`, { script: observe })
    let [operations, requests] = [0, 0]
    page.on('request', request => {
      requests += 1
      if (request.method() === 'POST' && new URL(request.url()).pathname === '/graphql') operations += 1
    })
    await session.send('Network.setCacheDisabled', { cacheDisabled: true })
    await on(usual)
    const samples: { lcp: number; cls: number; operations: number; requests: number }[] = []
    for (let round = 0; round < rounds; round += 1) {
      ;[operations, requests] = [0, 0]
      await page.reload()
      await ready(start)
      const counted = { operations, requests }
      await new Promise(resolve => setTimeout(resolve, 1000))
      samples.push({ ...(await page.evaluate<{ lcp: number; cls: number }>('seen')), ...counted })
    }
    await on(slow3G)
    const reload = async () => {
      const since = performance.now()
      await page.reload()
      await ready(start)
      return performance.now() - since
    }
    const slow = await reload()
    await session.send('Network.setCacheDisabled', { cacheDisabled: false })
    await reload()
    const slowAgain = await reload()
    const middle = (of: 'lcp' | 'cls' | 'operations' | 'requests') => median(samples.map(sample => sample[of]))
    const usually = { lcp: middle('lcp'), cls: middle('cls'), operations: middle('operations'), requests: middle('requests') }
    measured.push({ name: `${app}${start}`, ...usually, slow, slowAgain })
    await page.context().close()
  }
  return measured
}
