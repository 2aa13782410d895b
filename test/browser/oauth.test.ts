import { createHash, randomBytes } from 'node:crypto'
import { createServer } from 'node:http'
import { expect, test } from 'vitest'
import { signIn } from '../kit/client.ts'
import { browserPath, openBrowser } from './browser.ts'
import { startPlatform } from './platform.ts'

/** An app on this machine, of another origin than the platform: what it was led back to. */
async function app(stack: AsyncDisposableStack) {
  const seen: URL[] = []
  const server = createServer((request, response) => {
    if (request.url?.startsWith('/callback')) seen.push(new URL(request.url, 'http://127.0.0.1'))
    response.setHeader('content-type', 'text/html').end('<title>App</title>the app')
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  stack.defer(() => void server.close())
  return { seen, callback: `http://127.0.0.1:${(server.address() as { port: number }).port}/callback` }
}

test.runIf(browserPath)(
  'I-03 a person signs in for an app, agrees or not, and is led back to it; every page holds at 360 and 1280 pixels, dark and light',
  async () => {
    await using stack = new AsyncDisposableStack()
    const { url } = await startPlatform(stack)
    const { seen, callback } = await app(stack)
    const platform = await signIn(url, 'super@admin.test')
    const { createOAuthClient } = await platform.query<{ createOAuthClient: { client: { clientId: string } } }>(
      'mutation($input: CreateOAuthClientInput!) { createOAuthClient(input: $input) { client { clientId } } }',
      {
        input: {
          name: 'An app with a rather long name that has to fit',
          type: 'PUBLIC',
          redirectUris: ['http://127.0.0.1/callback'],
          scopes: ['openid', 'email', 'offline_access', 'publishing:posts.read'],
        },
      },
    )
    const verifier = randomBytes(32).toString('base64url')
    const asked = new URLSearchParams({
      response_type: 'code',
      client_id: createOAuthClient.client.clientId,
      redirect_uri: callback,
      scope: 'openid email offline_access publishing:posts.read',
      state: 's',
      code_challenge: createHash('sha256').update(verifier).digest('base64url'),
      code_challenge_method: 'S256',
    })
    const authorize = `${url}/identity/api/auth/oauth2/authorize?${asked}`
    const browser = stack.use(await openBrowser())
    const { page, violations, errors } = await browser.open()

    await page.goto(authorize)
    await page.getByLabel('Mail address').fill('owner@demo.test')
    await page.getByLabel('Password').fill('supergraph-demo')
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.waitForURL('**/identity/consent?**')
    for (const width of [360, 1280])
      for (const colorScheme of ['dark', 'light'] as const) {
        await page.setViewportSize({ width, height: 800 })
        await page.emulateMedia({ colorScheme })
        expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth'), `${width} pixels`).toBe(true)
        expect(await page.evaluate('getComputedStyle(document.body).backgroundColor !== getComputedStyle(document.body).color')).toBe(true)
      }
    const text = await page.innerText('main, body')
    for (const words of ['An app with a rather long name', 'See your mail address', 'an application on this device']) expect(text).toContain(words)
    await page.getByRole('button', { name: 'Do not allow' }).click()
    await page.waitForURL(`${callback}?**`)
    expect(seen.at(-1)!.searchParams.get('error')).toBe('access_denied')

    await page.goto(authorize)
    await page.getByRole('button', { name: 'Allow', exact: true }).click()
    await page.waitForURL(`${callback}?**`)
    const body = new URLSearchParams({
      grant_type: 'authorization_code',
      code: seen.at(-1)!.searchParams.get('code')!,
      redirect_uri: callback,
      client_id: createOAuthClient.client.clientId,
      code_verifier: verifier,
    })
    expect((await fetch(`${url}/identity/api/auth/oauth2/token`, { method: 'POST', body })).status).toBe(200)

    // Agreed to before: from the form of sign-in straight on to the app.
    await page.context().clearCookies()
    await page.goto(authorize)
    await page.getByLabel('Mail address').fill('owner@demo.test')
    await page.getByLabel('Password').fill('supergraph-demo')
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.waitForURL(`${callback}?**`)
    expect(seen.at(-1)!.searchParams.get('code')).toBeTruthy()
    expect([await violations(), errors]).toEqual([[], []])
  },
)
