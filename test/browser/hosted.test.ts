import { createServer } from 'node:http'
import { expect, test } from 'vitest'
import { demoPassword } from '../../subgraphs/identity/setup/demo.ts'
import { signIn } from '../kit/client.ts'
import { browserPath, openBrowser } from './browser.ts'
import { fillIn, linkOf, looks, looksRight } from './looks.ts'
import { startPlatform } from './platform.ts'

test.runIf(browserPath)(
  'an invited person joins with a new account, verifies a recovery address, and joins elsewhere with the same account, by keyboard only, at every width and in dark mode',
  async () => {
    await using stack = new AsyncDisposableStack()
    const { url, platform } = await startPlatform(stack)
    const [, mailbox = ''] = await platform.printed(/Mails\s+(http:\S+)/)
    const [owner, other] = [await signIn(url), await signIn(url, 'super@admin.test')]
    const invite = ({ query }: typeof owner, email: string) =>
      query('mutation($input: InviteMemberInput!) { inviteMember(input: $input) { id } }', { input: { email, roles: ['VIEWER'] } })
    const browser = stack.use(await openBrowser())
    for (const [at, { width, colorScheme }] of looks.entries()) {
      const { page, violations, errors } = await browser.open({ viewport: { width, height: 800 }, colorScheme })
      const [email, password] = [`invited-${at}@browser.test`, 'a long enough pass phrase']
      await invite(owner, email)
      const link = await linkOf(mailbox, email, 'invitation')
      await page.goto(link)
      await page.getByRole('heading', { name: 'Join by making an account' }).waitFor()
      await fillIn(page, 'Ivo Invited', password)
      expect(new URL(page.url()).pathname).toBe('/')
      await page.goto(link)
      await looksRight(page)

      const { token } = await signIn(url, email, password)
      const recovery = `recovery-${at}@browser.test`
      await fetch(`${url}/identity/api/auth/me/recovery-email`, {
        method: 'PUT',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        body: JSON.stringify({ email: recovery, currentPassword: password }),
      })
      await page.goto(await linkOf(mailbox, recovery, 'verify-recovery-email'))
      await fillIn(page)
      await page.getByRole('heading', { name: 'confirmed' }).waitFor()
      await looksRight(page)

      await invite(other, email)
      await page.goto(`${url}/identity/invitation`)
      await fillIn(page)
      await page.getByRole('heading', { name: 'You have joined' }).waitFor()
      await looksRight(page)
      // The link that had been used was 410, which the console calls an error.
      expect([await violations(), errors.filter(text => !text.includes('410'))]).toEqual([[], []])
      await page.context().close()
    }
  },
)

test.runIf(browserPath)('a sign-in for a service redirects to its own host, as the page’s policy allows', async () => {
  await using stack = new AsyncDisposableStack()
  const { url, database } = await startPlatform(stack)
  const seen: URL[] = []
  const server = createServer((request, response) => {
    if (request.url?.startsWith('/callback')) seen.push(new URL(request.url, 'http://127.0.0.1'))
    response.setHeader('content-type', 'text/html').end('<title>Service</title>the service')
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  stack.defer(() => void server.close())
  const origin = `http://127.0.0.1:${(server.address() as { port: number }).port}`
  const addresses = JSON.stringify({ web: `${origin}/`, callback: `${origin}/callback` })
  await database.sequelize.query(`update identity.service_entries set addresses = addresses || $1::jsonb where slug = 'publishing'`, { bind: [addresses] })
  const browser = stack.use(await openBrowser())
  for (const { width, colorScheme } of looks) {
    const { page, violations, errors } = await browser.open({ viewport: { width, height: 800 }, colorScheme })
    await page.goto(`${url}/identity/login?service=publishing&return_to=/x`)
    // After a failed attempt the form is shown again and can be submitted.
    await fillIn(page, 'owner@demo.test', 'not the password')
    await page.getByLabel('Mail address').focus()
    await page.keyboard.press('Shift+Tab')
    await page.getByLabel('Password').fill(demoPassword)
    await page.getByLabel('Password').press('Enter')
    await page.waitForURL(`${origin}/callback?**`)
    const code = seen.at(-1)!.searchParams.get('sso_code')
    const answer = await fetch(`${url}/identity/api/auth/sso/exchange`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', origin },
      body: JSON.stringify({ code }),
    })
    expect([answer.status, await answer.json()]).toMatchObject([200, { returnTo: '/x', user: { email: 'owner@demo.test' } }])
    // The form that came back was an answer of 401, which the console calls an error.
    expect([await violations(), errors.filter(text => !text.includes('401'))]).toEqual([[], []])
    await page.context().close()
  }
})
