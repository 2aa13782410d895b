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
      public:
        'The network says here that a person took our permission back; the signature, by the secret of our application there, says that it is the network.',
    },
    limit: 16 * 1024,
    to: 'publishing',
    why: 'raw body',
    tells: [
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
        'The network says here that a person wants their data deleted; the signature, by the secret of our application there, says that it is the network.',
    },
    limit: 16 * 1024,
    to: 'publishing',
    why: 'raw body',
    tells: [
      {
        name: 'deleteAccountData',
        does: 'Deletes every connection of the account within a minute, with profile, places and figures; posts stay. The same request again is answered alike. 400 for what is malformed or older than 24 hours, 401 for a signature that is none of ours.',
        params,
        body: signed,
        refuses: [401, 404],
        answers: {
          200: {
            description: 'Where the person reads what became of it.',
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
    access: { public: 'Who asked for a deletion has no account here: the code in the address, of 128 random bits, says that it was they.' },
    limit: 0,
    to: 'publishing',
    why: 'page',
    tells: [
      {
        name: 'readDataDeletion',
        does: 'Says what became of a deletion, for a year: a page for people, and with `Accept: application/json` confirmationCode, platform, status (received, in_progress, completed), receivedAt and completedAt.',
        params: { code: 'The confirmation code that the network was told.' },
        answers: {
          200: { description: 'What became of it.', type: 'text/html', schema: text },
          404: { description: 'A page that says that no deletion has this code; a problem document for who asks for JSON.', type: 'text/html', schema: text },
        },
      },
    ],
  },
]
