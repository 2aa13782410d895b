import { GraphQLError } from 'graphql'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { claimOf } from '../../router/access/callers/claim.ts'
import { createBytesInFlight } from '../../router/engine/data/in-flight.ts'
import type { Engine } from '../../router/engine/engine.ts'
import { anonymous } from '../../subgraphs/viewer.ts'
import { dial as dialBare } from '../kit/bare-socket.ts'
import { smallGraph } from './graph.ts'
import { openRouter, schemaEngine } from './platform.ts'

const kibibyte = 1024
type Router = Awaited<ReturnType<typeof openRouter>>

describe('WebSocket of a caller with too many unread answers', () => {
  /** One answer of 350 KB has room, two have not. */
  const limits = { ofCaller: 500 * kibibyte, ofOrganization: 1000 * kibibyte, all: 2000 * kibibyte }
  let inFlight: ReturnType<typeof createBytesInFlight>
  let router: Router
  beforeEach(async () => {
    inFlight = createBytesInFlight(limits)
    router = await openRouter(schemaEngine(smallGraph()), { inFlight })
    router.signIn('one')
    router.signIn('two')
  })
  afterEach(() => router.close())

  const dial = async (name: string) => {
    const wire = await dialBare(router.url, { headers: { host: `localhost:${router.port}` } })
    await wire.init({ authorization: `Bearer ${await router.token(name)}` })
    return wire
  }
  /** Holds bytes for a person, as answers that wait to be read do. */
  const fill = (name: string, bytes: number) => {
    const claim = claimOf({ ...anonymous, kind: 'user', userId: `user of ${name}`, sessionId: name }, '')
    inFlight.hold(claim, bytes)
    return () => inFlight.release(claim, bytes)
  }
  /** Some 350 KB of answer to a question of 6 KB. */
  const [aliases, characters] = [90, 4000]
  const subscribe = (wire: Awaited<ReturnType<typeof dial>>) =>
    wire.subscribe('a', `query($name: String) { ${Array.from({ length: aliases }, (_, at) => `a${at}: hello(name: $name)`).join(' ')} }`, {
      variables: { name: 'x'.repeat(characters) },
    })
  const isWhole = async (wire: Awaited<ReturnType<typeof dial>>) => Object.keys((await wire.got('next', 'a')).payload.data).length === aliases

  it('is closed with 1013 when its next answer exceeds the limit, and others of the process are answered', async () => {
    const [full, other] = [await dial('one'), await dial('two')]
    const free = fill('one', 400 * kibibyte)
    subscribe(full)
    expect(await full.closed).toEqual({ code: 1013, reason: expect.stringContaining('Too many answers wait') })
    subscribe(other)
    expect(await isWhole(other)).toBe(true)
    free()
    const again = await dial('one')
    subscribe(again)
    expect(await isWhole(again)).toBe(true)
    for (const { socket } of [other, again]) socket.terminate()
    await expect.poll(() => inFlight.total).toBe(0)
  })

  it('stays open for small answers when the limit is reached', async () => {
    const wire = await dial('one')
    fill('one', 500 * kibibyte)
    wire.subscribe('a', '{ hello }')
    expect((await wire.got('next', 'a')).payload).toEqual({ data: { hello: 'Hello world' } })
    wire.socket.terminate()
  })
})

describe('operation that exceeds its caller’s limits together with others, answered by Apollo Server', () => {
  let router: Router
  const refusing = (engine: Engine): Engine => ({
    ...engine,
    async execute({ operationName, ...request }) {
      if (operationName === 'Alone') return { errors: [new GraphQLError('Slower.', { extensions: { code: 'RATE_LIMITED', retryAfter: 7 } })], data: null }
      if (operationName === 'Partly')
        return { errors: [new GraphQLError('Slower.', { extensions: { code: 'RATE_LIMITED', retryAfter: 7 } })], data: { hello: null } }
      return engine.execute({ operationName, ...request })
    },
  })
  beforeAll(async () => {
    router = await openRouter(refusing(schemaEngine(smallGraph())), { direct: false })
  })
  afterAll(() => router.close())

  const accepts = ['application/json', 'application/graphql-response+json'] as const
  it.each(accepts)('is 429 with Retry-After when the whole of it is rejected (%s)', async accept => {
    const byPost = await router.gql('query Alone { hello }', { accept })
    const byGet = await router.ask(`/graphql?query=${encodeURIComponent('query Alone { hello }')}`, { headers: { accept } })
    for (const { status, headers, json } of [byPost, byGet])
      expect([status, headers['retry-after'], json.data, json.errors[0].extensions.code]).toEqual([429, '7', null, 'RATE_LIMITED'])
  })

  it('is 200 without Retry-After when a part of it is answered', async () => {
    const { status, headers, json } = await router.gql('query Partly { hello }')
    expect([status, headers['retry-after'], json.data, json.errors[0].extensions.code]).toEqual([200, undefined, { hello: null }, 'RATE_LIMITED'])
  })
})
