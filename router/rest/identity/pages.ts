import type { Documented, Row } from '../row.ts'

const page = { kind: 'forward', limit: 16 * 1024, to: 'identity', why: 'page' } as const

const setup = {
  ...page,
  path: '/setup',
  access: { public: 'Before the first sign-in: the code in the link proves that the caller operates the platform.' },
} as const

const login = { ...page, path: '/login', access: { public: 'People who sign in have no credentials yet.' } } as const

const invitation = { ...page, path: '/invitation', access: { public: 'An invited person may have no account yet.' } } as const

const html = { type: 'text/html', schema: { type: 'string' } } as const
const form = (...fields: readonly string[]) => ({
  type: 'application/x-www-form-urlencoded',
  schema: { type: 'object', properties: Object.fromEntries(fields.map(name => [name, { type: 'string' }])), required: fields },
})
/** The sign-in form sends address and password; other forms send only their button. */
const loginForm = form('token', 'email', 'password')

const shows = (name: string, does: string, query: Record<string, string>, more: Documented['answers'] = {}): readonly [Documented] => [
  { name, does, query, answers: { 200: { description: 'The page.', ...html }, ...more } },
]

const dead = { 410: { description: 'The link is no longer valid; the page says why.', ...html } } as const

/** The pages that identity shows to people. */
export const pageRows: readonly Row[] = [
  {
    ...invitation,
    method: 'GET',
    describes: shows(
      'showInvitation',
      'The page of an invitation; without a code it lists the invitations of the signed-in person. Opening it changes nothing.',
      { code: 'The code of the link.' },
      dead,
    ),
  },
  {
    ...invitation,
    method: 'POST',
    describes: [
      {
        name: 'answerInvitation',
        does: 'Accepts or declines an invitation in the name of who is signed in at this browser, or makes the account of who is not. Programs call the mutations, or `POST /identity/api/auth/accept-invitation`.',
        body: form('token'),
        answers: {
          200: { description: 'The invitation was answered; the page says how.', ...html },
          303: 'The account was created: its session cookie is set, and the browser continues.',
          400: { description: 'The form again, with what is wrong.', ...html },
          401: { description: 'The person is no longer signed in.', ...html },
          409: { description: 'The page says why not.', ...html },
          ...dead,
          429: { description: 'The form again: too many at this moment; `Retry-After` says when.', ...html },
        },
      },
    ],
  },
  {
    ...setup,
    method: 'GET',
    describes: shows(
      'showSetup',
      'The page on which the first account is made. Only with the code of the link that the start prints.',
      { code: 'The code of the link.' },
      dead,
    ),
  },
  {
    ...setup,
    method: 'POST',
    describes: [
      {
        name: 'setUp',
        does: 'Creates the first account and its organization from the form of the set-up page.',
        body: form('code', 'organization', 'name', 'email', 'password'),
        answers: {
          201: { description: 'The platform is set up.', ...html },
          400: { description: 'The form again, with what is wrong.', ...html },
          ...dead,
        },
      },
    ],
  },
  {
    ...login,
    method: 'GET',
    describes: shows('showLogin', 'The page on which a person signs in with a browser, and signs out.', {
      return_to: 'The path of this host to which it goes on; anything else is ignored.',
    }),
  },
  {
    ...login,
    method: 'POST',
    describes: [
      {
        name: 'logIn',
        does: 'Signs a person in who sends the form of the page before; who is signed in at this browser already goes on (`goOn`) or signs out (`signOut`). Programs call `POST /identity/api/auth/sign-in/email` instead.',
        body: { ...loginForm, schema: { ...loginForm.schema, required: ['token'] } },
        answers: {
          200: { description: 'Signed out: the session cookie is removed. Or signed in, and redirected to an application.', ...html },
          303: 'Signed in: the session cookie is set, and the browser continues.',
          400: { description: 'The form again, with what is wrong.', ...html },
          401: { description: 'The form again: the address or the password is wrong.', ...html },
          429: { description: 'The form again: too many failures; `Retry-After` says when.', ...html },
        },
      },
    ],
  },
  ...accountPage('/verify-email', 'VerifyEmail', {
    shows: 'The page of the link in a confirmation mail; without a code it offers to send another mail. Opening it changes nothing.',
    takes: 'Confirms the address, or sends another mail. Programs call `POST /identity/api/auth/verify-email` instead.',
  }),
  ...accountPage('/reset-password', 'ResetPassword', {
    shows: 'The page for a new password; without a code it offers to send the link. Opening it changes nothing.',
    takes: 'Sets the password, or sends the link. Programs call `POST /identity/api/auth/reset-password` instead.',
  }),
  ...accountPage('/verify-recovery-email', 'VerifyRecoveryEmail', {
    shows: 'The page of the link that confirms a recovery address. Opening it changes nothing.',
    takes: 'Confirms the recovery address. Programs call `POST /identity/api/auth/verify-recovery-email` instead.',
  }),
  ...accountPage('/sign-up', 'SignUp', {
    shows: 'The page for creating an account; 403 where accounts are created by invitation.',
    takes: 'Makes an account. Programs call `POST /identity/api/auth/sign-up/email` instead.',
  }),
]

/** Builds the page of a link in a mail, or of the step before one, and its form. */
function accountPage(path: string, name: string, { shows: showing, takes }: { readonly shows: string; readonly takes: string }): readonly Row[] {
  const row = { ...page, path, access: { public: 'The visitor has no credentials yet, or lost them.' } } as const
  const refused = { 403: { description: 'The page says why not.', ...html }, ...dead }
  return [
    { ...row, method: 'GET', describes: shows(`show${name}`, showing, { code: 'The code of the link.' }, refused) },
    {
      ...row,
      method: 'POST',
      describes: [
        {
          name: `send${name}`,
          does: takes,
          body: form('token'),
          answers: {
            200: { description: 'It is done, or under way: the page says which.', ...html },
            400: { description: 'The form again, with what is wrong.', ...html },
            ...refused,
            429: { description: 'The form again: too many at this moment; `Retry-After` says when.', ...html },
          },
        },
      ],
    },
  ]
}
