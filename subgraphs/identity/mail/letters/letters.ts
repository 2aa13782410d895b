import type { linked, MailData, MailKind } from '../kinds.ts'
import { alreadyRegistered } from './already-registered.ts'
import { confirmEmail } from './confirm-email.ts'
import { invitation } from './invitation.ts'
import type { Letter, Link } from './letter.ts'
import { notice } from './notice.ts'
import { resetPassword } from './reset-password.ts'
import { verifyEmail } from './verify-email.ts'
import { verifyRecoveryEmail } from './verify-recovery-email.ts'

type Writes<Kind extends MailKind> = (data: MailData[Kind], about: Kind extends keyof typeof linked ? Link : Date) => Letter

const letters: { readonly [Kind in MailKind]: Writes<Kind> } = {
  'verify-email': verifyEmail,
  'already-registered': alreadyRegistered,
  'reset-password': resetPassword,
  invitation,
  'verify-recovery-email': verifyRecoveryEmail,
  'confirm-email': confirmEmail,
  notice,
}

/** Returns the content of a mail. @param link for kinds with a link; for others the time of the event */
export const letterOf = (kind: MailKind, data: unknown, about: Link | Date): Letter => letters[kind](data as never, about as never)
