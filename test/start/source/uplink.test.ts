import { UplinkSupergraphManager } from '@apollo/gateway'
import { buildSchema, graphql } from 'graphql'
import { describe, expect, test } from 'vitest'
import { newFolder, open, serve } from './stage.ts'

const schema = buildSchema(`
  type Query { routerConfig(ref: String!, apiKey: String!, ifAfterId: ID): RouterConfigResponse! }
  union RouterConfigResponse = RouterConfigResult | Unchanged | FetchError
  type RouterConfigResult { id: ID! supergraphSDL: String! minDelaySeconds: Float! }
  type Unchanged { id: ID! minDelaySeconds: Float! }
  type FetchError { code: FetchErrorCode! message: String! }
  enum FetchErrorCode { AUTHENTICATION_FAILED ACCESS_DENIED UNKNOWN_REF RETRY_LATER NOT_IMPLEMENTED_ON_THIS_INSTANCE }
`)

interface Question {
  readonly ref: string
  readonly apiKey: string
  readonly ifAfterId: string | null
}

/** GraphOS Uplink for one graph, as far as its clients see it. */
async function uplink(sdl: string) {
  const state = { sdl, id: '2026-11-28T10:00:00Z', seconds: 0, status: 200, body: null as string | null, asked: [] as Question[] }
  const answer = ({ ref, apiKey, ifAfterId }: Question) => {
    const wrong = (code: string, message: string) => ({ __typename: 'FetchError', code, message })
    if (apiKey !== 'service:shop:key') return wrong('AUTHENTICATION_FAILED', `The key ${apiKey} is not known.\nAsk its owner.`)
    if (ref !== 'shop@prod') return wrong('UNKNOWN_REF', 'There is no such graph.')
    const { id, seconds: minDelaySeconds } = state
    if (ifAfterId !== null && ifAfterId === id) return { __typename: 'Unchanged', id, minDelaySeconds }
    return { __typename: 'RouterConfigResult', id, supergraphSDL: state.sdl, minDelaySeconds }
  }
  const server = await serve(async (request, response) => {
    const { query, variables } = JSON.parse((await Array.fromAsync(request as AsyncIterable<Buffer>)).join(''))
    state.asked.push(variables)
    response.writeHead(state.status, { 'content-type': 'application/json' })
    if (state.body !== null) return void response.end(state.body)
    const rootValue = { routerConfig: (args: Question) => answer({ ...args, ifAfterId: args.ifAfterId ?? null }) }
    response.end(JSON.stringify(await graphql({ schema, source: query, variableValues: variables, rootValue })))
  })
  return { ...server, state }
}

const shop = { apolloKey: 'service:shop:key', apolloGraph: 'shop@prod' }
const [one, two] = ['type Query { one: Int }', 'type Query { two: Int }']

describe('GraphOS Uplink', () => {
  test('the twin answers as Apollo’s own client expects', async () => {
    const at = await uplink(one)
    const asked = (apiKey: string) =>
      new UplinkSupergraphManager({
        ...{ apiKey, graphRef: 'shop@prod', uplinkEndpoints: [at.origin], initialMaxRetries: 0, maxRetries: 0 },
        logger: { debug() {}, info() {}, warn() {}, error() {} },
      }).initialize({ update() {}, healthCheck: async () => {}, getDataSource: () => expect.unreachable() })
    const { supergraphSdl, cleanup } = await asked('service:shop:key')
    expect(supergraphSdl).toBe(one)
    await cleanup?.()
    await expect(asked('another')).rejects.toThrow(/AUTHENTICATION_FAILED|is not known/)
  })

  test('is read, asked for by id at most every 10 s or as it asks, and kept', async () => {
    const [at, folder] = [await uplink(one), newFolder()]
    at.state.seconds = 3600
    const { source, follow, changes, polls } = open('uplink', { ...shop, folder, endpoints: [at.origin], pollMs: 20 })
    expect(await source.read()).toBe(one)
    source.keep(one)
    const following = follow()
    expect(at.state.asked).toEqual([{ ref: 'shop@prod', apiKey: 'service:shop:key', ifAfterId: null }])
    following.look()
    await expect.poll(async () => (await polls()).unchanged).toBe(1)
    expect(at.state.asked[1]!.ifAfterId).toBe('2026-11-28T10:00:00Z')
    Object.assign(at.state, { sdl: two, id: '2026-11-28T11:00:00Z' })
    following.look()
    await expect.poll(() => changes).toEqual([two])
    expect(source.kept()).toMatchObject({ sdl: two, tag: '2026-11-28T11:00:00Z' })
    expect(at.state.asked).toHaveLength(3)
    const again = open('uplink', { ...shop, folder, endpoints: [at.origin] })
    expect(await again.source.read()).toBe(two)
    expect(at.state.asked.at(-1)!.ifAfterId).toBe('2026-11-28T11:00:00Z')
  })

  test('its second address is asked where the first fails', async () => {
    const [first, second] = [await uplink(one), await uplink(two)]
    first.state.status = 503
    const { source, lines } = open('uplink', { ...shop, endpoints: [first.origin, second.origin] })
    expect(await source.read()).toBe(two)
    expect(lines).toEqual([])
  })

  test.for([
    ['refuses the key', { apolloKey: 'a-wrong-key' }, {}, /refuses shop@prod: AUTHENTICATION_FAILED, The key the key is not known\.\)/],
    [
      'does not know the graph',
      { apolloGraph: 'shop@staging' },
      {},
      /^Uplink's shop@staging cannot be read \(\S+ refuses shop@staging: UNKNOWN_REF, There is no such graph\.\)/,
    ],
    ['is away', {}, { status: 500 }, /answered 500/],
    ['answers a page', {}, { body: '<html>' }, /answered something else than a supergraph/],
    ['answers errors', {}, { body: '{"errors":[{"message":"no"}]}' }, /answered something else than a supergraph/],
    ['says unchanged to who has none', {}, { body: '{"data":{"routerConfig":{"__typename":"Unchanged","id":"1","minDelaySeconds":1}}}' }, /something else/],
  ] as const)('that %s is one line without the key', async ([, settings, state, sentence]) => {
    const at = await uplink(one)
    Object.assign(at.state, state)
    const failed = await open('uplink', { ...shop, ...settings, endpoints: [at.origin] })
      .source.read()
      .catch(error => error)
    expect(failed.message).toMatch(sentence)
    expect(failed.message).not.toMatch(/a-wrong-key|service:shop|\n/)
  })

  test('without a key or a graph there is no such source', () => {
    expect(() => open('uplink')).toThrow('APOLLO_KEY and APOLLO_GRAPH_REF: missing: the source uplink needs them')
    expect(() => open('uplink', { apolloKey: 'k' })).toThrow('APOLLO_GRAPH_REF: missing: the source uplink needs it')
  })
})
