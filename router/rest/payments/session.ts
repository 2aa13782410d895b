import type { Row } from '../row.ts'

const text = { type: 'string' } as const

export const sessionRows: readonly Row[] = [
  {
    kind: 'forward',
    method: 'GET',
    path: '/login',
    access: { public: 'People who sign in have no credentials yet.' },
    limit: 0,
    to: 'payments',
    why: 'redirect',
    role: 'web',
    describes: [
      {
        name: 'openPaymentsLogin',
        does: 'Redirects a browser to the hosted sign-in, which returns to payments with a single-use code.',
        query: { return_to: 'The path of payments to open afterwards; anything else is ignored.' },
        answers: { 302: 'To the hosted sign-in.' },
      },
    ],
  },
  {
    kind: 'forward',
    method: 'POST',
    path: '/api/session',
    access: { public: 'The code is the credential.' },
    limit: 16 * 1024,
    to: 'payments',
    why: 'own answer',
    describes: [
      {
        name: 'exchangePaymentsCode',
        does: 'Exchanges the code of a handoff to payments for an access token. It sets no cookie: the token lives where the page keeps it, until it ends. 400 (reason `CODE`) for any code that opens nothing, 403 for a page of another origin.',
        body: { schema: { type: 'object', properties: { code: text }, required: ['code'] } },
        refuses: [403],
        answers: {
          200: {
            description: 'The person is signed in.',
            schema: {
              type: 'object',
              properties: { accessToken: text, expiresAt: { type: 'string', format: 'date-time' }, returnTo: { type: ['string', 'null'] } },
              required: ['accessToken', 'expiresAt', 'returnTo'],
            },
          },
        },
      },
    ],
  },
]
