import { afterEach, describe, expect, it } from 'vitest'
import { newId } from '../../../../platform/ids.ts'
import { freshIdentity } from '../identity-world.ts'
import { accountsOf, phrase, usedUp } from './account-world.ts'

const open = freshIdentity({ started: true })
const { send, post, rows, enter, fresh, signIn, settled } = accountsOf(open)

afterEach(settled)

let number = 0
const address = (name: string) => `${name}-${++number}@before.test`

describe('requests from before a password was replaced', () => {
  const ways = {
    'by a link': async (email: string) => {
      await post('/request-password-reset', { email })
      return post('/reset-password', { code: await open.mailbox.code(email, 'reset-password'), newPassword: 'a wholly different phrase' })
    },
    'by its person': async (email: string) =>
      post('/change-password', { currentPassword: phrase, newPassword: 'a wholly different phrase' }, await enter(email, phrase)),
  }

  it.each(Object.entries(ways))('gives no access to a holder of the former password: %s', async (_, replace) => {
    const [email, next, recovery] = [address('owner'), address('stranger'), address('recovery')]
    await fresh(email)
    const stranger = await enter(email, phrase)
    expect((await post('/change-email', { currentPassword: phrase, newEmail: next }, stranger)).status).toBe(202)
    expect((await send('PUT', '/me/recovery-email', { email: recovery }, stranger)).status).toBe(200)
    const [confirm, verify] = [await open.mailbox.code(next, 'confirm-email'), await open.mailbox.code(recovery, 'verify-recovery-email')]
    // What the launcher has asked for on behalf of whoever it took for the person hangs on no session.
    await rows(`insert into identity.codes (id, purpose, subject, hash, details, created_at, expires_at) values ($1, 'handoff', $2, $5, '{}', $3, $4)`, [
      newId(),
      stranger.userId,
      open.clock.now(),
      new Date(open.clock.now().getTime() + 60_000),
      `hash of ${email}`,
    ])
    expect((await replace(email)).status).toBe(200)
    expect(await post('/verify-email', { code: confirm })).toMatchObject(usedUp)
    expect(await post('/verify-recovery-email', { code: verify })).toMatchObject(usedUp)
    expect(await rows('select purpose from identity.codes where subject = $1', [stranger.userId])).toEqual([])
    const owner = await enter(email, 'a wholly different phrase')
    expect((await send('GET', '/me/recovery-email', undefined, owner)).json).toEqual({ email: null, status: 'none', verifiedAt: null, pendingEmail: null })
    expect([await signIn(next, phrase), await signIn(next, 'a wholly different phrase')]).toEqual([401, 401])
  })

  it('is not mailed any more where it still waited; a verified recovery address stays', async () => {
    const [email, next, recovery] = [address('owner'), address('waits'), address('recovery')]
    const owner = await fresh(email)
    await send('PUT', '/me/recovery-email', { email: recovery }, owner)
    await post('/verify-recovery-email', { code: await open.mailbox.code(recovery, 'verify-recovery-email') })
    await send('PUT', '/me/recovery-email', { email: address('another') }, owner)
    const ended = await enter(email, phrase)
    expect((await ways['by its person'](email)).status).toBe(200)
    expect(await rows('select id from identity.sessions where id = $1', [ended.sessionId])).toEqual([])
    await rows(`insert into identity.account_requests (id, kind, email, details, created_at) values ($1, 'email-change', $2, $3, $4)`, [
      newId(),
      next,
      JSON.stringify({ userId: owner.userId, askedBy: ended.sessionId }),
      new Date(open.clock.now().getTime() - 10_000),
    ])
    await expect.poll(() => rows('select id from identity.account_requests'), { timeout: 30_000 }).toEqual([])
    expect(open.mailbox.to(next, 'confirm-email')).toEqual([])
    const now = await enter(email, 'a wholly different phrase')
    expect((await send('GET', '/me/recovery-email', undefined, now)).json).toMatchObject({ email: recovery, status: 'verified' })
  })
})
