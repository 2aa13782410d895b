import type { Documented, Row } from '../row.ts'

const page = { kind: 'forward', limit: 16 * 1024, to: 'identity', why: 'page' } as const

const setup = {
  ...page,
  path: '/setup',
  access: { public: 'Nobody has signed in yet; the code in the link says that the caller operates the platform.' },
} as const

const login = { ...page, path: '/login', access: { public: 'Whoever signs in here has no credentials yet.' } } as const

const html = { type: 'text/html', schema: { type: 'string' } } as const
const form = (...fields: readonly string[]) => ({
  type: 'application/x-www-form-urlencoded',
  schema: { type: 'object', properties: Object.fromEntries(fields.map(name => [name, { type: 'string' }])), required: fields },
})

const shows = (name: string, does: string, query: Record<string, string>, more: Documented['answers'] = {}): readonly [Documented] => [
  { name, does, query, answers: { 200: { description: 'The page.', ...html }, ...more } },
]

const dead = { 410: { description: 'The link is not good any more; the page says why.', ...html } } as const

/** The pages that identity shows to people. */
export const pageRows: readonly Row[] = [
  {
    ...setup,
    method: 'GET',
    tells: shows(
      'showSetup',
      'The page on which the first account is made. Only with the code of the link that the start prints.',
      { code: 'The code of the link.' },
      dead,
    ),
  },
  {
    ...setup,
    method: 'POST',
    tells: [
      {
        name: 'setUp',
        does: 'Makes the first account, and the organization that it owns. What is sent is the form of the page before.',
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
    tells: shows('showLogin', 'The page on which a person signs in with a browser.', {
      return_to: 'The path of this host to which it goes on; anything else is ignored.',
    }),
  },
  {
    ...login,
    method: 'POST',
    tells: [
      {
        name: 'logIn',
        does: 'Signs a person in who sends the form of the page before. Programs call `POST /identity/api/auth/sign-in/email` instead.',
        body: form('token', 'email', 'password'),
        answers: {
          303: 'Signed in: the cookie of the session is set, and the browser goes on.',
          400: { description: 'The form again, with what is wrong.', ...html },
          401: { description: 'The form again: the address or the password is wrong.', ...html },
          429: { description: 'The form again: too many failures; `Retry-After` says when.', ...html },
        },
      },
    ],
  },
]
