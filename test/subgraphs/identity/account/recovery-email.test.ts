import { afterEach, describe, expect, it } from 'vitest'
import { anonymous, type Viewer } from '../../../../subgraphs/viewer.ts'
import { execute, freshIdentity } from '../identity-world.ts'
import { accountsOf, phrase, twenty, usedUp } from './account-world.ts'

const open = freshIdentity({ started: true })
const { send, post, rows, enter, fresh, signIn, record, settled } = accountsOf(open)

afterEach(settled)

let number = 0
const address = (name: string) => `${name}-${++number}@recovery.test`
const path = '/me/recovery-email'
const name = (viewer: Viewer, email: string, more: object = {}) => send('PUT', path, { email, ...more }, viewer)
const shown = async (viewer: Viewer) => (await send('GET', path, undefined, viewer)).json
const verify = (code: string) => post('/verify-recovery-email', { code })
const reset = async (email: string) => {
  expect((await post('/request-password-reset', { email })).status).toBe(202)
  await settled()
}

describe('a recovery address', () => {
  it('is missing, pending, then verified; only then it can reset the password', async () => {
    const [email, other] = [address('main'), address('other')]
    const one = await fresh(email)
    expect(await shown(one)).toEqual({ email: null, status: 'none', verifiedAt: null, pendingEmail: null })
    const asked = await name(one, other.toUpperCase())
    expect([asked.status, asked.json]).toEqual([200, { email: other, status: 'pending', verifiedAt: null, pendingEmail: other }])
    const code = await open.mailbox.code(other, 'verify-recovery-email')
    await reset(other)
    expect(open.mailbox.to(other, 'reset-password')).toEqual([])
    const done = await verify(code)
    expect([done.status, done.json]).toEqual([200, { email: other }])
    expect(await shown(one)).toEqual({ email: other, status: 'verified', verifiedAt: open.clock.now().toISOString(), pendingEmail: null })
    expect(await verify(code)).toMatchObject(usedUp)
    expect((await open.mailbox.mail(email, 'notice')).text).not.toContain('http')
    await reset(other)
    const done2 = await post('/reset-password', { code: await open.mailbox.code(other, 'reset-password'), newPassword: 'recovered pass phrase' })
    expect([done2.status, await signIn(email, 'recovered pass phrase')]).toEqual([200, 200])
    // The mail went where it was asked for, and the notice to the account.
    expect([open.mailbox.to(email, 'reset-password').length, open.mailbox.to(other, 'notice').length]).toEqual([0, 0])
    expect(await record(one.userId)).toEqual(
      expect.arrayContaining([
        'account.created',
        'email.verified',
        'password.reset',
        'password.reset_requested',
        'recovery_email.set',
        'recovery_email.verified',
      ]),
    )
  })

  it('gets one link for each account that has it as recovery address', async () => {
    const shared = address('shared')
    const emails = [address('one'), address('two')]
    for (const [at, email] of emails.entries()) {
      await name(await fresh(email), shared)
      await verify(await open.mailbox.code(shared, 'verify-recovery-email', at + 1))
    }
    await reset(shared)
    await open.mailbox.mail(shared, 'reset-password', 2)
    const texts = open.mailbox.to(shared, 'reset-password').map(({ text }) => text)
    expect(emails.every(email => texts.filter(text => text.includes(email)).length === 1)).toBe(true)
  })

  it('stays in use until another one is verified; then codes mailed to the former one are invalid', async () => {
    const [email, former, next] = [address('main'), address('former'), address('next')]
    const one = await fresh(email)
    await name(one, former)
    await verify(await open.mailbox.code(former, 'verify-recovery-email'))
    await name(one, next)
    const replacing = { email: former, status: 'verified', verifiedAt: open.clock.now().toISOString(), pendingEmail: next }
    expect(await shown(one)).toEqual(replacing)
    expect((await send('GET', '/me', undefined, one)).json.recoveryEmail).toEqual(replacing)
    const told = await execute(open.identity, one, '{ viewer { user { recoveryEmail { email status verifiedAt pendingEmail } } } }')
    expect(told.data().viewer.user.recoveryEmail).toEqual({ ...replacing, status: 'VERIFIED' })
    await reset(former)
    const stolen = await open.mailbox.code(former, 'reset-password')
    await reset(next)
    expect(open.mailbox.to(next, 'reset-password')).toEqual([])
    expect((await verify(await open.mailbox.code(next, 'verify-recovery-email'))).status).toBe(200)
    expect(await post('/reset-password', { code: stolen, newPassword: 'by the former address' })).toMatchObject(usedUp)
    expect(await shown(one)).toMatchObject({ email: next, status: 'verified', pendingEmail: null })
    // Named anew, the verified one is what there is, and what was pending ends.
    await name(one, former)
    const unused = await open.mailbox.code(former, 'verify-recovery-email', 2)
    expect((await name(one, next)).json).toMatchObject({ email: next, status: 'verified', pendingEmail: null })
    expect(await verify(unused)).toMatchObject(usedUp)
  })

  it('is not the address of the account, and no longer than it is not', async () => {
    const [email, other] = [address('main'), address('other')]
    const one = await fresh(email)
    expect(await name(one, ` ${email.toUpperCase()}`)).toMatchObject({ status: 400, json: { code: 'BAD_USER_INPUT', field: 'email' } })
    expect((await name(one, 'nobody')).status).toBe(400)
    await name(one, other)
    await verify(await open.mailbox.code(other, 'verify-recovery-email'))
    await post('/change-email', { currentPassword: phrase, newEmail: other }, one)
    expect((await post('/verify-email', { code: await open.mailbox.code(other, 'confirm-email') })).status).toBe(200)
    expect((await shown(one)).status).toBe('none')
  })

  it('is verified once by 20 concurrent uses of its code; a newer mail ends the code', async () => {
    const [email, first, second] = [address('main'), address('first'), address('second')]
    const one = await fresh(email)
    await name(one, first)
    const former = await open.mailbox.code(first, 'verify-recovery-email')
    await name(one, second)
    const code = await open.mailbox.code(second, 'verify-recovery-email')
    expect(await verify(former)).toMatchObject(usedUp)
    const told = await twenty(() => verify(code))
    expect(told.filter(({ status }) => status === 200)).toHaveLength(1)
    for (const each of told) if (each.status !== 200) expect(each).toMatchObject(usedUp)
  })

  it('is removed, and its codes end; repeating it changes nothing', async () => {
    const [email, other] = [address('main'), address('other')]
    const one = await fresh(email)
    await name(one, other)
    await verify(await open.mailbox.code(other, 'verify-recovery-email'))
    await reset(other)
    const code = await open.mailbox.code(other, 'reset-password')
    const gone = await send('DELETE', path, undefined, one)
    expect([gone.status, gone.text]).toEqual([204, ''])
    expect((await send('DELETE', path, undefined, one)).status).toBe(204)
    expect(await post('/reset-password', { code, newPassword: 'by a removed address' })).toMatchObject(usedUp)
    expect((await shown(one)).status).toBe('none')
    await open.mailbox.mail(email, 'notice', 2)
    await settled()
    expect(open.mailbox.to(email, 'notice')).toHaveLength(2)
    expect((await record(one.userId)).filter(action => action === 'recovery_email.removed')).toHaveLength(1)
  })

  it('ends every password code, to either address, when one of the two is changed or removed', async () => {
    const [email, next, other] = [address('main'), address('next'), address('other')]
    const one = await fresh(email)
    const ends = async (to: string, change: () => Promise<{ readonly status: number }>) => {
      await reset(to)
      const code = await open.mailbox.code(to, 'reset-password')
      expect((await change()).status).toBeLessThan(300)
      expect(await post('/reset-password', { code, newPassword: 'by what was sent before' })).toMatchObject(usedUp)
    }
    await name(one, other)
    await ends(email, async () => verify(await open.mailbox.code(other, 'verify-recovery-email')))
    await post('/change-email', { currentPassword: phrase, newEmail: next }, one)
    await ends(other, async () => post('/verify-email', { code: await open.mailbox.code(next, 'confirm-email') }))
    await ends(next, () => send('DELETE', path, undefined, one))
  })

  it('sets no password after its change, also by a code that was written at that very moment', async () => {
    const [email, other] = [address('main'), address('other')]
    const one = await fresh(email)
    await name(one, other)
    await verify(await open.mailbox.code(other, 'verify-recovery-email'))
    await reset(other)
    const code = await open.mailbox.code(other, 'reset-password')
    // As the change has it that ended what codes there were before this one was written.
    await open.database.sequelize.query('update identity.recovery_emails set email = $1 where user_id = $2', { bind: [address('next'), one.userId] })
    expect(await post('/reset-password', { code, newPassword: 'by a former address' })).toMatchObject(usedUp)
  })

  it('does not verify the account’s own address when the password is reset by it', async () => {
    const [email, other] = [address('main'), address('other')]
    const one = await fresh(email)
    await name(one, other)
    await verify(await open.mailbox.code(other, 'verify-recovery-email'))
    await open.database.sequelize.query('update identity.users set email_verified = false where id = $1', { bind: [one.userId] })
    await reset(other)
    expect((await post('/reset-password', { code: await open.mailbox.code(other, 'reset-password'), newPassword: 'by the recovery address' })).status).toBe(200)
    expect((await record(one.userId)).filter(action => action === 'email.verified')).toHaveLength(1)
  })

  it('is changed without the password for 15 minutes after a sign-in by password, and with it ever after', async () => {
    const email = address('main')
    const one = await fresh(email)
    open.clock.advance(15 * 60_000 - 1)
    expect((await name(one, address('x'))).status).toBe(200)
    open.clock.advance(1)
    const late = { status: 403, json: { code: 'FORBIDDEN', reason: 'REAUTHENTICATE' } }
    expect(await name(one, address('x'))).toMatchObject(late)
    expect(await send('DELETE', path, undefined, one)).toMatchObject(late)
    const wrong = await name(one, address('x'), { currentPassword: 'not the password' })
    expect([wrong.status, wrong.json.reason]).toEqual([403, undefined])
    expect((await name(one, address('x'), { currentPassword: phrase })).status).toBe(200)
    expect((await send('DELETE', path, { currentPassword: phrase }, one)).status).toBe(204)
    // Who came by another way has not shown that they know it.
    const here = await enter(email, phrase)
    expect((await name(here, address('x'))).status).toBe(200)
    await rows(`update identity.sessions set kind = 'handoff' where id = $1`, [here.sessionId])
    expect(await name(here, address('x'))).toMatchObject(late)
  })

  it('is shown to its person alone', async () => {
    const [email, other] = [address('main'), address('other')]
    const one = await fresh(email)
    await name(one, other)
    const ask = '{ viewer { user { name recoveryEmail { email status verifiedAt } } } }'
    expect((await execute(open.identity, one, ask)).data().viewer.user.recoveryEmail).toEqual({ email: other, status: 'PENDING', verifiedAt: null })
    const app = (await execute(open.identity, { ...one, clientId: 'app' }, ask)).partial
    expect([app.data?.viewer, app.errors?.map(({ extensions }) => extensions.code)]).toEqual([
      { user: { name: 'Nora New', recoveryEmail: null } },
      ['FORBIDDEN'],
    ])
    for (const [method, body] of [['GET'], ['PUT', { email: other }], ['DELETE']] as const) expect((await send(method, path, body, anonymous)).status).toBe(403)
  })
})
