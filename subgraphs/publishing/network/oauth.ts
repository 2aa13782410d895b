import { createHash } from 'node:crypto'
import * as oauth from 'oauth4webapi'
import { OutboundFailure } from '../../../platform/outbound/failure.ts'
import type { Outbound, OutboundAnswer } from '../../../platform/outbound/outbound.ts'
import { type Grant, GrantFailure, type Network } from './network.ts'
import { readJson } from './wire/json.ts'

/** An authorization server's own variations of OAuth 2.0. */
export interface AuthorizationServer {
  /** Name in sentences, e.g. `X`. */
  readonly title: string
  readonly clientId: string
  readonly authorizeUrl: string
  readonly tokenUrl: string
  readonly scopes: readonly string[]
  /** How the application authenticates at the token endpoint. */
  readonly authentication: oauth.ClientAuth
  /**
   * Error codes that refuse the grant itself: only a new authorization by a person helps. RFC 6749 §5.2 has
   * `invalid_grant`.
   */
  readonly finalErrors: readonly string[]
  /** Encoding of PKCE's digest; null when the server does not support PKCE. @default base64url */
  readonly pkce?: 'base64url' | 'hex' | null
  /** Name of the consent address's parameter for the application. @default client_id */
  readonly clientParameter?: string
  /** Separator between scopes in the consent address. @default a blank */
  readonly scopesBy?: ',' | ' '
  /** Further query parameters of the consent address. */
  readonly parameters?: Readonly<Record<string, string>>
  /**
   * Returns for how many seconds a grant can be renewed without a person, from the server's answer. @default the server
   * does not state it
   */
  reconnectIn?(answer: Readonly<Record<string, unknown>>): number | undefined
}

/** Timeout of exchanging a code, in ms: a person waits for it. */
const exchangeTimeoutMs = 8_000
/**
 * Timeout of renewing a grant, in ms: a lost answer costs the connection, because the old refresh token may be invalid
 * by then.
 */
const refreshTimeoutMs = 30_000

/**
 * Creates the part of OAuth 2.0 that all networks share (RFC 6749, and RFC 7636 where the network supports PKCE), as a
 * confidential client.
 */
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

  /** Only a refusal of the grant itself is permanent. A refused application is for the operator to correct. */
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
 * Converts a token endpoint's answer to RFC 6749 §5: networks omit the token type, and report errors with status 200.
 * The id token is ignored, because we do not need it and some networks sign it under another issuer's name.
 */
function standardAnswer({ status, headers, text }: OutboundAnswer): Response {
  const body = readJson<Record<string, unknown>>(text)
  if (typeof body.error === 'string') return Response.json(body, { status: status < 400 ? 400 : status })
  if (typeof body.access_token !== 'string') return new Response(text, { status, headers })
  const { id_token: _, ...answer } = body
  return Response.json({ token_type: 'bearer', ...answer }, { status })
}

/** Returns the error for a temporary failure: the network could not be reached, or gave an unexpected answer. */
export const grantFailure = (title: string, error: unknown): GrantFailure =>
  new GrantFailure(error instanceof OutboundFailure ? error.message : `${title} answered something that is no grant`, false, error)
