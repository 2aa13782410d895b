import { createHash } from 'node:crypto'
import * as oauth from 'oauth4webapi'
import { OutboundFailure } from '../../../platform/outbound/failure.ts'
import type { Outbound, OutboundAnswer } from '../../../platform/outbound/outbound.ts'
import { readJson } from './json.ts'
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
  /** How the digest of PKCE is written; null: the server knows no PKCE. @default base64url */
  readonly pkce?: 'base64url' | 'hex' | null
  /** What the consent page calls the application. @default client_id */
  readonly clientParameter?: string
  /** What the consent page has between scopes. @default a blank */
  readonly scopesBy?: ',' | ' '
  /** What the consent page is told beside. */
  readonly parameters?: Readonly<Record<string, string>>
  /** For how many seconds a grant can be renewed without a person, as the server's answer says it. @default the server does not say */
  reconnectIn?(answer: Readonly<Record<string, unknown>>): number | undefined
}

/** How long a code may be exchanged, in ms: a person waits for it. */
const exchangeTimeoutMs = 8_000
/** How long a grant may be renewed, in ms: an answer that nobody hears costs the connection, for the old refresh token may have ended by then. */
const refreshTimeoutMs = 30_000

/** What every network with OAuth 2.0 has in common (RFC 6749, and RFC 7636 where it knows PKCE), as a confidential client. */
export function createOauth(
  {
    title,
    clientId,
    authorizeUrl,
    tokenUrl,
    scopes,
    authentication,
    finalErrors,
    pkce = 'base64url',
    clientParameter = 'client_id',
    scopesBy = ' ',
    parameters: further = {},
    reconnectIn,
  }: AuthorizationServer,
  outbound: Outbound,
): Pick<Network, 'authorize' | 'exchange' | 'refresh'> {
  const { origin, protocol } = new URL(tokenUrl)
  const server: oauth.AuthorizationServer = { issuer: origin, token_endpoint: tokenUrl }
  const client: oauth.Client = { client_id: clientId }
  const within = (timeoutMs: number) => ({
    [oauth.allowInsecureRequests]: protocol === 'http:',
    [oauth.customFetch]: async (url: string, { method, headers, body }: { method: string; headers: Record<string, string>; body?: unknown }) => {
      const answer = await outbound(url, { method, headers, body: String(body), timeoutMs, freshConnection: true })
      return standardAnswer(answer)
    },
  })

  const toGrant = (tokens: oauth.TokenEndpointResponse): Grant => {
    const left = reconnectIn?.(tokens)
    return {
      accessToken: tokens.access_token,
      refreshToken: tokens.refresh_token || null,
      expiresIn: tokens.expires_in ?? null,
      scopes: tokens.scope?.split(/[ ,]+/) ?? scopes,
      ...(left !== undefined && { reconnectIn: left }),
    }
  }

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
        ...further,
        response_type: 'code',
        [clientParameter]: clientId,
        redirect_uri: redirectUri,
        scope: scopes.join(scopesBy),
        state,
        ...(pkce && { code_challenge: createHash('sha256').update(verifier).digest(pkce), code_challenge_method: 'S256' }),
      }).toString()
      return { url: url.toString(), verifier }
    },

    async exchange({ parameters, redirectUri, state, verifier }) {
      try {
        const checked = oauth.validateAuthResponse(server, client, parameters, state)
        const shown = pkce ? verifier : oauth.nopkce
        const answer = await oauth.authorizationCodeGrantRequest(server, client, authentication, checked, redirectUri, shown, within(exchangeTimeoutMs))
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

/**
 * An answer of a token endpoint as RFC 6749 §5 has it: networks leave out the kind of token, and tell errors with 200. An id token says
 * nothing that we ask, and some networks sign it as an issuer of another name.
 */
function standardAnswer({ status, headers, text }: OutboundAnswer): Response {
  const body = readJson<Record<string, unknown>>(text)
  if (typeof body.error === 'string') return Response.json(body, { status: status < 400 ? 400 : status })
  if (typeof body.access_token !== 'string') return new Response(text, { status, headers })
  const { id_token: _, ...answer } = body
  return Response.json({ token_type: 'bearer', ...answer }, { status })
}

/** What stands for a call that granted nothing for reasons that pass: the network was not reached, or answered something else. */
export const grantFailure = (title: string, error: unknown): GrantFailure =>
  new GrantFailure(error instanceof OutboundFailure ? error.message : `${title} answered something that is no grant`, false, error)
