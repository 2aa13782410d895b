import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { getMigrations } from 'better-auth/db/migration'
import { createLocalJWKSet, decodeJwt, decodeProtectedHeader, jwtVerify } from 'jose'
import pg from 'pg'
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { createAttempts } from '../../../../subgraphs/identity/credentials/guessing/attempts.ts'
import { createSemaphore } from '../../../../subgraphs/identity/credentials/guessing/queue.ts'
import { credentialOptions } from '../../../../subgraphs/identity/credentials/options.ts'
import type { Provisioned } from '../../../../subgraphs/identity/setup/provision.ts'
import { openLimits } from '../../../../subgraphs/identity/stores/credentials/limits.ts'
import { cookieOf, execute, freshIdentity, origin, password, requestSignIn, userViewer, world } from '../identity-world.ts'

const base = `${origin}/identity/api/auth`

describe('signing in', () => {
  const open = freshIdentity()
  let made: Provisioned

  beforeEach(async () => {
    made = await open.identity.provision(world)
  })

  const signIn = (...[email, secret, from]: [string, string?, Parameters<typeof requestSignIn>[3]?]) => requestSignIn(open.identity, email, secret, from)
  const read = async (answer: Response) => (await answer.json()) as Record<string, unknown>
  const tokenOf = async (answer: Response) => (await read(answer)).accessToken as string
  const get = (path: string, headers: Record<string, string> = {}) => open.identity.http(new Request(`${base}${path}`, { headers }))

  it.each(['\0', '\0\0', '\ud83d'])('a password that would hash like the right one is another: %j at its end', async more => {
    const answer = await signIn('owner@acme.test', `${password}${more}`)
    expect([answer.status, (await read(answer)).code]).toEqual([400, 'BAD_USER_INPUT'])
  })

  it('I-01 answers with a session cookie and an access token that the published keys verify', async () => {
    const answer = await signIn('owner@acme.test')
    expect(answer.status).toBe(200)
    const line = answer.headers.getSetCookie()[0]!
    expect(line).toMatch(/HttpOnly/i)
    expect(line).toMatch(/SameSite=Lax/i)
    expect(line).not.toMatch(/Domain=/i)
    const body = await read(answer)
    expect(Object.keys(body).sort()).toEqual(['accessToken', 'expiresAt', 'user'])
    const { authority } = open.identity
    const { payload } = await jwtVerify(body.accessToken as string, createLocalJWKSet(await authority.jwks()), authority)
    expect(decodeProtectedHeader(body.accessToken as string).alg).toBe('EdDSA')
    expect(payload).toMatchObject({ sub: made.users['owner@acme.test'], org: made.organizations.acme, ctx: 'organization', roles: ['owner'], iss: origin })
    expect(payload.exp! - payload.iat!).toBe(600)
    expect(body.expiresAt).toBe(new Date(payload.exp! * 1000).toISOString())
    const sessions = await authority.sessions([payload.sid as string])
    expect(sessions.get(payload.sid as string)).toMatchObject({ userId: payload.sub, organizationId: payload.org, roles: ['owner'] })
  })

  it('answers, without logging, an untrusted page and an unknown path', async () => {
    const told = vi.spyOn(open.foundation.log, 'error')
    onTestFinished(() => told.mockRestore())
    const ask = (headers: Record<string, string>, more: object) =>
      open.identity.http(
        new Request(`${base}/sign-in/email`, {
          method: 'POST',
          headers: { 'content-type': 'application/json', ...headers },
          body: JSON.stringify({ email: 'owner@acme.test', password, ...more }),
        }),
      )
    const answers = [await ask({ origin: 'https://evil.test' }, {}), await ask({}, { callbackURL: 'https://evil.test/x' })]
    expect(answers.map(({ status }) => status)).toEqual([403, 403])
    expect(told).not.toHaveBeenCalled()
  })

  it('I-01 answers a wrong password like an unknown account', async () => {
    const wrong = await signIn('owner@acme.test', 'wrong password')
    const unknown = await signIn('nobody@acme.test', 'wrong password')
    expect([wrong.status, unknown.status]).toEqual([401, 401])
    expect(wrong.headers.get('content-type')).toBe('application/problem+json')
    const [first, second] = [await read(wrong), await read(unknown)]
    expect(first).toEqual(second)
    expect(first.code).toBe('UNAUTHENTICATED')
  })

  it('rejects an invalid request with a clear message', async () => {
    const post = (body: string, type = 'application/json') =>
      open.identity.http(new Request(`${base}/sign-in/email`, { method: 'POST', headers: { 'content-type': type }, body }))
    for (const answer of [
      await post('{'),
      await post('[]'),
      await post('{"email":"owner@acme.test"}'),
      await post('{"email":7,"password":"x"}'),
      await post('{"email":"none","password":"x"}'),
      await post('{"email":"owner@localhost","password":"x"}'),
      await post(`{"email":"${'x'.repeat(65)}@acme.test","password":"x"}`),
      await post('{"email":"A\\u0000@b.c","password":"x"}'),
      await post('{"email":"a@b\\u001f.c","password":"x"}'),
      await post('{"email":"a@b\\u007f.c","password":"x"}'),
      await post('{"email":"a\\ud800@b.c","password":"x"}'),
      await post('x', 'text/plain'),
      await post(JSON.stringify({ email: 'owner@acme.test', password: 'x'.repeat(20_000) })),
    ]) {
      expect(answer.status).toBe(400)
      expect((await read(answer)).code).toBe('BAD_USER_INPUT')
    }
  })

  it('looks at a password of 256 characters, and at none that is longer', async () => {
    expect((await signIn('owner@acme.test', 'x'.repeat(256))).status).toBe(401)
    const longer = await signIn('owner@acme.test', 'x'.repeat(257))
    expect(longer.status).toBe(400)
    expect((await read(longer)).detail).toContain('1 to 256 characters')
  })

  it('accepts a form as well as JSON, with an unchanged body', async () => {
    const body = new URLSearchParams({ email: 'owner@acme.test', password })
    const answer = await open.identity.http(new Request(`${base}/sign-in/email`, { method: 'POST', body }))
    expect(answer.status).toBe(200)
  })

  it('serves no other endpoint of the credential library', async () => {
    for (const [method, path] of [
      ['POST', '/sign-in/social'],
      ['GET', '/get-session'],
      ['GET', '/list-sessions'],
      ['POST', '/update-user'],
      ['POST', '/delete-user'],
      ['GET', '/ok'],
      ['GET', '/error'],
    ] as const) {
      const answer = await open.identity.http(new Request(`${base}${path}`, { method }))
      expect(answer.status, path).toBe(404)
    }
  })

  it('accepts clients that send fetch metadata without an Origin, and refuses a foreign origin with a cookie', async () => {
    expect((await signIn('owner@acme.test', password, { headers: { 'sec-fetch-mode': 'cors' } })).status).toBe(200)
    const cookie = cookieOf(await signIn('owner@acme.test'))
    const signOut = (from: string) => open.identity.http(new Request(`${base}/sign-out`, { method: 'POST', headers: { cookie, origin: from } }))
    expect((await signOut('https://evil.test')).status).toBe(403)
    expect((await signOut('https://web.test')).status).toBe(200)
  })

  it('I-01 renews the token by the cookie until the person signs out', async () => {
    const cookie = cookieOf(await signIn('ada@acme.test'))
    const renewed = await get('/token', { cookie })
    expect(renewed.status).toBe(200)
    const body = await read(renewed)
    expect(decodeJwt(body.accessToken as string)).toMatchObject({ sub: made.users['ada@acme.test'], roles: ['member'] })
    expect(body.expiresAt).toEqual(expect.any(String))
    const out = await open.identity.http(
      new Request(`${base}/sign-out`, { method: 'POST', headers: { cookie, origin, 'content-type': 'application/json' }, body: '{}' }),
    )
    expect(out.status).toBe(200)
    expect(out.headers.getSetCookie()[0]).toMatch(/^identity\.session_token=;.*Max-Age=0/)
    expect((await get('/token', { cookie })).status).toBe(401)
    expect(await open.identity.authority.cookie(new Headers({ cookie }))).toBe('stale')
  })

  describe('a program with an access token and no cookie', () => {
    const signOut = (authorization: string, headers: Record<string, string> = {}) =>
      open.identity.http(new Request(`${base}/sign-out`, { method: 'POST', headers: { authorization, ...headers } }))
    const stands = async (token: string) => {
      const { sid } = decodeJwt(token) as { sid: string }
      return (await open.identity.authority.sessions([sid])).has(sid)
    }

    it('I-01 signs out of the token’s session only; repeating it is no error', async () => {
      const [one, other] = [await tokenOf(await signIn('ada@acme.test')), await tokenOf(await signIn('ada@acme.test'))]
      const out = await signOut(`Bearer ${one}`)
      expect([out.status, await read(out)]).toEqual([200, { success: true }])
      expect([await stands(one), await stands(other)]).toEqual([false, true])
      expect((await signOut(`bearer ${one}`)).status).toBe(200)
    })

    it('signs out with an expired token, which still names its session', async () => {
      const token = await tokenOf(await signIn('ada@acme.test'))
      open.clock.advance(3600_000)
      expect(await stands(token)).toBe(true)
      expect((await signOut(`Bearer ${token}`)).status).toBe(200)
      expect(await stands(token)).toBe(false)
    })

    it('gets an error when the token is not ours', async () => {
      const token = await tokenOf(await signIn('ada@acme.test'))
      const [head = '', claims = '', signature = ''] = token.split('.')
      const forged = [head, claims, `${signature.startsWith('A') ? 'B' : 'A'}${signature.slice(1)}`].join('.')
      for (const authorization of [`Bearer ${forged}`, 'Bearer x', `Basic ${token}`, 'Bearer']) {
        const answer = await signOut(authorization)
        expect([answer.status, (await read(answer)).code], authorization).toEqual([401, 'UNAUTHENTICATED'])
      }
      expect(await stands(token)).toBe(true)
    })

    it('ends nothing when a cookie of an untrusted page is sent too', async () => {
      const answer = await signIn('ada@acme.test')
      const [cookie, token] = [cookieOf(answer), await tokenOf(answer)]
      expect((await signOut(`Bearer ${token}`, { cookie, origin: 'https://evil.test' })).status).toBe(403)
      expect(await stands(token)).toBe(true)
    })
  })

  it('reads its own cookie, and tells a forged one from none', async () => {
    const { authority } = open.identity
    const cookie = cookieOf(await signIn('owner@acme.test'))
    const session = await authority.cookie(new Headers({ cookie: `theme=dark; ${cookie}` }))
    expect(session).toMatchObject({ userId: made.users['owner@acme.test'], organizationId: made.organizations.acme, roles: ['owner'], context: 'organization' })
    expect(await authority.cookie(new Headers({ cookie: 'theme=dark' }))).toBeNull()
    expect(await authority.cookie(new Headers())).toBeNull()
    const [token = '', signature = ''] = decodeURIComponent(cookie.slice(cookie.indexOf('=') + 1)).split('.')
    const forged = Buffer.from(signature, 'base64')
    forged[0]! ^= 1
    const asCookie = (bytes: Buffer) => new Headers({ cookie: `identity.session_token=${encodeURIComponent(`${token}.${bytes.toString('base64')}`)}` })
    expect(await authority.cookie(asCookie(Buffer.from(signature, 'base64')))).toMatchObject({ userId: made.users['owner@acme.test'] })
    expect(await authority.cookie(asCookie(forged))).toBe('stale')
    expect(await authority.cookie(asCookie(forged.subarray(0, 31)))).toBe('stale')
    expect(await authority.cookie(new Headers({ cookie: 'identity.session_token=x' }))).toBe('stale')
    open.clock.advance(8 * 24 * 3600_000)
    expect(await authority.cookie(new Headers({ cookie }))).toBe('stale')
    expect(authority.clearCookie()[0]).toMatch(/^identity\.session_token=; Max-Age=0; Path=\/; HttpOnly/)
  })

  it('I-01 finds a session by its id until it expires, and removes expired ones at the next sign-in', async () => {
    const { sid } = decodeJwt(await tokenOf(await signIn('owner@acme.test')))
    const isValid = async () => (await open.identity.authority.sessions([sid as string])).has(sid as string)
    const stored = async () => (await open.database.sequelize.query('select id from identity.sessions'))[0]
    expect(await isValid()).toBe(true)
    open.clock.advance(7 * 24 * 3600_000 - 60_000)
    expect(await isValid()).toBe(true)
    await signIn('admin@acme.test')
    // The credential library reads the machine's clock: its seven days began a little later.
    open.clock.advance(120_000)
    expect(await isValid()).toBe(false)
    expect(await stored()).toHaveLength(2)
    const next = decodeJwt(await tokenOf(await signIn('owner@acme.test')))
    expect(await stored()).toEqual(expect.arrayContaining([{ id: next.sid }]))
    expect(await stored()).not.toContainEqual({ id: sid })
    expect(await stored()).toHaveLength(2)
  })

  it('I-01 begins in the organization last switched to, else in the oldest membership', async () => {
    const first = decodeJwt(await tokenOf(await signIn('ada@acme.test')))
    expect(first.org).toBe(made.organizations.acme)
    const viewer = userViewer(first.sub!, first.org as string, ['member'], first.sid as string)
    const change = 'mutation($to: ID!) { switchOrganization(input: { organizationId: $to }) { accessToken expiresAt } }'
    const switched = await execute(open.identity, viewer, change, { to: made.organizations.other })
    const claims = decodeJwt(switched.data().switchOrganization.accessToken)
    expect(claims).toMatchObject({ sub: first.sub, sid: first.sid, org: made.organizations.other, roles: ['viewer'], ctx: 'organization' })
    expect(decodeJwt(await tokenOf(await signIn('ada@acme.test'))).org).toBe(made.organizations.other)
    expect((await execute(open.identity, viewer, change, { to: made.organizations.admin })).code).toBe('NOT_FOUND')
    expect((await execute(open.identity, viewer, change, { to: 'x' })).code).toBe('BAD_USER_INPUT')
    const stranger = { ...viewer, sessionId: '00000000-0000-7000-8000-000000000000' }
    expect((await execute(open.identity, stranger, change, { to: made.organizations.other })).code).toBe('UNAUTHENTICATED')
  })

  it('I-01 goes on in personal context when the membership ends', async () => {
    const cookie = cookieOf(await signIn('admin@acme.test'))
    await open.database.sequelize.query('delete from identity.memberships where user_id = $1', { bind: [made.users['admin@acme.test']] })
    expect(await open.identity.authority.cookie(new Headers({ cookie }))).toMatchObject({ organizationId: null, roles: [], context: 'personal' })
    expect(decodeJwt(await tokenOf(await get('/token', { cookie })))).toMatchObject({ ctx: 'personal', roles: [] })
  })

  it('I-01 rotates its signing keys: tokens of the old key stay good, unless it is distrusted', async () => {
    const { authority } = open.identity
    const old = await tokenOf(await signIn('owner@acme.test'))
    await open.identity.rotateSigningKeys()
    const young = await tokenOf(await signIn('owner@acme.test'))
    expect(decodeProtectedHeader(young).kid).not.toBe(decodeProtectedHeader(old).kid)
    const both = createLocalJWKSet(await authority.jwks())
    for (const token of [old, young]) await jwtVerify(token, both, authority)
    await open.identity.rotateSigningKeys({ distrust: true })
    await expect(jwtVerify(young, createLocalJWKSet(await authority.jwks()), authority)).rejects.toThrow()
    const published = (await read(await get('/jwks'))).keys as Record<string, unknown>[]
    expect(published).toHaveLength(1)
    expect(published[0]).toMatchObject({ kty: 'OKP', crv: 'Ed25519', alg: 'EdDSA', use: 'sig' })
    expect(published[0]).not.toHaveProperty('d')
    expect((await open.database.sequelize.query('select private_key from identity.signing_keys'))[0]).not.toMatchObject([
      { private_key: expect.stringContaining('"d"') },
    ])
  })

  describe('against guessing', () => {
    const guess = (email = 'owner@acme.test', address = '203.0.113.9') => signIn(email, 'wrong password', { address })

    it('refuses an account after ten failures with 429 and Retry-After, and lets it in again after 15 minutes', async () => {
      for (let turn = 0; turn < 10; turn++) expect((await guess()).status).toBe(401)
      const refused = await guess()
      expect(refused.status).toBe(429)
      expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(800)
      expect((await read(refused)).code).toBe('RATE_LIMITED')
      expect((await signIn('owner@acme.test', password, { address: '203.0.113.9' })).status).toBe(429)
      expect((await signIn('admin@acme.test', password, { address: '203.0.113.9' })).status).toBe(200)
      open.clock.advance(15 * 60_000)
      expect((await signIn('owner@acme.test', password, { address: '203.0.113.9' })).status).toBe(200)
    })

    it('lets no more guesses through at once than in turn', async () => {
      const statuses = await Promise.all(Array.from({ length: 15 }, () => guess('super@admin.test', '203.0.113.10').then(answer => answer.status)))
      expect(statuses.filter(status => status === 401)).toHaveLength(10)
      expect(statuses.filter(status => status === 429)).toHaveLength(5)
    })

    it('never refuses the right password from an address that signed in before', async () => {
      const home = { address: '198.51.100.7' }
      expect((await signIn('ada@acme.test', password, home)).status).toBe(200)
      for (let turn = 0; turn < 11; turn++) await guess('ada@acme.test')
      expect((await signIn('ada@acme.test', password, { address: '198.51.100.8' })).status).toBe(429)
      expect((await signIn('ada@acme.test', 'wrong password', home)).status).toBe(429)
      expect((await signIn('ada@acme.test', password, home)).status).toBe(200)
      expect((await signIn('ada@acme.test', password, { address: '198.51.100.8' })).status).toBe(200)
    })

    it('puts a growing delay before attempts from an address that signed in, once thirty failed from there', async () => {
      const pool = new pg.Pool({ connectionString: open.database.url, max: 1 })
      pool.on('error', () => {})
      onTestFinished(() => pool.end())
      const attempts = createAttempts(pool, openLimits(pool, 'a secret of the tests'), open.clock)
      const home = { email: 'ada@acme.test', address: '198.51.100.20' }
      const right = async () => ({ answer: 'welcome', outcome: { userId: made.users['ada@acme.test']! } })
      let looked = 0
      const wrong = async () => ({ answer: `looked ${++looked}`, outcome: 'wrong' as const })
      expect(await attempts.run(home, right)).toEqual({ answer: 'welcome' })
      for (let turn = 0; turn < 30; turn++) await attempts.run(home, wrong)
      expect(looked).toBe(30)
      for (const seconds of [1, 2, 4, 8, 16, 32, 60, 60]) {
        const before = looked
        expect(await attempts.run(home, wrong)).toEqual({ wait: seconds * 1000 })
        expect(await attempts.run(home, right)).toEqual({ wait: seconds * 1000 })
        open.clock.advance(seconds * 1000)
        await attempts.run(home, wrong)
        expect(looked).toBe(before + 1)
      }
      open.clock.advance(60_000)
      expect(await attempts.run(home, right)).toEqual({ answer: 'welcome' })
      expect(await attempts.run(home, wrong)).toEqual({ answer: `looked ${looked}` })
    })

    it('reports the delay as 429 with Retry-After in seconds', async () => {
      const home = { address: '198.51.100.21' }
      await signIn('owner@acme.test', password, home)
      for (let turn = 0; turn < 30; turn++) await signIn('owner@acme.test', 'wrong password', home)
      const answer = await signIn('owner@acme.test', password, home)
      expect([answer.status, answer.headers.get('retry-after')]).toEqual([429, '1'])
      expect((await read(answer)).detail).toContain('1 second')
      open.clock.advance(1000)
      expect((await signIn('owner@acme.test', password, home)).status).toBe(200)
    })

    /** Attempts as sign-in makes them, with outcomes that the test decides. */
    function attempting() {
      const pool = new pg.Pool({ connectionString: open.database.url, max: 2 })
      pool.on('error', () => {})
      onTestFinished(() => pool.end())
      const attempts = createAttempts(pool, openLimits(pool, 'a secret of the tests'), open.clock)
      const looked: string[] = []
      const held = new Map<string, () => void>()
      return {
        /** Names of those whose password was looked at, in order. */
        looked,
        wrong: (email: string, address: string) => attempts.run({ email, address }, async () => ({ answer: 'refused', outcome: 'wrong' as const })),
        right: (email: string, address: string) =>
          attempts.run({ email, address }, async () => {
            looked.push(email)
            return { answer: 'welcome', outcome: { userId: made.users[email]! } }
          }),
        /** One that, once it is looked at, takes until it is let go. */
        slow: (name: string, email: string, address: string) =>
          attempts.run({ email, address }, async () => {
            looked.push(name)
            await new Promise<void>(resolve => held.set(name, resolve))
            return { answer: name, outcome: 'not tried' as const }
          }),
        release: (name: string) => held.get(name)!(),
        /** Resolves when the database has nothing more to say: nobody is between two questions for two looks on end. */
        async sorted() {
          const isStill = () => pool.waitingCount + pool.totalCount - pool.idleCount === 0
          let still = 0
          await expect.poll(() => (still = isStill() ? still + 1 : 0), { timeout: 10_000, interval: 10 }).toBeGreaterThan(2)
        },
      }
    }
    /** Lets go whoever is looked at, until all are done. */
    async function throughAll(all: readonly Promise<unknown>[], looked: readonly string[], release: (name: string) => void) {
      let open = true
      const done = Promise.all(all).finally(() => (open = false))
      for (let next = 0; open; await new Promise(resolve => setImmediate(resolve))) {
        while (next < looked.length) if (looked[next++]!.includes(' ')) release(looked[next - 1]!)
      }
      await done
    }
    const tooMany = { code: 'RATE_LIMITED', extensions: { retryAfter: 5 } }

    it('counts all addresses of one IPv6 network of 64 bits as one', async () => {
      const { wrong, right } = attempting()
      for (let turn = 0; turn < 100; turn++) await wrong(`nobody${turn}@acme.test`, `2001:db8:1:2::${turn}`)
      expect(await wrong('owner@acme.test', '2001:db8:1:2:ffff::1')).toEqual({ wait: 15 * 60_000 })
      expect(await wrong('owner@acme.test', '2001:db8:1:3::1')).toEqual({ answer: 'refused' })
      expect(await right('ada@acme.test', '2001:db8:5:6::1')).toEqual({ answer: 'welcome' })
      for (let turn = 0; turn < 10; turn++) await wrong('ada@acme.test', '203.0.113.60')
      expect(await right('ada@acme.test', '2001:db8:5:6:a:b:c:d')).toEqual({ answer: 'welcome' })
    })

    it('lets a known address wait for no stranger', async () => {
      const { looked, slow, right, release, sorted } = attempting()
      await right('ada@acme.test', '198.51.100.40')
      looked.length = 0
      // Strangers hold the permit that is for them, and wait behind it at every account.
      const strangers = ['ada', 'owner', 'admin'].flatMap(name =>
        Array.from({ length: 6 }, (_, turn) => slow(`${name} ${turn}`, `${name}@acme.test`, `203.0.113.${100 + turn}`)),
      )
      await sorted()
      expect(looked).toHaveLength(1)
      expect(await right('ada@acme.test', '198.51.100.40')).toEqual({ answer: 'welcome' })
      expect(looked).toEqual([expect.any(String), 'ada@acme.test'])
      await throughAll(strangers, looked, release)
    })

    it('gives a free permit to the known first, and while one of them works to a stranger', async () => {
      const checks = createSemaphore(2, { known: 100, strangers: 50 })
      const order: string[] = []
      const ends: (() => void)[] = []
      const use = (lane: 'known' | 'strangers') =>
        checks.use(lane, async () => {
          order.push(lane)
          await new Promise<void>(resolve => ends.push(resolve))
        })
      const all = [use('strangers'), use('strangers'), use('strangers'), use('strangers'), use('known'), use('known'), use('known')]
      for (let turn = 0; turn < all.length; turn++) {
        await expect.poll(() => ends.length, { timeout: 10_000 }).toBeGreaterThan(turn)
        ends[turn]!()
      }
      await Promise.all(all)
      expect(order).toEqual(['strangers', 'strangers', 'known', 'strangers', 'known', 'strangers', 'known'])
    })

    it('lets ten strangers to an account wait for their turn, twenty from an address be under way, and sends more away for a moment', async () => {
      const { looked, slow, release, sorted } = attempting()
      const waiting = Array.from({ length: 11 }, (_, turn) => slow(`one ${turn}`, 'owner@acme.test', `203.0.113.${120 + turn}`))
      await sorted()
      await expect(slow('more', 'Owner@acme.test', '203.0.113.140')).rejects.toMatchObject(tooMany)
      const here = Array.from({ length: 20 }, (_, turn) => slow(`two ${turn}`, `nobody${turn}@acme.test`, '203.0.113.141'))
      await sorted()
      await expect(slow('more', 'nobody@acme.test', '203.0.113.141')).rejects.toMatchObject(tooMany)
      expect(looked).toHaveLength(1)
      await throughAll([...waiting, ...here], looked, release)
      looked.length = 0
      const later = slow('later', 'owner@acme.test', '203.0.113.141')
      await expect.poll(() => looked).toEqual(['later'])
      release('later')
      expect(await later).toEqual({ answer: 'later' })
    })

    it('allows thirty concurrent attempts from one address, the known included', async () => {
      const { looked, right, slow, release } = attempting()
      await right('ada@acme.test', '203.0.113.150')
      looked.length = 0
      const own = Array.from({ length: 30 }, (_, turn) => slow(`own ${turn}`, 'ada@acme.test', '203.0.113.150'))
      await expect(slow('more', 'ada@acme.test', '203.0.113.150')).rejects.toMatchObject(tooMany)
      await throughAll(own, looked, release)
    })

    it('lets an owner at a new address in past a lock-out by strangers, after half a minute of patience', async () => {
      const { wrong, right } = attempting()
      const lockOut = async () => {
        for (let turn = 0; turn < 10; turn++) await wrong('ada@acme.test', `203.0.113.${160 + turn}`)
      }
      await lockOut()
      expect(await right('ada@acme.test', '198.51.100.60')).toEqual({ wait: 30_000 })
      open.clock.advance(20_000)
      await lockOut()
      expect(await right('ada@acme.test', '198.51.100.60')).toEqual({ wait: 10_000 })
      open.clock.advance(10_000)
      expect(await right('ada@acme.test', '198.51.100.60')).toEqual({ answer: 'welcome' })
    })

    it('doubles the wait with every failure, and checks ninety waiting ones in 15 minutes', async () => {
      const { wrong, right } = attempting()
      for (let turn = 0; turn < 10; turn++) await wrong('ada@acme.test', '203.0.113.180')
      expect(await wrong('ada@acme.test', '198.51.100.61')).toEqual({ wait: 30_000 })
      for (const wait of [60_000, 120_000]) {
        open.clock.advance(wait / 2)
        expect(await wrong('ada@acme.test', '198.51.100.61')).toEqual({ wait })
      }
      const addresses = Array.from({ length: 89 }, (_, turn) => `192.0.2.${turn}`)
      for (const address of addresses) await wrong('ada@acme.test', address)
      open.clock.advance(30_000)
      for (const address of addresses.slice(0, 87)) expect(await wrong('ada@acme.test', address)).toEqual({ wait: 60_000 })
      // The last of the ninety; the window of the account began 120 s ago.
      expect(await wrong('ada@acme.test', addresses[87]!)).toEqual({ wait: 15 * 60_000 - 120_000 })
      expect(await right('ada@acme.test', addresses[88]!)).toEqual({ wait: 15 * 60_000 - 120_000 })
      open.clock.advance(15 * 60_000 - 120_000)
      expect(await right('ada@acme.test', addresses[88]!)).toEqual({ answer: 'welcome' })
    })

    it('gives no second way to an address that guesses at many accounts', async () => {
      const { wrong, right } = attempting()
      for (let turn = 0; turn < 10; turn++) await wrong('ada@acme.test', '203.0.113.181')
      for (let turn = 0; turn < 100; turn++) await wrong(`nobody${turn}@acme.test`, '203.0.113.182')
      expect(await right('ada@acme.test', '203.0.113.182')).toEqual({ wait: 15 * 60_000 })
      open.clock.advance(60_000)
      expect(await right('ada@acme.test', '203.0.113.182')).toEqual({ wait: 14 * 60_000 })
    })

    it('counts a hundred failures of an address over all accounts', async () => {
      const { wrong } = attempting()
      for (let turn = 0; turn < 100; turn++) expect(await wrong(`nobody${turn}@acme.test`, '203.0.113.77')).toEqual({ answer: 'refused' })
      expect(await wrong('out@other.test', '203.0.113.77')).toEqual({ wait: 15 * 60_000 })
      expect(await wrong('out@other.test', '203.0.113.78')).toEqual({ answer: 'refused' })
    })

    it('lets thirty strangers and sixty known wait for a permit, and sends more away', async () => {
      const { looked, slow, right, release, sorted } = attempting()
      const places = world.people.flatMap(({ email }) => Array.from({ length: 13 }, (_, turn) => ({ email, address: `198.51.100.${100 + turn}` })))
      for (const { email, address } of places) await right(email, address)
      looked.length = 0
      const strangers = Array.from({ length: 31 }, (_, turn) => slow(`stranger ${turn}`, `nobody${turn}@acme.test`, `203.0.113.${turn}`))
      await sorted()
      await expect(slow('more', 'nobody@acme.test', '203.0.113.200')).rejects.toMatchObject(tooMany)
      const known = places.slice(0, 61).map(({ email, address }, turn) => slow(`known ${turn}`, email, address))
      await sorted()
      await expect(slow('more', places[61]!.email, places[61]!.address)).rejects.toMatchObject(tooMany)
      await throughAll([...strangers, ...known], looked, release)
      expect(looked).toHaveLength(92)
    })
  })

  it('serves a browser’s requests over real HTTP', async () => {
    const server = createServer(async (incoming, outgoing) => {
      const chunks: Buffer[] = []
      for await (const chunk of incoming) chunks.push(chunk)
      const headers = new Headers(incoming.headers as Record<string, string>)
      const answer = await open.identity.http(
        new Request(`${origin}${incoming.url}`, { method: incoming.method!, headers, body: chunks.length > 0 ? Buffer.concat(chunks) : null }),
      )
      outgoing.writeHead(answer.status, [...answer.headers].flat())
      outgoing.end(await answer.text())
    })
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
    try {
      const answer = await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}/identity/api/auth/sign-in/email`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ email: 'owner@acme.test', password }),
      })
      expect(answer.status).toBe(200)
      expect(answer.headers.getSetCookie()[0]).toMatch(/^identity\.session_token=/)
    } finally {
      server.closeAllConnections()
      await new Promise(resolve => server.close(resolve))
    }
  })

  it('finds the migrated tables as the credential library expects them', async () => {
    const pool = new pg.Pool({ connectionString: open.database.url, max: 1, options: '-c search_path=identity' })
    pool.on('error', () => {})
    try {
      const ports = {
        clock: open.clock,
        log: open.foundation.log,
        admission: { verify: async () => true, admits: async () => true },
        organizationAtSignIn: async () => null,
        sessionBegan: async () => {},
        token: async () => Promise.reject(new Error('unused')),
      }
      const { toBeCreated, toBeAdded, toBeAddedIndexes, schemaProblems } = await getMigrations(credentialOptions(pool, origin, open.settings, ports))
      expect({ toBeCreated, toBeAdded, toBeAddedIndexes, schemaProblems }).toEqual({ toBeCreated: [], toBeAdded: [], toBeAddedIndexes: [], schemaProblems: [] })
    } finally {
      await pool.end()
    }
  })
})
