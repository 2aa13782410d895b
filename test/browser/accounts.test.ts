import { expect, test } from 'vitest'
import { browserPath, openBrowser } from './browser.ts'
import { fillIn, linkOf, looks, looksRight } from './looks.ts'
import { startPlatform } from './platform.ts'

test.runIf(browserPath)(
  'a person signs up, confirms the address, forgets the password and signs in again, by keyboard alone, at every width and in the dark',
  async () => {
    await using stack = new AsyncDisposableStack()
    const { url, platform } = await startPlatform(stack)
    const [, mailbox = ''] = await platform.printed(/Mails\s+(http:\S+)/)
    const linkIn = (email: string, kind: string) => linkOf(mailbox, email, kind)
    const browser = stack.use(await openBrowser())
    for (const [at, { width, colorScheme }] of looks.entries()) {
      const { page, violations, errors } = await browser.open({ viewport: { width, height: 800 }, colorScheme })
      const email = `person-${at}@browser.test`
      const type = (...texts: string[]) => fillIn(page, ...texts)
      await page.goto(`${url}/identity/login`)
      await page.getByRole('link', { name: 'Create one' }).click()
      await type('Nora New', email, 'a long enough pass phrase')
      await page.getByRole('heading', { name: 'Look into your mail' }).waitFor()
      await looksRight(page)
      await page.goto(await linkIn(email, 'verify-email'))
      await type()
      await page.getByRole('heading', { name: 'Your mail address is confirmed' }).waitFor()
      await page.goto(`${url}/identity/login`)
      await page.getByRole('link', { name: 'Forgot your password?' }).click()
      await type(email)
      await page.goto(await linkIn(email, 'reset-password'))
      await type('a wholly different phrase')
      await page.getByRole('heading', { name: 'Your password is set' }).waitFor()
      await page.getByRole('link', { name: 'Sign in' }).click()
      await type(email, 'a wholly different phrase')
      expect(new URL(page.url()).pathname).toBe('/')
      expect([await violations(), errors]).toEqual([[], []])
      await page.context().close()
    }
  },
)
