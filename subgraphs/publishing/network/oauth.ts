import * as oauth from 'oauth4webapi'
import { OutboundFailure } from '../../../platform/outbound/failure.ts'
import type { Outbound } from '../../../platform/outbound/outbound.ts'
import { type Grant, GrantFailure, type Network } from './network.ts'

/** What one network's authorization server has of its own. */
export interface AuthorizationServer {
  /** In sentences: `X`. */
  readonly title: string
  readonly clientId: string
  readonly authorizeUrl: string
  readonly tokenUrl: string
  readonly scopes: readonly string[]
  /** How the application shows itself when it asks for tokens. */
  readonly authentication: oauth.ClientAuth
  /** Errors that refuse the grant itself: only a person who authorizes again can help. RFC 6749 §5.2 has `invalid_grant`. */
  readonly finalErrors: readonly string[]
}

/** How long a code may be exchanged, in ms: a person waits for it. */
const exchangeTimeoutMs = 8_000
/** How long a grant may be renewed, in ms: an answer that nobody hears costs the connection, for the old refresh token may have ended by then. */
const refreshTimeoutMs = 30_000

/** What every network with OAuth 2.0 and PKCE has in common (RFC 6749, RFC 7636), as a confidential client. */
export function createOauth(
  { title, clientId, authorizeUrl, tokenUrl, scopes, authentication, finalErrors }: AuthorizationServer,
  outbound: Outbound,
): Pick<Network, 'authorize' | 'exchange' | 'refresh'> {
  const { origin, protocol } = new URL(tokenUrl)
  const server: oauth.AuthorizationServer = { issuer: origin, token_endpoint: tokenUrl }
  const client: oauth.Client = { client_id: clientId }
  const within = (timeoutMs: number) => ({
    [oauth.allowInsecureRequests]: protocol === 'http:',
    [oauth.customFetch]: async (url: string, { method, headers, body }: { method: string; headers: Record<string, string>; body?: unknown }) => {
      const answer = await outbound(url, { method, headers, body: String(body), timeoutMs, freshConnection: true })
      return new Response(answer.text, { status: answer.status, headers: answer.headers })
    },
  })

  const toGrant = (tokens: oauth.TokenEndpointResponse): Grant => ({
    accessToken: tokens.access_token,
    refreshToken: tokens.refresh_token || null,
    expiresIn: tokens.expires_in ?? null,
    scopes: tokens.scope?.split(' ') ?? scopes,
  })

  /** Only a refusal of the grant itself is for good. A refused application is the operator's to mend. */
  const failed = (error: unknown): GrantFailure => {
    if (error instanceof oauth.ResponseBodyError)
      return new GrantFailure(`${title} refused the grant: ${error.error}`, finalErrors.includes(error.error), error)
    if (error instanceof oauth.AuthorizationResponseError) return new GrantFailure(`${title} reports: ${error.error}`, true, error)
    return grantFailure(title, error)
  }

  return {
    async authorize({ redirectUri, state }) {
      const verifier = oauth.generateRandomCodeVerifier()
      const url = new URL(authorizeUrl)
      url.search = new URLSearchParams({
        response_type: 'code',
        client_id: clientId,
        redirect_uri: redirectUri,
        scope: scopes.join(' '),
        state,
        code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
        code_challenge_method: 'S256',
      }).toString()
      return { url: url.toString(), verifier }
    },

    async exchange({ parameters, redirectUri, state, verifier }) {
      try {
        const checked = oauth.validateAuthResponse(server, client, parameters, state)
        const answer = await oauth.authorizationCodeGrantRequest(server, client, authentication, checked, redirectUri, verifier, within(exchangeTimeoutMs))
        return toGrant(await oauth.processAuthorizationCodeResponse(server, client, answer))
      } catch (error) {
        throw failed(error)
      }
    },

    async refresh({ refreshToken }) {
      if (refreshToken === null) throw new GrantFailure(`${title} gave nothing to renew the access with.`, true)
      try {
        const answer = await oauth.refreshTokenGrantRequest(server, client, authentication, refreshToken, within(refreshTimeoutMs))
        return toGrant(await oauth.processRefreshTokenResponse(server, client, answer))
      } catch (error) {
        throw failed(error)
      }
    },
  }
}

/** What stands for a call that granted nothing for reasons that pass: the network was not reached, or answered something else. */
export const grantFailure = (title: string, error: unknown): GrantFailure =>
  new GrantFailure(error instanceof OutboundFailure ? error.message : `${title} answered something that is no grant`, false, error)
