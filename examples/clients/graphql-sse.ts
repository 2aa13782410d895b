import assert from 'node:assert/strict'
import { createClient } from 'graphql-sse'
import { signIn } from '../rest/session.ts'

/** graphql-sse in its distinct connections mode: queries and subscriptions as server-sent events, where WebSockets do not pass. */
export async function walkWithGraphqlSse(url: string): Promise<void> {
  const token = await signIn(url)
  const client = createClient({ url: `${url}/graphql`, headers: { authorization: `Bearer ${token}` } })
  const ask = async <Data>(query: string): Promise<Data> => {
    const results = client.iterate<Data>({ query })
    const { value } = await results.next()
    assert.equal((await results.next()).done, true)
    assert.equal(value?.errors, undefined)
    return value.data
  }
  const { viewer, widgets } = await ask<{ viewer: { kind: string }; widgets: { app: string }[] }>('{ viewer { kind } widgets { app } }')
  assert.equal(viewer.kind, 'USER')

  const seen = new Set<string>()
  for await (const { data, errors } of client.iterate<{ widgetUpdated: { app: string } }>({ query: 'subscription { widgetUpdated { app } }' })) {
    assert.equal(errors, undefined)
    if (data) seen.add(data.widgetUpdated.app)
    // Each widget comes once at the beginning; leaving the loop ends the stream.
    if (seen.size === widgets.length) break
  }
  client.dispose()
}
