import type { Content, Documented, JsonSchema, Row } from '../row.ts'

const text = { type: 'string' }
const form = (properties: Readonly<Record<string, string>>, required: readonly string[]): Content => ({
  type: 'application/x-www-form-urlencoded',
  schema: {
    type: 'object',
    properties: Object.fromEntries(Object.entries(properties).map(([name, description]) => [name, { ...text, description }])),
    required,
  },
})
const object = (properties: Readonly<Record<string, JsonSchema>>, required: readonly string[] = []): JsonSchema => ({ type: 'object', properties, required })

const fault = object({ error: { ...text, description: 'As RFC 6749, RFC 6750 and OpenID Connect name it.' }, error_description: text }, ['error'])
const refused = (description: string) => ({ description, schema: fault })
const invalid = { 400: refused('The request is not one, or what it brings is not good.') }
const stranger = { 401: refused('The client is unknown or disabled, or did not show that it is the one.') }

const client = {
  client_id: 'The client, where it is public: a confidential one sends HTTP Basic with its id and its secret.',
}
const html = { type: 'text/html', schema: text } as const

const authorizing = {
  response_type: '`code`.',
  client_id: 'The client.',
  redirect_uri: 'Where it leads back to, as it was registered; of a loopback address the port is free.',
  scope: 'What is asked for, parted by blanks: `openid`, `profile`, `email`, `offline_access`, and full names such as `publishing:posts.read`.',
  state: 'Comes back as it was.',
  code_challenge: 'SHA-256 of the verifier, as base64url.',
  code_challenge_method: '`S256`.',
  nonce: 'Stands in the ID token as it was.',
  prompt: '`none` asks the person nothing; `login` and `consent` ask in any case.',
  max_age: 'For how many seconds a sign-in counts.',
}
const authorized = {
  302: 'Back to the application with `code`, or with `error`; or to the page for signing in, or for consent.',
  400: { description: 'A page: the client or its address is not registered.', ...html },
}

/** Routes of OAuth 2.1 and OpenID Connect below `/api/auth`. */
export const oauthTells: readonly Documented[] = [
  {
    name: 'authorize',
    at: 'GET /oauth2/authorize',
    does: 'Leads a person to whatever is still needed, to sign in and to agree, and then back to the application with a code (RFC 6749, RFC 7636, RFC 9207). Whoever is not registered is led nowhere: 400 with a page.',
    reads: ['cookie'],
    query: authorizing,
    answers: authorized,
  },
  {
    name: 'authorizeByForm',
    at: 'POST /oauth2/authorize',
    does: 'The same by a form (OpenID Connect Core 3.1.2.1). Without the cookie of a session it leads to the same request by GET, for browsers send no cookie with the form of another site.',
    reads: ['cookie'],
    body: form(authorizing, ['response_type', 'client_id', 'redirect_uri', 'code_challenge', 'code_challenge_method']),
    answers: authorized,
  },
  {
    name: 'decideConsent',
    at: 'POST /oauth2/consent',
    does: 'Says what the signed-in person has decided of a request of an application, once and within ten minutes. Only for pages of the platform, whose Origin has to come along.',
    reads: ['cookie'],
    body: {
      schema: object({ request: { ...text, description: 'As it stands in the address of the page.' }, accept: { type: 'boolean' } }, ['request', 'accept']),
    },
    answers: {
      200: { description: 'Where the browser goes then.', schema: object({ redirectTo: { ...text, format: 'uri' } }, ['redirectTo']) },
      ...invalid,
      401: refused('Nobody is signed in.'),
      403: refused('The page is none of the platform’s.'),
    },
  },
  {
    name: 'exchangeToken',
    at: 'POST /oauth2/token',
    does: 'Gives an application tokens for a code, or for a refresh token. Each works once: one that comes a second time ends what the first time gave.',
    body: form(
      {
        grant_type: '`authorization_code` or `refresh_token`.',
        code: 'The code.',
        redirect_uri: 'As it was asked for.',
        code_verifier: 'The verifier of the challenge.',
        refresh_token: 'The refresh token.',
        scope: 'Of the granted scopes those that the access token shall have; all of them unless said.',
        ...client,
      },
      ['grant_type'],
    ),
    answers: {
      200: {
        description: 'The tokens.',
        schema: object(
          {
            access_token: text,
            token_type: { ...text, const: 'Bearer' },
            expires_in: { type: 'integer', description: 'Seconds.' },
            scope: text,
            refresh_token: { ...text, description: 'With `offline_access`.' },
            id_token: { ...text, description: 'With `openid`.' },
          },
          ['access_token', 'token_type', 'expires_in', 'scope'],
        ),
      },
      ...invalid,
      ...stranger,
    },
  },
  {
    name: 'revokeToken',
    at: 'POST /oauth2/revoke',
    does: 'Ends the session that a token of the application belongs to, with every token of it (RFC 7009). A token that is unknown is revoked without complaint.',
    body: form({ token: 'An access token or a refresh token.', token_type_hint: 'Is not needed.', ...client }, ['token']),
    answers: { 200: 'It does not stand any more.', ...invalid, ...stranger },
  },
  ...(['GET', 'POST'] as const).map(
    (method): Documented => ({
      name: method === 'GET' ? 'userinfo' : 'userinfoByPost',
      at: `${method} /oauth2/userinfo`,
      does: 'Who the person is for whom an application has an access token with the scope `openid`: as much as was granted.',
      reads: ['bearer'],
      answers: {
        200: {
          description: 'The person.',
          schema: object({ sub: text, name: text, picture: text, email: text, email_verified: { type: 'boolean' } }, ['sub']),
        },
        401: refused('The access token does not stand.'),
        403: refused('The access token has not the scope `openid`.'),
      },
    }),
  ),
]

const consent = {
  kind: 'forward',
  path: '/consent',
  access: { public: 'Whoever opens it is known by the cookie of the session, and without one is led to the page for signing in.' },
  limit: 16 * 1024,
  to: 'identity',
  why: 'page',
} as const

/** Builds a discovery route, which every host serves under its whole path. */
const discovery = (name: string, path: string): Row => ({
  kind: 'forward',
  method: 'GET',
  path,
  everywhere: true,
  access: { public: 'Clients read here where they ask for credentials.' },
  limit: 0,
  to: 'identity',
  why: 'own answer',
  tells: [
    {
      name,
      does: 'What OAuth and OpenID Connect clients need to know of the platform (OpenID Connect Discovery, RFC 8414).',
      answers: { 200: { description: 'Addresses, and what they take.', schema: { type: 'object' } } },
    },
  ],
})

export const oauthRows: readonly Row[] = [
  discovery('openidConfiguration', '/.well-known/openid-configuration'),
  discovery('authorizationServer', '/.well-known/oauth-authorization-server'),
  {
    kind: 'forward',
    method: 'POST',
    path: '/api/auth/oauth2/introspect',
    access: { public: 'A client shows its own secret; a service is known by its token.', services: true },
    limit: 64 * 1024,
    to: 'identity',
    why: 'foreign handler',
    tells: [
      {
        name: 'introspectToken',
        does: 'Whether a token stands at this moment, and what it may do (RFC 7662): for confidential clients of their own tokens, for services of any. Of everything else `{ "active": false }`.',
        body: form({ token: 'An access token or a refresh token.', token_type_hint: 'Is not needed.' }, ['token']),
        answers: {
          200: {
            description: 'What it is.',
            schema: object(
              {
                active: { type: 'boolean' },
                token_type: text,
                scope: { ...text, description: 'What it may do now, parted by blanks.' },
                client_id: text,
                sub: { ...text, description: 'The person.' },
                sid: text,
                org: text,
                iss: text,
                aud: text,
                iat: { type: 'integer' },
                exp: { type: 'integer' },
              },
              ['active'],
            ),
          },
          ...invalid,
          ...stranger,
        },
      },
    ],
  },
  {
    ...consent,
    method: 'GET',
    tells: [
      {
        name: 'showConsent',
        does: 'The page on which a person reads which application asks for what, in which organization, and where it leads.',
        query: { request: 'The request, as authorizing has it in the address.' },
        answers: {
          200: { description: 'The page.', ...html },
          302: 'To the page for signing in.',
          400: { description: 'The request is over; the page says so.', ...html },
        },
      },
    ],
  },
  {
    ...consent,
    method: 'POST',
    tells: [
      {
        name: 'sendConsent',
        does: 'Decides what the form of the page before says, and leads the browser back to the application.',
        body: form({ token: 'Of the page.', request: 'The request.', accept: '`true` or `false`.' }, ['token', 'request', 'accept']),
        answers: {
          200: { description: 'A page that leads on.', ...html },
          302: 'To the page for signing in.',
          400: { description: 'The page again, with what is wrong.', ...html },
        },
      },
    ],
  },
]
