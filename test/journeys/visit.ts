import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { BrowserContextOptions } from 'playwright-core'
import { expect } from 'vitest'
import { type DemoFacts, readDemoFile } from '../../db/demo-file.ts'
import type { AppPages } from '../../web/shell/pages.ts'
import { openBrowser } from '../browser/browser.ts'
import { startPlatform } from '../browser/platform.ts'

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

/** Journeys take minutes and a browser: `npm run test:web` runs them. */
export const isAsked = process.env.WEB === '1'

/** A bearer token, as all of ours are written; and a code that works once, of a handoff, a mail or an authorization. */
const bearer = /eyJ[\w-]{10,}\.[\w-]+\.[\w-]+/
const oneTime = /[?&#](?:sso_code|code|token)=[^&]/

/** The password of every demo account. */
const password = 'supergraph-demo'

/** A platform with its demo data, and a browser before it. @param settings beside its usual ones */
export async function openWeb(stack: AsyncDisposableStack, settings: Record<string, string> = {}) {
  const { folder, url, platform } = await startPlatform(stack, settings)
  const browser = stack.use(await openBrowser())
  const { port } = new URL(url)
  const at = (host: string) => `http://${host}:${port}`
  return {
    platform,
    url,
    /** Ids and tokens of the demo data. */
    demo: (): DemoFacts => readDemoFile(folder.path)!,
    launcher: at('launcher.localhost'),
    publishing: at('web.publishing.localhost'),
    payments: at('payments.localhost'),
    agents: at('agents.localhost'),
    providers: at('providers.localhost'),
    marketing: at('marketing.launcher.localhost'),
    /** Opens a tab of its own, as a person who has not been here before. */
    async visit(options: BrowserContextOptions = {}) {
      const {
        page,
        violations: refused,
        errors,
      } = await browser.open({
        viewport: { width: 1280, height: 800 },
        locale: 'en-GB',
        timezoneId: 'Europe/Berlin',
        ...options,
      })
      const told: string[] = []
      page.context().on('request', request => {
        const { referer = '' } = request.headers()
        if (bearer.test(request.url())) told.push(`an address with a token: ${new URL(request.url()).pathname}`)
        if (bearer.test(referer) || oneTime.test(referer)) told.push(`a referrer with a credential, sent to ${new URL(request.url()).host}`)
      })
      /** What the policies of pages refused, and credentials that stood where other programs keep them. */
      const violations = async () => [...(await refused()), ...told]
      // A busy machine draws late, and what never comes fails then as well.
      page.setDefaultTimeout(60_000)
      /** Whether the page has drawn what matters. The driver's own waiting needs eval, which the policy forbids. */
      const isReady = () => page.evaluate('performance.getEntriesByName("page-ready").length > 0').catch(() => false)
      const signIn = async (email: string, secret: string) => {
        await page.locator('input[type=email]').fill(email)
        await page.locator('input[type=password]').fill(secret)
        await page.locator('input[type=password]').press('Enter')
      }
      return {
        page,
        violations,
        errors,
        signIn,
        ready: () => expect.poll(isReady, { timeout: 60_000 }).toBe(true),
        /** Opens an address, and signs in where it asks for that. */
        async enter(address: string, email = 'owner@demo.test') {
          const { host, pathname } = new URL(address)
          await page.goto(address)
          let isSent = false
          const look = async () => {
            if (!isSent && /\/login$/.test(new URL(page.url()).pathname)) {
              isSent = true
              await signIn(email, password)
            }
            const here = new URL(page.url())
            return here.host === host && here.pathname === pathname && (await isReady())
          }
          await expect.poll(() => look().catch(() => false), { timeout: 60_000 }).toBe(true)
        },
        /** What axe finds on the page as it stands: rules with the first place of each. */
        async findings(): Promise<string[]> {
          await page.evaluate(axe)
          const rules = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']
          return page.evaluate(
            `axe.run(document, { runOnly: ${JSON.stringify(rules)} }).then(({ violations }) => violations.map(({ id, nodes }) => id + ' ' + nodes[0].target))`,
          )
        },
      }
    },
    password,
  }
}

/** The pages of an app that somebody who is finished with its onboarding may open. */
export const pagesOf = ({ pages, onboarding }: Pick<AppPages, 'pages' | 'onboarding'>): readonly AppPages['pages'][string][] =>
  Object.values(pages).filter(({ paths }) => paths[0] !== onboarding)
