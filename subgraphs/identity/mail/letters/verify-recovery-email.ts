import type { MailData } from '../kinds.ts'
import { addressIn, type Letter, type Link, nameIn, onceUntil } from './letter.ts'

/** Mail to an address that a person has entered as their recovery address. */
export const verifyRecoveryEmail = ({ name, account }: MailData['verify-recovery-email'], link: Link): Letter => ({
  subject: 'Confirm your recovery address',
  says: [
    'Hello,',
    `${nameIn(name)} (${addressIn(account)}) has named this mail address as the one by which the account can be recovered, should its password be lost.`,
  ],
  link: { label: 'Confirm the recovery address', url: link.url, note: onceUntil(link) },
  closing: 'If you do not know this account, do nothing: the address is not used until it is confirmed.',
})
