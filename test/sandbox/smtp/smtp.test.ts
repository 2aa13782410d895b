import { execFile, execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createBoundClock } from '../../../platform/clock.ts'
import { startSandbox } from '../../../sandbox/server.ts'
import type { ReceivedMail } from '../../../sandbox/smtp/smtp.ts'
import { send } from '../stage.ts'
import { type Dialogue, dialogue } from './dialogue.ts'

/** A sandbox with a mail server on a free port. */
async function open(folder = mkdtempSync(join(tmpdir(), 'sandbox-smtp-'))) {
  const clock = createBoundClock(new Date('2026-03-01T12:00:00.000Z'))
  const sandbox = await startSandbox({ folder, port: 0, smtpPort: 0, clock })
  onTestFinished(async () => {
    await sandbox.stop()
    rmSync(folder, { recursive: true, force: true })
  })
  const { username: user, password, port } = new URL(sandbox.mail!.url)
  const control = async (path: string, body?: object) =>
    send(`${sandbox.origin}/_control/${path}`, body && { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) })
  return {
    sandbox,
    folder,
    user,
    password,
    port: Number(port),
    arm: (fault: object) => control('faults', { network: 'smtp', ...fault }),
    received: async (to?: string) => (await control(`received?network=smtp${to ? `&to=${encodeURIComponent(to)}` : ''}`)).body as ReceivedMail[],
    requests: async () => (await control('requests?network=smtp')).body as { method: string; status: number | null; outcome: string; fault: string | null }[],
  }
}

type Open = Awaited<ReturnType<typeof open>>

const plain = ({ user, password }: Open) => Buffer.from(`\0${user}\0${password}`).toString('base64')

/** A dialogue that has been greeted and is signed in. */
async function signedIn(server: Open): Promise<Dialogue> {
  const client = await dialogue(server.port)
  await client.reply()
  await client.say('EHLO client.test')
  expect(await client.say(`AUTH PLAIN ${plain(server)}`)).toMatch(/^235 /)
  return client
}

const message = (to: string, lines: readonly string[] = ['Hello.']) =>
  ['From: a@platform.test', `To: ${to}`, 'Subject: Greetings', 'X-Supergraph-Mail: notice', '', ...lines, '.', ''].join('\r\n')

async function hand(client: Dialogue, to: string, lines?: readonly string[]): Promise<string> {
  expect(await client.say('MAIL FROM:<a@platform.test>')).toMatch(/^250 /)
  expect(await client.say(`RCPT TO:<${to}>`)).toMatch(/^250 /)
  expect(await client.say('DATA')).toMatch(/^354 /)
  client.write(message(to, lines))
  return client.reply()
}

describe('the mail server’s protocol', () => {
  it('greets, and lists PIPELINING, 8BITMIME, SIZE, SMTPUTF8, AUTH PLAIN LOGIN, and no STARTTLS', async () => {
    const client = await dialogue((await open()).port)
    expect(await client.reply()).toMatch(/^220 \S+ ESMTP/)
    const extensions = (await client.say('EHLO client.test')).split('\n').map(line => line.slice(4))
    expect(extensions.slice(1)).toEqual(expect.arrayContaining(['PIPELINING', '8BITMIME', 'SMTPUTF8', 'AUTH PLAIN LOGIN', 'SIZE 16777216']))
    expect(extensions).not.toContain('STARTTLS')
    expect(await client.say('NOOP')).toMatch(/^250 /)
    expect(await client.say('FLY')).toMatch(/^50[02] /)
    expect(await client.say('QUIT')).toMatch(/^221 /)
    expect(await client.ended).toBe('end')
  })

  it('requires a sign-in first, and rejects a wrong one', async () => {
    const server = await open()
    const client = await dialogue(server.port)
    await client.reply()
    await client.say('EHLO client.test')
    expect(await client.say('MAIL FROM:<a@platform.test>')).toMatch(/^530 /)
    expect(await client.say(`AUTH PLAIN ${Buffer.from('\0supergraph\0wrong').toString('base64')}`)).toMatch(/^535 /)
    expect(await client.say('AUTH LOGIN')).toMatch(/^334 /)
    expect(await client.say(Buffer.from(server.user).toString('base64'))).toMatch(/^334 /)
    expect(await client.say(Buffer.from(server.password).toString('base64'))).toMatch(/^235 /)
    expect(await hand(client, 'ada@acme.test')).toMatch(/^250 /)
    expect(await server.requests()).toMatchObject([{ method: 'AUTH', status: 535, outcome: 'refused' }])
    expect(JSON.stringify(await server.requests())).not.toContain('ada@')
  })

  it('stores a mail unchanged: envelope, text with dots, headers in lower case; and lists it by address', async () => {
    const server = await open()
    const client = await signedIn(server)
    await hand(client, 'Ada@acme.test', ['..one dot', 'Grüße'])
    await hand(client, 'bob@acme.test')
    const [mail, ...others] = await server.received('ada@acme.test')
    expect(others).toEqual([])
    expect(mail).toMatchObject({ from: 'a@platform.test', to: ['Ada@acme.test'], subject: 'Greetings', receivedAt: '2026-03-01T12:00:00.000Z' })
    expect(mail!.text.trim()).toBe('.one dot\nGrüße')
    expect(mail!.headers).toMatchObject({ 'x-supergraph-mail': 'notice', to: 'Ada@acme.test' })
    expect((await server.received()).map(each => each.to[0])).toEqual(['Ada@acme.test', 'bob@acme.test'])
  })

  it('accepts pipelined commands, and a non-ASCII address', async () => {
    const server = await open()
    const client = await signedIn(server)
    client.write('MAIL FROM:<a@platform.test> SMTPUTF8 BODY=8BITMIME\r\nRCPT TO:<zoë@acmé.test>\r\nDATA\r\n')
    expect([await client.reply(), await client.reply(), await client.reply()].map(reply => reply.slice(0, 3))).toEqual(['250', '250', '354'])
    client.write(message('zoë@acmé.test'))
    expect(await client.reply()).toMatch(/^250 /)
    expect(await server.received()).toHaveLength(1)
  })

  it('rejects a mail larger than announced, before and after its content', async () => {
    const server = await open()
    const client = await signedIn(server)
    expect(await client.say('MAIL FROM:<a@platform.test> SIZE=30000000')).toMatch(/^552 /)
    expect(await hand(client, 'ada@acme.test', Array<string>(19_000).fill('x'.repeat(900)))).toMatch(/^552 /)
    expect(await hand(client, 'ada@acme.test')).toMatch(/^250 /)
    expect(await server.received()).toHaveLength(1)
  })

  it('shows the faults: a status after DATA, no answer, a cut, slowness', async () => {
    const server = await open()
    await server.arm({ fault: 'status', status: 451 })
    const client = await signedIn(server)
    expect(await hand(client, 'put-off@acme.test')).toMatch(/^451 /)
    expect(await hand(client, 'taken@acme.test')).toMatch(/^250 /)
    await server.arm({ fault: 'slow', delayMs: 300 })
    const began = performance.now()
    expect(await hand(client, 'slow@acme.test')).toMatch(/^250 /)
    expect(performance.now() - began).toBeGreaterThan(290)
    await server.arm({ fault: 'accept-then-reset' })
    expect(await hand(client, 'cut@acme.test')).toBe('ended: ECONNRESET')
    await server.arm({ fault: 'timeout-after-accept' })
    const silent = await signedIn(server)
    const answer = hand(silent, 'silent@acme.test')
    await expect.poll(() => server.received('silent@acme.test')).toHaveLength(1)
    silent.socket.destroy()
    await answer
    expect((await server.received()).map(each => each.to[0])).toEqual(['taken@acme.test', 'slow@acme.test', 'cut@acme.test', 'silent@acme.test'])
    expect((await server.requests()).map(({ fault, status }) => [fault, status])).toEqual([
      ['status', 451],
      ['slow', 250],
      ['accept-then-reset', null],
      ['timeout-after-accept', null],
    ])
    await server.arm({ fault: 'status', status: 550 })
    await server.arm({ fault: 'none' })
    expect(await hand(await signedIn(server), 'none@acme.test')).toMatch(/^250 /)
  })

  it('remembers mails and its account over a restart, and answers on both loopback families', async () => {
    const first = await open()
    await hand(await signedIn(first), 'ada@acme.test')
    await first.sandbox.stop()
    const second = await open(first.folder)
    expect(await second.received('ada@acme.test')).toHaveLength(1)
    expect([second.user, second.password]).toEqual([first.user, first.password])
    expect((await (await dialogue(second.port, '::1')).reply()).slice(0, 3)).toBe('220')
  })
})

const python = (() => {
  try {
    execFileSync('python3', ['-c', 'import smtplib, email'])
    return true
  } catch {
    return false
  }
})()

it.skipIf(!python)('accepts a mail from python3 smtplib, an independent client', async () => {
  const server = await open()
  const script = `
import smtplib, sys
from email.message import EmailMessage
mail = EmailMessage()
mail['From'], mail['To'], mail['Subject'] = 'a@platform.test', 'ada@acme.test', 'Zoë’s greetings'
mail.set_content('Grüße\\n')
mail.add_alternative('<p>Grüße</p>', subtype='html')
with smtplib.SMTP('127.0.0.1', int(sys.argv[1]), timeout=10) as server:
    server.ehlo()
    server.login(sys.argv[2], sys.argv[3])
    server.send_message(mail)
`
  await promisify(execFile)('python3', ['-c', script, String(server.port), server.user, server.password])
  expect(await server.received('ada@acme.test')).toMatchObject([
    { subject: 'Zoë’s greetings', text: expect.stringMatching(/^Grüße\s+$/), html: expect.stringMatching(/^<p>Grüße<\/p>\s+$/) },
  ])
})
