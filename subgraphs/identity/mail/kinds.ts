import type { CodePurpose } from '../stores/code.ts'

/** Subjects of a notice. */
export type NoticeOf = 'password-changed' | 'password-reset' | 'email-changed' | 'recovery-verified' | 'recovery-removed'

/** Data of each kind of mail. Display names only: never a code, a password, or an address that could be misused. */
export interface MailData {
  'verify-email': { readonly name: string }
  /** Mail to an address with an account, when somebody signs up with it. */
  'already-registered': { readonly name: string }
  /** @param account the account's mail address: one recovery address may belong to several */
  'reset-password': { readonly name: string; readonly account: string }
  invitation: { readonly organization: string; readonly invitedBy: string | null; readonly roles: readonly string[] }
  'verify-recovery-email': { readonly name: string; readonly account: string }
  'confirm-email': { readonly name: string; readonly account: string }
  notice: { readonly name: string; readonly what: NoticeOf }
}

export type MailKind = keyof MailData

export const mailKinds: readonly MailKind[] = [
  'verify-email',
  'already-registered',
  'reset-password',
  'invitation',
  'verify-recovery-email',
  'confirm-email',
  'notice',
]

/** Kinds with a link and a code: the page of the link, and the code's purpose. */
export const linked = {
  'verify-email': { page: 'verify-email', purpose: 'verify-email' },
  'confirm-email': { page: 'verify-email', purpose: 'confirm-email' },
  'reset-password': { page: 'reset-password', purpose: 'reset-password' },
  invitation: { page: 'invitation', purpose: 'invitation' },
  'verify-recovery-email': { page: 'verify-recovery-email', purpose: 'verify-recovery-email' },
} as const satisfies Partial<Record<MailKind, { readonly page: string; readonly purpose: CodePurpose }>>

export type LinkedKind = keyof typeof linked

export const isLinked = (kind: MailKind): kind is LinkedKind => Object.hasOwn(linked, kind)

/** A mail that is to be sent. */
export type NewMail = {
  readonly [Kind in MailKind]: {
    readonly kind: Kind
    /** An address, without a name. */
    readonly to: string
    readonly data: MailData[Kind]
  } & (Kind extends LinkedKind
    ? {
        /**
         * Clear one-time code of the link; or a function that issues it, called only if the mail will be sent, so that
         * no earlier code is invalidated needlessly.
         */
        readonly code: string | (() => Promise<string>)
      }
    : { readonly code?: undefined })
}[MailKind]
