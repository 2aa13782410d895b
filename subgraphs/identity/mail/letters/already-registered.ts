import type { MailData } from '../kinds.ts'
import { type Letter, nameIn } from './letter.ts'

/** Mail to a person with an account, when somebody signs up with their address; the caller is not informed. */
export const alreadyRegistered = ({ name }: MailData['already-registered']): Letter => ({
  subject: 'You have an account already',
  says: [
    `Hello ${nameIn(name)},`,
    'somebody has tried to sign up with this mail address. It has an account already, which stays as it was; no other one was made.',
    'If it was you, sign in as usual. Should you have forgotten your password, ask for a new one on the sign-in page.',
  ],
  closing: 'If it was not you, do nothing.',
})
