import { ApolloClient, ApolloLink, HttpLink, InMemoryCache } from '@apollo/client'
import { SetContextLink } from '@apollo/client/link/context'
import { GraphQLWsLink } from '@apollo/client/link/subscriptions'
import { createClient } from 'graphql-ws'
import { socketOf } from '../rest/session.ts'

/**
 * An Apollo Client that queries over HTTP and subscribes over graphql-ws, or over Apollo's multipart protocol, where it needs nothing
 * but the link that it queries over.
 * @param accessToken asked before each request, and each time the socket is dialled: tokens last ten minutes
 */
export function createApollo(url: string, accessToken: () => Promise<string>, over: 'graphql-ws' | 'multipart' = 'graphql-ws'): ApolloClient {
  const http = new SetContextLink(async ({ headers }) => ({ headers: { ...headers, authorization: `Bearer ${await accessToken()}` } })).concat(
    new HttpLink({ uri: `${url}/graphql` }),
  )
  if (over === 'multipart') return new ApolloClient({ link: http, cache: new InMemoryCache() })
  const socket = new GraphQLWsLink(
    createClient({
      url: socketOf(url),
      connectionParams: async () => ({ Authorization: `Bearer ${await accessToken()}` }),
      // While the platform restarts, dial until it is back.
      retryAttempts: Number.POSITIVE_INFINITY,
      shouldRetry: () => true,
    }),
  )
  return new ApolloClient({
    link: ApolloLink.split(({ operationType }) => operationType === 'subscription', socket, http),
    cache: new InMemoryCache(),
  })
}
