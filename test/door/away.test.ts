import { readFileSync } from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'
import { type Client, createClient } from 'graphql-ws'
import { expect, onTestFinished, test } from 'vitest'
import { createMemoryEvents } from '../../platform/events.ts'
import { smallGraph } from './graph.ts'
import { openRouter, schemaEngine } from './platform.ts'

const guide = readFileSync(new URL('../../docs/clients.md', import.meta.url), 'utf8')
/** How the guide tells client authors to make their client, as it stands there. */
const advised = stripTypeScriptTypes(/```ts\n((?:(?!```)[\s\S])*?^const client = createClient[\s\S]*?)```/m.exec(guide)![1]!)
const lasting = /^ {2}(?:retryAttempts|shouldRetry): .*\n/gm

/** Makes the client that a snippet describes, and notes what becomes of it. */
function follow(name: string, snippet: string, url: string, accessToken: () => Promise<string>) {
  const client = new Function('createClient', 'url', 'accessToken', `${snippet}; return client`)(createClient, url, accessToken) as Client
  // An ended work throws its original reason again.
  onTestFinished(() => Promise.resolve(client.dispose()).catch(() => {}))
  const heard: unknown[] = []
  const closed: number[] = []
  const ended: unknown[] = []
  client.on('closed', event => closed.push((event as CloseEvent).code))
  client.subscribe<{ tick: string }>(
    { query: `subscription ${name} { tick }` },
    { next: ({ data }) => heard.push(data?.tick), error: cause => ended.push(cause), complete: () => ended.push('complete') },
  )
  return { heard, closed, ended }
}

/** Until a client dials again it waits for some seconds, longer each time. */
const patience = { timeout: 30_000 }

test('a client configured as the guide says survives a router outage longer than one reconnect; without those lines it does not', async () => {
  const events = createMemoryEvents()
  const engine = schemaEngine(smallGraph(events))
  const door = await openRouter(engine)
  door.signIn('one')
  const url = `ws://localhost:${door.port}/graphql`
  const tokens: string[] = []
  const accessToken = async () => {
    tokens.push(await door.token('one'))
    return tokens.at(-1)!
  }
  const client = follow('Lasting', advised, url, accessToken)
  const plain = follow('Plain', advised.replace(lasting, ''), url, () => door.token('one'))
  await expect.poll(() => events.listenerCount()).toBe(2)
  events.announce('tick', { n: 'before' })
  await expect.poll(() => [client.heard, plain.heard]).toEqual([['before'], ['before']])

  await door.close()
  await expect.poll(() => client.closed.length, patience).toBeGreaterThan(1)
  await expect.poll(() => plain.ended.length, patience).toBe(1)
  expect(client.closed.slice(0, 2)).toEqual([1001, 1006])

  const { authority, clock, port, origin } = door
  const back = await openRouter(engine, { authority, clock, port, publicUrl: origin })
  onTestFinished(() => back.close())
  await expect.poll(() => events.listenerCount(), patience).toBe(1)
  events.announce('tick', { n: 'after' })
  await expect.poll(() => client.heard).toEqual(['before', 'after'])
  // The function is asked with every connection, so a token that ended meanwhile does no harm.
  expect([tokens.length, client.ended, plain.heard]).toEqual([2, [], ['before']])
}, 90_000)

test('a client with invalid credentials receives one error and does not reconnect', async () => {
  await using door = await openRouter(schemaEngine(smallGraph()))
  const client = follow('Stranger', advised, `ws://localhost:${door.port}/graphql`, async () => 'nonsense')
  await expect.poll(() => client.ended, patience).toMatchObject([{ code: 4401 }])
  expect(client.closed).toEqual([4401])
})
