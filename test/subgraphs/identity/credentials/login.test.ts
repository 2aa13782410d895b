import { beforeEach, describe, expect, it } from 'vitest'
import { isMailAddress } from '../../../../platform/smtp/mail-address.ts'
import { setupPath } from '../../../../subgraphs/identity/setup/rules.ts'
import { cookieOf, freshIdentity, origin, password, world } from '../identity-world.ts'

const open = freshIdentity()

const at = (path: string, init: RequestInit = {}) => open.identity.http(new Request(`${origin}${path}`, init))

describe('the sign-in page', () => {
  /** Opens the page: its cookie and the token of its form. */
  async function opened(query = '') {
    const page = await at(`/identity/login${query}`)
    expect(page.status).toBe(200)
    const line = page.headers.getSetCookie()[0]!
    expect(line).toMatch(/HttpOnly; SameSite=Strict/)
    const text = await page.text()
    return { cookie: line.split(';')[0]!, text, token: /name="token" value="([^"]+)"/.exec(text)![1]! }
  }
  const send = (fields: Record<string, string>, cookie?: string) =>
    at('/identity/login', { method: 'POST', headers: { 'x-client-address': '10.2.0.1', ...(cookie && { cookie }) }, body: new URLSearchParams(fields) })

  beforeEach(() => open.identity.provision(world))

  it('signs in and leads on, with the session’s cookie', async () => {
    const { cookie, token } = await opened()
    const answer = await send({ token, email: ' Owner@acme.test ', password }, cookie)
    expect([answer.status, answer.headers.get('location')]).toEqual([303, '/'])
    const session = cookieOf(answer)
    expect(await open.identity.authority.cookie(new Headers({ cookie: session }))).toMatchObject({ roles: ['owner'] })
  })

  const back = (text: string) => /name="return_to" value="([^"]*)"/.exec(text)?.[1]

  it('continues at the requested path, also after a wrong password', async () => {
    const { cookie, token, text } = await opened(`?return_to=${encodeURIComponent('/publishing data')}`)
    expect(back(text)).toBe(undefined)
    const path = '/publishing/data?a=%22b%22&c=d'
    const asked = await opened(`?return_to=${encodeURIComponent(path)}`)
    expect(back(asked.text)).toBe(path.replace('&', '&amp;'))
    const wrong = await send({ token, return_to: path, email: 'owner@acme.test', password: 'wrong' }, cookie)
    expect([wrong.status, back(await wrong.text())]).toEqual([401, path.replace('&', '&amp;')])
    const answer = await send({ token, return_to: path, email: 'owner@acme.test', password }, cookie)
    expect([answer.status, answer.headers.get('location')]).toEqual([303, path])
  })

  it.each([
    '//evil.example',
    '/\\evil.example',
    '/\t/evil.example',
    '/\n/evil.example',
    ' //evil.example',
    'https://evil.example/',
    'javascript:alert(1)',
    'x',
    '',
    '/ä',
  ])('leads to no other place: %j', async path => {
    const { cookie, token, text } = await opened(`?return_to=${encodeURIComponent(path)}`)
    expect(back(text)).toBe(undefined)
    const answer = await send({ token, return_to: path, email: 'owner@acme.test', password }, cookie)
    expect([answer.status, answer.headers.get('location')]).toEqual([303, '/'])
  })

  it('shows the form again with the error, and counts failures like sign-in', async () => {
    const { cookie, token } = await opened()
    const wrong = () => send({ token, email: '"owner"@acme.test', password: 'wrong' }, cookie)
    expect((await wrong()).status).toBe(400)
    const again = await send({ token, email: 'owner@acme.test', password: 'wrong one' }, cookie)
    const text = await again.text()
    expect([again.status, text.includes('the password is wrong'), text.includes('value="owner@acme.test"'), text.includes('wrong one')]).toEqual([
      401,
      true,
      true,
      false,
    ])
    for (let turn = 1; turn < 10; turn++) await send({ token, email: 'owner@acme.test', password: 'wrong' }, cookie)
    const refused = await send({ token, email: 'owner@acme.test', password }, cookie)
    expect([refused.status, Number(refused.headers.get('retry-after')) > 0]).toEqual([429, true])
  })

  describe('for a signed-in person', () => {
    /** Signs in, and opens the page again: the cookies that the browser then has. */
    async function again(query = '') {
      const first = await opened()
      const session = cookieOf(await send({ token: first.token, email: 'ada@acme.test', password }, first.cookie))
      const page = await at(`/identity/login${query}`, { headers: { cookie: session } })
      const text = await page.text()
      return { session, cookie: `${session}; ${page.headers.getSetCookie()[0]!.split(';')[0]}`, text, token: /name="token" value="([^"]+)"/.exec(text)![1]! }
    }
    const standing = (session: string) => open.identity.authority.cookie(new Headers({ cookie: session }))

    it('shows the address, and continues at the requested path without a password', async () => {
      const { cookie, text, token } = await again('?return_to=/docs')
      expect(text).toContain('<bdi>ada@acme.test</bdi>')
      const answer = await send({ token, return_to: '/docs', goOn: '' }, cookie)
      expect([answer.status, answer.headers.get('location'), answer.headers.getSetCookie()]).toEqual([303, '/docs', []])
      const gone = await send({ token, return_to: '/docs', goOn: '' }, cookie.split('; ')[1])
      expect(gone.status).toBe(401)
      const led = await again(`?return_to=${encodeURIComponent('/identity/api/auth/oauth2/authorize?prompt=login')}`)
      expect(led.text).not.toContain('name="goOn"')
    })

    it('signs out, but not for another site’s page', async () => {
      const { session, cookie, token } = await again()
      expect((await send({ token: 'guessed', signOut: '' }, cookie)).status).toBe(400)
      expect(await standing(session)).toMatchObject({ context: 'organization' })
      const answer = await send({ token, signOut: '' }, cookie)
      expect([answer.status, answer.headers.getSetCookie().some(line => /session_token=;.*Max-Age=0/.test(line))]).toEqual([200, true])
      expect(await standing(session)).toBe('stale')
      expect((await opened()).text).not.toContain('name="signOut"')
    })
  })

  it('tells everyone after a failed sign-in where to verify an address', async () => {
    const { cookie, token, text } = await opened()
    const [known, unknown] = [
      await send({ token, email: 'ada@acme.test', password: 'wrong' }, cookie),
      await send({ token, email: 'x@y.test', password }, cookie),
    ]
    expect(text).not.toContain('/identity/verify-email')
    for (const refused of [known, unknown]) expect(await refused.text()).toContain('<a href="/identity/verify-email">')
  })

  it('takes no form that a page of another site could send', async () => {
    const { cookie, token } = await opened()
    const fields = { email: 'owner@acme.test', password }
    for (const answer of [
      await send(fields),
      await send({ ...fields, token }),
      await send(fields, cookie),
      await send({ ...fields, token: 'guessed' }, cookie),
    ])
      expect([answer.status, answer.headers.getSetCookie().some(line => line.includes('session_token'))]).toEqual([400, false])
  })

  it.each([
    ['same-origin', 303],
    ['none', 303],
    ['same-site', 400],
    ['cross-site', 400],
  ])('takes the form of a browser that says it comes from %s with %i', async (site, status) => {
    const { cookie, token } = await opened()
    const headers = { 'x-client-address': '10.2.0.2', cookie, 'sec-fetch-site': site }
    const body = new URLSearchParams({ token, email: 'admin@acme.test', password })
    expect((await at('/identity/login', { method: 'POST', headers, body })).status).toBe(status)
  })
})

describe('the link for the first account', () => {
  it('is good for a day', async () => {
    const link = (await open.identity.openSetup())!
    expect(link.startsWith(setupPath)).toBe(true)
    open.clock.advance(24 * 3_600_000 - 1000)
    expect((await at(link)).status).toBe(200)
    open.clock.advance(1000)
    expect((await at(link)).status).toBe(410)
    expect((await at((await open.identity.openSetup())!)).status).toBe(200)
  })
})

describe('the rule for mail addresses', () => {
  it('allows 64 characters before the @ and 254 in all', () => {
    const domain = (characters: number) => `${`${'d'.repeat(60)}.`.repeat(4)}${'d'.repeat(characters - 244 - 3)}.de`
    expect(['x'.repeat(64), 'x'.repeat(65)].map(name => isMailAddress(`${name}@a.de`))).toEqual([true, false])
    expect([254, 255].map(all => isMailAddress(`a@${domain(all - 2)}`))).toEqual([true, false])
    expect(isMailAddress(7)).toBe(false)
  })

  it('rejects a world with an address that could not sign in', async () => {
    const people = [{ email: 'ada@localhost', name: 'Ada' }]
    await expect(open.identity.provision({ password, people, organizations: [], keys: [] })).rejects.toThrow('ada@localhost')
  })
})
