import assert from 'node:assert/strict'
import { createClient } from 'graphql-sse'
import { signIn, signOut, waitBefore } from '../rest/session.ts'

/** graphql-sse in its distinct connections mode: queries and subscriptions as server-sent events, where WebSockets do not pass. */
export async function walkWithGraphqlSse(url: string): Promise<void> {
  let token = await signIn(url)
  const client = createClient({
    url: `${url}/graphql`,
    // Asked anew for each stream: tokens last ten minutes, and a stream ends with its token.
    headers: () => ({ authorization: `Bearer ${token}` }),
    retryAttempts: Number.POSITIVE_INFINITY,
    retry: waitBefore,
  })
  const ask = async <Data>(query: string): Promise<Data> => {
    const results = client.iterate<Data>({ query })
    const { value } = await results.next()
    assert.equal((await results.next()).done, true)
    assert.equal(value?.errors, undefined)
    return value.data
  }
  const { viewer, widgets } = await ask<{ viewer: { kind: string }; widgets: { app: string }[] }>('{ viewer { kind } widgets { app } }')
  assert.equal(viewer.kind, 'USER')

  const told: string[] = []
  for await (const { data, errors } of client.iterate<{ widgetUpdated: { app: string } }>({ query: 'subscription { widgetUpdated { app } }' })) {
    // The platform says why it ends a stream; graphql-sse opens the next one by itself, which tells every widget once more.
    if (errors) assert.equal(errors[0]?.extensions?.code, 'TOKEN_EXPIRED')
    if (data) told.push(data.widgetUpdated.app)
    if (told.length === 1) {
      const former = token
      token = await signIn(url)
      await signOut(url, former)
    }
    // Leaving the loop ends the subscription.
    if (told.filter(app => app === told[0]).length === 2) break
  }
  assert.ok(new Set(told).size <= widgets.length)
  client.dispose()
}
