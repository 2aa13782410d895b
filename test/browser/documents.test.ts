import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { signIn } from '../kit/client.ts'
import { browserPath, openBrowser, type WatchedPage } from './browser.ts'
import { startPlatform } from './platform.ts'

const paths = ['/', '/identity/login', '/docs', '/docs/publishing', '/docs/graph', '/docs/graph/Mutation', '/docs/graph/Post', '/explorer'] as const
const shown: Readonly<Record<string, string>> = {
  '/explorer': '.graphiql-response',
  '/identity/login': 'form',
  '/docs': '.opblock',
  '/docs/publishing': '.opblock',
}

const stack = new AsyncDisposableStack()
let url: string
let browser: Awaited<ReturnType<typeof openBrowser>>
beforeAll(async () => {
  if (!browserPath) return
  url = (await startPlatform(stack)).url
  browser = stack.use(await openBrowser())
})
afterAll(() => stack.disposeAsync())

async function visit(path: string, options?: Parameters<typeof browser.open>[0]): Promise<WatchedPage> {
  const watched = await browser.open(options)
  await watched.page.goto(url + path)
  await watched.page.waitForSelector(shown[path.split('?')[0]!] ?? '#content')
  return watched
}

/** Signs the demo world's owner in on the page for it. */
async function signInOn(path: string): Promise<WatchedPage> {
  const watched = await browser.open()
  await watched.page.goto(`${url}/identity/login?return_to=${encodeURIComponent(path)}`)
  await watched.page.getByLabel('Mail address').fill('owner@demo.test')
  await watched.page.getByLabel('Password').fill('supergraph-demo')
  await watched.page.getByRole('button', { name: 'Sign in' }).click()
  await watched.page.waitForSelector(shown[path]!)
  return watched
}

describe.runIf(browserPath)('S-15 a page of the platform', () => {
  test.each(paths)('%s loads nothing from elsewhere and breaks no rule, wide and narrow, light and dark', async path => {
    const watched = await visit(path, { viewport: { width: 1280, height: 800 } })
    const { page } = watched
    for (const colorScheme of ['light', 'dark'] as const)
      for (const width of [1280, 360]) {
        await page.emulateMedia({ colorScheme })
        await page.setViewportSize({ width, height: 800 })
        const at = `${path} ${colorScheme} ${width}`
        await expect.poll(() => page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth'), { message: at }).toBe(0)
        const ground = await page.evaluate<string>(`getComputedStyle(document.body).backgroundColor`)
        const brightest = Math.max(...ground.match(/\d+/g)!.slice(0, 3).map(Number))
        expect(brightest < 128, `${at} has the ground ${ground}`).toBe(colorScheme === 'dark')
        // A name that is broken within a word reads as two.
        expect(await page.evaluate('[...document.querySelectorAll("th code")].filter(name => name.getClientRects().length > 1).length'), at).toBe(0)
      }
    expect(watched.foreign()).toEqual([])
    expect(await watched.violations()).toEqual([])
    expect(watched.errors).toEqual([])
    await page.context().close()
  })

  test('can be used by keyboard: past the bar to the content, and along the bar to every other page', async () => {
    const { page } = await visit('/')
    await page.keyboard.press('Tab')
    expect(await page.evaluate('document.activeElement.textContent')).toBe('Skip to the content')
    expect(await page.locator(':focus').boundingBox()).toMatchObject({ x: 0 })
    await page.keyboard.press('Enter')
    expect(await page.evaluate('document.activeElement.id')).toBe('content')
    await page.keyboard.press('Tab')
    expect(await page.evaluate('document.activeElement.textContent')).toMatch(/^Launcher/)
    for (const name of ['GraphQL explorer', 'Graph', 'REST'])
      expect(await page.getByRole('navigation').getByRole('link', { name, exact: true }).count()).toBe(1)
  })

  test('/ lists each service with its state and documents, and in development the demo accounts', async () => {
    const { page } = await visit('/')
    const row = page.getByRole('row', { name: /^Publishing/ })
    expect(await row.innerText()).toMatch(/ready/)
    expect(await row.getByRole('link', { name: 'OpenAPI' }).getAttribute('href')).toBe('/publishing/openapi.json')
    const text = await page.innerText('main')
    for (const said of ['Identity', 'Launcher', 'owner@demo.test', 'supergraph-demo', 'database: ready']) expect(text).toContain(said)
    for (const link of await page.locator('main a').all()) {
      const address = new URL((await link.getAttribute('href'))!, url)
      // Names below localhost are the browser's: Node finds no address for them.
      if (!address.hostname.endsWith('.localhost')) expect((await fetch(address, { headers: { accept: 'text/html' } })).status, address.href).toBe(200)
    }
  })
})

describe.runIf(browserPath)('S-15 the REST reference', () => {
  const execute = async ({ page }: WatchedPage) => {
    // The page omits what is out of sight, because the document has more than a hundred calls.
    await page.getByPlaceholder('Filter by tag').fill('publishing/posts')
    const block = page.locator('[id$="/posts-posts"]')
    await block.locator('.opblock-summary-control').click()
    await block.getByRole('button', { name: 'Execute' }).click()
    return block.locator('.live-responses-table .response-col_status').last().innerText()
  }

  test('tries a call without credentials, with the token of a signed-in session, and with a pasted one', async () => {
    const anonymous = await visit('/docs/publishing', {})
    expect(await execute(anonymous)).toContain('401')

    const known = await signInOn('/docs/publishing')
    await known.page.getByRole('button', { name: 'Use my session’s token' }).click()
    await known.page.getByText('Calls carry your token until').waitFor()
    expect(await execute(known)).toContain('200')
    expect(await known.page.locator('.live-responses-table').innerText()).toContain('"totalCount"')
    expect(await known.violations()).toEqual([])
    expect(known.foreign()).toEqual([])

    const pasted = await visit('/docs/publishing', {})
    await pasted.page.getByRole('button', { name: 'Authorize', exact: true }).click()
    const dialog = pasted.page.locator('.modal-ux')
    await dialog
      .getByRole('textbox')
      .first()
      .fill((await signIn(url)).token)
    await dialog.getByRole('button', { name: 'Apply credentials' }).first().click()
    await dialog.getByRole('button', { name: 'Close' }).first().click()
    expect(await execute(pasted)).toContain('200')
  })
})

describe.runIf(browserPath)('S-15 the explorer', () => {
  test('runs operations as the signed-in person, keeps a history, and documents the graph', async () => {
    const watched = await signInOn('/explorer')
    const { page } = watched
    const answer = page.locator('.graphiql-response')
    await page.getByRole('button', { name: /Execute query/ }).click()
    await page.getByRole('menuitem', { name: 'Me' }).click()
    await expect.poll(() => answer.innerText()).toContain('"USER"')
    await page.getByRole('button', { name: 'Show History' }).click()
    await expect.poll(() => page.locator('.graphiql-history-items').innerText()).toContain('Me')
    await page.getByRole('button', { name: 'Show Documentation Explorer' }).click()
    await expect.poll(() => page.locator('.graphiql-doc-explorer').innerText()).toMatch(/Query/)
    expect(watched.foreign()).toEqual([])
    expect(await watched.violations()).toEqual([])
  })

  test('subscribes over graphql-ws with the credentials of its headers', async () => {
    const token = (await signIn(url)).token
    const query = 'subscription { widgetUpdated { title } }'
    const watched = await visit(`/explorer?query=${encodeURIComponent(query)}`, {})
    const { page } = watched
    const sockets: string[] = []
    page.on('websocket', socket => sockets.push(socket.url()))
    await page.getByRole('button', { name: 'Headers' }).click()
    await page.locator('section[aria-label="Headers"] .monaco-editor, .graphiql-editor-tool .graphiql-editor:not(.hidden) .monaco-editor').last().click()
    await page.keyboard.insertText(JSON.stringify({ Authorization: `Bearer ${token}` }))
    await page.getByRole('button', { name: /Execute query/ }).click()
    // Each event takes the place of the one before; which service's is the last is nobody's promise.
    await expect.poll(() => page.locator('.graphiql-response').innerText()).toMatch(/"widgetUpdated":\s\{\s+"title":\s"\w+"/)
    expect(sockets).toEqual([`${url.replace('http', 'ws')}/graphql`])
    expect(await watched.violations()).toEqual([])
  })
})
