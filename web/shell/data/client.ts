import { cacheExchange } from '@urql/exchange-graphcache'
import { Client, fetchExchange, subscriptionExchange } from 'urql'
import { leaveForSignIn, type Session, SignedOut } from '../session/session.ts'
import type { Live } from './live.ts'

/** Types that have no id of their own: they belong to what they were read with. */
const embedded = (): null => null

/** Of a type that there is once for whoever has signed in: what a change answers is what pages show of it. */
const own = (): string => 'own'

/** A client of the graph at this page's own origin: what was read is kept by type and id, and what comes live replaces it there. */
export function createClient(session: Session, live: Live): Client {
  return new Client({
    url: '/graphql',
    preferGetMethod: false,
    requestPolicy: 'cache-and-network',
    fetch: createFetch(session),
    // Streams come by the socket alone; asked for nothing else, an answer is one JSON.
    fetchOptions: { headers: { accept: 'application/graphql-response+json, application/json' } },
    exchanges: [
      cacheExchange({
        keys: {
          ...{ PageInfo: embedded, Viewer: embedded, WidgetPayload: embedded, PublishingDashboard: embedded, Integration: embedded },
          NotificationPreferences: own,
        },
      }),
      fetchExchange,
      subscriptionExchange({
        forwardSubscription: (request, operation) => live.forward({ query: request.query ?? '', variables: request.variables ?? {} }, operation.key),
      }),
    ],
  })
}

/** Sends a request as whoever is signed in; one that is refused for its token is sent once more with a new one. */
function createFetch(session: Session): typeof fetch {
  return async (input, init) => {
    try {
      const first = await send(input, init, await session.token())
      return first.status === 401 ? await send(input, init, await session.renew()) : first
    } catch (error) {
      if (error instanceof SignedOut) leaveForSignIn()
      throw error
    }
  }
}

const send = (input: RequestInfo | URL, init: RequestInit | undefined, token: string | null): Promise<Response> =>
  fetch(input, { ...init, headers: { ...(init?.headers as Record<string, string>), ...(token !== null && { authorization: `Bearer ${token}` }) } })
