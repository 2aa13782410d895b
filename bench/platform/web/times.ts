import { chromium } from 'playwright-core'
import { apps } from '../../../web/serve/apps.ts'
import { median } from '../../table.ts'

/** The slow line and machine of the budgets: a quarter of the processor, 10 Mbit/s, 40 ms. */
const slow = { rate: 4, latency: 40, throughput: 1.25e6 }
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
}

const observe = `window.seen = { lcp: 0, cls: 0 }
new PerformanceObserver(list => { for (const each of list.getEntries()) seen.lcp = each.startTime }).observe({ type: 'largest-contentful-paint', buffered: true })
new PerformanceObserver(list => { for (const each of list.getEntries()) if (!each.hadRecentInput) seen.cls += each.value }).observe({ type: 'layout-shift', buffered: true })`

/**
 * Opens the first page of every workspace in a browser without a cache, three times each. @param url of a platform with
 * demo data
 */
export async function measureTimes(url: string, executablePath: string): Promise<readonly Times[]> {
  const { port } = new URL(url)
  const browser = await chromium.launch({ executablePath, headless: true, args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage'] })
  try {
    const measured: Times[] = []
    for (const { app, start } of apps) {
      const page = await (await browser.newContext({ viewport: { width: 1280, height: 800 }, locale: 'en-GB' })).newPage()
      const address = `http://${app}.localhost:${port}${start}`
      let [operations, requests] = [0, 0]
      page.on('request', request => {
        requests += 1
        if (request.method() === 'POST' && new URL(request.url()).pathname === '/graphql') operations += 1
      })
      const isReady = () => page.evaluate<boolean>('performance.getEntriesByName("page-ready").length > 0').catch(() => false)
      const ready = async () => {
        for (let at = 0; at < 150 && !((await isReady()) && new URL(page.url()).pathname === start); at += 1)
          await new Promise(resolve => setTimeout(resolve, 200))
      }
      await page.addInitScript(observe)
      await page.goto(address)
      await page.locator('input[type=email]').fill('owner@demo.test')
      await page.locator('input[type=password]').fill('supergraph-demo')
      await page.locator('input[type=password]').press('Enter')
      await ready()
      const session = await page.context().newCDPSession(page)
      await session.send('Network.enable')
      await session.send('Network.setCacheDisabled', { cacheDisabled: true })
      await session.send('Network.emulateNetworkConditions', {
        offline: false,
        latency: slow.latency,
        downloadThroughput: slow.throughput,
        uploadThroughput: slow.throughput,
      })
      await session.send('Emulation.setCPUThrottlingRate', { rate: slow.rate })
      const samples: { lcp: number; cls: number; operations: number; requests: number }[] = []
      for (let round = 0; round < rounds; round += 1) {
        ;[operations, requests] = [0, 0]
        await page.reload()
        await ready()
        const counted = { operations, requests }
        await new Promise(resolve => setTimeout(resolve, 1000))
        samples.push({ ...(await page.evaluate<{ lcp: number; cls: number }>('seen')), ...counted })
      }
      const middle = (of: 'lcp' | 'cls' | 'operations' | 'requests') => median(samples.map(sample => sample[of]))
      measured.push({ name: `${app}${start}`, lcp: middle('lcp'), cls: middle('cls'), operations: middle('operations'), requests: middle('requests') })
      await page.context().close()
    }
    return measured
  } finally {
    await browser.close()
  }
}
