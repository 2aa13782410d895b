import type { JSONWebKeySet } from 'jose'
import { DomainError } from '../../platform/errors.ts'
import type { Authority, CookieSession, ForeignPerson, KeyLoan, KeyUse, Newcomer, Standing, ValidKey, ValidSession } from '../../subgraphs/authority.ts'
import type { Viewer } from '../../subgraphs/viewer.ts'
import type { Origin } from '../engine/transport/exchange.ts'
import type { Seal } from '../engine/transport/seal.ts'
import { createQuestions, requireRouter } from './question.ts'

/** Path at which identity's process answers the router's requests about credentials. */
export const authorityPath = '/internal/authority'

interface Answers {
  readonly jwks: JSONWebKeySet
  readonly sessions: readonly (readonly [string, ValidSession])[]
  readonly cookie: { readonly session: CookieSession | 'stale' | null; readonly clear: readonly string[] }
  readonly keys: readonly (readonly [string, ValidKey])[]
  readonly touchKeys: null
  readonly lendKeys: readonly KeyLoan[]
  readonly countPublicPosts: { readonly granted: number; readonly waitMs: number }
  readonly standings: readonly (readonly [string, Standing])[]
  readonly foreigners: readonly (readonly [string, ForeignPerson])[]
  readonly admit: null
  readonly touchSessions: null
  readonly ready: null
}

interface Question {
  readonly ask: keyof Answers
  readonly ids?: readonly string[]
  readonly cookie?: string
  readonly uses?: readonly KeyUse[]
  readonly many?: number
  readonly newcomer?: Newcomer
}

/** Answers those requests in identity's process: to the router only, never to a viewer that it sealed. */
export function answerAuthority(authority: Authority): (viewer: Viewer, asked: unknown) => Promise<unknown> {
  return async (viewer, asked) => {
    requireRouter(viewer)
    const { ask, ids = [], cookie = '', uses = [], many = 1, newcomer } = asked as Question
    switch (ask) {
      case 'jwks':
        return authority.jwks()
      case 'sessions':
        return [...(await authority.sessions(ids))]
      case 'cookie':
        return { session: await authority.cookie(new Headers({ cookie })), clear: authority.clearCookie() }
      case 'keys':
        return [...(await authority.keys(ids))]
      case 'touchKeys':
        return authority.touchKeys(ids) ?? null
      case 'lendKeys':
        return authority.lendKeys(uses)
      case 'countPublicPosts':
        return authority.countPublicPosts(ids[0] ?? '', many)
      case 'standings':
        return [...(await authority.standings(ids))]
      case 'touchSessions':
        return authority.touchSessions(ids) ?? null
      case 'foreigners':
        return [...(await authority.foreigners(ids))]
      case 'admit':
        return authority.admit(newcomer!).then(() => null)
      case 'ready':
        return authority.ready().then(() => null)
      default:
        throw new DomainError('BAD_USER_INPUT', 'There is no such question about credentials.')
    }
  }
}

export interface RemoteAuthorityOptions extends Pick<Authority, 'issuer' | 'audience' | 'hashKey'> {
  /** Connections to identity's process. */
  readonly origin: Origin
  readonly seal: Seal
}

/**
 * Creates the authority for a router with identity in another process. Every method throws when identity cannot be
 * reached.
 */
export function createRemoteAuthority({ origin, seal, issuer, audience, hashKey }: RemoteAuthorityOptions): Authority {
  let clearing: readonly string[] = []

  const put = createQuestions({ origin, seal, slug: 'identity', path: authorityPath })
  const ask = <Asked extends keyof Answers>(question: Question & { readonly ask: Asked }) => put(question) as Promise<Answers[Asked]>

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
    lendKeys: uses => ask({ ask: 'lendKeys', uses }),
    countPublicPosts: (neighbourhood, many) => ask({ ask: 'countPublicPosts', ids: [neighbourhood], many }),
    touchKeys(ids) {
      // A missed update of the last use does no harm; the next use is stored.
      ask({ ask: 'touchKeys', ids }).catch(() => {})
    },
    standings: async ids => new Map(await ask({ ask: 'standings', ids })),
    touchSessions(ids) {
      ask({ ask: 'touchSessions', ids }).catch(() => {})
    },
    foreigners: async ids => new Map(await ask({ ask: 'foreigners', ids })),
    admit: newcomer => ask({ ask: 'admit', newcomer }).then(() => {}),
    ready: () => ask({ ask: 'ready' }).then(() => {}),
  }
}
