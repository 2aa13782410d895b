import type { Row } from '../row.ts'

const text = { type: 'string' } as const

const signed = {
  type: 'application/x-www-form-urlencoded',
  schema: {
    type: 'object',
    properties: {
      signed_request: { ...text, description: 'Signature and payload in base64url, HMAC-SHA256 with the secret of our application at that network.' },
    },
    required: ['signed_request'],
  },
} as const

const params = { platform: 'facebook, instagram or threads.' }

/** Callbacks of networks about revoked accounts, and the page that shows the state of a deletion. */
export const revocationRows: readonly Row[] = [
  {
    kind: 'forward',
    method: 'POST',
    path: '/api/callbacks/:platform/deauthorize',
    access: {
      public: 'The network reports here that a person revoked our permission; its signature, made with the secret of our application, authenticates it.',
    },
    limit: 16 * 1024,
    to: 'publishing',
    why: 'raw body',
    describes: [
      {
        name: 'deauthorizeAccount',
        does: 'Takes every connection of the account out of use and erases its tokens; posts stay scheduled. The same request again changes nothing. 400 for what is malformed or older than 24 hours, 401 for a signature that is none of ours.',
        params,
        body: signed,
        refuses: [401, 404],
        answers: { 200: { description: 'It was heard.', schema: { type: 'object' } } },
      },
    ],
  },
  {
    kind: 'forward',
    method: 'POST',
    path: '/api/callbacks/:platform/data-deletion',
    access: {
      public:
        'The network reports here that a person requested deletion of their data; its signature, made with the secret of our application, authenticates it.',
    },
    limit: 16 * 1024,
    to: 'publishing',
    why: 'raw body',
    describes: [
      {
        name: 'deleteAccountData',
        does: 'Deletes every connection of the account within a minute, with profile, places and figures; posts stay. A repeated request has the same answer. 400 for what is malformed or older than 24 hours, 401 for a signature that is none of ours.',
        params,
        body: signed,
        refuses: [401, 404],
        answers: {
          200: {
            description: 'Address at which the person sees the state of the deletion.',
            schema: { type: 'object', properties: { url: { ...text, format: 'uri' }, confirmation_code: text }, required: ['url', 'confirmation_code'] },
          },
        },
      },
    ],
  },
  {
    kind: 'forward',
    method: 'GET',
    path: '/data-deletion/:code',
    access: { public: 'A person who requested a deletion has no account here: the code in the address, 128 random bits, is the credential.' },
    limit: 0,
    to: 'publishing',
    why: 'page',
    describes: [
      {
        name: 'readDataDeletion',
        does: 'Says what became of a deletion, for a year: a page for people, and with `Accept: application/json` confirmationCode, platform, status (received, in_progress, completed), receivedAt and completedAt.',
        params: { code: 'Confirmation code that the network received.' },
        answers: {
          200: { description: 'What became of it.', type: 'text/html', schema: text },
          404: { description: 'A page that says that no deletion has this code; a problem document if JSON is requested.', type: 'text/html', schema: text },
        },
      },
    ],
  },
]
