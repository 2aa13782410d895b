import Fastify from 'fastify'
import { describe, expect, it } from 'vitest'
import { localOrigins } from '../../config/hosts.ts'
import { doorRefusal, refusalOfThrown } from '../../router/door/errors.ts'
import { prefersHtml } from '../../router/door/headers.ts'
import { canonicalPath, createHosts } from '../../router/hosts.ts'
import { answersHere, misplaced } from '../../router/rest/place.ts'
import { site } from '../../web/marketing/pages.ts'
import { apps } from '../../web/serve/apps.ts'
import { takesCoding } from '../../web/serve/assets.ts'
import type { Built } from '../../web/serve/built.ts'
import { mountWeb, type Standing } from '../../web/serve/mount.ts'
import { languages } from '../../web/serve/words.ts'

const publicUrl = 'http://localhost:4000'
const built: Built = {
  stamp: '',
  style: 'style-1.css',
  login: 'login-1.js',
  worker: 'worker-1.js',
  site: 'site-1.js',
  embed: 'embed-1.js',
  icons: { 192: 'icon-192-1.png', 512: 'icon-512-1.png' },
  files: [],
  pages: Object.fromEntries(
    apps.flatMap(({ app, pages }) =>
      Object.keys(pages).map(name => [
        `${app}.${name}`,
        {
          entry: `${app}-1.js`,
          chunks: [`${app}-1.js`, `${name}-1.js`],
          words: { en: ['en-1.js'], de: ['de-1.js'], 'en-XA': ['xa-1.js'], 'ar-XB': ['xb-1.js'] },
        },
      ]),
    ),
  ),
}

/** Pages before the hosts of development. @param standing how far the person is who asks */
async function open({ standing = 'anonymous' as Standing, made = built as Built | null, isDevelopment = true, developerSignup = null as string | null } = {}) {
  const hosts = createHosts(publicUrl, localOrigins(publicUrl))
  const app = Fastify({ rewriteUrl: ({ headers, url }) => canonicalPath(hosts, headers.host, url ?? '/') })
  const web = mountWeb(app, {
    publicUrl,
    origins: hosts.pages(),
    serviceOf: hosts.serviceOf,
    isMarketing: hosts.isMarketing,
    addressOf: (slug, path) => hosts.addressOf(slug, 'web', path),
    keepHost(request, slug) {
      if (!answersHere(hosts, request, 'web')) throw misplaced(hosts, request, slug, 'web')
    },
    standingOf: async () => standing,
    prefersHtml,
    refusal: doorRefusal,
    isDevelopment,
    developerSignup,
    built: made,
  })
  app.get('/', (request, reply) => web.start(request, reply) ?? reply.send('overview'))
  app.setErrorHandler((error, _, reply) =>
    reply.code(refusalOfThrown(error)?.status ?? 500).send({ detail: refusalOfThrown(error)?.refusal.message ?? String(error) }),
  )
  app.setNotFoundHandler((request, reply) => web.lost(request, reply) ?? reply.code(404).send({}))
  const get = (host: string, url: string, headers: Record<string, string> = {}, method: 'GET' | 'POST' | 'HEAD' | 'OPTIONS' = 'GET') =>
    app.inject({ method, url, headers: { host: `${host}:4000`, accept: 'text/html,*/*;q=0.8', ...headers } })
  return { get, [Symbol.asyncDispose]: () => app.close() }
}

describe('mountWeb', () => {
  it('answers a page on both web hosts of its service, and with the prefix on the platform’s', async () => {
    await using pages = await open()
    const bases = []
    for (const [host, path] of [
      ['publishing.localhost', '/posts?status=failed'],
      ['web.publishing.localhost', '/posts/one'],
      ['localhost', '/publishing/posts'],
    ] as const) {
      const answer = await pages.get(host, path)
      expect([answer.statusCode, answer.headers['content-type']]).toEqual([200, 'text/html; charset=utf-8'])
      expect(answer.body).toContain('data-app="publishing" data-page="publishing.posts"')
      bases.push(/data-base="([^"]*)"/.exec(answer.body)?.[1])
    }
    expect(bases).toEqual(['', '', '/publishing'])
  })

  it('answers no page of one service on the host of another, nor of the marketing site', async () => {
    await using pages = await open({ standing: 'finished' })
    for (const [host, path] of [
      ['agents.localhost', '/posts'],
      ['agents.localhost', '/publishing/posts'],
      ['launcher.localhost', '/posts'],
      ['marketing.launcher.localhost', '/dashboard'],
      ['localhost', '/posts'],
    ] as const)
      expect((await pages.get(host, path)).statusCode, `${host}${path}`).toBe(404)
  })

  it('draws the frame, the shape of the page and its files in at most 8 kB, without a script or a style of its own', async () => {
    await using pages = await open()
    for (const [name, { paths }] of Object.entries(apps.find(({ app }) => app === 'publishing')!.pages)) {
      const { body } = await pages.get('publishing.localhost', paths[0], { 'accept-language': 'de' })
      expect(Buffer.byteLength(body), name).toBeLessThanOrEqual(8192)
      expect(body).toContain('<html lang="de" dir="ltr"')
      expect(body).toMatch(/<main\b[\s\S]*data-state="loading"/)
      for (const file of ['publishing-1.js', `${name}-1.js`, 'de-1.js']) expect(body).toContain(`<link rel="modulepreload" href="/assets/${file}">`)
      expect(body).not.toMatch(/<script(?![^>]*src=)|<style|\sstyle=|\son\w+=/)
    }
  })

  it('sends a policy with a nonce of its own each time, and headers that keep a page to itself', async () => {
    await using pages = await open()
    const [one, two] = [await pages.get('publishing.localhost', '/posts'), await pages.get('publishing.localhost', '/posts')]
    const nonces = [one, two].map(({ headers, body }) => {
      const nonce = /'nonce-([^']+)'/.exec(String(headers['content-security-policy']))?.[1]
      expect(body).toContain(`<meta property="csp-nonce" nonce="${nonce}" content="${nonce}">`)
      return nonce
    })
    expect(nonces[0]).not.toBe(nonces[1])
    expect(nonces[0]!.length).toBeGreaterThanOrEqual(22)
    expect(one.headers).toMatchObject({
      'cache-control': 'private, no-cache',
      'x-robots-tag': 'noindex',
      'referrer-policy': 'no-referrer',
      'cross-origin-opener-policy': 'same-origin',
      vary: 'accept-language',
    })
    expect(one.headers['content-security-policy']).toMatch(/connect-src 'self' ws:\/\/publishing\.localhost:4000;/)
    expect(one.headers['content-security-policy']).not.toMatch(/unsafe-|\*/)
  })

  it('sends a stranger from the launcher to sign-in with the way back, and who is signed in away from it', async () => {
    await using strangers = await open()
    expect((await strangers.get('launcher.localhost', '/actions?app=x')).headers.location).toBe('/login?return_to=%2Factions%3Fapp%3Dx')
    expect((await strangers.get('localhost', '/launcher/actions')).headers.location).toBe('/launcher/login?return_to=%2Factions')
    await using people = await open({ standing: 'finished' })
    expect((await people.get('launcher.localhost', '/actions')).statusCode).toBe(200)
    expect((await people.get('launcher.localhost', '/login')).headers.location).toBe('/dashboard')
    expect((await people.get('launcher.localhost', '/login?return_to=/settings')).headers.location).toBe('/settings')
    expect((await people.get('launcher.localhost', '/login?return_to=/settings%3Fname=%25C3%25BC')).headers.location).toBe('/settings?name=%C3%BC')
    for (const elsewhere of ['//evil.example', 'https://evil.example', '/\\evil.example', '/\t/evil.example', '/\n/evil.example', '/\0', '/ü€'])
      expect((await people.get('launcher.localhost', `/login?return_to=${encodeURIComponent(elsewhere)}`)).headers.location).toBe('/dashboard')
  })

  it('sends who is not finished to the onboarding of the launcher, and who is away from it', async () => {
    await using beginners = await open({ standing: 'unfinished' })
    for (const path of ['/dashboard', '/actions', '/settings', '/login', '/login?return_to=/settings'])
      expect((await beginners.get('launcher.localhost', path)).headers.location, path).toBe('/onboarding')
    expect((await beginners.get('localhost', '/launcher/apps')).headers.location).toBe('/launcher/onboarding')
    expect((await beginners.get('launcher.localhost', '/onboarding')).statusCode).toBe(200)
    await using people = await open({ standing: 'finished' })
    expect((await people.get('launcher.localhost', '/onboarding')).headers.location).toBe('/dashboard')
    await using strangers = await open()
    expect((await strangers.get('launcher.localhost', '/onboarding')).headers.location).toBe('/login?return_to=%2Fonboarding')
    await using others = await open({ standing: 'signed-in' })
    for (const path of ['/onboarding', '/dashboard']) expect((await others.get('launcher.localhost', path)).statusCode).toBe(200)
    expect((await others.get('launcher.localhost', '/login')).headers.location).toBe('/dashboard')
  })

  it('sends the page, and sign-in its form, while nobody can tell who is signed in', async () => {
    await using pages = await open({ standing: 'unknown' })
    const page = await pages.get('launcher.localhost', '/actions')
    expect([page.statusCode, page.body.includes('data-page="launcher.actions"')]).toEqual([200, true])
    const login = await pages.get('launcher.localhost', '/login?return_to=/actions')
    expect([login.statusCode, login.body.includes('<form method="post"')]).toEqual([200, true])
  })

  it('keeps sign-in out of every cache, with its script before its form', async () => {
    await using pages = await open()
    const { headers, body } = await pages.get('publishing.localhost', '/login')
    expect(headers['cache-control']).toBe('no-store')
    expect(body.indexOf('<script src="/assets/login-1.js">')).toBeGreaterThan(0)
    expect(body.indexOf('<script')).toBeLessThan(body.indexOf('<form method="post"'))
  })

  it('takes a code at /callback, and refuses any token in an address', async () => {
    await using pages = await open()
    expect((await pages.get('publishing.localhost', '/callback')).headers.location).toBe('/login')
    expect((await pages.get('publishing.localhost', '/callback?sso_code=one')).headers['cache-control']).toBe('no-store')
    for (const path of ['/callback?access_token=one', '/posts?id_token=one', '/callback?sso_code=one&token=two', '/callback?jwt=one'])
      expect((await pages.get('publishing.localhost', path)).statusCode).toBe(400)
  })

  it('answers 404 with the app’s own page where it has none, 405 to other methods, and never HTML to who asks for JSON', async () => {
    await using pages = await open()
    const lost = await pages.get('publishing.localhost', '/no/such/page')
    expect([lost.statusCode, lost.body.includes('data-page="publishing.lost"')]).toEqual([404, true])
    expect((await pages.get('publishing.localhost', '/api/nothing')).headers['content-type']).toContain('json')
    expect((await pages.get('publishing.localhost', '/posts', {}, 'POST')).statusCode).toBe(405)
    expect((await pages.get('publishing.localhost', '/posts', {}, 'OPTIONS')).headers.allow).toBe('GET, HEAD, OPTIONS')
    expect((await pages.get('publishing.localhost', '/posts', {}, 'HEAD')).statusCode).toBe(200)
    expect((await pages.get('publishing.localhost', '/posts', { accept: 'application/json' })).headers['content-type']).toContain('json')
  })

  it('leads from / of a service’s host to its start, and leaves that of the platform alone', async () => {
    await using pages = await open()
    expect((await pages.get('publishing.localhost', '/')).headers.location).toBe('/dashboard')
    expect((await pages.get('localhost', '/')).body).toBe('overview')
    expect((await pages.get('marketing.launcher.localhost', '/')).body).toContain('data-app="marketing"')
  })

  it('brings the code of a sign-in to the app of payments, which has no sign-in of its own, and answers any address with its page', async () => {
    await using pages = await open()
    const callback = await pages.get('payments.localhost', '/callback?sso_code=one')
    expect([callback.statusCode, callback.headers['cache-control']]).toEqual([200, 'no-store'])
    expect(callback.body).toContain('data-page="payments.callback"')
    expect(callback.body).toContain('<script type="module" src="/assets/payments-1.js">')
    const lost = await pages.get('payments.localhost', '/no/such/page')
    expect([lost.statusCode, lost.body.includes('data-page="payments.lost"')]).toEqual([200, true])
    expect((await pages.get('payments.localhost', '/sw.js')).headers['content-type']).not.toContain('javascript')
    expect((await pages.get('payments.localhost', '/overview')).body).not.toContain('manifest')
  })

  it('serves the marketing site on its own host as static pages, and under its prefix on the platform’s', async () => {
    await using pages = await open()
    for (const path of Object.values(site).map(({ path }) => path.replace(':package', 'three'))) {
      const { statusCode, headers, body } = await pages.get('marketing.launcher.localhost', path)
      expect([path, statusCode, headers['set-cookie'], headers['x-robots-tag']]).toEqual([path, 200, undefined, undefined])
      expect(body).toMatch(/<h1>[^<]{4,}<\/h1>/)
      expect(body).toMatch(/<meta name="description" content="[^"]{20,}"/)
      expect(body).not.toMatch(/<script(?![^>]*src=)|<style|\sstyle=|\son\w+=/)
      // A scanner for addresses that run script takes the words of a sentence for one.
      for (const language of languages)
        expect((await pages.get('marketing.launcher.localhost', path, { 'accept-language': language })).body, path).not.toMatch(/javascript:/i)
    }
    expect((await pages.get('marketing.launcher.localhost', '/pricing', { 'accept-language': 'de' })).body).toContain('<h1>Preise</h1>')
    expect((await pages.get('localhost', '/marketing/pricing')).body).toContain('data-base="/marketing"')
    for (const [host, path] of [
      ['marketing.launcher.localhost', '/checkout/none'],
      ['marketing.launcher.localhost', '/no/such/page'],
      ['publishing.localhost', '/marketing/pricing'],
    ] as const)
      expect((await pages.get(host, path)).statusCode, `${host}${path}`).toBe(404)
    expect((await pages.get('marketing.launcher.localhost', '/signup')).headers.location).toBe('http://launcher.localhost:4000/login?sign_up=1')
  })

  it('sends developers to the pages of the developer platform where it has some, else where everybody signs up', async () => {
    const host = 'marketing.launcher.localhost'
    await using without = await open()
    expect((await without.get(host, '/developers/signup')).headers.location).toBe('http://launcher.localhost:4000/login?sign_up=1')
    await using pages = await open({ developerSignup: 'https://developers.example/signup' })
    const answer = await pages.get(host, '/developers/signup')
    expect([answer.statusCode, answer.headers.location]).toEqual([302, 'https://developers.example/signup'])
    expect((await pages.get(host, '/signup')).headers.location).toBe('http://launcher.localhost:4000/login?sign_up=1')
    expect((await pages.get('publishing.localhost', '/marketing/developers/signup')).statusCode).toBe(404)
  })

  it('shows every component in development alone', async () => {
    await using development = await open({ standing: 'finished' })
    expect((await development.get('launcher.localhost', '/design')).statusCode).toBe(200)
    await using production = await open({ standing: 'finished', isDevelopment: false })
    expect((await production.get('launcher.localhost', '/design')).statusCode).toBe(404)
  })

  it('says which command builds the pages when they are not built', async () => {
    await using pages = await open({ made: null })
    const answer = await pages.get('publishing.localhost', '/posts')
    expect([answer.statusCode, answer.json().detail]).toEqual([503, expect.stringContaining('npm run build:web')])
    expect((await pages.get('publishing.localhost', '/assets/style-1.css')).statusCode).toBe(404)
  })
})

describe('takesCoding', () => {
  it('takes what a client names, and not what it refuses or what only resembles it', () => {
    for (const header of ['br', 'gzip, br', 'GZIP;q=0.5,BR;q=0.1', 'br ; q=1.0']) expect(takesCoding(header, 'br'), header).toBe(true)
    for (const header of [undefined, '', 'gzip', 'br;q=0', 'gzip, br; q=0.000', 'x-br', 'br-dict']) expect(takesCoding(header, 'br'), header).toBe(false)
  })
})
