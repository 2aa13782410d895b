import type { AddressInfo } from 'node:net'
import PostalMime from 'postal-mime'
import { SMTPServer } from 'smtp-server'
import type { MailSettings } from '../../subgraphs/identity/mail/open.ts'
import { until } from './launch.ts'

/** A mail as its reader sees it. */
export interface ReadMail {
  readonly to: string
  /** Of the header `X-Supergraph-Mail`. */
  readonly kind: string
  readonly subject: string
  readonly text: string
  readonly html: string
  readonly messageId: string
}

/** A mail server of one test file, which takes everything. */
export interface Mailbox extends AsyncDisposable {
  readonly settings: MailSettings
  /** What came for an address, the oldest first. @param kind @default every kind */
  to(address: string, kind?: string): readonly ReadMail[]
  /** Waits for as many mails of a kind, and hands out the last. */
  mail(address: string, kind: string, count?: number): Promise<ReadMail>
  /** The code in the link of the last of them. */
  code(address: string, kind: string, count?: number): Promise<string>
  empty(): void
}

/** Opens a mail server on a free port. */
export async function openMailbox(): Promise<Mailbox> {
  let mails: ReadMail[] = []
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS'],
    disableReverseLookup: true,
    logger: false,
    onData(stream, session, done) {
      const chunks: Buffer[] = []
      stream.on('data', (chunk: Buffer) => chunks.push(chunk))
      stream.on('end', async () => {
        const read = await PostalMime.parse(Buffer.concat(chunks))
        const { subject = '', text = '', html = '', messageId = '' } = read
        const kind = read.headers.find(({ key }) => key === 'x-supergraph-mail')?.value ?? ''
        mails.push({ to: session.envelope.rcptTo[0]!.address, kind, subject, text, html, messageId })
        done()
      })
    },
  })
  server.on('error', () => {})
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.server.address() as AddressInfo
  const to = (address: string, kind?: string) => mails.filter(mail => mail.to === address && (!kind || mail.kind === kind))
  const mail = async (address: string, kind: string, count = 1) => {
    const found = await until(`${address} has ${count} mails ${kind}`, () => to(address, kind)[count - 1], 30)
    return to(address, kind).at(-1) ?? found
  }
  return {
    settings: { server: { host: '127.0.0.1', port, secure: false, auth: null }, from: { name: '', address: 'no-reply@platform.test' } },
    to,
    mail,
    async code(address, kind, count) {
      const { text } = await mail(address, kind, count)
      const [, code] = /\/identity\/[a-z-]+\?code=([\w-]{43})(?![\w-])/.exec(text) ?? []
      if (!code) throw new Error(`the mail ${kind} to ${address} holds no link with a code`)
      return code
    },
    empty() {
      mails = []
    },
    [Symbol.asyncDispose]: () => new Promise<void>(resolve => server.close(() => resolve())),
  }
}
