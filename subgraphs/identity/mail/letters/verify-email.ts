import type { MailData } from '../kinds.ts'
import { type Letter, type Link, nameIn, onceUntil } from './letter.ts'

/** Mail to a person who has signed up: the account can be used once the address is verified. */
export const verifyEmail = ({ name }: MailData['verify-email'], link: Link): Letter => ({
  subject: 'Confirm your mail address',
  says: [`Hello ${nameIn(name)},`, 'an account was made with this mail address. You can sign in once you have confirmed that the address is yours.'],
  link: { label: 'Confirm the address', url: link.url, note: onceUntil(link) },
  closing: 'If you did not sign up, do nothing: nobody can use the account without this link.',
})
