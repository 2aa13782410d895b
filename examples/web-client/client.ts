import { ApolloClient, ApolloLink, HttpLink, InMemoryCache } from '@apollo/client'
import { SetContextLink } from '@apollo/client/link/context'
import { PersistedQueryLink } from '@apollo/client/link/persisted-queries'
import { RetryLink } from '@apollo/client/link/retry'
import { GraphQLWsLink } from '@apollo/client/link/subscriptions'
import { createClient } from 'graphql-ws'
import { socketOf, waitBefore } from '../rest/session.ts'

/**
 * An Apollo Client that queries over HTTP and subscribes over graphql-ws, or over Apollo's multipart protocol, where it needs nothing
 * but the link that it queries over and one that subscribes again: a stream ends with its token, and with the process that serves it. Over HTTP it sends the hashes of documents, and a text once (automatic persisted queries).
 * @param accessToken asked before each request, and each time the socket is dialled: tokens last ten minutes
 */
export function createApollo(url: string, accessToken: () => Promise<string>, over: 'graphql-ws' | 'multipart' = 'graphql-ws'): ApolloClient {
  const credentials = new SetContextLink(async ({ headers }) => ({ headers: { ...headers, authorization: `Bearer ${await accessToken()}` } }))
  const http = ApolloLink.from([new PersistedQueryLink({ sha256 }), credentials, new HttpLink({ uri: `${url}/graphql` })])
  if (over === 'multipart') {
    // Only subscriptions: a mutation that was not answered may have been done.
    const again = new RetryLink({ attempts: (_count, { operationType }) => operationType === 'subscription', delay: { initial: 1000, max: 10_000 } })
    return new ApolloClient({ link: again.concat(http), cache: new InMemoryCache() })
  }
  const socket = new GraphQLWsLink(
    createClient({
      url: socketOf(url),
      connectionParams: async () => ({ Authorization: `Bearer ${await accessToken()}` }),
      // While the platform restarts, dial until it is back; of itself graphql-ws waits twice as long each time, without an end.
      retryAttempts: Number.POSITIVE_INFINITY,
      shouldRetry: () => true,
      retryWait: waitBefore,
    }),
  )
  return new ApolloClient({
    link: ApolloLink.split(({ operationType }) => operationType === 'subscription', socket, http),
    cache: new InMemoryCache(),
  })
}

async function sha256(text: string): Promise<string> {
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text))
  return [...new Uint8Array(digest)].map(byte => byte.toString(16).padStart(2, '0')).join('')
}
