import { existsSync } from 'node:fs'
import { type BrowserContext, type BrowserContextOptions, chromium, type Page } from 'playwright-core'

const candidates = [process.env.CHROMIUM, '/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome']

/** Where a browser is; undefined when there is none, which is said once. */
export const browserPath = candidates.find(path => path && existsSync(path))
if (!browserPath) console.warn('tests in a browser are left out: there is no /usr/bin/chromium; install it, or name one in CHROMIUM')

/** A browser that keeps to itself: nothing in it calls home. */
const flags = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--disable-dev-shm-usage',
  // Letters are drawn alike on every machine, so that pictures can be compared.
  '--font-render-hinting=none',
  '--disable-lcd-text',
  '--force-color-profile=srgb',
]

/** A page and what its console told of its content-security policy. */
export interface WatchedPage {
  readonly page: Page
  /** Violations of the policy so far, by the browser's own events and words. */
  violations(): Promise<string[]>
  /** What else the console called an error: offline, that Apollo's servers cannot be reached. */
  readonly errors: readonly string[]
  /** Addresses that the page asked, or would have asked, of others than its own origin. */
  foreign(): readonly string[]
}

/** Opens a browser for one test; closed at its end. Pages share its cookies, but those that are opened with options of their own. */
export async function openBrowser(): Promise<AsyncDisposable & { open(options?: BrowserContextOptions): Promise<WatchedPage> }> {
  const browser = await chromium.launch({ executablePath: browserPath!, headless: true, args: flags })
  const context: BrowserContext = await browser.newContext()
  return {
    async open(options) {
      const page = await (options ? await browser.newContext(options) : context).newPage()
      const asked: string[] = []
      page.on('request', request => asked.push(request.url()))
      page.on('websocket', socket => asked.push(socket.url().replace(/^ws/, 'http')))
      const violations: string[] = []
      const errors: string[] = []
      await page.exposeFunction('tellViolation', (text: string) => void violations.push(text))
      await page.addInitScript(
        `addEventListener('securitypolicyviolation', ({ effectiveDirective, blockedURI }) => tellViolation(effectiveDirective + ' refuses ' + blockedURI))`,
      )
      page.on('console', message => {
        if (message.type() !== 'error' && message.type() !== 'warning') return
        if (/content security policy|refused to|\bCSP\b/i.test(message.text())) violations.push(message.text())
        else errors.push(message.text())
      })
      page.on('pageerror', error => errors.push(error.message))
      return {
        page,
        errors,
        foreign() {
          const { origin } = new URL(page.url())
          return asked.filter(url => /^http/.test(url) && new URL(url).origin !== origin)
        },
        async violations() {
          // An event that was raised before this question has arrived when the page answers it.
          await page.evaluate('new Promise(resolve => setTimeout(resolve))')
          return violations
        },
      }
    },
    [Symbol.asyncDispose]: () => browser.close(),
  }
}
