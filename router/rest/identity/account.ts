import type { Documented, JsonSchema, Row } from '../row.ts'

const text = { type: 'string' }
const mail = { ...text, format: 'email' }
const password = { ...text, format: 'password', minLength: 12, maxLength: 256 }
const code = { ...text, description: 'The one-time code of the link in the mail.' }

const body = (properties: Readonly<Record<string, JsonSchema>>, optional: readonly string[] = []) => ({
  schema: { type: 'object', properties, required: Object.keys(properties).filter(name => !optional.includes(name)) },
})
const json = (description: string, properties: Readonly<Record<string, JsonSchema>>) => ({
  description,
  schema: { type: 'object', properties, required: Object.keys(properties) },
})
const nothing = (description: string) => json(description, {})
const address = (description: string) => json(description, { email: mail })

const accepted = { 202: nothing('The same answer whether or not the address has an account; the rest follows by mail.') }

/** Routes for callers without credentials: sign-up and recovery. */
export const accountAnswers: readonly Documented[] = [
  {
    name: 'signUp',
    at: 'POST /sign-up/email',
    does: 'Creates an account; its address has to be confirmed by mail. If the address has an account already, only a mail says so. 403 where accounts are made by invitation.',
    body: body({ email: mail, password, name: { ...text, maxLength: 120 } }),
    refuses: [403, 429],
    answers: accepted,
  },
  {
    name: 'verifyEmail',
    at: 'POST /verify-email',
    does: 'Confirms the address of an account, or its new one, with the code of the mail. A code works once.',
    body: body({ code }),
    refuses: [403, 429],
    answers: { 200: address('The confirmed address.') },
  },
  {
    name: 'sendVerificationEmail',
    at: 'POST /send-verification-email',
    does: 'Sends the confirmation mail of an account again; the former code becomes invalid.',
    body: body({ email: mail }),
    refuses: [403, 429],
    answers: accepted,
  },
  {
    name: 'requestPasswordReset',
    at: 'POST /request-password-reset',
    does: 'Sends a link for choosing a new password to this address, for each account whose address or verified recovery address it is.',
    body: body({ email: mail }),
    refuses: [403, 429],
    answers: accepted,
  },
  {
    name: 'resetPassword',
    at: 'POST /reset-password',
    does: 'Sets a new password with the code of the mail. Every session of the person ends, and every other such code. The code stays valid if the password is refused.',
    body: body({ code, newPassword: password }),
    refuses: [403, 429],
    answers: { 200: nothing('The password is set. The person is not signed in.') },
  },
  {
    name: 'verifyRecoveryEmail',
    at: 'POST /verify-recovery-email',
    does: 'Confirms a recovery address with the code of the mail. The password can be reset with it from then on.',
    body: body({ code }),
    refuses: [403, 429],
    answers: { 200: address('The confirmed address.') },
  },
]

const own = { kind: 'forward', access: { policy: 'person' }, limit: 16 * 1024, to: 'identity', why: 'own answer' } as const
const currentPassword = { ...password, minLength: 1 }

/** Fields of the own recovery address that a person sees. */
export const recoveryFields = {
  email: { type: ['string', 'null'], format: 'email', description: 'The verified address; before the first verification, the pending one.' },
  status: { type: 'string', enum: ['none', 'pending', 'verified'], description: 'How `email` stands.' },
  verifiedAt: { type: ['string', 'null'], format: 'date-time' },
  pendingEmail: { type: ['string', 'null'], format: 'email', description: 'The address that waits to be verified, and then takes the place of `email`.' },
} as const
const recovery = json('The recovery address.', recoveryFields)

/** Routes by which people manage their own account. */
export const accountRows: readonly Row[] = [
  {
    ...own,
    method: 'POST',
    path: '/api/auth/change-password',
    describes: [
      {
        name: 'changePassword',
        does: 'Changes the caller’s password and ends all their other sessions. A wrong current password is 403 and counts as a failed sign-in.',
        body: body({ currentPassword, newPassword: password }),
        refuses: [429],
        answers: { 200: nothing('The password is changed.') },
      },
    ],
  },
  {
    ...own,
    method: 'POST',
    path: '/api/auth/change-email',
    describes: [
      {
        name: 'changeEmail',
        does: 'Asks for another mail address for the account. It changes when the code of the mail to the new one is sent to `verify-email`; nothing is sent to an address that has an account.',
        body: body({ currentPassword, newEmail: mail }),
        refuses: [429],
        answers: accepted,
      },
    ],
  },
  {
    ...own,
    method: 'GET',
    path: '/api/auth/me/recovery-email',
    describes: [
      {
        name: 'showRecoveryEmail',
        does: 'Shows the recovery address, by which the caller’s password can be reset besides the account’s own address.',
        answers: { 200: recovery },
      },
    ],
  },
  {
    ...own,
    method: 'PUT',
    path: '/api/auth/me/recovery-email',
    describes: [
      {
        name: 'setRecoveryEmail',
        does: 'Names a recovery address, which counts when it is verified; a verified one stays in use until then. Later than 15 minutes after a sign-in by password it takes the password too: 403 with the reason `REAUTHENTICATE`.',
        body: body({ email: mail, currentPassword }, ['currentPassword']),
        refuses: [429],
        answers: { 200: recovery },
      },
    ],
  },
  {
    ...own,
    method: 'DELETE',
    path: '/api/auth/me/recovery-email',
    describes: [
      {
        name: 'removeRecoveryEmail',
        does: 'Removes the recovery address. Later than 15 minutes after a sign-in by password the body has to hold the `currentPassword`.',
        refuses: [429],
        answers: { 204: 'The recovery address was removed.' },
      },
    ],
  },
]
