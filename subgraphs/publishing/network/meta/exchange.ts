import { type Grant, GrantFailure, type Network } from '../network.ts'
import { grantFailure } from '../oauth.ts'
import { type GraphAnswer, saidOf } from './graph.ts'

/** A token as Meta's networks give it. */
export interface GivenToken {
  readonly access_token: string
  /** Seconds. */
  readonly expires_in: number
}

/** What one network of Meta's has of its own in OAuth 2.0. */
export interface MetaServer {
  /** In sentences: `Threads`. */
  readonly title: string
  readonly clientId: string
  readonly authorizeUrl: string
  readonly scopes: readonly string[]
  /** What the consent address carries besides. */
  readonly besides?: Readonly<Record<string, string>>
  /** Exchanges a code for a token that lasts an hour. */
  short(code: string, redirectUri: string): Promise<GraphAnswer<GivenToken>>
  /** Exchanges that for one that lasts sixty days. */
  long(token: string): Promise<GraphAnswer<GivenToken>>
  /** Exchanges a long one for another; null where only a person can. */
  readonly extend: ((token: string) => Promise<GraphAnswer<GivenToken>>) | null
  /** Whether the token ends, for what publishes: a page's token does not. */
  readonly lasts: boolean
}

/** Codes with which a token is refused for good; any other refusal is of the moment. */
const finalCodes = [102, 190]

/** How long a code and a short token may be exchanged each, in ms: a person waits for both. */
export const exchangeTimeoutMs = 4_000
/** How long a token may be extended, in ms. */
export const extendTimeoutMs = 30_000

/**
 * OAuth 2.0 as Meta's networks speak it: no PKCE, scopes separated by commas, a token of an hour that is exchanged for one of sixty days,
 * and that, where a network extends it, for another of sixty days.
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
