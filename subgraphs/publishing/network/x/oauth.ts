import * as oauth from 'oauth4webapi'
import { type Outbound, OutboundFailure } from '../../../../platform/outbound.ts'
import { type Account, type Grant, GrantFailure } from '../network.ts'
import { readJson } from './json.ts'

/** Where X is, and the application that speaks to it. */
export interface XSettings {
  readonly clientId: string
  readonly clientSecret: string
  /** `https://x.com/i/oauth2/authorize`, or a stand-in's. */
  readonly authorizeUrl: string
  /** `https://api.x.com`, or a stand-in's; may carry a path. */
  readonly apiUrl: string
}

/** Read, write, media upload, and refresh while nobody is there (https://docs.x.com/fundamentals/authentication/oauth-2-0/authorization-code). */
const scopes = ['tweet.read', 'tweet.write', 'users.read', 'media.write', 'offline.access']

/** How long a code may be exchanged, in ms: a person waits for it. */
const exchangeTimeoutMs = 8_000
/** How long a grant may be renewed, in ms: an answer that nobody hears costs the connection, for X has ended the old refresh token by then. */
const refreshTimeoutMs = 30_000

/** OAuth 2.0 with PKCE at X, as a confidential client: RFC 6749, RFC 7636. */
export function createXOauth(settings: XSettings, outbound: Outbound) {
  const server: oauth.AuthorizationServer = { issuer: new URL(settings.apiUrl).origin, token_endpoint: `${settings.apiUrl}/2/oauth2/token` }
  const client: oauth.Client = { client_id: settings.clientId }
  // RFC 6749 §2.3.1 form-encodes id and secret first; X compares them as they are.
  const authentication: oauth.ClientAuth = (_server, _client, _body, headers) =>
    headers.set('authorization', `Basic ${Buffer.from(`${settings.clientId}:${settings.clientSecret}`).toString('base64')}`)
  const within = (timeoutMs: number) => ({
    [oauth.allowInsecureRequests]: new URL(settings.apiUrl).protocol === 'http:',
    [oauth.customFetch]: async (url: string, request: { method: string; headers: Record<string, string>; body?: unknown }) => {
      const answer = await outbound(url, {
        method: request.method,
        headers: request.headers,
        body: String(request.body),
        timeoutMs,
        freshConnection: true,
      })
      return new Response(answer.text, { status: answer.status, headers: answer.headers })
    },
  })

  const toGrant = (tokens: oauth.TokenEndpointResponse): Grant => ({
    accessToken: tokens.access_token,
    refreshToken: tokens.refresh_token || null,
    expiresIn: tokens.expires_in ?? null,
    scopes: tokens.scope?.split(' ') ?? scopes,
  })

  /** Only a refusal of the grant itself is for good: X says invalid_request where RFC 6749 §5.2 has invalid_grant. A refused application is the operator's to mend. */
  const failed = (error: unknown): GrantFailure => {
    if (error instanceof oauth.ResponseBodyError)
      return new GrantFailure(`X refused the grant: ${error.error}`, error.error === 'invalid_grant' || error.error === 'invalid_request', error)
    if (error instanceof oauth.AuthorizationResponseError) return new GrantFailure(`X reports: ${error.error}`, true, error)
    if (error instanceof OutboundFailure) return new GrantFailure(error.message, false, error)
    return new GrantFailure('X answered something that is no grant', false, error)
  }

  return {
    async authorize({ redirectUri, state }: { redirectUri: string; state: string }) {
      const verifier = oauth.generateRandomCodeVerifier()
      const url = new URL(settings.authorizeUrl)
      url.search = new URLSearchParams({
        response_type: 'code',
        client_id: settings.clientId,
        redirect_uri: redirectUri,
        scope: scopes.join(' '),
        state,
        code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
        code_challenge_method: 'S256',
      }).toString()
      return { url: url.toString(), verifier }
    },

    async exchange({ parameters, redirectUri, state, verifier }: { parameters: URLSearchParams; redirectUri: string; state: string; verifier: string }) {
      try {
        const checked = oauth.validateAuthResponse(server, client, parameters, state)
        const answer = await oauth.authorizationCodeGrantRequest(server, client, authentication, checked, redirectUri, verifier, within(exchangeTimeoutMs))
        return toGrant(await oauth.processAuthorizationCodeResponse(server, client, answer))
      } catch (error) {
        throw failed(error)
      }
    },

    async refresh(refreshToken: string): Promise<Grant> {
      try {
        const answer = await oauth.refreshTokenGrantRequest(server, client, authentication, refreshToken, within(refreshTimeoutMs))
        return toGrant(await oauth.processRefreshTokenResponse(server, client, answer))
      } catch (error) {
        throw failed(error)
      }
    },

    /** https://docs.x.com/x-api/users/get-my-user */
    async account(accessToken: string): Promise<Account> {
      try {
        const answer = await outbound(`${settings.apiUrl}/2/users/me?user.fields=id,name,username`, { headers: { authorization: `Bearer ${accessToken}` } })
        const { data } = readJson<{ data?: { id?: string; username?: string } }>(answer.text)
        if (answer.status !== 200 || !data?.id || !data.username)
          throw new GrantFailure(`X does not say whose account this is (${answer.status})`, answer.status < 500)
        return { externalId: data.id, name: `@${data.username}` }
      } catch (error) {
        throw error instanceof GrantFailure ? error : failed(error)
      }
    },
  }
}
