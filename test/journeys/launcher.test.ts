import { describe, expect, it } from 'vitest'
import { browserPath } from '../browser/browser.ts'
import { signIn } from '../kit/client.ts'
import { isAsked, openWeb } from './visit.ts'

const createPost = 'mutation($input: CreatePostInput!) { createPost(input: $input) { id } }'
const ownBrand = '{ viewer { organization { brands { nodes { id } } } } }'

describe.runIf(isAsked && browserPath)('the launcher in a browser', () => {
  it('W-01 W-02 signs a person in, shows widgets, and updates one when another person schedules a post', async () => {
    await using stack = new AsyncDisposableStack()
    const web = await openWeb(stack)
    const { page, enter, violations } = await web.visit()
    await enter(`${web.launcher}/dashboard`)
    const widget = page.locator('[data-widget=publishing][data-state=ready]')
    await widget.waitFor()
    const before = await widget.innerText()
    const other = await signIn(web.launcher.replace('launcher.', ''), 'admin@demo.test')
    const { viewer } = await other.query<{ viewer: { organization: { brands: { nodes: { id: string }[] } } } }>(ownBrand)
    const scheduledAt = new Date(Date.now() + 3_600_000).toISOString()
    await other.query(createPost, { input: { brandId: viewer.organization.brands.nodes[0]!.id, platform: 'X', copy: 'Seen on another screen', scheduledAt } })
    await expect.poll(() => widget.innerText()).not.toBe(before)
    expect(await page.evaluate('JSON.stringify({ ...localStorage, ...sessionStorage }) + document.cookie')).not.toMatch(/eyJ/)
    expect(await violations()).toEqual([])
  })

  it('L-02 changes a widget over HTTP where no WebSocket can be opened', async () => {
    await using stack = new AsyncDisposableStack()
    const web = await openWeb(stack)
    const { page, enter } = await web.visit()
    await page.routeWebSocket(/\/graphql/, socket => void socket.close())
    const streams: string[] = []
    page.on('request', request => /event-stream/.test(request.headers().accept ?? '') && streams.push(request.url()))
    await enter(`${web.launcher}/dashboard`)
    await expect.poll(() => streams.length, { timeout: 60_000 }).toBeGreaterThan(0)
    const widget = page.locator('[data-widget=publishing][data-state=ready]')
    const before = await widget.innerText()
    const other = await signIn(web.launcher.replace('launcher.', ''), 'admin@demo.test')
    const { viewer } = await other.query<{ viewer: { organization: { brands: { nodes: { id: string }[] } } } }>(ownBrand)
    const scheduledAt = new Date(Date.now() + 3_600_000).toISOString()
    await other.query(createPost, { input: { brandId: viewer.organization.brands.nodes[0]!.id, platform: 'X', copy: 'Over HTTP', scheduledAt } })
    await expect.poll(() => widget.innerText()).not.toBe(before)
    // Whatever arrives this way, the connection counts as there.
    await expect.poll(() => page.evaluate('performance.now() > 20_000'), { timeout: 60_000 }).toBe(true)
    expect(await page.getByText(/Reconnecting/).count()).toBe(0)
  })

  it('W-02 reports a wrong password, keeps the address and empties the password', async () => {
    await using stack = new AsyncDisposableStack()
    const web = await openWeb(stack)
    const { page, signIn } = await web.visit()
    await page.goto(`${web.launcher}/login`)
    await signIn('owner@demo.test', 'not the password')
    await page.getByRole('alert').getByText('The mail address or the password is wrong.').waitFor()
    expect(await page.locator('input[type=password]').inputValue()).toBe('')
    expect(await page.locator('input[type=email]').inputValue()).toBe('owner@demo.test')
    expect(new URL(page.url()).pathname).toBe('/login')
  })

  it('opens the post of an action in publishing, at its own page', async () => {
    await using stack = new AsyncDisposableStack()
    const web = await openWeb(stack)
    const { page, enter } = await web.visit()
    await enter(`${web.launcher}/actions`)
    const opened = page.context().waitForEvent('page')
    await page.locator('[data-action] a', { hasText: 'failed' }).first().click()
    const post = await opened
    await expect.poll(() => new URL(post.url()).pathname, { timeout: 60_000 }).toMatch(/^\/posts\/[0-9a-f-]{36}$/)
    await post.getByText('This one met a network that said no.').first().waitFor()
  })

  it('marks an action as done, and saves a name', async () => {
    await using stack = new AsyncDisposableStack()
    const web = await openWeb(stack)
    const { page, enter, ready } = await web.visit()
    await enter(`${web.launcher}/actions`)
    const lines = page.locator('[data-action]')
    await lines.first().waitFor()
    const count = await lines.count()
    await page
      .getByRole('button', { name: /^Mark as done/ })
      .first()
      .click()
    await expect.poll(() => lines.count()).toBe(count - 1)
    await page.reload()
    await ready()
    expect(await lines.count()).toBe(count - 1)
    await page.goto(`${web.launcher}/settings/person`)
    await page.getByLabel('Name', { exact: true }).fill('Olga Owner')
    await page.getByRole('button', { name: 'Save changes' }).click()
    await page.getByText('Your name was saved').waitFor()
    await page.reload()
    await expect.poll(() => page.getByLabel('Name', { exact: true }).inputValue()).toBe('Olga Owner')
  })
})
