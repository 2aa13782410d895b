import type { MailContent, MailKind } from '../../engines/mail/mail.ts'
import type { MessageRow } from '../../stores/inbox/message.ts'

/** What a person reads of a message. */
type Said = Pick<MessageRow, 'title' | 'body' | 'url'>

const maxSubject = 200

/** Returns a text as one line, as subjects are. */
const lineOf = (text: string): string => text.replace(/\s+/gu, ' ').trim().slice(0, maxSubject)

const paragraphsOf = (...parts: readonly (string | null)[]): string => parts.filter(part => part !== null && part.trim() !== '').join('\n\n')

const why = (settings: string): string => `Your notification preferences say which mails you receive, and when: ${settings}`

/** Kind of a mail that says one thing or several: that of action items if there is one among them. */
export const kindOf = (said: readonly Pick<MessageRow, 'itemId'>[]): MailKind => (said.some(({ itemId }) => itemId !== null) ? 'action-item' : 'notification')

/** Returns a mail of one thing. @param settings address of the preferences */
export const mailOf = ({ title, body, url }: Said, settings: string): Omit<MailContent, 'to'> => ({
  subject: lineOf(title),
  text: `${paragraphsOf(title, body, url, why(settings))}\n`,
})

/** Returns the mail of everything that came in quiet hours; of one thing alone as if there had been none. */
export function quietMailOf(said: readonly Said[], settings: string): Omit<MailContent, 'to'> {
  if (said.length === 1) return mailOf(said[0]!, settings)
  const listed = said.map(({ title, body, url }) => [title, body, url].filter(part => part !== null && part.trim() !== '').join('\n'))
  return {
    subject: `${said.length} things came in your quiet hours`,
    text: `${paragraphsOf(`While it was quiet, ${said.length} things came:`, ...listed, why(settings))}\n`,
  }
}

/** What a digest lists, and how much there is in all. */
export interface DigestContent {
  readonly items: readonly Pick<Said, 'title' | 'url'>[]
  readonly open: number
  readonly notifications: readonly Pick<Said, 'title' | 'url'>[]
  readonly unread: number
}

const counted = (count: number, one: string, many: string): string => `${count} ${count === 1 ? one : many}`

function listOf(heading: string, said: DigestContent['items'], count: number): string | null {
  if (said.length === 0) return null
  const lines = said.map(({ title, url }) => `- ${lineOf(title)}${url === null ? '' : `\n  ${url}`}`)
  return [`${heading}:`, ...lines, ...(count > said.length ? [`- and ${count - said.length} more`] : [])].join('\n')
}

/** Returns the mail of what waits and what is unread; null when there is nothing. */
export function digestMailOf({ items, open, notifications, unread }: DigestContent, dashboardUrl: string, settings: string): Omit<MailContent, 'to'> | null {
  if (open === 0 && unread === 0) return null
  const numbers = [
    ...(open > 0 ? [counted(open, 'open action item', 'open action items')] : []),
    ...(unread > 0 ? [counted(unread, 'unread notification', 'unread notifications')] : []),
  ].join(' and ')
  const listed = [listOf('Action items', items, open), listOf('Notifications', notifications, unread)]
  return { subject: `You have ${numbers}`, text: `${paragraphsOf(...listed, `All of it: ${dashboardUrl}/actions`, why(settings))}\n` }
}
