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

const fault = object({ error: { ...text, description: 'Error code of RFC 6749, RFC 6750 or OpenID Connect.' }, error_description: text }, ['error'])
const refused = (description: string) => ({ description, schema: fault })
const invalid = { 400: refused('The request is malformed, or its grant is not valid.') }
const stranger = { 401: refused('The client is unknown, disabled or not authenticated.') }

const client = {
  client_id: 'Id of a public client; a confidential client sends HTTP Basic with its id and secret.',
}
const html = { type: 'text/html', schema: text } as const

const authorizing = {
  response_type: '`code`.',
  client_id: 'The client.',
  redirect_uri: 'Redirect address as registered; the port of a loopback address may differ.',
  scope: 'What is asked for, parted by blanks: `openid`, `profile`, `email`, `offline_access`, and full names such as `publishing:posts.read`.',
  state: 'Returned unchanged.',
  code_challenge: 'SHA-256 of the verifier, as base64url.',
  code_challenge_method: '`S256`.',
  nonce: 'Copied into the ID token unchanged.',
  prompt: '`none` asks the person nothing; `login` and `consent` ask in any case.',
  max_age: 'Maximum age of the sign-in in seconds.',
}
const authorized = {
  302: 'Back to the application with `code`, or with `error`; or to the page for signing in, or for consent.',
  400: { description: 'A page: the client or its address is not registered.', ...html },
}

/** Routes of OAuth 2.1 and OpenID Connect below `/api/auth`. */
export const oauthAnswers: readonly Documented[] = [
  {
    name: 'authorize',
    at: 'GET /oauth2/authorize',
    does: 'Takes a person through sign-in and consent, as far as needed, and back to the application with a code (RFC 6749, RFC 7636, RFC 9207). An unregistered client or address is a 400 page without a redirect.',
    reads: ['cookie'],
    query: authorizing,
    answers: authorized,
  },
  {
    name: 'authorizeByForm',
    at: 'POST /oauth2/authorize',
    does: 'The same by a form (OpenID Connect Core 3.1.2.1). Without a session cookie it redirects to the same request by GET, because browsers send no cookie with a form of another site.',
    reads: ['cookie'],
    body: form(authorizing, ['response_type', 'client_id', 'redirect_uri', 'code_challenge', 'code_challenge_method']),
    answers: authorized,
  },
  {
    name: 'decideConsent',
    at: 'POST /oauth2/consent',
    does: 'Records the signed-in person’s decision on an application’s request, once and within ten minutes. Only pages of the platform may call it; Origin is required.',
    reads: ['cookie'],
    body: {
      schema: object({ request: { ...text, description: 'The request from the address of the page.' }, accept: { type: 'boolean' } }, ['request', 'accept']),
    },
    answers: {
      200: { description: 'Address that the browser opens next.', schema: object({ redirectTo: { ...text, format: 'uri' } }, ['redirectTo']) },
      ...invalid,
      401: refused('No person is signed in.'),
      403: refused('The page does not belong to the platform.'),
    },
  },
  {
    name: 'exchangeToken',
    at: 'POST /oauth2/token',
    does: 'Exchanges a code or a refresh token for tokens. Each works once: a second use revokes the tokens of the first.',
    body: form(
      {
        grant_type: '`authorization_code` or `refresh_token`.',
        code: 'The code.',
        redirect_uri: 'The redirect address of the authorization request.',
        code_verifier: 'The verifier of the challenge.',
        refresh_token: 'The refresh token.',
        scope: 'Subset of the granted scopes for the access token. Default: all of them.',
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
    does: 'Ends the session that a token of the application belongs to, with every token of it (RFC 7009). An unknown token is no error.',
    body: form({ token: 'An access token or a refresh token.', token_type_hint: 'Is not needed.', ...client }, ['token']),
    answers: { 200: 'The token is revoked.', ...invalid, ...stranger },
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
        401: refused('The access token is not valid.'),
        403: refused('The access token has not the scope `openid`.'),
      },
    }),
  ),
]

const consent = {
  kind: 'forward',
  path: '/consent',
  access: { public: 'The session cookie identifies the person; without it the browser is sent to the sign-in page.' },
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
  access: { public: 'Clients discover the endpoints here before they have credentials.' },
  limit: 0,
  to: 'identity',
  why: 'own answer',
  describes: [
    {
      name,
      does: 'Metadata of the platform for OAuth and OpenID Connect clients (OpenID Connect Discovery, RFC 8414).',
      answers: { 200: { description: 'Endpoints and supported parameters.', schema: { type: 'object' } } },
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
    access: { public: 'A client authenticates with its secret, a service with its token.', services: true },
    limit: 64 * 1024,
    to: 'identity',
    why: 'foreign handler',
    describes: [
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
                scope: { ...text, description: 'Current scopes, separated by spaces.' },
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
    describes: [
      {
        name: 'showConsent',
        does: 'The consent page: which application requests which scopes in which organization, and where it redirects.',
        query: { request: 'The request from the address of the authorization.' },
        answers: {
          200: { description: 'The page.', ...html },
          302: 'To the page for signing in.',
          400: { description: 'The request has expired; the page says so.', ...html },
        },
      },
    ],
  },
  {
    ...consent,
    method: 'POST',
    describes: [
      {
        name: 'sendConsent',
        does: 'Applies the decision of the form and redirects the browser to the application.',
        body: form({ token: 'Of the page.', request: 'The request.', accept: '`true` or `false`.' }, ['token', 'request', 'accept']),
        answers: {
          200: { description: 'A page that continues to the application.', ...html },
          302: 'To the page for signing in.',
          400: { description: 'The page again, with what is wrong.', ...html },
        },
      },
    ],
  },
]
