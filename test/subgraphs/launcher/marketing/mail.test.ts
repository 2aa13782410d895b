import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { DomainError } from '../../../../platform/errors.ts'
import { type Mail, type MailOptions, nextHandover, type OutgoingMail, openMail } from '../../../../subgraphs/launcher/engines/mail/mail.ts'
import { inTransaction } from '../../../../subgraphs/store/write.ts'
import { type Supergraph, supergraph } from '../../../kit/supergraph.ts'
import { sendingWorld, twins } from '../../providers/email/sending.ts'

const mail = { key: 'lead:1', kind: 'lead', organizationId: null, to: 'sales@acme.test', subject: 'Somebody wrote to us', text: 'Please call me.' } as const

describe('the outbox of mails', () => {
  let graph: Supergraph
  beforeAll(async () => {
    graph = await supergraph()
  })
  beforeEach(() => graph.rows('delete from launcher.mails'))
  afterAll(() => graph[Symbol.asyncDispose]())

  /** A process that hands mails over. */
  const process = (send: MailOptions['send']): Mail => openMail({ ...graph.platform.launcher.at.foundation, clock: graph.clock, send })
  const queue = (by: Mail, more: object = {}, then = async () => {}) =>
    inTransaction(graph.platform.launcher.job('test'), async unit => {
      await by.queue({ ...mail, ...more }, unit)
      await then()
    })
  const rows = () =>
    graph.rows<{ key: string; sealed: string | null; attempts: number; message_id: string | null }>('select * from launcher.mails order by created_at, key')
  const id = '0197a3c2-5e1f-7c4b-9d2e-3f4a5b6c7d8e'
  const taking = () => {
    const sent: OutgoingMail[] = []
    const by = process(async each => {
      sent.push(each)
      return id
    })
    return { sent, by }
  }

  it('hands a mail over once by many processes at once, and forgets what it said', async () => {
    const { sent, by } = taking()
    await queue(by)
    expect((await rows())[0]!.sealed).not.toContain('call')
    await Promise.all(Array.from({ length: 8 }, () => by.sweep.run()))
    expect(sent).toEqual([
      {
        to: mail.to,
        subject: mail.subject,
        text: mail.text,
        kind: 'lead',
        organizationId: null,
        idempotencyKey: expect.stringMatching(/^launcher:[\w-]{36}$/),
      },
    ])
    expect(await rows()).toMatchObject([{ sealed: null, message_id: id, next_attempt_at: null }])
  })

  it('queues a key once, and nothing without a commit', async () => {
    const { sent, by } = taking()
    await queue(by)
    await queue(by, { text: 'Other words' })
    await expect(queue(by, { key: 'lead:2' }, () => Promise.reject(new Error('rolled back')))).rejects.toThrow('rolled back')
    await by.sweep.run()
    expect(sent.map(({ text }) => text)).toEqual([mail.text])
  })

  it('repeats a mail under the same key after a failure, and after a process that died', async () => {
    const keys: string[] = []
    let fails = true
    const by = process(async ({ idempotencyKey }) => {
      keys.push(idempotencyKey)
      if (fails) throw new Error('away')
      return id
    })
    await queue(by)
    await by.sweep.run()
    await graph.clock.advance(9_000)
    await by.sweep.run()
    expect(keys).toHaveLength(1)
    await graph.clock.advance(1_000)
    fails = false
    await by.sweep.run()
    expect([keys.length, new Set(keys).size]).toEqual([2, 1])
    // A process that took a mail and died: its lease ends after a minute.
    await queue(by, { key: 'lead:3' })
    await graph.rows(`update launcher.mails set next_attempt_at = $1 where key = 'lead:3'`, [graph.clock.in(60_000)])
    await by.sweep.run()
    expect(keys).toHaveLength(2)
    await graph.clock.advance(60_000)
    await by.sweep.run()
    expect(keys).toHaveLength(3)
  })

  it('gives up what providers refuse for what it says, and forgets it', async () => {
    const by = process(() => Promise.reject(new DomainError('BAD_USER_INPUT', 'to[0] is no mail address.')))
    await queue(by)
    await by.sweep.run()
    expect(await rows()).toMatchObject([{ sealed: null, attempts: 1, message_id: null, next_attempt_at: null }])
  })

  it('waits longer after each failure, for a day', () => {
    const now = new Date('2026-03-02T09:00:00Z')
    const pauses = [1, 2, 3, 4, 5, 6, 7, 8].map(attempts => {
      const next = nextHandover(attempts, new Error('away'), now)
      return next && (next.getTime() - now.getTime()) / 1_000
    })
    expect(pauses).toEqual([10, 60, 300, 1_800, 7_200, 18_000, 57_600, null])
  })
})

describe('mails of the launcher', () => {
  it('leave through providers on the account of the platform, with their kind in a header, once', async () => {
    const { server, received } = await twins()
    const { graph, outsider, tryAll } = await sendingWorld(server)
    await graph.platform.providers.job('test').platformOrganization.learn(outsider.organizationId!)
    const job = graph.platform.launcher.job('test')
    await inTransaction(job, unit => job.mail.queue(mail, unit))
    await job.mail.sweep.run()
    // As a process that died between the handover and its record leaves it.
    const [row] = await graph.rows<{ id: string }>('select id from launcher.mails')
    const { cipher } = graph.platform.launcher.at.foundation
    const sealed = cipher.seal(JSON.stringify({ to: mail.to, subject: mail.subject, text: mail.text }), `launcher.mails:${row!.id}`)
    await graph.rows('update launcher.mails set sealed = $1, next_attempt_at = $2', [sealed, graph.clock.now()])
    await job.mail.sweep.run()
    await tryAll()
    expect(await received()).toMatchObject([{ to: [mail.to], headers: { 'x-supergraph-mail': 'lead', 'auto-submitted': 'auto-generated' } }])
    expect(await graph.rows('select organization_id from providers.email_messages')).toEqual([{ organization_id: outsider.organizationId }])
  })
})
