import { z } from 'zod'
import type { Config } from '../../../../config.ts'
import { StartError } from '../../../../start-error.ts'
import { readText } from './read-text.ts'
import type { RemoteSource } from './remote-source.ts'

/** The least ms between two requests, as GraphOS asks of its clients. */
const leastMs = 10_000

const query = `query Supergraph($apiKey: String!, $ref: String!, $ifAfterId: ID) {
  routerConfig(ref: $ref, apiKey: $apiKey, ifAfterId: $ifAfterId) {
    __typename
    ... on RouterConfigResult { id supergraphSDL minDelaySeconds }
    ... on Unchanged { id minDelaySeconds }
    ... on FetchError { code message }
  }
}`

const seconds = z.number().min(0).max(86_400).nullish()

const answered = z.object({
  data: z.object({
    routerConfig: z.discriminatedUnion('__typename', [
      z.object({ __typename: z.literal('RouterConfigResult'), id: z.string(), supergraphSDL: z.string(), minDelaySeconds: seconds }),
      z.object({ __typename: z.literal('Unchanged'), minDelaySeconds: seconds }),
      z.object({ __typename: z.literal('FetchError'), code: z.string(), message: z.string() }),
    ]),
  }),
})

/**
 * Apollo GraphOS, by its Uplink protocol (https://www.apollographql.com/docs/graphos/routing/uplink): a version is known
 * by its id.
 * @throws StartError without a key or a graph
 */
export function uplinkAt({ apolloKey, apolloGraph, endpoints }: Config['supergraphs']): RemoteSource {
  const missing = [!apolloKey && 'APOLLO_KEY', !apolloGraph && 'APOLLO_GRAPH_REF'].filter(Boolean)
  if (!apolloKey || !apolloGraph) throw new StartError(`${missing.join(' and ')}: missing: the source uplink needs ${missing.length > 1 ? 'them' : 'it'}`)
  return {
    name: `Uplink's ${apolloGraph}`,
    identity: `uplink ${apolloGraph}`,
    addresses: endpoints.length,
    leastMs,
    origins: endpoints.map(url => new URL(url).origin),
    async ask(stream, address, tag) {
      const url = endpoints[address]!
      const { origin } = new URL(url)
      const answer = await readText(stream, url, {
        method: 'POST',
        headers: { 'content-type': 'application/json', accept: 'application/json' },
        body: JSON.stringify({ query, variables: { apiKey: apolloKey, ref: apolloGraph, ifAfterId: tag } }),
      })
      if (answer.status !== 200) throw new Error(`${origin} answered ${answer.status}`)
      const { data: read } = answered.safeParse(parsed(answer.text))
      if (!read || (read.data.routerConfig.__typename === 'Unchanged' && tag === null)) throw new Error(`${origin} answered something else than a supergraph`)
      const { routerConfig: said } = read.data
      if (said.__typename === 'FetchError') throw new Error(`${origin} refuses ${apolloGraph}: ${said.code}, ${lineOf(said.message, apolloKey)}`)
      const pauseMs = (said.minDelaySeconds ?? 0) * 1000
      return said.__typename === 'Unchanged' ? { sdl: null, pauseMs } : { sdl: said.supergraphSDL, tag: said.id, pauseMs }
    },
  }
}

/** The first line of what the other side says, which may repeat the key. */
const lineOf = (message: string, key: string): string => message.split('\n', 1)[0]!.slice(0, 300).replaceAll(key, 'the key')

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}
