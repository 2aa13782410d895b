import * as oauth from 'oauth4webapi'
import design from '../../web/design/tokens.json' with { type: 'json' }

/** The design tokens of the platform's pages: colours of both themes, type, space, radius. */
export const tokens = design

/** The secure store of the operating system. Only the refresh token is written to it. */
export interface SecureStore {
  get(key: string): Promise<string | null>
  set(key: string, value: string): Promise<void>
  remove(key: string): Promise<void>
}

export interface IdentityOptions {
  /** Origin of the platform. Only a loopback address may use http. */
  readonly issuer: string
  readonly clientId: string
  /** A redirect address that belongs to the app, such as `com.example.app:/callback`. */
  readonly redirectUri: string
  readonly store: SecureStore
  /** Opens an address in the system's browser, and resolves with the redirect address. */
  browse(url: string): Promise<string>
  /** @default openid, profile, email, offline_access */
  readonly scopes?: readonly string[]
  /** Milliseconds since 1970. @default Date.now */
  readonly now?: () => number
}

/** The platform's present data about the person. */
export interface Person {
  readonly id: string
  readonly email: string | null
  readonly name: string | null
}

export interface Identity {
  /**
   * Signs in by the hosted page (OAuth 2.1, PKCE S256). @throws when the person declines, or the answer belongs to
   * another request
   */
  signIn(): Promise<void>
  /** Revokes the refresh token and deletes it locally, even if the platform cannot be reached. */
  signOut(): Promise<void>
  /**
   * Returns a token for the next request, renewed a minute before its end by one renewal at a time; null when nobody is
   * signed in. @throws when the platform cannot be reached
   */
  accessToken(): Promise<string | null>
  /** Asks the platform which person is signed in; null when none is. The answer is never taken from local data. */
  person(): Promise<Person | null>
  /** Notifies about sign-ins and sign-outs. @returns a function that ends it */
  onChange(listener: (isSignedIn: boolean) => void): () => void
}

const key = 'supergraph.refresh-token'
/** Time in ms before its end at which a token is renewed. */
const earlyMs = 60_000

/** Creates the identity of a mobile app. */
export function createIdentity(options: IdentityOptions): Identity {
  const { clientId, redirectUri, store, browse, scopes = ['openid', 'profile', 'email', 'offline_access'], now = Date.now } = options
  const issuer = new URL(options.issuer)
  const isLoopback = /^(?:localhost|127\.0\.0\.1|\[::1\]|[\w-]+\.localhost)$/.test(issuer.hostname)
  if (issuer.protocol !== 'https:' && !isLoopback) throw new TypeError(`The issuer ${options.issuer} is not https.`)
  const requests = issuer.protocol === 'https:' ? {} : { [oauth.allowInsecureRequests]: true }
  const client: oauth.Client = { client_id: clientId }
  const listeners = new Set<(isSignedIn: boolean) => void>()
  let server: Promise<oauth.AuthorizationServer> | null = null
  let token: { readonly value: string; readonly subject: string | null; readonly endsAt: number } | null = null
  let renewing: Promise<string | null> | null = null
  /** Counts sign-outs, so that a renewal in progress does not sign in again. */
  let signOuts = 0

  const tell = (isSignedIn: boolean) => {
    for (const listener of listeners) listener(isSignedIn)
  }
  const discover = () => {
    server ??= oauth
      .discoveryRequest(issuer, { algorithm: 'oidc', ...requests })
      .then(answer => oauth.processDiscoveryResponse(issuer, answer))
      .catch(error => {
        server = null
        throw error
      })
    return server
  }
  async function take(answer: oauth.TokenEndpointResponse): Promise<string> {
    // The old refresh token is spent: the new one is kept before anything else can fail.
    if (answer.refresh_token) await store.set(key, answer.refresh_token)
    const subject = oauth.getValidatedIdTokenClaims(answer)?.sub ?? token?.subject ?? null
    token = { value: answer.access_token, subject, endsAt: now() + (answer.expires_in ?? 0) * 1000 }
    return token.value
  }
  async function renew(): Promise<string | null> {
    const begun = signOuts
    const kept = await store.get(key)
    if (kept === null) return null
    const found = await discover()
    const response = await oauth.refreshTokenGrantRequest(found, client, oauth.None(), kept, requests)
    try {
      const answer = await oauth.processRefreshTokenResponse(found, client, response)
      if (begun === signOuts) return await take(answer)
      if (answer.refresh_token) await revoke(answer.refresh_token)
      return null
    } catch (error) {
      if (begun !== signOuts) return null
      if (!(error instanceof oauth.ResponseBodyError) || error.error !== 'invalid_grant') throw error
      await store.remove(key)
      token = null
      tell(false)
      return null
    }
  }

  /** Revokes a refresh token if the platform can be reached. */
  async function revoke(spent: string): Promise<void> {
    await discover()
      .then(found => oauth.revocationRequest(found, client, oauth.None(), spent, requests))
      .catch(() => null)
  }

  async function accessToken(): Promise<string | null> {
    if (token && token.endsAt - earlyMs > now()) return token.value
    renewing ??= renew().finally(() => {
      renewing = null
    })
    return renewing
  }

  return {
    accessToken,
    async signIn() {
      const found = await discover()
      const [verifier, state, nonce] = [oauth.generateRandomCodeVerifier(), oauth.generateRandomState(), oauth.generateRandomNonce()]
      const url = new URL(found.authorization_endpoint!)
      const query = {
        client_id: clientId,
        redirect_uri: redirectUri,
        response_type: 'code',
        scope: scopes.join(' '),
        code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
        code_challenge_method: 'S256',
        state,
        nonce,
      }
      for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value)
      const back = new URL(await browse(url.href))
      const parameters = oauth.validateAuthResponse(found, client, back, state)
      const response = await oauth.authorizationCodeGrantRequest(found, client, oauth.None(), parameters, redirectUri, verifier, requests)
      await take(await oauth.processAuthorizationCodeResponse(found, client, response, { expectedNonce: nonce }))
      tell(true)
    },
    async signOut() {
      signOuts += 1
      const kept = await store.get(key)
      await store.remove(key)
      token = null
      tell(false)
      if (kept !== null) await revoke(kept)
    },
    async person() {
      const value = await accessToken()
      if (value === null) return null
      const found = await discover()
      const response = await oauth.userInfoRequest(found, client, value, requests)
      const { sub, email, name } = await oauth.processUserInfoResponse(found, client, token?.subject ?? oauth.skipSubjectCheck, response)
      return { id: sub, email: email ?? null, name: name ?? null }
    },
    onChange(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
  }
}

/** Meaning of a link that opened the app. */
export type Received =
  | { readonly kind: 'launch'; readonly serviceId: string; readonly code: string }
  | { readonly kind: 'page'; readonly path: string }
  | { readonly kind: 'refused' }

const tokenNames = ['access_token', 'id_token', 'refresh_token', 'token', 'jwt']

/**
 * Reads a link from the operating system. Only https addresses of the given origins are accepted, and none with a
 * token.
 */
export function receive(url: string, origins: readonly string[]): Received {
  if (!URL.canParse(url)) return { kind: 'refused' }
  const { protocol, origin, username, password, pathname, searchParams, hash, search } = new URL(url)
  const isOurs = protocol === 'https:' && origins.includes(origin) && username === '' && password === ''
  const inHash = new URLSearchParams(hash.slice(1))
  if (!isOurs || tokenNames.some(name => searchParams.has(name) || inHash.has(name))) return { kind: 'refused' }
  const serviceId = /^\/launch\/([\w-]+)$/.exec(pathname)?.[1]
  if (serviceId === undefined) return { kind: 'page', path: `${pathname}${search}` }
  const code = searchParams.get('code')
  return code ? { kind: 'launch', serviceId, code } : { kind: 'refused' }
}
