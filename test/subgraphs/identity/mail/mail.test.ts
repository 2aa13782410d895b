import { describe, expect, it } from 'vitest'
import type { NewMail } from '../../../../subgraphs/identity/mail/kinds.ts'
import { anonymous } from '../../../../subgraphs/viewer.ts'
import { unbounded } from '../../../kit/reading.ts'
import { freshIdentity } from '../identity-world.ts'

const open = freshIdentity({ started: true })

const code = 'c'.repeat(43)
const send = (mail: NewMail) => {
  const { mails } = open.identity.open(anonymous, { requestId: 'test', ...unbounded })
  return open.foundation.sequelize.transaction(transaction => mails.send(mail, { transaction, now: open.clock.now() }))
}
const rows = async () => (await open.foundation.sequelize.query('select * from identity.mails order by id'))[0] as Record<string, unknown>[]

describe('a mail', () => {
  it('is sent once its transaction is committed, and its code is deleted then', async () => {
    await send({ kind: 'verify-email', to: 'Ada@acme.test', data: { name: 'Ada' }, code })
    expect(await open.mailbox.code('ada@acme.test', 'verify-email')).toBe(code)
    await expect.poll(rows).toMatchObject([{ outcome: 'sent', code: null, due_at: null }])
  })

  it('goes to one address five times an hour and kind, and further ones are silently dropped', async () => {
    const told = []
    for (let at = 0; at < 7; at++) told.push(await send({ kind: 'notice', to: 'ada@acme.test', data: { name: 'Ada', what: 'password-changed' } }))
    expect(told).toEqual([true, true, true, true, true, false, false])
    expect(await send({ kind: 'already-registered', to: 'ada@acme.test', data: { name: 'Ada' } })).toBe(true)
    open.clock.advance(3_600_001)
    expect(await send({ kind: 'notice', to: 'ada@acme.test', data: { name: 'Ada', what: 'password-changed' } })).toBe(true)
  })
})
