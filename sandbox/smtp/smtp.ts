import { randomBytes, randomUUID, timingSafeEqual } from 'node:crypto'
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import type { SMTPServer, SMTPServerDataStream, SMTPServerSession } from 'smtp-server'
import type { Clock } from '../../platform/clock.ts'
import { listenOn, type ServerOptions } from '../dns/listening.ts'
import type { Control, FaultKind } from '../network.ts'
import type { Collection } from '../state.ts'
import { mistakeInMime } from './mime.ts'

/** A mail that was taken. */
export interface ReceivedMail {
  /** Time of receipt, ISO 8601, UTC, milliseconds. */
  readonly receivedAt: string
  readonly id: string
  /** Sender of the envelope, which may differ from the headers. */
  readonly from: string
  readonly to: readonly string[]
  readonly subject: string
  readonly text: string
  readonly html: string
  /** Attached files, in the order of the message's parts. */
  readonly attachments: readonly { readonly name: string; readonly contentType: string; readonly bytes: number }[]
  /** Headers by lower-case name; values of a repeated header are joined with commas. */
  readonly headers: Readonly<Record<string, string>>
}

export interface MailServerOptions extends ServerOptions {
  /**
   * Address to which the server reports bounces and deliveries, and the signing secret. @default no reports; a
   * generated secret, which is stored
   */
  readonly reports?: { readonly url?: string | undefined; readonly secret?: string | undefined }
  readonly log?: { error(facts: object, message: string): void }
}

/** A mail server that listens. */
export interface MailServer {
  readonly port: number
  /** Address with credentials: `smtp://user:password@host:port`. */
  readonly url: string
  /** Returns the received mails, oldest first. @param to an envelope address; null: mails to every address */
  received(to: string | null): readonly ReceivedMail[]
  /** Secret that signs the reports: `whsec_…`. */
  readonly reportSecret: string
  /**
   * Control `emit`: `{ event, messageId, recipient, reason }` reports that a mail was delivered, bounced or caused a
   * complaint, and returns the receiver's answer to the report.
   */
  readonly controls: { readonly emit: Control }
  stop(): Promise<void>
}

/** Name of the mail server in faults and logs. */
export const smtp = 'smtp'

/** Maximum number of mails that are stored, and the size limit of one in bytes. */
const mostMails = 2_000
const mostBytes = 16 * 1024 * 1024
/** Idle timeout of a connection, in ms. */
const silenceMs = 60_000

interface Account {
  readonly user: string
  readonly password: string
}

/**
 * Starts a mail server with the behaviour of common ones: ESMTP (RFC 5321) with PIPELINING, 8BITMIME, SIZE and
 * SMTPUTF8, and AUTH PLAIN or LOGIN required before anything else. It forwards nothing: mails are committed to the
 * sandbox's state before the answer is sent.
 */
export async function startMailServer({ state, faults, requests, clock, host, port, reports = {}, log }: MailServerOptions): Promise<MailServer> {
  const mails = state.collection<ReceivedMail>('smtp mails', mostMails)
  const { user, password } = accountIn(state.collection<Account>('smtp account', 1))
  const reportSecret = reports.secret ?? secretIn(state.collection<string>('smtp report secret', 1))
  const sockets = new Set<Socket>()

  const note = (method: string, status: number | null, reason: string, fault: FaultKind | null = null) =>
    requests.add({ at: clock.now().toISOString(), network: smtp, method, path: '', status, outcome: fault ? 'faulted' : 'refused', fault, reason })

  async function take(stream: SMTPServerDataStream, session: SMTPServerSession): Promise<void> {
    const chunks: Buffer[] = []
    for await (const chunk of stream as AsyncIterable<Buffer>) if (!stream.sizeExceeded) chunks.push(chunk)
    if (stream.sizeExceeded) {
      note('DATA', 552, 'the message is larger than SIZE says')
      throw refusal(552, 'Message exceeds fixed maximum message size')
    }
    const refused = faults.take(smtp, ['status'])
    if (refused) {
      const status = refused.status!
      note('DATA', status, 'a fault was armed', 'status')
      throw refusal(status, status < 500 ? 'Try again later' : 'Not taken')
    }
    const raw = Buffer.concat(chunks)
    const mistake = mistakeInMime(raw)
    if (mistake !== null) {
      note('DATA', 554, mistake)
      throw refusal(554, `5.6.0 ${mistake}`)
    }
    const mail = await readMail(raw, session, clock)
    mails.set(mail.id, mail)
    const fault = faults.take(smtp, ['timeout-after-accept', 'accept-then-reset', 'slow'])
    state.commit()
    if (!fault) return
    note('DATA', fault.fault === 'slow' ? 250 : null, 'a fault was armed', fault.fault)
    if (fault.fault === 'slow') await new Promise(resolve => setTimeout(resolve, fault.delayMs).unref())
    else if (fault.fault === 'timeout-after-accept') await new Promise(() => {})
    else {
      for (const socket of sockets) if (socket.remotePort === session.remotePort && socket.remoteAddress === session.remoteAddress) socket.resetAndDestroy()
    }
  }

  const make = async (): Promise<SMTPServer> => {
    const { SMTPServer } = await import('smtp-server')
    const server = new SMTPServer({
      name: 'mail.sandbox.test',
      banner: 'Sandbox',
      size: mostBytes,
      authMethods: ['PLAIN', 'LOGIN'],
      allowInsecureAuth: true,
      disabledCommands: ['STARTTLS'],
      disableReverseLookup: true,
      socketTimeout: silenceMs,
      closeTimeout: 1,
      logger: false,
      onAuth(auth, _session, done) {
        if (isSame(auth.username, user) && isSame(auth.password, password)) return done(null, { user })
        note('AUTH', 535, 'the user name or the password is wrong')
        done(refusal(535, 'Authentication credentials invalid'))
      },
      onData(stream, session, done) {
        take(stream, session).then(
          () => done(null, 'Taken'),
          error => {
            if (!(error as { responseCode?: number }).responseCode) log?.error({ err: error }, 'sandbox could not accept a mail')
            stream.resume()
            done(error)
          },
        )
      },
    })
    // A client that disconnects is no error of the server.
    server.on('error', () => {})
    return server
  }
  // The SMTP server is created with its first connection, because most starts send no mail.
  let speaking: Promise<SMTPServer> | undefined
  const open = () =>
    createServer(socket => {
      sockets.add(socket)
      socket.once('close', () => sockets.delete(socket))
      socket.on('error', () => {})
      speaking ??= make()
      speaking.then(
        server => server.server.emit('connection', socket),
        error => {
          log?.error({ err: error }, 'sandbox mail server could not start')
          socket.destroy()
        },
      )
    })
  const servers = await listen(open, host, port)
  const bound = (servers[0]!.address() as AddressInfo).port
  let stopped: Promise<void> | undefined
  const stop = async () => {
    const closed = Promise.all(servers.map(server => new Promise<void>(resolve => server.close(() => resolve()))))
    for (const socket of sockets) socket.destroy()
    await closed
  }
  return {
    port: bound,
    reportSecret,
    controls: { emit: input => report(input, reports.url, reportSecret, clock) },
    url: `smtp://${user}:${password}@${host === 'localhost' ? '127.0.0.1' : host.includes(':') ? `[${host}]` : host}:${bound}`,
    received: to => [...mails.values()].filter(mail => to === null || mail.to.some(each => each.toLowerCase() === to.toLowerCase())),
    stop() {
      stopped ??= stop()
      return stopped
    },
  }
}

/** Returns the account with which the platform signs in, the same after every restart. */
function accountIn(accounts: Collection<Account>): Account {
  const [known] = accounts.values()
  if (known) return known
  const account = { user: 'supergraph', password: randomBytes(18).toString('base64url') }
  accounts.set('platform', account)
  return account
}

function secretIn(secrets: Collection<string>): string {
  const [known] = secrets.values()
  const secret = known ?? `whsec_${randomBytes(32).toString('base64')}`
  if (known === undefined) secrets.set('own', secret)
  return secret
}

const events = ['bounce', 'complaint', 'delivered']

/** Reports the outcome of a mail as mail providers do, signed by the rules of Standard Webhooks. */
async function report(input: Readonly<Record<string, unknown>>, url: string | undefined, secret: string, clock: Clock): Promise<object | string> {
  const { event, messageId, recipient, reason, id = `msg_${randomUUID()}`, ...others } = input
  if (Object.keys(others).length > 0) return `${Object.keys(others).join(', ')} is not known here: a report has event, messageId, recipient, reason and id.`
  if (typeof event !== 'string' || !events.includes(event)) return `event is ${JSON.stringify(event)}: expected one of ${events.join(', ')}.`
  if (typeof messageId !== 'string' || typeof recipient !== 'string' || typeof id !== 'string') return 'messageId and recipient have to be texts.'
  if (url === undefined) return 'Nobody is there to be told: start the sandbox with where reports go.'
  const { Webhook } = await import('standardwebhooks')
  const now = clock.now()
  const body = JSON.stringify({ type: event, messageId, recipient, reason: reason ?? event, at: now.toISOString() })
  const headers = {
    'content-type': 'application/json',
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(now.getTime() / 1000)),
    'webhook-signature': new Webhook(secret).sign(id, now, body),
  }
  try {
    const answer = await fetch(url, { method: 'POST', headers, body, signal: AbortSignal.timeout(10_000) })
    await answer.arrayBuffer()
    return { status: answer.status }
  } catch (error) {
    return `The report could not be brought: ${error instanceof Error ? error.message : error}`
  }
}

async function readMail(raw: Buffer, { envelope }: SMTPServerSession, clock: Clock): Promise<ReceivedMail> {
  const { default: PostalMime } = await import('postal-mime')
  const { subject = '', text = '', html = '', headers, attachments } = await PostalMime.parse(raw)
  const byName: Record<string, string> = {}
  for (const { key, value } of headers) byName[key] = Object.hasOwn(byName, key) ? `${byName[key]}, ${value}` : value
  return {
    receivedAt: clock.now().toISOString(),
    id: randomUUID(),
    from: envelope.mailFrom ? envelope.mailFrom.address : '',
    to: envelope.rcptTo.map(({ address }) => address),
    subject,
    text,
    html,
    attachments: attachments.map(({ filename, mimeType, content }) => ({
      name: filename ?? '',
      contentType: mimeType,
      bytes: typeof content === 'string' ? Buffer.byteLength(content) : content.byteLength,
    })),
    headers: byName,
  }
}

const refusal = (responseCode: number, sentence: string): Error => Object.assign(new Error(sentence), { responseCode })

function isSame(given: string | null | undefined, wanted: string): boolean {
  const [one, other] = [Buffer.from(given ?? ''), Buffer.from(wanted)]
  return one.length === other.length && timingSafeEqual(one, other)
}

/**
 * Listens on one address, or on both loopback families under the same port; on a machine without IPv6 only on the IPv4
 * address.
 */
async function listen(open: () => Server, host: string, port: number): Promise<readonly Server[]> {
  if (host !== 'localhost') return [await listenOn(open(), host, port)]
  for (let [wanted, turn] = [port, 1]; ; wanted = 0, turn += 1) {
    let first: Server | undefined
    try {
      first = await listenOn(open(), '127.0.0.1', wanted)
      return [first, await listenOn(open(), '::1', (first.address() as AddressInfo).port)]
    } catch (error) {
      const { code = '' } = error as NodeJS.ErrnoException
      if (first && ['EADDRNOTAVAIL', 'EAFNOSUPPORT'].includes(code)) return [first]
      first?.close()
      if (code !== 'EADDRINUSE' || turn === 5) throw error
    }
  }
}
