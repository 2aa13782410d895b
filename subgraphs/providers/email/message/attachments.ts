import { DomainError } from '../../../../platform/errors.ts'
import type { SendEmailInput } from '../../resolvers.generated.ts'
import type { Attachment } from '../../stores/email/attachment.ts'

/** Maximum number of attachments, bytes of all of them, and characters of a name. */
export const mostAttached = { count: 20, bytes: 10_000_000, name: 200 } as const

const refuse = (field: string, sentence: string): never => {
  throw new DomainError('BAD_USER_INPUT', `${field} ${sentence}`, { field })
}

/** Matches `type/subtype` of RFC 6838, without parameters. */
const mediaType = /^[a-z0-9][a-z0-9!#$&^_.+-]{0,126}\/[a-z0-9][a-z0-9!#$&^_.+-]{0,126}$/i

/** Matches types that are a mail, or a part of one: mail programs would show them as the mail itself. */
const parts = /^(?:multipart|message)\//i

/** Whether a name is that of a file: no path, no control characters, none that changes the direction of writing. */
const isName = (name: string): boolean => name.isWellFormed() && !/[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069/\\]/u.test(name) && !/^\.{1,2}$/.test(name)

const bytesOf = (base64: string): number => Math.floor((base64.length * 3) / 4) - (base64.endsWith('==') ? 2 : base64.endsWith('=') ? 1 : 0)

/** Whether a text is non-empty base64 (RFC 4648, section 4), with its padding and nothing else. */
const isBase64 = (text: string): boolean => text.length > 0 && text.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(text)

/**
 * Reads the attachments of a mail. Nothing too large is decoded.
 * @throws BAD_USER_INPUT with the `field`, such as `attachments[1].content`; no message repeats the value
 */
export function readAttachments(given: SendEmailInput['attachments']): readonly Attachment[] {
  const attachments = given ?? []
  if (attachments.length > mostAttached.count) refuse('attachments', `are ${attachments.length}: a mail carries at most ${mostAttached.count}.`)
  const bytes = attachments.reduce((sum, { content }) => sum + bytesOf(content), 0)
  if (bytes > mostAttached.bytes) refuse('attachments', `have ${bytes} bytes: together they take at most ${mostAttached.bytes}.`)
  return attachments.map(({ name, contentType, content }, at) => {
    const trimmed = name.trim()
    if (trimmed.length < 1 || trimmed.length > mostAttached.name || !isName(trimmed))
      refuse(`attachments[${at}].name`, `takes the name of a file, 1 to ${mostAttached.name} characters without a path.`)
    const type = contentType.trim().toLowerCase()
    if (!mediaType.test(type) || parts.test(type))
      refuse(`attachments[${at}].contentType`, 'takes a media type such as application/pdf, without parameters, and none of multipart/ and message/.')
    if (!isBase64(content)) refuse(`attachments[${at}].content`, 'takes base64 with its padding, on one line, of at least one byte.')
    return { name: trimmed, contentType: type, content: Buffer.from(content, 'base64') }
  })
}
