import type { MailData, NoticeOf } from '../kinds.ts'
import { type Letter, momentOf, nameIn } from './letter.ts'

const about: Readonly<Record<NoticeOf, { readonly subject: string; readonly happened: string }>> = {
  'password-changed': {
    subject: 'Your password was changed',
    happened: 'the password of your account was changed by somebody who knew the former one. Everywhere else you are signed out.',
  },
  'password-reset': {
    subject: 'Your password was reset',
    happened: 'the password of your account was reset by a link that we had sent by mail. Everybody who was signed in is signed out.',
  },
  'email-changed': {
    subject: 'Your mail address was changed',
    happened: 'your account has another mail address now. You sign in with the new one; this is the last mail to the former one.',
  },
  'recovery-verified': {
    subject: 'A recovery address was confirmed',
    happened: 'your account has a recovery address now: whoever reads mail there can set a new password for it.',
  },
  'recovery-removed': {
    subject: 'Your recovery address was removed',
    happened: 'your account has no recovery address any more: a lost password can be reset by the mail address of the account alone.',
  },
}

/** Mail to an account's address about an event that concerns its security. */
export const notice = ({ name, what }: MailData['notice'], at: Date): Letter => ({
  subject: about[what].subject,
  says: [`Hello ${nameIn(name)},`, about[what].happened, `That was on ${momentOf(at)}.`],
  closing: 'If it was not you, ask for a new password on the sign-in page at once, and inform the operator of this platform.',
})
