import assert from 'node:assert/strict'
import { Client, cacheExchange, fetchExchange, gql, subscriptionExchange } from '@urql/core'
import { createClient } from 'graphql-ws'
import { signIn, socketOf, waitBefore } from '../rest/session.ts'

/** urql: a query, what a caller may not see, and a subscription that begins with all widgets there are. */
export async function walkWithUrql(url: string): Promise<void> {
  const token = await signIn(url)
  const socket = createClient({
    url: socketOf(url),
    connectionParams: async () => ({ Authorization: `Bearer ${token}` }),
    retryAttempts: Number.POSITIVE_INFINITY,
    shouldRetry: () => true,
    retryWait: waitBefore,
  })
  const client = new Client({
    url: `${url}/graphql`,
    preferGetMethod: false,
    fetchOptions: () => ({ headers: { authorization: `Bearer ${token}` } }),
    exchanges: [
      cacheExchange,
      fetchExchange,
      subscriptionExchange({
        forwardSubscription: ({ query = '', variables }) => ({
          subscribe: sink => ({ unsubscribe: socket.subscribe({ query, variables }, sink) }),
        }),
      }),
    ],
  })
  const { data, error } = await client.query(gql`{ viewer { kind user { name } } widgets { app title } }`, {}).toPromise()
  assert.equal(error, undefined)
  assert.equal(data.viewer.kind, 'USER')
  assert.ok(data.widgets.length > 0)

  const widget = await new Promise<{ title: string }>((done, fail) => {
    const late = setTimeout(() => fail(new Error('no widget came')), 20_000)
    const stream = client.subscription(gql`subscription { widgetUpdated { title } }`, {}).subscribe(event => {
      if (event.error) fail(event.error)
      else done(event.data.widgetUpdated)
      clearTimeout(late)
      queueMicrotask(() => stream.unsubscribe())
    })
  })
  assert.ok(widget.title)
  await socket.dispose()
}
