import type { Browser, CDPSession, Page } from 'playwright-core'

/** A line and a machine on which pages are opened. */
export interface Line {
  /** How much slower the processor is. */
  readonly rate: number
  /** Time of a request beside its bytes, in ms. */
  readonly latency: number
  /** Bytes a second, each way. */
  readonly throughput: number
}

/** The slow line and machine of the budgets: a quarter of the processor, 10 Mbit/s, 40 ms. */
export const usual: Line = { rate: 4, latency: 40, throughput: 1.25e6 }
/** A telephone at the edge of its network: a quarter of the processor, 400 kbit/s, 400 ms. */
export const slow3G: Line = { rate: 4, latency: 400, throughput: 5e4 }

/** A page of a person who is signed in. */
export interface Visit {
  readonly page: Page
  readonly session: CDPSession
  /** Waits until the page at a path has drawn what matters. @throws where it has not within a minute */
  ready(path: string): Promise<void>
  /** Has the page live with another line and machine from now on. */
  on(line: Line): Promise<void>
}

/** Opens a page as a person who signs in, without the limits of a line. @param script runs before each document's own */
export async function openVisit(browser: Browser, address: string, { script, width = 1280 }: { readonly script?: string; readonly width?: number } = {}) {
  const page = await (await browser.newContext({ viewport: { width, height: 800 }, locale: 'en-GB' })).newPage()
  page.setDefaultTimeout(60_000)
  const isReady = () => page.evaluate<boolean>('performance.getEntriesByName("page-ready").length > 0').catch(() => false)
  const ready = async (path: string) => {
    for (let at = 0; at < 1_200; at += 1) {
      if (new URL(page.url()).pathname === path && (await isReady())) return
      await new Promise(resolve => setTimeout(resolve, 50))
    }
    throw new Error(`${path} was not ready within a minute; the page is at ${page.url()}`)
  }
  if (script) await page.addInitScript(script)
  await page.goto(address)
  await page.locator('input[type=email]').fill('owner@demo.test')
  await page.locator('input[type=password]').fill('supergraph-demo')
  await page.locator('input[type=password]').press('Enter')
  await ready(new URL(address).pathname)
  const session = await page.context().newCDPSession(page)
  await session.send('Network.enable')
  const visit: Visit = {
    page,
    session,
    ready,
    async on({ rate, latency, throughput }) {
      await session.send('Network.emulateNetworkConditions', { offline: false, latency, downloadThroughput: throughput, uploadThroughput: throughput })
      await session.send('Emulation.setCPUThrottlingRate', { rate })
    },
  }
  return visit
}
