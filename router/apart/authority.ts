import type { JSONWebKeySet } from 'jose'
import { Refusal } from '../../platform/errors.ts'
import type { Authority, CookieSession, ValidKey, ValidSession } from '../../subgraphs/authority.ts'
import { forAsk, sealHeader } from '../../subgraphs/seal.ts'
import { anonymous, type Viewer } from '../../subgraphs/viewer.ts'
import { type Origin, UpstreamFailure } from '../engine/transport/exchange.ts'
import type { Seal } from '../engine/transport/seal.ts'

/** Where identity's process answers the router's questions about credentials. */
export const authorityPath = '/internal/authority'

/** The router itself, when it asks on nobody's behalf. */
const router: Viewer = { ...anonymous, kind: 'service', appId: 'app_router' }

interface Answers {
  readonly jwks: JSONWebKeySet
  readonly sessions: readonly (readonly [string, ValidSession])[]
  readonly cookie: { readonly session: CookieSession | 'stale' | null; readonly clear: readonly string[] }
  readonly keys: readonly (readonly [string, ValidKey])[]
  readonly keysById: readonly (readonly [string, ValidKey])[]
  readonly touchKeys: null
  readonly ready: null
}

interface Question {
  readonly ask: keyof Answers
  readonly ids?: readonly string[]
  readonly cookie?: string
}

/** Answers those questions in identity's process: to the router only, never to anybody whom it sealed. */
export function answerAuthority(authority: Authority): (viewer: Viewer, asked: unknown) => Promise<unknown> {
  return async (viewer, asked) => {
    if (viewer.kind !== 'service' || viewer.appId !== router.appId) throw new Refusal('FORBIDDEN', 'Only the router itself asks about credentials.')
    const { ask, ids = [], cookie = '' } = asked as Question
    switch (ask) {
      case 'jwks':
        return authority.jwks()
      case 'sessions':
        return [...(await authority.sessions(ids))]
      case 'cookie':
        return { session: await authority.cookie(new Headers({ cookie })), clear: authority.clearCookie() }
      case 'keys':
        return [...(await authority.keys(ids))]
      case 'keysById':
        return [...(await authority.keysById(ids))]
      case 'touchKeys':
        return authority.touchKeys(ids) ?? null
      case 'ready':
        return authority.ready().then(() => null)
      default:
        throw new Refusal('BAD_USER_INPUT', 'There is no such question about credentials.')
    }
  }
}

export interface RemoteAuthorityOptions extends Pick<Authority, 'issuer' | 'audience' | 'hashKey'> {
  /** Where identity's process is. */
  readonly origin: Origin
  readonly seal: Seal
}

/** Milliseconds for one question: a request waits for it. */
const patienceMs = 3000

/** The authority as the router asks it where identity runs apart. Every method throws when identity cannot be reached. */
export function createRemoteAuthority({ origin, seal, issuer, audience, hashKey }: RemoteAuthorityOptions): Authority {
  let clearing: readonly string[] = []

  const ask = async <Asked extends keyof Answers>(question: Question & { readonly ask: Asked }): Promise<Answers[Asked]> => {
    const body = JSON.stringify(question)
    const headers = ['content-type', 'application/json', sealHeader, await seal(router, 'identity', forAsk('POST', authorityPath, body))]
    const asked = { path: authorityPath, headers, body }
    let exchange = origin.ask(asked)
    let ended = false
    const late = setTimeout(() => {
      ended = true
      exchange.cancel(new UpstreamFailure('late', `No answer within ${patienceMs} ms`))
    }, patienceMs)
    try {
      const { status, text } = await exchange.answer.catch(failure => {
        // A kept connection may end while a question is on its way; no question changes anything that a second would change again.
        if (ended || !(failure instanceof UpstreamFailure) || (failure.stage !== 'cut' && failure.stage !== 'unsent')) throw failure
        exchange = origin.ask(asked)
        return exchange.answer
      })
      if (status !== 200) throw new UpstreamFailure('answered', `identity answered ${status} to a question about credentials`)
      return JSON.parse(text, (name, value) => (name === 'expiresAt' && typeof value === 'string' ? new Date(value) : value)) as Answers[Asked]
    } finally {
      clearTimeout(late)
    }
  }

  return {
    issuer,
    audience,
    hashKey,
    jwks: () => ask({ ask: 'jwks' }),
    sessions: async ids => new Map(await ask({ ask: 'sessions', ids })),
    async cookie(headers) {
      const cookie = headers.get('cookie')
      if (!cookie) return null
      const answer = await ask({ ask: 'cookie', cookie })
      clearing = answer.clear
      return answer.session
    },
    clearCookie: () => clearing,
    keys: async ids => new Map(await ask({ ask: 'keys', ids })),
    keysById: async ids => new Map(await ask({ ask: 'keysById', ids })),
    touchKeys(ids) {
      // A use that is not noted does no harm, and the next one is.
      ask({ ask: 'touchKeys', ids }).catch(() => {})
    },
    ready: () => ask({ ask: 'ready' }).then(() => {}),
  }
}
