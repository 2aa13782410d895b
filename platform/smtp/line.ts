import type { Socket } from 'node:net'
import { Readable } from 'node:stream'
import type SMTPConnection from 'nodemailer/lib/smtp-connection'
import type { MailServer } from './address.ts'

/**
 * Time limits of a conversation in ms: until the sign-in is done, and from a mail's first command to the acceptance of
 * the mail.
 */
export interface Times {
  readonly connectMs: number
  readonly talkMs: number
}

/** Sender and recipient of the SMTP envelope. */
export interface Envelope {
  readonly from: string
  /** One recipient, or several of which the server may reject some. */
  readonly to: string | readonly string[]
}

/** One of several recipients that the server rejected while it accepted the mail for others. */
export interface RefusedRecipient {
  readonly recipient: string
  /** Whether the rejection is permanent (5yz). */
  readonly isFinal: boolean
  /** Whether the server said that the address does not exist. */
  readonly isNoAddress: boolean
  /** The server's answer: `550 5.1.1 after RCPT TO`. */
  readonly answer: string
}

/** One connection to the mail server, signed in. */
export interface Line {
  /** Whether the connection has carried a mail before. */
  readonly used: boolean
  /** Whether the connection can carry another mail. */
  readonly open: boolean
  /**
   * Sends a mail.
   * @returns the recipients that the server rejected, if it accepted others
   * @throws MailFault
   */
  send(envelope: Envelope, message: Buffer): Promise<readonly RefusedRecipient[]>
  /** Ends the session with QUIT. */
  quit(): void
  /** Closes the connection at once, whatever is in progress. */
  cut(): void
}

/** Why a mail was not accepted, without the server's own sentence, which may contain addresses. */
export class MailFault extends Error {
  override readonly name = 'MailFault'
  /** Whether the server rejected this mail permanently (RFC 5321 §4.2.1: 5yz). */
  readonly isFinal: boolean
  /** Whether the server had certainly not begun to receive the mail, so that another connection can send it at once. */
  readonly isUntouched: boolean
  /** Whether the only problem is that no connection was free. */
  readonly isBusy: boolean
  /**
   * Whether the connection failed after the server had begun to receive the content: whether it accepted the mail is
   * unknown.
   */
  readonly isUnknown: boolean
  /** Whether the server rejected the user name or the password. */
  readonly isSignIn: boolean
  /** Answers for each recipient, where the server rejected all of them. */
  readonly refused: readonly RefusedRecipient[]

  constructor(message: string, { isFinal = false, isUntouched = false, isBusy = false, isUnknown = false, isSignIn = false, refused = [] }: FaultFacts = {}) {
    super(message)
    this.isFinal = isFinal
    this.isUntouched = isUntouched
    this.isBusy = isBusy
    this.isUnknown = isUnknown
    this.isSignIn = isSignIn
    this.refused = refused
  }
}

type FaultFacts = Partial<Pick<MailFault, 'isFinal' | 'isUntouched' | 'isBusy' | 'isUnknown' | 'isSignIn' | 'refused'>>

interface SmtpError extends Error {
  readonly code?: string
  readonly responseCode?: number
  readonly response?: string
  readonly command?: string
  readonly recipient?: string
  readonly rejectedErrors?: readonly SmtpError[]
}

/** Commands whose answers concern the mail; all others concern the connection. */
const ofMail = ['MAIL FROM', 'RCPT TO', 'DATA']

/** Returns codes such as `550 5.1.1` without the server's text, which may contain addresses. */
function answerOf({ responseCode, response = '' }: SmtpError): string {
  const [enhanced = ''] = /\b[245]\.\d{1,3}\.\d{1,3}\b/.exec(response) ?? []
  return [responseCode, enhanced].filter(Boolean).join(' ')
}

/**
 * Whether an answer says that the recipient does not exist (RFC 3463 §3.2), and not that something is wrong with the
 * sender.
 */
export const isNoAddress = (answer: string): boolean => /\b5\d\d 5\.1\.(?:[012346]|10)(?!\d)/.test(answer)

const refusedOf = (errors: readonly SmtpError[] = []): readonly RefusedRecipient[] =>
  errors.map(error => ({
    recipient: error.recipient ?? '',
    isFinal: (error.responseCode ?? 0) >= 500,
    isNoAddress: isNoAddress(answerOf(error)),
    answer: `${answerOf(error)} after RCPT TO`,
  }))

/** Converts an SMTP error to a fault with codes only: `550 5.1.1 after RCPT TO`, `ETIMEDOUT`. */
function faultOf(error: SmtpError, isUntouched = true): MailFault {
  const { code, responseCode, command = '' } = error
  const isOfMail = ofMail.includes(command)
  if (!responseCode) return new MailFault(`the connection broke (${code ?? 'no code'})`, { isUntouched, isUnknown: !isUntouched })
  return new MailFault(`the mail server answered ${answerOf(error)} ${isOfMail ? `after ${command}` : 'to the connection'}`, {
    isFinal: isOfMail && responseCode >= 500,
    // The server learns that the connection ends, and nothing of the mail.
    isUntouched: isUntouched && responseCode === 421,
    isSignIn: code === 'EAUTH' && responseCode >= 500,
    refused: refusedOf(error.rejectedErrors),
  })
}

/** Connects to a server by name or address, with restrictions for servers that customers name. @throws MailFault */
export type Dial = (host: string, port: number, timeoutMs: number) => Promise<Socket>

/**
 * Connects to the mail server and signs in.
 * @param dial opens the connection @default without restrictions
 * @throws MailFault
 */
export async function openLine({ host, port, secure, auth }: MailServer, { connectMs, talkMs }: Times, dial?: Dial): Promise<Line> {
  const { default: Connection } = (await import('nodemailer/lib/smtp-connection')) as { default: typeof SMTPConnection }
  const socket = await dial?.(host, port, connectMs)
  const connection = new Connection({
    host,
    port,
    secure,
    connectionTimeout: connectMs,
    greetingTimeout: connectMs,
    dnsTimeout: connectMs,
    socketTimeout: talkMs,
    socketCloseTimeout: 1_000,
    maxResponseSize: 64 * 1024,
    ...(socket && { connection: socket }),
  } as ConstructorParameters<typeof SMTPConnection>[0])
  let open = true
  let used = false
  /** Whether the server has requested the content of the present mail. */
  let begun = false
  let broke = (_fault: MailFault) => {}
  connection.on('error', error => {
    open = false
    broke(faultOf(error as SmtpError, !begun))
  })
  connection.on('end', () => {
    open = false
    broke(new MailFault('the connection was closed', { isUntouched: !begun, isUnknown: begun }))
  })
  const cut = () => {
    open = false
    ;(connection as unknown as { _socket?: { destroy(): void } })._socket?.destroy()
    connection.close()
  }

  /** Runs one step of the conversation: it ends by its answer, by the end of the connection, or by its time limit. */
  async function step<Info>(ms: number, begin: (done: (error?: unknown, info?: Info) => void) => void): Promise<Info | undefined> {
    const { promise, resolve, reject } = Promise.withResolvers<Info | undefined>()
    const overdue = setTimeout(() => {
      reject(new MailFault(`the mail server said nothing for ${ms / 1000} s`, { isUnknown: begun }))
      cut()
    }, ms)
    broke = reject
    begin((error, info) => (error ? reject(faultOf(error as SmtpError, !begun)) : resolve(info)))
    try {
      return await promise
    } finally {
      clearTimeout(overdue)
      broke = () => {}
    }
  }

  try {
    await step(connectMs, done => connection.connect(done))
    if (auth) await step(connectMs, done => connection.login({ credentials: auth }, done))
  } catch (error) {
    cut()
    throw error
  }
  return {
    get open() {
      return open
    },
    get used() {
      return used
    },
    async send(envelope, message) {
      begun = false
      // The mail is read once the server has accepted the envelope, not before.
      const content = new Readable({
        read() {
          begun = true
          this.push(message)
          this.push(null)
        },
      })
      try {
        const to = [envelope.to].flat()
        const info = await step<SmtpError>(talkMs, done => connection.send({ from: envelope.from, to, size: message.length }, content, done as never))
        used = true
        return refusedOf(info?.rejectedErrors)
      } catch (error) {
        // A late reply about this mail must not be taken for the reply to another one.
        cut()
        throw error
      }
    },
    quit() {
      open = false
      connection.quit()
    },
    cut,
  }
}
