import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { setupLinkFile } from '../../router/start/process/setup-link.ts'
import { signIn } from '../kit/client.ts'
import { browserPath, openBrowser } from './browser.ts'
import { startPlatform } from './platform.ts'

/** Stands in for the script on Apollo's servers: does to the page what that one does. */
const embeddedSandbox = `window.EmbeddedSandbox = class {
  constructor(options) {
    window.sandboxOptions = options
    const frame = document.createElement('iframe')
    frame.src = 'https://sandbox.embed.apollographql.com/sandbox/explorer'
    document.querySelector(options.target).append(frame)
    const style = document.createElement('style')
    style.textContent = '#sandbox { min-height: 1px }'
    document.head.append(style)
  }
}`

test.runIf(browserPath)('Apollo Sandbox on /graphql violates no policy of its page, with Apollo reachable or not, and explains how to subscribe', async () => {
  await using stack = new AsyncDisposableStack()
  const { url } = await startPlatform(stack)
  const browser = stack.use(await openBrowser())

  const offline = await browser.open()
  await offline.page.route(/apollographql\.com|googleapis\.com|gstatic\.com/, route => route.abort('internetdisconnected'))
  await offline.page.goto(`${url}/graphql`)
  expect(await offline.violations()).toEqual([])
  expect(offline.errors.filter(text => !/ERR_INTERNET_DISCONNECTED/.test(text))).toEqual([])
  const text = await offline.page.innerText('body')
  expect(text).toContain('graphql-ws')
  expect(text).toContain(`${url.replace('http', 'ws')}/graphql`)
  expect(text).toContain('cannot be reached from this browser')

  const online = await browser.open()
  await online.page.route('https://embeddable-sandbox.cdn.apollographql.com/**', route =>
    route.fulfill({ contentType: 'text/javascript', body: embeddedSandbox }),
  )
  await online.page.route('https://sandbox.embed.apollographql.com/**', route => route.fulfill({ contentType: 'text/html', body: 'the sandbox' }))
  await online.page.goto(`${url}/graphql`)
  await online.page.frameLocator('#sandbox iframe').getByText('the sandbox').waitFor()
  expect(await online.violations()).toEqual([])
  expect(online.errors).toEqual([])
  expect(await online.page.evaluate('sandboxOptions')).toMatchObject({
    initialEndpoint: `${url}/graphql`,
    initialSubscriptionEndpoint: `${url.replace('http', 'ws')}/graphql`,
    runTelemetry: false,
  })
  expect(await online.page.innerText('body')).not.toContain('cannot be reached from this browser')
  // The watch itself works: what the policy does not allow is seen.
  await online.page.evaluate(`document.body.append(Object.assign(document.createElement('img'), { src: 'https://elsewhere.example/pixel.png' }))`)
  await expect.poll(() => online.violations()).toContain('img-src refuses https://elsewhere.example/pixel.png')
})

test.runIf(browserPath)('P-03 a person connects a brand in a browser: consent page, redirect and final page break no rule of theirs', async () => {
  await using stack = new AsyncDisposableStack()
  const { url } = await startPlatform(stack)
  const browser = stack.use(await openBrowser())
  const owner = await signIn(url)
  const { viewer } = await owner.query<{ viewer: { organization: { brands: { nodes: { id: string }[] } } } }>(
    '{ viewer { organization { brands { nodes { id } } } } }',
  )
  const { connectIntegration } = await owner.query<{ connectIntegration: { authorizationUrl: string } }>(
    'mutation($input: ConnectIntegrationInput!) { connectIntegration(input: $input) { authorizationUrl } }',
    { input: { brandId: viewer.organization.brands.nodes[0]!.id, platform: 'X' } },
  )
  const { page, violations, errors } = await browser.open()
  await page.goto(connectIntegration.authorizationUrl)
  expect(await page.innerText('h1')).toBe('X, played by the sandbox')
  await page.getByRole('button', { name: 'Approve' }).click()
  await page.waitForURL(`${url}/publishing/api/integrations/x/callback?**`)
  // The owner began it with a token, in no browser: so this one asks the person first.
  expect(await page.innerText('body')).toContain('Nothing is connected yet')
  await page.getByRole('button', { name: 'Connect it to Demo Brand' }).click()
  await page.getByText('X is connected').waitFor()
  expect(await violations()).toEqual([])
  expect(errors).toEqual([])
})

test.runIf(browserPath)('D11 an operator creates the first account in a browser', async () => {
  await using stack = new AsyncDisposableStack()
  const { folder, url } = await startPlatform(stack, { DEMO: '0' })
  const browser = stack.use(await openBrowser())
  const { page, violations } = await browser.open()
  await page.goto(readFileSync(setupLinkFile(folder.path), 'utf8').trim())
  for (const [label, value] of [
    ['Organization', 'Union'],
    ['Your name', 'Ada'],
    ['Mail address', 'ada@example.test'],
    ['Password', 'a long enough one'],
  ] as const)
    await page.getByLabel(label).fill(value)
  await page.getByRole('button', { name: 'Set up' }).click()
  await page.getByText('The platform is set up').waitFor()
  await page.getByRole('link', { name: 'Sign in' }).click()
  await page.getByLabel('Mail address').fill('ada@example.test')
  await page.getByLabel('Password').fill('not this one')
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByText('The mail address or the password is wrong.').waitFor()
  expect(await violations()).toEqual([])
  await page.getByLabel('Password').fill('a long enough one')
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.waitForURL(`${url}/`)
})
