import { expect, test } from 'vitest'
import { stage } from './stage.ts'

test('a web site has a page to read, and an address that leads into a private network', async () => {
  await using world = await stage()
  const page = await fetch(`${world.sandbox.origin}/site/handbook`)
  expect([page.status, page.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8'])
  expect(await page.text()).toContain('The office is open from nine to five')
  const elsewhere = await fetch(`${world.sandbox.origin}/site/elsewhere`, { redirect: 'manual' })
  expect([elsewhere.status, elsewhere.headers.get('location')]).toEqual([302, 'http://169.254.169.254/latest/meta-data/'])
  expect((await fetch(`${world.sandbox.origin}/site/nothing`)).status).toBe(404)
})
