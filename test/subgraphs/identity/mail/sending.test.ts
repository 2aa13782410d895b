import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createCipher } from '../../../../platform/cipher.ts'
import { readMailServer } from '../../../../platform/smtp/address.ts'
import { startSandbox } from '../../../../sandbox/server.ts'
import type { ReceivedMail } from '../../../../sandbox/smtp/smtp.ts'
import { answering, openSending, rawServer } from './sending.ts'

const code = 'c'.repeat(43)
const verify = { kind: 'verify-email', to: 'ada@acme.test', data: { name: 'Ada' }, code } as const
const second = 1_000

/** The mail server of a sandbox. */
async function twin(folder = mkdtempSync(join(tmpdir(), 'sandbox-mail-')), smtpPort = 0) {
  const sandbox = await startSandbox({ folder, port: 0, smtpPort })
  onTestFinished(async () => {
    await sandbox.stop()
    rmSync(folder, { recursive: true, force: true })
  })
  const control = async (path: string, body?: object) =>
    (
      await fetch(`${sandbox.origin}/_control/${path}`, body && { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) })
    ).json()
  return {
    sandbox,
    /** Starts it again where it was. */
    again: () => twin(folder, sandbox.mail!.port),
    server: readMailServer(sandbox.mail!.url)!,
    arm: (fault: object) => control('faults', { network: 'smtp', ...fault }),
    received: () => control('received?network=smtp') as Promise<ReceivedMail[]>,
  }
}

describe('a mail that cannot be sent', () => {
  it('because this process lacks its code’s key waits for a process that has it, without counting as failed', async () => {
    const { server, received } = await twin()
    const sending = await openSending(server)
    await sending.send(verify)
    const stranger = sending.worker(createCipher([{ id: 'other', key: Buffer.alloc(32, 1) }]))
    for (let turn = 1; turn <= 2; turn++) {
      await sending.tryAll(stranger)
      const [row] = await sending.rows()
      expect(row).toMatchObject({ outcome: null, failures: 0, claim: null })
      expect((row!.due_at as Date).getTime() - sending.clock.now().getTime()).toBe(10 * second)
      sending.clock.advance(10 * second)
    }
    expect(sending.log.join('')).toMatch(/missing in ENCRYPTION_KEYS/)
    expect(await received()).toEqual([])
    await sending.tryAll()
    expect(await received()).toHaveLength(1)
  })

  it('is tried again after 5 s, 30 s, 5 min and 1 h with the same Message-ID, and then given up; its code is deleted', async () => {
    const ids = new Set<string>()
    const server = await rawServer(socket => {
      socket.on('data', chunk => {
        for (const [, id] of String(chunk).matchAll(/^Message-ID: (\S+)/gim)) ids.add(id!)
      })
      answering(socket, { message: '451 4.3.0 Later, ada@acme.test' })
    })
    const sending = await openSending(server)
    await sending.codes
    const code = await sending.database.sequelize.transaction(transaction =>
      sending.codes.issue('reset-password', 'x', { now: sending.clock.now(), transaction }),
    )
    await sending.send({ ...verify, code })
    for (const [at, wait] of [5, 30, 300, 3600].entries()) {
      // What stands of its code is looked at before each of them.
      await sending.sql(`update identity.codes set expires_at = 'infinity'`)
      await sending.tryAll()
      const [row] = await sending.rows()
      expect([row!.failures, (row!.due_at as Date).getTime() - sending.clock.now().getTime()]).toEqual([at + 1, wait * second])
      sending.clock.advance(wait * second - 1)
      await sending.tryAll()
      expect((await sending.rows())[0]!.failures).toBe(at + 1)
      sending.clock.advance(1)
    }
    await sending.tryAll()
    expect(await sending.rows()).toMatchObject([{ outcome: 'given_up', code: null, due_at: null }])
    expect([...ids]).toEqual([expect.stringMatching(/^<[0-9a-f-]{36}@platform\.test>$/)])
    const log = sending.log.join('')
    expect(log).toContain('451 4.3.0')
    expect(log).toContain('mail failed for good')
    expect(log).not.toMatch(new RegExp(`ada@|${code}`))
    expect(await sending.metrics.metrics()).toContain('supergraph_mails_total{kind="verify-email",outcome="given_up"} 1')
  })

  it.each([
    ['after DATA', { message: '554 5.7.1 No' }],
    ['after RCPT', { RCPT: '550 5.1.1 Nobody here' }],
    ['after MAIL', { MAIL: '553 5.7.1 Not you' }],
  ])('is given up at once when the server says %s that it never will', async (_, answers) => {
    const sending = await openSending(await rawServer(socket => answering(socket, answers)))
    await sending.send(verify)
    await sending.tryAll()
    expect(await sending.rows()).toMatchObject([{ outcome: 'given_up', code: null }])
  })

  it.each([
    ['refuses the connection', { greeting: '554 5.3.2 Closed' }],
    ['says that it is too busy', { greeting: '421 4.3.2 Later' }],
    ['refuses the sign-in', { AUTH: '535 5.7.8 Wrong' }],
    ['ends the connection after MAIL', { MAIL: 'cut' }],
    ['ends the connection after the message', { message: 'cut' }],
    ['says nothing', { greeting: null }],
    ['says nothing after MAIL', { MAIL: null }],
    ['says nothing after the message', { message: null }],
    ['speaks another language', { greeting: 'HTTP/1.1 400 Bad Request' }],
  ])('waits when the server %s', async (_, answers) => {
    const server = await rawServer(socket => answering(socket, answers))
    const sending = await openSending({ ...server, auth: { user: 'me', pass: 'secret-of-mine' } }, { connectMs: 300, talkMs: 300 })
    await sending.send(verify)
    await sending.tryAll()
    expect(await sending.rows()).toMatchObject([{ outcome: null, failures: 1, code: expect.stringMatching(/^v1\./) }])
    expect(sending.log.join('')).not.toContain('secret-of-mine')
  })

  it('waits while the mail server is down, and is sent when it is back', async () => {
    const { sandbox, server, again } = await twin()
    const sending = await openSending(server)
    await sandbox.stop()
    await sending.send(verify)
    await sending.tryAll()
    expect(await sending.rows()).toMatchObject([{ outcome: null, failures: 1 }])
    const back = await again()
    await sending.sql(`update identity.mails set code_hash = null`)
    sending.clock.advance(5 * second)
    await sending.tryAll()
    expect(await back.received()).toHaveLength(1)
  })

  it('is not sent late when its link is invalid by then', async () => {
    const sending = await openSending(await rawServer(socket => answering(socket, { message: '451 Later' })))
    await sending.send(verify)
    await sending.tryAll()
    sending.clock.advance(5 * second)
    await sending.tryAll()
    expect(await sending.rows()).toMatchObject([{ outcome: 'outdated', code: null }])
  })

  it('is sent again with the same Message-ID when the server’s acceptance is unknown', async () => {
    const post = await twin()
    const sending = await openSending(post.server)
    await post.arm({ fault: 'accept-then-reset' })
    await sending.send({ kind: 'notice', to: 'ada@acme.test', data: { name: 'Ada', what: 'password-changed' } })
    await sending.tryAll()
    sending.clock.advance(5 * second)
    await sending.tryAll()
    const ids = (await post.received()).map(({ headers }) => headers['message-id'])
    expect([ids.length, new Set(ids).size]).toEqual([2, 1])
    expect(await sending.rows()).toMatchObject([{ outcome: 'sent', failures: 1 }])
  })
})

describe('mails', () => {
  it('are sent once, however many processes try one at the same moment', async () => {
    const post = await twin()
    const sending = await openSending(post.server)
    await sending.send(verify)
    const [row] = await sending.rows()
    await Promise.all(Array.from({ length: 20 }, () => sending.worker()(row!.id as string)))
    expect(await post.received()).toHaveLength(1)
  })

  it('go to one address five times an hour and kind, also when twenty are written at once', async () => {
    const sending = await openSending(null)
    let issued = 0
    const told = await Promise.all(
      Array.from({ length: 20 }, () =>
        sending.send({
          ...verify,
          async code() {
            issued += 1
            return code
          },
        }),
      ),
    )
    expect([told.filter(Boolean).length, (await sending.rows()).length]).toEqual([5, 5])
    expect(issued, 'no code is voided for a mail that does not go').toBe(5)
    expect(await sending.send({ ...verify, to: 'ADA@acme.test' })).toBe(false)
    expect(await sending.send({ ...verify, to: 'bob@acme.test' })).toBe(true)
    sending.clock.advance(3_600_001)
    expect(await sending.send(verify)).toBe(true)
  })

  it('are not sent when their transaction is rolled back', async () => {
    const sending = await openSending(null)
    const failed = sending.database.sequelize.transaction(async transaction => {
      await sending.mails.send(verify, { transaction, now: sending.clock.now() })
      throw new Error('no')
    })
    await expect(failed).rejects.toThrow('no')
    expect(await sending.rows()).toEqual([])
    expect(await sending.sql('select from identity_jobs.job')).toEqual([])
  })

  it('to twenty addresses of one domain are sent through a server that accepts one connection, without a failure', async () => {
    let connections = 0
    let open = 0
    const server = await rawServer(socket => {
      connections += 1
      open += 1
      socket.once('close', () => (open -= 1))
      answering(socket, open > 1 ? { greeting: '421 4.7.0 Too many connections' } : {})
    })
    const sending = await openSending(server)
    for (let at = 0; at < 20; at++) await sending.send({ ...verify, to: `person${at}@acme.test` })
    await sending.tryAll()
    expect((await sending.rows()).map(({ outcome, failures }) => [outcome, failures])).toEqual(Array(20).fill(['sent', 0]))
    expect(connections).toBeLessThan(10)
  })

  it('are sent over the next connection when the server has closed the former one', async () => {
    const server = await rawServer((socket, at) => {
      answering(socket)
      let mails = 0
      socket.on('data', chunk => {
        // The first connection ends at its second mail, before a word of it was answered.
        if (String(chunk).includes('MAIL FROM') && at === 0 && ++mails === 2) socket.destroy()
      })
    })
    const sending = await openSending(server)
    await sending.send(verify)
    await sending.tryAll()
    await sending.send({ ...verify, to: 'bob@acme.test' })
    await sending.tryAll()
    await sending.tryAll()
    expect((await sending.rows()).map(({ outcome, failures }) => [outcome, failures])).toEqual([
      ['sent', 0],
      ['sent', 0],
    ])
  })

  it('are counted while they wait, with the age of the oldest', async () => {
    const sending = await openSending(await rawServer(socket => answering(socket, { message: '451 Later' })))
    await sending.send(verify)
    sending.clock.advance(90 * second)
    const text = await sending.metrics.metrics()
    expect(text).toContain('supergraph_mails_waiting 1')
    expect(text).toContain('supergraph_mails_waiting_seconds 90')
  })
})
