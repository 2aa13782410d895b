import type { CodePurpose } from '../stores/code.ts'

/** What a notice may be about. */
export type NoticeOf = 'password-changed' | 'password-reset' | 'email-changed' | 'recovery-verified' | 'recovery-removed'

/** What the text of each kind names. Names alone: never a code, a password, or an address by which somebody could do something. */
export interface MailData {
  'verify-email': { readonly name: string }
  /** To an address that has an account, when somebody signs up with it. */
  'already-registered': { readonly name: string }
  /** @param account the mail address of the account: one recovery address may be that of several */
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

/** Kinds whose text holds a link with a code: the page that the link leads to, and what the code is good for. */
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
        /** The clear one-time code of the link; or what issues it, which is asked only if the mail will go: then no code that somebody has is voided for nothing. */
        readonly code: string | (() => Promise<string>)
      }
    : { readonly code?: undefined })
}[MailKind]
