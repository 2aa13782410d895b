import { createHash, createPublicKey, createVerify } from 'node:crypto'
import { describe, expect, test, vi } from 'vitest'
import { armCrash } from '../../../../platform/crash.ts'
import { claimMs } from '../../../../subgraphs/providers/email/message/rules.ts'
import { answering, rawServer } from '../../identity/mail/sending.ts'
import { seedDomain, seedIdentity } from './seed.ts'
import { seedServer, sendingWorld, twins } from './sending.ts'

const second = 1_000

/** Does something that ends at a crash point: what is not committed is undone, as a kill does. */
async function dies(point: string, work: () => Promise<unknown>): Promise<void> {
  const kill = vi.spyOn(process, 'kill').mockImplementation(() => {
    throw new Error('power failure')
  })
  armCrash(point)
  try {
    await expect(work()).rejects.toThrow('power failure')
  } finally {
    armCrash(null)
    kill.mockRestore()
  }
}

/** Verifies a signature of DKIM, relaxed in both, by RFC 6376 §3.4 and §3.7. */
function verifies(message: string, publicKey: string): boolean {
  const end = message.indexOf('\r\n\r\n')
  const headers = message
    .slice(0, end)
    .replace(/\r\n(?=[ \t])/g, '')
    .split('\r\n')
  const relaxed = (header: string) => {
    const at = header.indexOf(':')
    return `${header.slice(0, at).trim().toLowerCase()}:${header
      .slice(at + 1)
      .replace(/[ \t]+/g, ' ')
      .trim()}`
  }
  const own = headers.find(each => /^DKIM-Signature:/i.test(each))!
  const tags = new Map(
    own
      .slice(own.indexOf(':') + 1)
      .split(';')
      .map(each => [each.slice(0, each.indexOf('=')).trim(), each.slice(each.indexOf('=') + 1).trim()]),
  )
  const body = message
    .slice(end + 4)
    .replace(/[ \t]+(?=\r\n)/g, '')
    .replace(/[ \t]+/g, ' ')
    .replace(/(?:\r\n)+$/, '\r\n')
  if (createHash('sha256').update(body).digest('base64') !== tags.get('bh')!.replace(/\s/g, '')) return false
  const signed = tags
    .get('h')!
    .split(':')
    .map(name => relaxed(headers.findLast(each => each.toLowerCase().startsWith(`${name.trim().toLowerCase()}:`)) ?? ''))
  const text = [...signed, relaxed(own).replace(/(?<=[;\s]b=)[^;]*/, '')].join('\r\n')
  const key = createPublicKey({ key: Buffer.from(publicKey, 'base64'), format: 'der', type: 'spki' })
  return createVerify('rsa-sha256').update(text).verify(key, tags.get('b')!.replace(/\s/g, ''), 'base64')
}

describe('G-07 a mail', () => {
  test('is sent from the platform if the organization has no identity, signed by its domain; its text is then deleted', async () => {
    const { server, received } = await twins()
    const world = await sendingWorld(server)
    const { id, status } = await world.send({
      cc: ['grace@example.com'],
      bcc: ['hidden@example.com'],
      html: '<p>Hello.</p>',
      headers: [{ name: 'X-Order', value: '7' }],
    })
    expect(status).toBe('QUEUED')
    expect(JSON.stringify(await world.rows())).not.toContain('Hello')
    await world.tryAll()
    const [mail, ...others] = await received()
    expect(others).toEqual([])
    expect(mail).toMatchObject({ from: 'no-reply@platform.test', to: ['ada@example.com', 'grace@example.com', 'hidden@example.com'], subject: 'Welcome' })
    expect(mail!.headers).toMatchObject({ 'x-order': '7', 'dkim-signature': expect.stringContaining('d=platform.test') })
    expect(JSON.stringify(mail!.headers)).not.toContain('hidden@')
    expect(await world.read(id)).toMatchObject({
      status: 'SENT',
      attempts: 1,
      failure: null,
      providerMessageId: mail!.headers['message-id'],
      cc: ['grace@example.com'],
    })
    expect(await world.rows()).toMatchObject([{ content: null, due_at: null }])
  })

  test('is from the organization’s default identity, if that may send, else from the platform’s; a named one must be allowed to send', async () => {
    const world = await sendingWorld(null)
    const { graph, owner, outsider } = world
    const pending = await seedDomain(graph, { organizationId: owner.organizationId!, domain: 'acme.test', status: 'PENDING' })
    const news = await seedIdentity(graph, pending, { localPart: 'news', isDefault: true })
    const from = async (more: object = {}) => (await world.trySend(more)).data().sendEmail.from
    expect(await from()).toBe('Plätform <no-reply@platform.test>')
    ;(await world.trySend({ identityId: news.id })).refused('CONFLICT')
    await graph.rows(`update providers.sender_domains set status = 'VERIFIED' where id = $1`, [pending.id])
    expect([await from(), await from({ identityId: news.id })]).toEqual(['news@acme.test', 'news@acme.test'])
    ;(await world.trySend({ identityId: news.id }, outsider)).refused('NOT_FOUND')
  })

  test('is sent once for one key, twenty times at once; with another text the key is rejected', async () => {
    const { server, received } = await twins()
    const world = await sendingWorld(server)
    const made = await Promise.all(Array.from({ length: 20 }, () => world.send({ idempotencyKey: 'one' })))
    expect(new Set(made.map(({ id }) => id)).size).toBe(1)
    ;(await world.trySend({ idempotencyKey: 'one', text: 'Something else.' })).refused('CONFLICT')
    await Promise.all([world.tryAll(), world.tryAll(world.worker()), world.tryAll(world.worker())])
    expect(await received()).toHaveLength(1)
    // For ever: other keys are let go of after a week.
    await world.graph.rows(`update providers.idempotency_keys set at = at - interval '10 years'`)
    await world.graph.rows('delete from providers.email_messages')
    ;(await world.trySend({ idempotencyKey: 'one' })).refused('NOT_FOUND')
  })

  test('that the server defers is tried again after 5 s, 30 s, 5 min, 30 min and 2 h, and has failed then', async () => {
    const world = await sendingWorld(await rawServer(socket => answering(socket, { message: '451 4.3.0 Later, ada@example.com' })))
    const { id } = await world.send()
    for (const [at, wait] of [5, 30, 300, 1_800, 7_200].entries()) {
      await world.tryAll()
      const [row] = await world.rows()
      expect([row!.status, row!.attempts, (row!.due_at as Date).getTime() - world.graph.clock.now().getTime()]).toEqual(['QUEUED', at + 1, wait * second])
      await world.graph.clock.advance(wait * second - 1)
      await world.tryAll()
      expect((await world.rows())[0]!.attempts).toBe(at + 1)
      await world.graph.clock.advance(1)
    }
    await world.tryAll()
    expect(await world.read(id)).toMatchObject({ status: 'FAILED', attempts: 6, failure: { code: 'GAVE_UP', message: expect.stringContaining('451 4.3.0') } })
    expect(world.log.join('')).not.toContain('ada@example.com')
  })

  test('without the server’s answer after its content is UNKNOWN, and never sent again', async () => {
    let met = 0
    const world = await sendingWorld(
      await rawServer(socket => {
        met += 1
        answering(socket, { message: 'cut' })
      }),
    )
    const { id } = await world.send()
    await world.tryAll()
    expect(await world.read(id)).toMatchObject({ status: 'UNKNOWN', failure: { code: 'OUTCOME_UNKNOWN' } })
    await world.graph.clock.advance(100 * 3_600 * second)
    await world.tryAll()
    expect(met).toBe(1)
  })

  test('that is rejected permanently is BOUNCED; a nonexistent address gets no more mail from that organization, only from others', async () => {
    const world = await sendingWorld(await rawServer(socket => answering(socket, { RCPT: '550 5.1.1 No such user, ada@example.com' })))
    const { id } = await world.send()
    await world.tryAll()
    expect(await world.read(id)).toMatchObject({ status: 'BOUNCED', failure: { code: 'REFUSED', message: 'the mail server answered 550 5.1.1 after RCPT TO' } })
    expect((await world.send()).status).toBe('SUPPRESSED')
    expect((await world.send({}, world.outsider)).status).toBe('QUEUED')
  })

  test.each(['550 5.7.1 Not wanted', '553 5.1.8 Bad sender'])('that is refused with %s keeps nobody from later ones', async answer => {
    const world = await sendingWorld(await rawServer(socket => answering(socket, { RCPT: answer })))
    await world.send()
    await world.tryAll()
    expect(await world.rows()).toMatchObject([{ status: 'BOUNCED' }])
    expect((await world.send()).status).toBe('QUEUED')
  })

  test('of which the server rejects one recipient is SENT to the others, and is tried again for a deferred one', async () => {
    const said: Record<string, string> = { 'grace@example.com': '550 5.1.1 No', 'edsger@example.com': '450 4.2.1 Later' }
    const asked: string[] = []
    const server = await rawServer(socket => {
      socket.on('data', chunk => {
        for (const [, address] of String(chunk).matchAll(/^RCPT TO:<(.*)>/gm)) asked.push(address!)
      })
      answering(socket, { RCPT: line => said[/<(.*)>/.exec(line)![1]!] ?? '250 OK' })
    })
    const world = await sendingWorld(server)
    const { id } = await world.send({ to: ['ada@example.com', 'grace@example.com', 'edsger@example.com'] })
    await world.tryAll()
    expect(await world.read(id)).toMatchObject({ status: 'QUEUED', failure: { code: 'PUT_OFF' } })
    delete said['edsger@example.com']
    await world.graph.clock.advance(5 * second)
    await world.tryAll()
    expect(await world.read(id)).toMatchObject({ status: 'SENT', attempts: 2 })
    expect(asked).toEqual(['ada@example.com', 'grace@example.com', 'edsger@example.com', 'edsger@example.com'])
    expect((await world.rows())[0]!.recipients).toMatchObject([
      { outcome: 'SENT' },
      { outcome: 'REFUSED', answer: '550 5.1.1 after RCPT TO' },
      { outcome: 'SENT' },
    ])
  })

  test('from the organization’s own identity uses its own server, never one on a private address that is not allowed', async () => {
    let met = 0
    const inside = await rawServer(socket => {
      met += 1
      answering(socket)
    })
    const { server, received } = await twins()
    const world = await sendingWorld(server)
    const { graph, owner } = world
    const identity = await seedIdentity(graph, await seedDomain(graph, { organizationId: owner.organizationId! }))
    await seedServer(graph, owner.organizationId!, inside)
    const { id } = await world.send({ identityId: identity.id })
    await world.tryAll()
    expect(await world.read(id)).toMatchObject({ status: 'QUEUED', failure: { code: 'PUT_OFF', message: 'the mail server lies on a private address' } })
    // What is from the platform leaves by its server all the same.
    await world.send()
    await world.tryAll()
    expect([met, (await received()).length]).toEqual([0, 1])
  })

  test('carries a signature that its domain’s published key verifies', async () => {
    let raw = ''
    const server = await rawServer(socket => {
      socket.on('data', chunk => {
        raw += chunk
      })
      answering(socket)
    })
    const world = await sendingWorld(server)
    await world.send({ html: '<p>Grüße</p>' })
    await world.tryAll()
    const message = /DATA\r\n([\s\S]*?)\r\n\.\r\n/.exec(raw)![1]!.replaceAll('\r\n..', '\r\n.')
    const [{ key }] = (await world.graph.rows('select public_key as key from providers.sender_domains')) as [{ key: string }]
    expect(verifies(`${message}\r\n`, key)).toBe(true)
    expect(verifies(`${message.replace('Welcome', 'Farewell')}\r\n`, key)).toBe(false)
  })

  test.each([
    ['after-email-claim', 0, 'UNKNOWN'],
    ['after-email-taken', 1, 'UNKNOWN'],
    ['after-email-written', 1, 'SENT'],
  ] as const)('whose process dies %s, when the server has %i of it, is %s: neither lost nor sent twice', async (point, before, status) => {
    const { server, received } = await twins()
    const world = await sendingWorld(server)
    const { id } = await world.send()
    await dies(point, () => world.tryAll())
    expect(await received()).toHaveLength(before)
    await world.graph.clock.advance(claimMs - 1)
    await world.tryAll(world.worker())
    await world.graph.clock.advance(1)
    await world.tryAll(world.worker())
    await world.tryAll(world.worker())
    expect(await received()).toHaveLength(before)
    expect((await world.read(id)).status).toBe(status)
  })

  test('to suppressed addresses only is SUPPRESSED and free; an address suppressed before sending is left out', async () => {
    const { server, received } = await twins()
    const world = await sendingWorld(server)
    const { graph, owner } = world
    const suppress = (address: string) =>
      graph.execute('mutation($input: AddEmailSuppressionInput!) { addEmailSuppression(input: $input) { id } }', { input: { address } }, { as: owner })
    ;(await suppress('Ada@Example.com')).data()
    expect((await world.send()).status).toBe('SUPPRESSED')
    expect(await graph.rows('select id from providers.calls')).toEqual([])
    const { id } = await world.send({ to: ['grace@example.com', 'edsger@example.com', 'ada@example.com'] })
    ;(await suppress('grace@example.com')).data()
    await world.tryAll()
    expect((await received()).map(({ to }) => to)).toEqual([['edsger@example.com']])
    expect((await world.read(id)).status).toBe('SENT')
  })

  test('above a hard limit is rejected, and nothing of it is stored', async () => {
    const world = await sendingWorld(null)
    const { graph, owner } = world
    const input = { scopeType: 'PROVIDER_FAMILY', scopeValue: 'email', period: 'DAY', hardLimitMicros: 250 }
    ;(await graph.execute('mutation($input: CreateSpendLimitInput!) { createSpendLimit(input: $input) { id } }', { input }, { as: owner })).data()
    const answers = await Promise.all(Array.from({ length: 20 }, () => world.trySend()))
    expect(answers.filter(({ error }) => !error).length).toBe(2)
    for (const answer of answers.filter(({ error }) => error)) answer.refused('BUDGET_EXCEEDED')
    expect(await world.rows()).toHaveLength(2)
    expect(await graph.rows('select spent_micros::int as spent from providers.spend_limits')).toEqual([{ spent: 200 }])
  })

  test.each([
    [{ to: [] }, 'to'],
    [{ to: ['ada@example.com\r\nBcc: eve@example.com'] }, 'to[0]'],
    [{ to: ['ada@example.com'], cc: Array.from({ length: 50 }, (_, at) => `a${at}@example.com`) }, 'to'],
    [{ subject: 'One\r\nX-Two: 2' }, 'subject'],
    [{ text: null }, 'text'],
    [{ text: 'x'.repeat(500_001) }, 'text'],
    [{ headers: [{ name: 'Bcc', value: 'eve@example.com' }] }, 'headers[0].name'],
    [{ headers: [{ name: 'X-A', value: 'one\r\nBcc: eve@example.com' }] }, 'headers[0].value'],
    [{ headers: [{ name: 'DKIM-Signature', value: 'x' }] }, 'headers[0].name'],
    [{ headers: [{ name: 'X-SMTPAPI', value: '{"to":["eve@example.com"]}' }] }, 'headers[0].name'],
    [{ headers: [{ name: 'X-MC-BccAddress', value: 'eve@example.com' }] }, 'headers[0].name'],
    [{ replyTo: 'nobody' }, 'replyTo'],
  ])('with %j is refused by its field', async (more, field) => {
    const world = await sendingWorld(null)
    const refusal = (await world.trySend(more)).refused('BAD_USER_INPUT')
    expect(JSON.stringify(refusal)).toContain(`"${field}"`)
    expect(await world.rows()).toEqual([])
  })
})
