import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { browserPath, openBrowser } from './browser.ts'
import { startPlatform } from './platform.ts'

const stack = new AsyncDisposableStack()
let url: string
/** A page of another origin of this machine, which may use the platform in development. */
let elsewhere: string
let browser: Awaited<ReturnType<typeof openBrowser>>
beforeAll(async () => {
  if (!browserPath) return
  url = (await startPlatform(stack)).url
  browser = stack.use(await openBrowser())
  const pages = createServer((_request, response) => void response.setHeader('content-type', 'text/html').end('<!doctype html>'))
  stack.defer(() => void pages.close())
  await new Promise<void>(resolve => void pages.listen(0, 'localhost', resolve))
  elsewhere = `http://localhost:${(pages.address() as AddressInfo).port}/`
})
afterAll(() => stack.disposeAsync())

/** Runs in the page: signs in with the session cookie, follows the widgets by the browser's own EventSource, and tells the first. */
const firstEvent = (url: string) => `(async () => {
  await fetch('${url}/identity/api/auth/sign-in/email', {
    method: 'POST',
    credentials: 'include',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ email: 'owner@demo.test', password: 'supergraph-demo' }),
  })
  const source = new EventSource('${url}/graphql?' + new URLSearchParams({ query: 'subscription { widgetUpdated { app } }' }), { withCredentials: true })
  const told = await new Promise(resolve => {
    source.addEventListener('next', event => resolve(JSON.parse(event.data)))
    source.addEventListener('error', () => resolve('refused'))
  })
  source.close()
  return told
})()`

describe.runIf(browserPath)('an EventSource, which can send no header,', () => {
  test.each([
    ['of the platform itself', () => `${url}/docs`],
    ['of another origin that may use it', () => elsewhere],
  ])('follows with the session of whoever opened a page %s', async (_where, address) => {
    const { page } = await browser.open()
    await page.goto(address())
    expect(await page.evaluate(firstEvent(url))).toEqual({ data: { widgetUpdated: { app: expect.any(String) } } })
  })
})
