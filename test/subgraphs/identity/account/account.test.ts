import { afterEach, describe, expect, it, onTestFinished } from 'vitest'
import { newId } from '../../../../platform/ids.ts'
import { define } from '../../../../subgraphs/identity/definition.ts'
import { codePurposes } from '../../../../subgraphs/identity/stores/code.ts'
import { anonymous } from '../../../../subgraphs/viewer.ts'
import { countStatements } from '../../../kit/statements.ts'
import { execute, freshIdentity, origin, requestSignIn, userViewer, world } from '../identity-world.ts'
import { accountsOf, phrase, twenty, usedUp } from './account-world.ts'

const open = freshIdentity({ started: true })
const { post, rows, enter, fresh, signIn, standing, record, settled } = accountsOf(open)

afterEach(settled)

let number = 0
/** An address that no test before has used: what is counted by address is not forgotten between tests. */
const address = (name: string) => `${name}-${++number}@accounts.test`
const signUp = (email: string, password = phrase, name = 'Nora New') => post('/sign-up/email', { email, password, name })

describe('signing up', () => {
  it('creates an account that can sign in once its address is verified, and not before', async () => {
    const email = address('nora')
    const told = await signUp(email.toUpperCase())
    expect([told.status, told.json]).toEqual([202, {}])
    expect(told.headers.get('cache-control')).toBe('no-store')
    const code = await open.mailbox.code(email, 'verify-email')
    expect(await signIn(email, phrase)).toBe(401)
    const verified = await post('/verify-email', { code })
    expect([verified.status, verified.json]).toEqual([200, { email }])
    expect(await post('/verify-email', { code })).toMatchObject(usedUp)
    const before = open.clock.now()
    const { userId } = await enter(email, phrase)
    expect(await record(userId)).toEqual(expect.arrayContaining(['account.created', 'email.verified', 'session.created']))
    expect(await rows('select name, email, last_signed_in_at as at from identity.users where id = $1', [userId])).toEqual([
      { name: 'Nora New', email, at: before },
    ])
  })

  it('answers the same for an address with an account, which stays unchanged and gets a mail without a link', async () => {
    const email = address('known')
    await fresh(email)
    const [known, unknown] = [await signUp(email, 'another long pass phrase', 'Somebody else'), await signUp(address('unknown'))]
    expect([known.status, known.text, [...known.headers]]).toEqual([unknown.status, unknown.text, [...unknown.headers]])
    const mail = await open.mailbox.mail(email, 'already-registered')
    expect([mail.text.includes('http'), mail.text.includes('Somebody else'), await signIn(email, phrase)]).toEqual([false, false, 200])
    // An account whose address nobody has verified stays as it was too: whoever signed up first chose its password.
    const first = address('first')
    await signUp(first)
    const code = await open.mailbox.code(first, 'verify-email')
    await signUp(first, 'the phrase of somebody else')
    await open.mailbox.mail(first, 'already-registered')
    expect((await post('/verify-email', { code })).status).toBe(200)
    expect([await signIn(first, 'the phrase of somebody else'), await signIn(first, phrase)]).toEqual([401, 200])
  })

  it('20 times at once creates one account', async () => {
    const email = address('many')
    expect(new Set((await twenty(() => signUp(email))).map(({ status }) => status))).toEqual(new Set([202]))
    await settled()
    expect(await rows('select count(*)::int as n from identity.users where email = $1', [email])).toEqual([{ n: 1 }])
    expect(open.mailbox.to(email, 'verify-email').length).toBeLessThanOrEqual(1)
  })

  it.each([
    ['password', { password: 'elevenchars' }],
    ['password', { password: 'x'.repeat(257) }],
    ['password', { password: 'a line\nbreak in it' }],
    ['password', { password: undefined }],
    ['password', { password: ' ITSELF@accounts.test' }],
    ['email', { email: 'nobody' }],
    ['email', { email: 7 }],
    ['name', { name: '  ' }],
    ['name', { name: 'two\nlines' }],
  ])('refuses a %s that cannot be: %j', async (field, wrong) => {
    const told = await post('/sign-up/email', { email: 'itself@accounts.test', password: phrase, name: 'Nora', ...wrong })
    expect(told).toMatchObject({ status: 400, json: { code: 'BAD_USER_INPUT', field } })
    expect(await rows('select id from identity.account_requests')).toEqual([])
  })

  it('counts the characters of a password as people do', async () => {
    expect(await signUp(address('emoji'), '🔑'.repeat(11))).toMatchObject({ status: 400, json: { field: 'password' } })
    const [email, long] = [address('emoji'), '🔑🚪'.repeat(128)]
    await fresh(email, long)
    expect(await signIn(email, long)).toBe(200)
  })

  it('refuses passwords that guessers try first, however they are written', async () => {
    for (const common of ['1qaz2wsx3edc', '1QAZ2wsx3EDC', 'counterstrike', 'aaaaaaaaaaaaa', 'ａａａａａａａａａａａａ'])
      expect(await signUp(address('common'), common)).toMatchObject({ status: 400, json: { field: 'password' } })
    expect((await signUp(address('common'), '1qaz2wsx3edc and a door')).status).toBe(202)
  })

  it('greets by no name that mail programs turn into a link', async () => {
    const email = address('target')
    await signUp(email, phrase, 'Win at evil.example/now')
    const { text, html } = await open.mailbox.mail(email, 'verify-email')
    expect([text, html].join()).not.toContain('evil')
    const other = address('target')
    await signUp(other, phrase, 'J.R.R. Tolkien')
    expect((await open.mailbox.mail(other, 'verify-email')).text).toContain('J.R.R. Tolkien')
  })

  it('sends the mail again on request, which ends the former code; nothing is sent to a verified or unknown address', async () => {
    const email = address('again')
    await signUp(email)
    const former = await open.mailbox.code(email, 'verify-email')
    const [told, nobody] = [await post('/send-verification-email', { email }), await post('/send-verification-email', { email: address('nobody') })]
    expect([told.status, told.text, nobody.status, nobody.text]).toEqual([202, '{}', 202, '{}'])
    const code = await open.mailbox.code(email, 'verify-email', 2)
    expect(await post('/verify-email', { code: former })).toMatchObject(usedUp)
    expect((await post('/verify-email', { code })).status).toBe(200)
    await post('/send-verification-email', { email })
    await settled()
    expect(open.mailbox.to(email)).toHaveLength(2)
  })

  it('verifies the address to which its mail went, and no later one', async () => {
    const email = address('former')
    await signUp(email)
    const code = await open.mailbox.code(email, 'verify-email')
    await rows('update identity.users set email = $1 where email = $2', [address('since'), email])
    expect(await post('/verify-email', { code })).toMatchObject(usedUp)
  })
})

describe('the door', () => {
  const open = freshIdentity({ started: true })

  it.each([
    '/sign-up/email',
    '/send-verification-email',
    '/request-password-reset',
  ])('%s does the same whether the address has an account or not', async path => {
    // What does the work stops, and another process has the door alone.
    await open.identity.stop()
    const identity = define(open.anotherProcess(), open.settings)
    onTestFinished(() => identity.stop())
    await identity.provision(world)
    const { post } = accountsOf({ identity, database: open.database, mailbox: open.mailbox })
    const cost = async (email: string) => {
      const { result, statements } = await countStatements(() => post(path, { email, password: phrase, name: 'Nora' }))
      expect(result.status).toBe(202)
      return statements
    }
    await cost('warm@accounts.test')
    let known: readonly string[] = []
    // A statement of another task, such as a clean-up that is due, may fall into one of two counts.
    await expect
      .poll(async () => {
        known = await cost('owner@acme.test')
        return { known, unknown: await cost('nobody@acme.test') }
      })
      .toSatisfy(costs => JSON.stringify(costs.known) === JSON.stringify(costs.unknown))
    expect(known.length).toBeGreaterThan(2)
    expect(known.join()).not.toMatch(/identity\.(?:users|accounts|recovery_emails|codes|mails)/)
  })
})

describe('an account with an unverified address', () => {
  it('is deleted after a week, unless it is in use', async () => {
    const [left, used] = [address('left'), address('used')]
    await signUp(left)
    await open.mailbox.code(left, 'verify-email')
    await fresh(used)
    const { retention } = await import('../../../../platform/jobs/retention.ts')
    const { agingOf } = await import('../../../../subgraphs/identity/stores/retention.ts')
    const sweep = retention(open.foundation, agingOf({ auditDays: 400 }))
    const there = async () =>
      (await rows<{ email: string }>('select email from identity.users where email = any($1) order by 1', [[left, used]])).map(({ email }) => email)
    open.clock.advance(7 * 86_400_000 - 60_000)
    await sweep.run()
    expect(await there()).toEqual([left, used])
    open.clock.advance(120_000)
    await sweep.run()
    expect(await there()).toEqual([used])
  })
})

describe('a forgotten password', () => {
  const request = (email: string) => post('/request-password-reset', { email })
  const reset = (code: string, newPassword = 'a wholly different phrase') => post('/reset-password', { code, newPassword })

  it('is replaced by the code of the mail; every session ends, and the person is told', async () => {
    const email = address('reset')
    const one = await fresh(email)
    const other = await enter(email, phrase)
    const told = await request(email.toUpperCase())
    expect([told.status, told.text]).toEqual([202, '{}'])
    const code = await open.mailbox.code(email, 'reset-password')
    const weak = await reset(code, 'elevenchars')
    expect(weak).toMatchObject({ status: 400, json: { field: 'newPassword', code: 'BAD_USER_INPUT' } })
    expect(weak.json.reason).toBeUndefined()
    expect(await reset(code, email)).toMatchObject({ status: 400, json: { field: 'newPassword' } })
    const done = await reset(code)
    expect([done.status, done.text, done.headers.getSetCookie()]).toEqual([200, '{}', []])
    expect(await reset(code)).toMatchObject(usedUp)
    expect(await standing(one, other)).toBe(0)
    expect([await signIn(email, phrase), await signIn(email, 'a wholly different phrase')]).toEqual([401, 200])
    expect((await open.mailbox.mail(email, 'notice')).text).not.toContain('http')
    expect(await record(one.userId)).toEqual(expect.arrayContaining(['password.reset_requested', 'password.reset']))
  })

  it('has one valid code, the newest, and one winner of 20 concurrent uses', async () => {
    const email = address('race')
    await fresh(email)
    await request(email)
    const former = await open.mailbox.code(email, 'reset-password')
    await request(email)
    const code = await open.mailbox.code(email, 'reset-password', 2)
    expect(await reset(former)).toMatchObject(usedUp)
    const told = await twenty(at => reset(code, `pass phrase number ${at}`))
    const winner = told.findIndex(({ status }) => status === 200)
    expect(told.filter(({ status }) => status === 200)).toHaveLength(1)
    for (const [at, each] of told.entries()) if (at !== winner) expect(each).toMatchObject(usedUp)
    expect(await signIn(email, `pass phrase number ${winner}`)).toBe(200)
  })

  it('has a code for half an hour', async () => {
    const email = address('late')
    await fresh(email)
    await request(email)
    const code = await open.mailbox.code(email, 'reset-password')
    open.clock.advance(30 * 60_000)
    expect(await reset(code)).toMatchObject(usedUp)
  })

  it('verifies an unverified address, because the code proves access to its mail', async () => {
    const email = address('unverified')
    await signUp(email)
    const early = await open.mailbox.code(email, 'verify-email')
    await request(email)
    expect((await reset(await open.mailbox.code(email, 'reset-password'))).status).toBe(200)
    expect(await signIn(email, 'a wholly different phrase')).toBe(200)
    expect(await post('/verify-email', { code: early })).toMatchObject(usedUp)
  })

  it('is rejected for a suspended person and for an unknown address with the same answer', async () => {
    const email = address('suspended')
    const { userId } = await fresh(email)
    await rows('update identity.users set suspended_at = created_at where id = $1', [userId])
    const [suspended, nobody] = [await request(email), await request(address('nobody'))]
    expect([suspended.status, suspended.text, nobody.status, nobody.text]).toEqual([202, '{}', 202, '{}'])
    await settled()
    expect(open.mailbox.to(email, 'reset-password')).toEqual([])
    expect(await signIn(email, phrase)).toBe(401)
  })

  it('ends once the person is suspended: codes mailed before stay invalid when they are back', async () => {
    const email = address('suspended')
    const { userId } = await fresh(email)
    await request(email)
    const code = await open.mailbox.code(email, 'reset-password')
    const platform = userViewer(newId(), newId(), ['platform_super_admin'])
    for (const change of ['suspendUser(input: { id: $id, reason: "Lost the laptop" })', 'reinstateUser(input: { id: $id })']) {
      expect((await execute(open.identity, platform, `mutation($id: ID!) { ${change} { id } }`, { id: userId })).code).toBeUndefined()
      expect(await reset(code, 'by what was sent before')).toMatchObject(usedUp)
    }
  })

  it('leaves no session to a concurrent sign-in with the former password', async () => {
    const email = address('moment')
    const { userId } = await fresh(email)
    await request(email)
    const code = await open.mailbox.code(email, 'reset-password')
    const [done, ...tried] = await Promise.all([reset(code), ...Array.from({ length: 6 }, () => requestSignIn(open.identity, email, phrase))])
    expect(done.status).toBe(200)
    const entered = tried.filter(({ status }) => status === 200)
    expect(entered.length + tried.filter(({ status }) => status === 401).length).toBe(tried.length)
    // Who got in before was put out: nothing that began with the former password stands.
    expect(await rows('select id from identity.sessions where user_id = $1', [userId])).toEqual([])
  })
})

describe('a code', () => {
  it('is valid for its own purpose only, and every failure has the same message', async () => {
    const email = address('purposes')
    const { userId } = await fresh(email)
    const made: Record<string, string> = {}
    await open.foundation.sequelize.transaction(async transaction => {
      const { codes } = open.identity.open(anonymous, {
        requestId: 'test',
        fresh: true,
        signal: new AbortController().signal,
        read() {},
        statement: run => run(),
      })
      for (const purpose of codePurposes) made[purpose] = await codes.issue(purpose, userId, { now: open.clock.now(), transaction, details: { email } })
    })
    const takes: Record<string, readonly string[]> = {
      '/verify-email': ['verify-email', 'confirm-email'],
      '/reset-password': ['reset-password'],
      '/verify-recovery-email': ['verify-recovery-email'],
    }
    const words = new Set<string>()
    for (const [path, good] of Object.entries(takes))
      for (const code of [...codePurposes.filter(purpose => !good.includes(purpose)).map(purpose => made[purpose]), 'x'.repeat(43), '', 7, null, undefined]) {
        const told = await post(path, { code, newPassword: phrase })
        expect(told, path).toMatchObject(usedUp)
        words.add(told.json.detail)
      }
    expect(words.size).toBe(1)
  })
})

describe('a changed password', () => {
  const change = (viewer: Parameters<typeof post>[2], currentPassword: unknown, newPassword: unknown = 'the new long pass phrase') =>
    post('/change-password', { currentPassword, newPassword }, viewer)

  it('ends the other sessions and keeps the current one; reset codes end with it, and the person is notified', async () => {
    const email = address('change')
    const one = await fresh(email)
    const other = await enter(email, phrase)
    await post('/request-password-reset', { email })
    const code = await open.mailbox.code(email, 'reset-password')
    const done = await change(one, phrase)
    expect([done.status, done.text]).toEqual([200, '{}'])
    expect([await standing(one), await standing(other)]).toEqual([1, 0])
    expect([await signIn(email, phrase), await signIn(email, 'the new long pass phrase')]).toEqual([401, 200])
    expect(await post('/reset-password', { code, newPassword: 'of a stolen mail, maybe' })).toMatchObject(usedUp)
    await open.mailbox.mail(email, 'notice')
    expect(await record(one.userId)).toContain('password.changed')
  })

  it('wants the present one: a wrong one is 403, changes nothing and counts as a failed sign-in', async () => {
    const email = address('wrong')
    const one = await fresh(email)
    const other = await enter(email, phrase)
    expect(await change(one, phrase, 'elevenchars')).toMatchObject({ status: 400, json: { field: 'newPassword' } })
    expect(await change(one, phrase, email)).toMatchObject({ status: 400, json: { field: 'newPassword' } })
    expect(await change(one, undefined)).toMatchObject({ status: 400, json: { field: 'currentPassword' } })
    for (let at = 0; at < 10; at++)
      expect(await change(one, 'not the password')).toMatchObject({ status: 403, json: { code: 'FORBIDDEN', field: 'currentPassword' } })
    const full = await change(one, phrase)
    expect([full.status, Number(full.headers.get('retry-after')) > 0]).toEqual([429, true])
    expect(await signIn(email, phrase)).toBe(429)
    expect(await standing(one, other)).toBe(2)
  })

  it('succeeds for one of two concurrent requests with the same present password', async () => {
    const email = address('two')
    const one = await fresh(email)
    const told = await Promise.all([1, 2, 3].map(at => change(one, phrase, `pass phrase number ${at}`)))
    expect(told.map(({ status }) => status).sort()).toEqual([200, 403, 403])
    expect(await signIn(email, `pass phrase number ${told.findIndex(({ status }) => status === 200) + 1}`)).toBe(200)
  })

  it('is for people themselves', async () => {
    const one = await fresh(address('own'))
    for (const viewer of [anonymous, { ...one, clientId: 'app' }, { ...one, kind: 'apiKey' as const }]) expect((await change(viewer, phrase)).status).toBe(403)
    expect((await change({ ...one, userId: newId() }, phrase)).status).toBe(401)
  })
})

describe('a changed address', () => {
  const change = (viewer: Parameters<typeof post>[2], newEmail: string, currentPassword: unknown = phrase) =>
    post('/change-email', { currentPassword, newEmail }, viewer)

  it('takes effect when its mail is confirmed; then the former address is notified, and its codes end', async () => {
    const [email, next] = [address('former'), address('next')]
    const one = await fresh(email)
    await post('/request-password-reset', { email })
    const stolen = await open.mailbox.code(email, 'reset-password')
    const told = await change(one, next)
    expect([told.status, told.text]).toEqual([202, '{}'])
    const code = await open.mailbox.code(next, 'confirm-email')
    expect([await signIn(next, phrase), await signIn(email, phrase)]).toEqual([401, 200])
    expect((await post('/verify-email', { code })).json).toEqual({ email: next })
    expect([await signIn(next, phrase), await signIn(email, phrase)]).toEqual([200, 401])
    expect(await post('/verify-email', { code })).toMatchObject(usedUp)
    expect(await post('/reset-password', { code: stolen, newPassword: 'by the former address' })).toMatchObject(usedUp)
    await open.mailbox.mail(email, 'notice')
    expect(await record(one.userId)).toContain('email.changed')
    expect(await standing(one)).toBe(1)
  })

  it('that belongs to another account is answered alike without a mail; if taken meanwhile, the code fails', async () => {
    const [email, taken, free] = [address('asks'), address('taken'), address('free')]
    const one = await fresh(email)
    await fresh(taken)
    const [known, unknown] = [await change(one, taken), await change(one, free)]
    expect([known.status, known.text]).toEqual([unknown.status, unknown.text])
    const code = await open.mailbox.code(free, 'confirm-email')
    await settled()
    expect(open.mailbox.to(taken, 'confirm-email')).toEqual([])
    await fresh(free)
    expect(await post('/verify-email', { code })).toMatchObject(usedUp)
    expect(await signIn(email, phrase)).toBe(200)
  })

  it('that several accounts request goes to one of them: the others’ codes are invalid', async () => {
    const next = address('wanted')
    const people = await Promise.all([1, 2, 3].map(() => fresh(address('wants'))))
    for (const person of people) await change(person, next)
    await open.mailbox.mail(next, 'confirm-email', 3)
    const codes = open.mailbox.to(next, 'confirm-email').map(({ text }) => /code=([\w-]{43})/.exec(text)![1]!)
    const told = await Promise.all(codes.map(code => post('/verify-email', { code })))
    expect(told.map(({ status }) => status).sort()).toEqual([200, 400, 400])
    for (const each of told) if (each.status === 400) expect(each).toMatchObject(usedUp)
  })

  it('wants the password, and names few in an hour', async () => {
    const one = await fresh(address('busy'))
    expect((await change(one, address('x'), 'not the password')).status).toBe(403)
    for (let at = 0; at < 10; at++) expect((await change(one, address('x'))).status).toBe(202)
    const full = await change(one, address('x'))
    expect([full.status, Number(full.headers.get('retry-after')) > 0]).toEqual([429, true])
    open.clock.advance(3_600_001)
    expect((await change(one, address('x'))).status).toBe(202)
  })
})

describe('a public route', () => {
  it('that comes with a cookie wants a page that the platform trusts', async () => {
    const told = (headers: Record<string, string>) => post('/request-password-reset', { email: address('cookie') }, anonymous, headers)
    const cookie = 'identity.session_token=x'
    expect((await told({ cookie, origin: 'https://evil.example' })).status).toBe(403)
    expect((await told({ cookie })).status).toBe(403)
    expect((await told({ cookie, origin: 'https://web.test' })).status).toBe(202)
    expect((await told({ origin: 'https://evil.example' })).status).toBe(202)
  })
})

describe('the data that a request leaves', () => {
  it('is seen to once, though its wake-up is lost', async () => {
    const email = address('lost')
    await rows(`insert into identity.account_requests (id, kind, email, details, created_at) values ($1, 'sign-up', $2, $3, $4)`, [
      newId(),
      email,
      JSON.stringify({ name: 'Nora', password: 'hash' }),
      new Date(open.clock.now().getTime() - 10_000),
    ])
    await open.mailbox.mail(email, 'verify-email')
    await settled()
  })
})

describe('a reset that breaks off', () => {
  it('leaves neither half: the former password, the sessions and the code stay', async () => {
    const email = address('broken')
    const one = await fresh(email)
    await post('/request-password-reset', { email })
    const code = await open.mailbox.code(email, 'reset-password')
    await settled()
    // The notice is the last thing that is written.
    await rows('alter table identity.mails rename to mails_away')
    const reset = () => post('/reset-password', { code, newPassword: 'a wholly different phrase' })
    await expect(reset().finally(() => rows('alter table identity.mails_away rename to mails'))).rejects.toThrow('identity.mails')
    expect([await standing(one), await signIn(email, phrase), await signIn(email, 'a wholly different phrase')]).toEqual([1, 200, 401])
    expect((await reset()).status).toBe(200)
  })
})

describe('the account pages', () => {
  const at = (path: string, init: RequestInit = {}) =>
    open.identity.http(new Request(`${origin}/identity${path}`, { ...init, headers: { 'x-client-address': '10.9.0.1', ...init.headers } }))
  /** Opens a page, and sends its form with these fields. */
  async function send(path: string, fields: Record<string, string>) {
    const page = await at(path)
    expect(page.status, path).toBe(200)
    const text = await page.text()
    const hidden = Object.fromEntries([...text.matchAll(/type="hidden" name="([^"]+)" value="([^"]*)"/g)].map(([, name, value]) => [name, value]))
    const cookie = page.headers.getSetCookie()[0]!.split(';')[0]!
    const answer = await at(path.split('?')[0]!, { method: 'POST', headers: { cookie }, body: new URLSearchParams({ ...hidden, ...fields }) })
    return { status: answer.status, text: await answer.text() }
  }

  it('lead through sign-up, confirmation and a forgotten password; opening one changes nothing', async () => {
    const email = address('page')
    const weak = await send('/sign-up', { name: 'Nora "New"', email, password: 'short' })
    expect([weak.status, weak.text.includes('The password takes 12 to 256 characters.'), weak.text.includes('value="Nora &quot;New&quot;"')]).toEqual([
      400,
      true,
      true,
    ])
    const made = await send('/sign-up', { name: 'Nora', email, password: phrase })
    expect([made.status, made.text.includes('Look into your mail')]).toEqual([200, true])
    const code = await open.mailbox.code(email, 'verify-email')
    // As programs do that scan mail.
    for (let turn = 0; turn < 3; turn++) expect((await at(`/verify-email?code=${code}`)).status).toBe(200)
    expect(await signIn(email, phrase)).toBe(401)
    const done = await send(`/verify-email?code=${code}`, {})
    expect([done.status, done.text.includes(email)]).toEqual([200, true])
    expect((await at(`/verify-email?code=${code}`)).status).toBe(410)
    expect((await send('/reset-password', { email })).text).toContain('Look into your mail')
    const reset = await open.mailbox.code(email, 'reset-password')
    // Whoever has several accounts sees for which one it is, and so does what keeps the passwords: also after a mistake.
    const whose = new RegExp(`<bdi>${email}</bdi>[^]+ autocomplete="username" value="${email}">`)
    expect(await (await at(`/reset-password?code=${reset}`)).text()).toMatch(whose)
    const short = await send(`/reset-password?code=${reset}`, { newPassword: 'short' })
    expect([short.status, short.text.includes(`value="${email}"></label>`)]).toEqual([400, true])
    expect((await send(`/reset-password?code=${reset}`, { newPassword: 'a wholly different phrase' })).status).toBe(200)
    expect(await signIn(email, 'a wholly different phrase')).toBe(200)
  })

  it('accept no form that another site could send, and answer the same for every address', async () => {
    const email = address('page')
    await fresh(email)
    for (const path of ['/sign-up', '/reset-password', '/verify-email', '/verify-recovery-email']) {
      const forged = await at(path, {
        method: 'POST',
        body: new URLSearchParams({ email, code: 'x'.repeat(43), newPassword: phrase, name: 'N', password: phrase }),
      })
      expect(forged.status, path).toBe(400)
    }
    for (const path of ['/reset-password', '/verify-email'])
      expect((await send(path, { email })).text).toBe((await send(path, { email: address('nobody') })).text)
    expect((await at('/verify-recovery-email')).status).toBe(410)
  })
})

describe('accounts by invitation only', () => {
  it('reject sign-up by route and page, with and without an account', async () => {
    const identity = define(open.anotherProcess(), { ...open.settings, signUp: 'invited' })
    onTestFinished(() => identity.stop())
    const { post } = accountsOf({ identity, database: open.database, mailbox: open.mailbox })
    const told = await post('/sign-up/email', { email: address('open'), password: phrase, name: 'Nora' })
    expect(told).toMatchObject({ status: 403, json: { code: 'FORBIDDEN', reason: 'SIGN_UP' } })
    expect((await identity.http(new Request(`${origin}/identity/sign-up`))).status).toBe(403)
    expect(await (await identity.http(new Request(`${origin}/identity/login`))).text()).not.toContain('/identity/sign-up')
  })
})
