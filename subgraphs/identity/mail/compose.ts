import type MailComposer from 'nodemailer/lib/mail-composer'
import { isLinked, linked, type MailKind } from './kinds.ts'
import type { Link } from './letters/letter.ts'
import { htmlOf, textOf } from './letters/letter.ts'
import { letterOf } from './letters/letters.ts'

/** Sender of our mails: an address, and a name if configured. */
export interface Sender {
  readonly name: string
  readonly address: string
}

/** Content of a mail, the same at every attempt. */
export interface Composition {
  readonly kind: MailKind
  readonly recipient: string
  readonly data: unknown
  readonly messageId: string
  readonly createdAt: Date
  /** Clear code of its link. */
  readonly code: string | null
  readonly codeEndsAt: Date | null
}

/** The address of the page that a mail's code is for. */
const linkOf = (publicUrl: string, { kind, code, codeEndsAt, createdAt }: Composition): Link | Date =>
  isLinked(kind) && code !== null && codeEndsAt ? { url: `${publicUrl}/identity/${linked[kind].page}?code=${code}`, endsAt: codeEndsAt } : createdAt

/** Builds the message in wire format (RFC 5322, MIME): plain text, and the same as HTML. */
export async function compose(publicUrl: string, sender: Sender, mail: Composition): Promise<Buffer> {
  const { default: Composer } = (await import('nodemailer/lib/mail-composer')) as { default: typeof MailComposer }
  const letter = letterOf(mail.kind, mail.data, linkOf(publicUrl, mail))
  const message = new Composer({
    from: sender,
    to: { name: '', address: mail.recipient },
    subject: letter.subject,
    text: textOf(letter),
    html: htmlOf(letter),
    textEncoding: 'quoted-printable',
    newline: 'windows',
    messageId: mail.messageId,
    date: mail.createdAt,
    headers: { 'X-Supergraph-Mail': mail.kind, 'Auto-Submitted': 'auto-generated' },
    disableFileAccess: true,
    disableUrlAccess: true,
  })
  return message.compile().build()
}
