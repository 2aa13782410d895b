import { type Grant, GrantFailure, type Network } from '../network.ts'
import { grantFailure } from '../oauth.ts'
import { type GraphAnswer, saidOf } from './graph.ts'

/** Token answer of Meta's networks. */
export interface GivenToken {
  readonly access_token: string
  /** Lifetime in seconds. */
  readonly expires_in: number
}

/** A Meta network's own variations of OAuth 2.0. */
export interface MetaServer {
  /** Name in sentences, e.g. `Threads`. */
  readonly title: string
  readonly clientId: string
  readonly authorizeUrl: string
  readonly scopes: readonly string[]
  /** Further query parameters of the consent address. */
  readonly besides?: Readonly<Record<string, string>>
  /** Exchanges a code for a token that is valid for an hour. */
  short(code: string, redirectUri: string): Promise<GraphAnswer<GivenToken>>
  /** Exchanges the short-lived token for one that is valid for sixty days. */
  long(token: string): Promise<GraphAnswer<GivenToken>>
  /** Exchanges a long-lived token for a new one; null where only a person can renew access. */
  readonly extend: ((token: string) => Promise<GraphAnswer<GivenToken>>) | null
  /** Whether tokens used for publishing expire: page tokens do not. */
  readonly lasts: boolean
}

/** Error codes that refuse a token permanently; any other refusal is temporary. */
const finalCodes = [102, 190]

/** Timeout in ms of each exchange, of the code and of the short-lived token: a person waits for both. */
export const exchangeTimeoutMs = 4_000
/** Timeout of extending a token, in ms. */
export const extendTimeoutMs = 30_000

/**
 * Creates the OAuth 2.0 variation of Meta's networks: no PKCE, scopes separated by commas, a token of an hour that is
 * exchanged for one of sixty days, which some networks extend by another sixty days.
 */
export function createMetaOauth({
  title,
  clientId,
  authorizeUrl,
  scopes,
  besides,
  short,
  long,
  extend,
  lasts,
}: MetaServer): Pick<Network, 'authorize' | 'exchange' | 'refresh'> {
  const grantOf = ({ access_token: accessToken, expires_in: expiresIn }: GivenToken): Grant => ({
    accessToken,
    refreshToken: null,
    expiresIn: lasts ? null : expiresIn,
    scopes,
    reconnectIn: expiresIn,
  })
  return {
    async authorize({ redirectUri, state }) {
      const url = new URL(authorizeUrl)
      url.search = new URLSearchParams({
        ...besides,
        response_type: 'code',
        client_id: clientId,
        redirect_uri: redirectUri,
        scope: scopes.join(','),
        state,
      }).toString()
      // There is no PKCE, so nothing must be stored.
      return { url: url.toString(), verifier: '' }
    },

    async exchange({ parameters, redirectUri, state }) {
      if (parameters.get('state') !== state) throw new GrantFailure(`${title} sent another state`, true)
      // The network appends `#_` to the code, which some browsers send along.
      const code = parameters.get('code')?.replace(/#_(?:=_)?$/, '')
      if (!code) throw new GrantFailure(`${title} reports: ${(parameters.get('error_reason') ?? parameters.get('error') ?? 'no code').slice(0, 100)}`, true)
      const hour = await given(title, short(code, redirectUri), () => true)
      return grantOf(await given(title, long(hour.access_token), () => true))
    },

    async refresh({ accessToken }) {
      if (!extend) throw new GrantFailure(`${title} renews no access: connect the account again.`, true)
      return grantOf(await given(title, extend(accessToken), ({ status, error }) => finalCodes.includes(error?.code ?? 0) || (!error && status === 401)))
    },
  }
}

/**
 * The token that a network hands out.
 * @param isFinal whether a refusal is for good; that of the application itself never is, and a server's fault never
 */
async function given(title: string, asking: Promise<GraphAnswer<GivenToken>>, isFinal: (answer: GraphAnswer<object>) => boolean): Promise<GivenToken> {
  let answer: GraphAnswer<GivenToken>
  try {
    answer = await asking
  } catch (error) {
    throw grantFailure(title, error)
  }
  const { access_token: token, expires_in: expiresIn } = answer.said
  if (answer.status === 200 && typeof token === 'string' && token) return { access_token: token, expires_in: Number(expiresIn) || 3600 }
  const isRefused = answer.status >= 400 && answer.status < 500 && answer.status !== 429 && ![1, 2, 4, 101].includes(answer.error?.code ?? 0)
  throw new GrantFailure(
    isRefused ? `${title} refused the grant: ${saidOf(title, answer).slice(title.length + 2)}` : `${title} answered something that is no grant`,
    isRefused && isFinal(answer),
  )
}
