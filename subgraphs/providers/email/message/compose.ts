import type DKIM from 'nodemailer/lib/dkim'
import type MailComposer from 'nodemailer/lib/mail-composer'
import type { Attachment } from '../../stores/email/attachment.ts'
import type { EmailContent, EmailMessageRow, Recipient } from '../../stores/email/message.ts'

/** Key that signs a domain's mails. */
export interface Signature {
  readonly domain: string
  readonly selector: string
  /** PKCS #8 in PEM. */
  readonly privateKey: string
}

/** Returns the From header of a mail. */
export const fromOf = ({ fromName, fromAddress }: Pick<EmailMessageRow, 'fromName' | 'fromAddress'>): string =>
  fromName ? `${fromName} <${fromAddress}>` : fromAddress

const named = (recipients: readonly Recipient[], as: Recipient['as']) => recipients.filter(each => each.as === as).map(({ address }) => ({ name: '', address }))

/** A mail's content with its attachments. */
export interface Composed extends EmailContent {
  readonly attachments: readonly Attachment[]
}

/**
 * Builds a mail in wire format (RFC 5322, MIME), signed (RFC 6376), the same at every attempt. Bcc recipients are not
 * in it.
 */
export async function compose(row: EmailMessageRow, { text, html, replyTo, headers, attachments }: Composed, signature: Signature): Promise<Buffer> {
  const [{ default: Composer }, { default: Signer }] = (await Promise.all([
    import('nodemailer/lib/mail-composer'),
    import('nodemailer/lib/dkim'),
  ])) as unknown as [{ default: typeof MailComposer }, { default: typeof DKIM }]
  const message = new Composer({
    from: { name: row.fromName ?? '', address: row.fromAddress },
    to: named(row.recipients, 'to'),
    cc: named(row.recipients, 'cc'),
    ...(replyTo && { replyTo: { name: '', address: replyTo } }),
    subject: row.subject,
    ...(text !== null && { text }),
    ...(html !== null && { html }),
    textEncoding: 'quoted-printable',
    newline: 'windows',
    messageId: row.messageId,
    date: row.createdAt,
    headers: headers.map(({ name, value }) => ({ key: name, value })),
    attachments: attachments.map(({ name, contentType, content }) => ({ filename: name, contentType, content, contentDisposition: 'attachment' as const })),
    baseBoundary: row.id,
    disableFileAccess: true,
    disableUrlAccess: true,
  })
  const { domain: domainName, selector: keySelector, privateKey } = signature
  const parts: Buffer[] = []
  for await (const part of new Signer({ domainName, keySelector, privateKey }).sign(await message.compile().build())) parts.push(part as Buffer)
  return Buffer.concat(parts)
}
