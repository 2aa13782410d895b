import type { JsonSchema, Row } from '../row.ts'
import { accountAnswers } from './account.ts'
import { handoffAnswers } from './handoff.ts'
import { invitationAnswers } from './invitation.ts'
import { oauthAnswers } from './oauth.ts'

const text = { type: 'string' }
const token: JsonSchema = {
  type: 'object',
  properties: {
    accessToken: { ...text, description: 'A signed JWT, to be sent as `Authorization: Bearer`.' },
    expiresAt: { ...text, format: 'date-time', description: 'From then on it is refused.' },
  },
  required: ['accessToken', 'expiresAt'],
}

export const credentialRows: readonly Row[] = [
  {
    kind: 'forward',
    method: '*',
    path: '/api/auth/*',
    access: { public: 'This route creates, renews or ends credentials, so it requires none.' },
    limit: 64 * 1024,
    to: 'identity',
    why: 'foreign handler',
    describes: [
      {
        name: 'signIn',
        at: 'POST /sign-in/email',
        does: 'Signs a person in by mail address and password. The answer holds an access token for the next ten minutes and sets the cookie of the session. 401 is the same for a wrong password and for an address that nobody has; after too many failures it is 429 with `Retry-After`.',
        body: {
          schema: {
            type: 'object',
            properties: { email: { ...text, format: 'email' }, password: { ...text, format: 'password' } },
            required: ['email', 'password'],
          },
        },
        refuses: [401, 429],
        answers: {
          200: {
            description: 'The person is signed in.',
            schema: {
              ...token,
              properties: {
                ...(token.properties as object),
                user: { type: 'object', properties: { id: text, email: text, name: text }, required: ['id', 'email', 'name'] },
              },
              required: ['accessToken', 'expiresAt', 'user'],
            },
          },
        },
      },
      {
        name: 'signOut',
        at: 'POST /sign-out',
        does: 'Ends the session of the cookie or access token and removes the cookie. Its access tokens are refused from then on. 401 if the token is not valid: no session ended.',
        reads: ['cookie', 'bearer'],
        refuses: [401, 403],
        answers: {
          200: {
            description: 'The session has ended.',
            schema: { type: 'object', properties: { success: { type: 'boolean' } }, required: ['success'] },
          },
        },
      },
      {
        name: 'renewToken',
        at: 'GET /token',
        does: 'Issues a new access token for the session of the cookie. 401 when the session has ended.',
        reads: ['cookie'],
        refuses: [401],
        answers: { 200: { description: 'An access token for ten minutes.', schema: token } },
      },
      {
        name: 'signingKeys',
        at: 'GET /jwks',
        does: 'The public keys that access tokens are signed with (RFC 7517). They may be kept for a minute.',
        answers: {
          200: {
            description: 'The keys in use, and those replaced recently.',
            schema: { type: 'object', properties: { keys: { type: 'array', items: { type: 'object' } } }, required: ['keys'] },
          },
        },
      },
      ...handoffAnswers,
      ...accountAnswers,
      ...invitationAnswers,
      ...oauthAnswers,
    ],
  },
]
