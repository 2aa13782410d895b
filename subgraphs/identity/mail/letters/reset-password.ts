import type { MailData } from '../kinds.ts'
import { addressIn, type Letter, type Link, nameIn, onceUntil } from './letter.ts'

/** Mail to a person who requested a new password, at the account's address or its recovery address. */
export const resetPassword = ({ name, account }: MailData['reset-password'], link: Link): Letter => ({
  subject: 'Set a new password',
  says: [
    `Hello ${nameIn(name)},`,
    `somebody has asked for a new password for the account ${addressIn(account)}. With this link you set one; everybody who is signed in to the account is signed out then.`,
  ],
  link: { label: 'Set a new password', url: link.url, note: onceUntil(link) },
  closing: 'If you did not ask for it, do nothing: your password stays as it is. Do not share the link.',
})
