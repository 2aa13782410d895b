import type { MailData } from '../kinds.ts'
import { addressIn, type Letter, type Link, nameIn, onceUntil } from './letter.ts'

/** Mail to the new address of a person who changes theirs. */
export const confirmEmail = ({ name, account }: MailData['confirm-email'], link: Link): Letter => ({
  subject: 'Confirm your new mail address',
  says: [`Hello ${nameIn(name)},`, `the account ${addressIn(account)} is to have this mail address from now on. Until you confirm it, the former one stays.`],
  link: { label: 'Confirm the new address', url: link.url, note: onceUntil(link) },
  closing: 'If you did not ask for it, do nothing: the account keeps its address.',
})
