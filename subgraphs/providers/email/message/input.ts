import { DomainError } from '../../../../platform/errors.ts'
import { checkText } from '../../../../platform/ids.ts'
import type { SendEmailInput } from '../../resolvers.generated.ts'
import type { Attachment } from '../../stores/email/attachment.ts'
import type { EmailContent, Recipient } from '../../stores/email/message.ts'
import { requireMailAddress, sameAddress } from '../address.ts'
import { readAttachments } from './attachments.ts'

/** Maximum recipients, characters of the subject, bytes of text and HTML together, headers and their characters. */
export const most = { recipients: 50, subject: 1_000, bytes: 500_000, headers: 20, header: 900 } as const

/** A validated mail. */
export interface Written {
  readonly recipients: readonly Recipient[]
  readonly subject: string
  readonly content: EmailContent
  readonly attachments: readonly Attachment[]
}

const refuse = (field: string, sentence: string): never => {
  throw new DomainError('BAD_USER_INPUT', sentence, { field })
}

/** Allowed additional headers, in lower case; those beginning with `x-` are allowed as well. */
const known = ['list-id', 'list-unsubscribe', 'list-unsubscribe-post', 'in-reply-to', 'references', 'auto-submitted', 'precedence', 'feedback-id', 'importance']

/**
 * Headers by which mail services accept commands: further recipients, another account, a template. They belong to the
 * account's owner, not to the author of a mail.
 */
const orders =
  /^x-(?:smtpapi|mc|msys|ses|mailgun|mj|pm|mailin|sib|sendgrid|sg|mandrill|sparkpost|postmark|elasticemail|es|socketlabs|smtp2go|rcpt|envelope|bcc|forward)(?:-|$)/

/** Matches headers of the platform's own mails, which only its services may set. */
const platforms = /^x-supergraph-/

const isOneLine = (text: string): boolean => !/[\p{Cc}\u2028\u2029]/u.test(text)

/** Whether a mail may have a header of this name, in lower case. */
function maySet(name: string, isPlatforms: boolean): boolean {
  if (known.includes(name)) return true
  if (name.startsWith('x-supergraph')) return isPlatforms && platforms.test(name)
  return name.startsWith('x-') && !orders.test(name)
}

function readHeaders(given: SendEmailInput['headers'], isPlatforms: boolean): EmailContent['headers'] {
  const headers = given ?? []
  if (headers.length > most.headers) refuse('headers', `headers are ${headers.length}: a mail has at most ${most.headers} of its own.`)
  return headers.map(({ name, value }, at) => {
    const lower = name.toLowerCase()
    if (!/^[a-z0-9-]{1,60}$/.test(lower) || !maySet(lower, isPlatforms))
      refuse(
        `headers[${at}].name`,
        `headers[${at}].name is none that may be set: give one that begins with X- and is no order to a service that sends mails, or ${known.join(', ')}.`,
      )
    if (value.length > most.header || !/^[\x20-\x7e]*$/.test(value))
      refuse(`headers[${at}].value`, `headers[${at}].value takes at most ${most.header} characters of ASCII on one line.`)
    return { name, value: value.trim() }
  })
}

function readRecipients({ to, cc, bcc }: SendEmailInput): readonly Recipient[] {
  const given = [...to.map(each => [each, 'to'] as const), ...(cc ?? []).map(each => [each, 'cc'] as const), ...(bcc ?? []).map(each => [each, 'bcc'] as const)]
  if (to.length === 0) refuse('to', 'to is empty: name at least one address.')
  if (given.length > most.recipients) refuse('to', `to, cc and bcc name ${given.length} addresses: a mail goes to at most ${most.recipients}.`)
  const counts = { to: 0, cc: 0, bcc: 0 }
  const known = new Map<string, Recipient>()
  for (const [address, as] of given) {
    const read = requireMailAddress(address, `${as}[${counts[as]++}]`)
    // A recipient named twice receives one mail.
    if (!known.has(sameAddress(read))) known.set(sameAddress(read), { address: read, as, outcome: null, answer: null })
  }
  return [...known.values()]
}

/**
 * Reads a mail.
 * @param isPlatforms whether one of the platform's services sends it: then headers may begin with `X-Supergraph-`
 * @throws BAD_USER_INPUT with the `field`; no message repeats the value
 */
export function readEmail(input: SendEmailInput, isPlatforms: boolean): Written {
  const subject = input.subject.trim()
  if (subject.length < 1 || subject.length > most.subject || !subject.isWellFormed() || !isOneLine(subject))
    refuse('subject', `subject takes 1 to ${most.subject} characters on one line.`)
  const text = input.text ? checkText(input.text, 'text') : null
  const html = input.html ? checkText(input.html, 'html') : null
  if (text === null && html === null) refuse('text', 'A mail needs text or html.')
  const bytes = Buffer.byteLength(text ?? '') + Buffer.byteLength(html ?? '')
  if (bytes > most.bytes) refuse(text ? 'text' : 'html', `text and html have ${bytes} bytes: together they take at most ${most.bytes}.`)
  const replyTo = input.replyTo?.trim() ? requireMailAddress(input.replyTo, 'replyTo') : null
  const content = { text, html, replyTo, headers: readHeaders(input.headers, isPlatforms) }
  return { recipients: readRecipients(input), subject, content, attachments: readAttachments(input.attachments) }
}
