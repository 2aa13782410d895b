import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { openRedisStore, type RedisStore } from '../../../router/engine/transport/cache/redis/store.ts'
import { withSharedStore } from '../../../router/engine/transport/cache/shared.ts'
import { createResponseCache, label, type ResponseCache } from '../../../router/engine/transport/cache/store.ts'
import { until } from '../../kit/launch.ts'
import { hasRedis, noRedis, type RedisServer, redisServer } from '../../kit/redis.ts'
import { tcpProxy } from '../../kit/tcp-proxy.ts'
import { type CachedGraph, cachedGraph, people } from './graph.ts'
import { checkNeverStale } from './never-stale.ts'

const lines: unknown[] = []
const log = { warn: (...words: unknown[]) => void lines.push(words), info: () => {} }

interface OpenCache extends ResponseCache, AsyncDisposable {
  readonly store: RedisStore
  /** Labels that another router has dropped. */
  readonly heard: ReadonlySet<string>
}

/** A cache behind which a store lies, as each router has one. */
async function openCache(url: string): Promise<OpenCache> {
  const memory = createResponseCache(1024 * 1024)
  const heard = new Set<string>()
  const dropped: typeof memory.follow = (labels, cause) => {
    memory.follow(labels, cause)
    for (const each of labels) heard.add(each)
  }
  const store = openRedisStore({ url, log, now: memory.now, drops: { dropped, missed: memory.clear } })
  const cache = withSharedStore(memory, store)
  await until('the store is in use', () => cache.isCurrent())
  return { ...cache, store, heard, [Symbol.asyncDispose]: () => store.close() }
}

const person = '{ person(id: "1") { name } }'

describe.skipIf(!hasRedis)(`a store that routers share${hasRedis ? '' : `: ${noRedis}`}`, () => {
  let server: RedisServer
  beforeAll(async () => {
    server = await redisServer()
  })
  afterAll(() => server[Symbol.asyncDispose]())
  beforeEach(async () => void (await server.send('FLUSHALL')))

  /** Two routers before the people. @param urls addresses of the store @default without a way between */
  async function twoRouters(urls: readonly [string, string] = [server.url, server.url]) {
    const [one, two] = [await openCache(urls[0]), await openCache(urls[1])]
    const { parts, names } = people()
    const options = { dropsOnMutation: true }
    const graphs = [await cachedGraph(parts, { ...options, cache: one }), await cachedGraph(parts, { ...options, cache: two })] as const
    return {
      one: graphs[0],
      two: graphs[1],
      caches: [one, two] as const,
      names,
      async [Symbol.asyncDispose]() {
        for (const graph of graphs) await graph[Symbol.asyncDispose]()
        for (const cache of [one, two]) await cache[Symbol.asyncDispose]()
      },
    }
  }

  /** Asks until the answer is in the store: answers do not wait for that. */
  const isKept = (graph: CachedGraph, query = person) => until('the store has it', async () => (await graph.run(query)).state === 'hit')

  /** Renews the answer until it is in the store. */
  const isStored = (graph: CachedGraph) =>
    until('the store has it', async () => {
      await graph.run(person, { headers: { 'cache-control': 'no-cache' } })
      return Number((await server.send('DBSIZE')).slice(1)) > 1
    })

  it('answers one router what another one has kept, with its labels and the age that is left', async () => {
    await using routers = await twoRouters()
    const { one, two, names } = routers
    // On a loaded machine the store may be too slow for a moment, and is then left alone.
    await until('the second has it of the first', async () => {
      names[1] = 'Ann'
      two.cache.drop([label.type('a', 'Person')], 'request')
      await two.cache.settled()
      await isStored(one)
      names[1] = 'Anna'
      const { state, data } = await two.run(person)
      return state === 'hit' && data.person.name === 'Ann'
    })
    const { maxAge, isPublic } = await two.run(person)
    expect([maxAge > 57 && maxAge <= 60, isPublic]).toEqual([true, true])
    two.cache.drop([label.type('a', 'Person')], 'request')
    await two.cache.settled()
    expect((await two.run(person)).data).toEqual({ person: { name: 'Anna' } })
  })

  it('keeps private answers apart, and no header of a client', async () => {
    await using routers = await twoRouters()
    const { one, two } = routers
    for (const graph of [one, two]) graph.servers.a!.context = headers => ({ who: headers['x-who'] ?? 'nobody' })
    const ask = async (graph: CachedGraph, who: string) => {
      const { state, data } = await graph.run('{ mine }', { headers: { 'x-who': who } })
      return [state, data.mine]
    }
    for (const who of ['ann-of-the-header', 'bob']) expect((await ask(one, who))[1]).toBe(who)
    await until('the other one finds them', async () => (await ask(two, 'ann-of-the-header'))[0] === 'hit' && (await ask(two, 'bob'))[0] === 'hit')
    for (const who of ['ann-of-the-header', 'bob', 'cleo']) expect((await ask(two, who))[1]).toBe(who)
    expect(await server.send('KEYS', '*')).not.toContain('ann')
  })

  it('drops in all routers what a mutation through one of them changes', async () => {
    await using routers = await twoRouters()
    const { one, two } = routers
    await one.run(person)
    await isKept(two)
    await one.run('mutation { rename(id: "1", name: "Anna") { id } }')
    expect((await one.run(person)).data).toEqual({ person: { name: 'Anna' } })
    await expect.poll(async () => (await two.run(person)).data.person.name, { timeout: 1000, interval: 5 }).toBe('Anna')
  })

  it('does not keep what was asked before another router dropped it', async () => {
    await using routers = await twoRouters()
    const { one, two, caches, names } = routers
    const asked = Promise.withResolvers<void>()
    const answer = Promise.withResolvers<void>()
    one.servers.a!.context = async () => {
      asked.resolve()
      await answer.promise
      return {}
    }
    const early = one.run('{ people { name } }')
    await asked.promise
    names[1] = 'Anna'
    two.cache.drop([label.subgraph('a')], 'request')
    await two.cache.settled()
    answer.resolve()
    await early
    await until('it has heard of it', () => caches[0].figures().drops.get('request') === 1)
    for (const graph of [one, two]) expect((await graph.run('{ people { name } }')).data.people[0]).toEqual({ name: 'Anna' })
  })

  it('is left alone while the server is dead, and begins anew with the next one', async () => {
    await using routers = await twoRouters()
    const { one, two, caches, names } = routers
    await one.run(person)
    await isKept(two)
    await server.kill()
    names[1] = 'Anna'
    await until('both have noticed', () => caches.every(cache => !cache.isCurrent()))
    for (const graph of [one, two]) {
      const { errors, state, data } = await graph.run(person)
      expect([errors, state, data]).toEqual([undefined, 'bypass', { person: { name: 'Anna' } }])
    }
    await one.run('mutation { rename(id: "1", name: "Annika") { id } }')
    await server.start()
    await until('both use it again', () => caches.every(cache => cache.isCurrent()))
    for (const graph of [one, two]) expect((await graph.run(person)).data.person.name).toBe('Annika')
    await isKept(one)
    expect(caches.every(cache => cache.figures().storeErrors > 0)).toBe(true)
  })

  it('costs an answer 100 ms at most where the server is slow, and no error', async () => {
    await using proxy = await tcpProxy(server.url)
    await using routers = await twoRouters([proxy.url, proxy.url])
    const { one, two, caches } = routers
    proxy.delay(400)
    const times: number[] = []
    for (let count = 0; count < 10; count++) {
      const began = performance.now()
      const { errors, data } = await (count % 2 === 0 ? one : two).run(`{ person(id: "${(count % 3) + 1}") { name } }`)
      times.push(performance.now() - began)
      expect([errors, data.person.name]).toEqual([undefined, ['Ann', 'Bob', 'Cleo'][count % 3]])
    }
    expect(Math.max(...times)).toBeLessThan(400)
    expect(caches[0].figures().storeErrors + caches[1].figures().storeErrors).toBeGreaterThan(0)
    const began = performance.now()
    await one.run('mutation { rename(id: "1", name: "Anna") { id } }')
    expect(performance.now() - began).toBeLessThan(400)
    expect((await one.run(person)).data.person.name).toBe('Anna')
    proxy.delay(0)
    await until('both use it again', () => caches.every(cache => cache.isCurrent()))
    for (const graph of [one, two]) expect((await graph.run(person)).data.person.name).toBe('Anna')
  })

  it('takes drops of a time without a connection when that is back', async () => {
    await using proxy = await tcpProxy(server.url)
    await using routers = await twoRouters([proxy.url, server.url])
    const { one, two, caches } = routers
    await two.run(person)
    await isKept(one)
    proxy.refuse(true)
    proxy.cut()
    await until('the first is cut off', () => !caches[0].isCurrent())
    await one.run('mutation { rename(id: "1", name: "Anna") { id } }')
    expect(await one.run(person)).toMatchObject({ state: 'bypass', data: { person: { name: 'Anna' } } })
    proxy.refuse(false)
    await until('it is back', () => caches[0].isCurrent())
    await until('the second has heard of it', async () => (await two.run(person)).data.person.name === 'Anna')
  })

  it('uses nothing over a connection that has fallen silent', async () => {
    await using proxy = await tcpProxy(server.url)
    await using routers = await twoRouters([proxy.url, server.url])
    const { one, two, caches } = routers
    await one.run(person)
    await isKept(two)
    proxy.silence()
    await two.run('mutation { rename(id: "1", name: "Anna") { id } }')
    await expect.poll(async () => (await one.run(person)).data.person.name, { timeout: 1000, interval: 20 }).toBe('Anna')
    await until('it has connected anew', () => caches[0].isCurrent())
    expect((await one.run(person)).data.person.name).toBe('Anna')
  })

  it('begins anew where the server has lost its state', async () => {
    await using routers = await twoRouters()
    const { one, caches } = routers
    await one.run(person)
    await isKept(one)
    await server.send('FLUSHALL')
    await until('both have noticed', () => caches.every(cache => (cache.figures().drops.get('missed') ?? 0) >= 2 && cache.isCurrent()))
    expect((await one.run(person)).state).not.toBe('hit')
    await isKept(one)
  })

  it('remembers 10,000 dropped labels, and drops everything where there are more', async () => {
    await using routers = await twoRouters()
    const { one, two } = routers
    await one.run(person)
    await isKept(two)
    for (let round = 0; round < 12; round++) {
      two.cache.drop(
        Array.from({ length: 900 }, (_, at) => label.tag('b', `tag "${round}"\n${at}`)),
        'request',
      )
      await two.cache.settled()
    }
    const fresh = await openCache(server.url)
    await using graph = await cachedGraph(people().parts, { cache: fresh })
    expect((await graph.run(person)).state).not.toBe('hit')
    await isKept(graph)
    await fresh[Symbol.asyncDispose]()
  })

  it('answers nothing older than the last announced change, and nothing of another viewer', { timeout: 240_000 }, async () => {
    const caches = [await openCache(server.url), await openCache(server.url)] as const
    let rounds = 0
    /** Each hears what the other one dropped in the end, or has dropped everything meanwhile. */
    const hears = async (one: OpenCache, other: OpenCache) => {
      const mark = label.tag('a', `round ${++rounds}`)
      const missed = () => other.figures().drops.get('missed')
      const before = missed()
      one.drop([mark], 'request')
      await until('the other one has heard of all drops', () => other.heard.has(mark) || missed() !== before)
    }
    const states = await checkNeverStale({
      caches,
      runs: 40,
      async inStep() {
        await Promise.all([hears(caches[0], caches[1]), hears(caches[1], caches[0])])
        await until('both are in use', () => caches.every(cache => cache.isCurrent()))
      },
    })
    console.log(states, lines.splice(0))
    for (const state of ['hit', 'partial', 'miss', 'bypass']) expect(states[state]).toBeGreaterThan(20)
    for (const cache of caches) await cache[Symbol.asyncDispose]()
  })
})
