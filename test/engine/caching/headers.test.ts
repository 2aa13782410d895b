import { describe, expect, it } from 'vitest'
import { createAccessFilter } from '../../../router/access/filter.ts'
import { readAccessTable } from '../../../router/access/rules.ts'
import { readCacheHeaders } from '../../../router/engine/transport/cache/headers.ts'
import { anonymous, type Viewer } from '../../../subgraphs/viewer.ts'
import { cacheControl, cachedGraph, people } from './graph.ts'

describe("headers of a subgraph's answer", () => {
  it.each([
    ['max-age=60', 60, false],
    ['max-age=60, s-maxage=30', 30, false],
    ['private, max-age="20"', 20, true],
    ['Public, MAX-AGE=20', 20, false],
    ['max-age=60, no-store', 0, false],
    ['no-cache', 0, false],
    ['private="x", must-revalidate', undefined, true],
    ['max-age=1.5', undefined, false],
    ['max-age=-1', undefined, false],
    ['', undefined, false],
  ])('%s', (control, maxAge, isPrivate) => {
    expect(readCacheHeaders(['cache-control', control])).toEqual({ maxAge, isPrivate, vary: [] })
  })

  it('count from when the answer was made, and in several lines', () => {
    expect(readCacheHeaders(['cache-control', 'max-age=60', 'age', '25', 'cache-control', 'private', 'vary', 'A, b'])).toEqual({
      maxAge: 35,
      isPrivate: true,
      vary: ['a', 'b'],
    })
    expect(readCacheHeaders(['vary', 'a'])).toBeNull()
  })

  it('are taken where they are stricter than the schema, and decide alone where it says nothing', async () => {
    await using graph = await cachedGraph(people().parts)
    const ask = async (query: string, control: string) => {
      graph.servers.a!.headers = { 'cache-control': control }
      const { maxAge, isPublic } = await graph.run(query, { headers: { 'cache-control': 'no-cache', 'x-who': 'ann' } })
      return [maxAge, isPublic]
    }
    expect(await ask('{ count }', 'max-age=10')).toEqual([10, true])
    expect(await ask('{ count }', 'max-age=100')).toEqual([20, true])
    expect(await ask('{ count }', 'private')).toEqual([20, false])
    expect(await ask('{ count }', 'no-store')).toEqual([0, true])
    expect(await ask('{ silent }', 'max-age=40, private')).toEqual([40, false])
    expect(await ask('{ silent }', 'max-age=1000')).toEqual([300, true])
    expect(await ask('{ silent }', 'public')).toEqual([0, true])
    expect(await ask('{ silent count }', 'max-age=15')).toEqual([15, true])
    graph.servers.a!.headers = {}
    expect((await graph.run('{ silent }', { headers: { 'cache-control': 'no-cache' } })).maxAge).toBe(0)
  })

  it('let answers be kept about which the schema says nothing, for each viewer where they are private', async () => {
    await using graph = await cachedGraph(people().parts)
    graph.servers.a!.headers = { 'cache-control': 'max-age=40, private' }
    const ask = async (who: string) => (await graph.run('{ silent }', { headers: { 'x-who': who } })).state
    expect([await ask('ann'), await ask('ann'), await ask('bob'), await ask('ann')]).toEqual(['miss', 'hit', 'miss', 'hit'])
  })

  it('make an answer private that depends on a header of the client, and unkept one that depends on more', async () => {
    for (const isOn of [true, false]) {
      await using graph = await cachedGraph(people().parts, { isOn })
      const ask = async (vary: string) => {
        graph.servers.a!.headers = { 'cache-control': 'max-age=40', vary }
        const { maxAge, isPublic } = await graph.run('{ count }')
        return [maxAge, isPublic]
      }
      expect(await ask('*')).toEqual([0, true])
      expect(await ask('accept-encoding, X-WHO')).toEqual([20, false])
      expect(await ask('accept-encoding')).toEqual([20, !isOn])
    }
  })

  it('tell the age of an answer where no response cache is in use', async () => {
    await using graph = await cachedGraph(people().parts, { isOn: false })
    graph.servers.a!.headers = { 'cache-control': 'max-age=10' }
    const { state, maxAge, isPublic } = await graph.run('{ count silent }')
    expect([state, maxAge, isPublic]).toEqual([null, 10, true])
    expect((await graph.run('{ count person(id: "1") { fails } }', {})).maxAge).toBe(10)
    expect((await graph.run('{ person(id: "2") { fails } }', {})).maxAge).toBe(0)
  })
})

describe('answers behind access rules', () => {
  const secret = { scopes: ['secret:read'] }
  const viewer = (organizationId: string, more: object = {}) => ({ ...anonymous, kind: 'user', userId: 'u', organizationId, ...more }) as unknown as Viewer
  const guarded = {
    a: {
      sdl: `${cacheControl} type Query { figure: Int @cacheControl(maxAge: 60) @requiresScopes(scopes: [["secret:read"], ["all:read"]]) open: Int @cacheControl(maxAge: 60)
        thing: Thing @cacheControl(maxAge: 60) own: Int @cacheControl(maxAge: 60, scope: PRIVATE) }
        type Thing @authenticated { a: Int }`,
      resolvers: { Query: { figure: () => 1, open: () => 2, thing: () => ({ a: 3 }), own: () => 4 } },
    },
  }
  const access = (sdl: string) => createAccessFilter(readAccessTable(sdl))

  it('are never public, and kept for each organization and each verdict on the rules that are named', async () => {
    await using graph = await cachedGraph(guarded, { byViewer: true, access })
    const ask = async (who: Viewer) => (await graph.run('{ figure }', { viewer: who })).state
    expect(await ask(viewer('o1', secret))).toBe('miss')
    expect(await ask(viewer('o1', { ...secret, userId: 'another' }))).toBe('hit')
    expect(await ask(viewer('o2', secret))).toBe('miss')
    expect(await ask(viewer('o1', { scopes: ['secret:read', 'all:read'] }))).toBe('miss')
    expect(await ask(viewer('o1', { scopes: ['secret:read', 'unnamed'] }))).toBe('hit')
    const { maxAge, isPublic } = await graph.run('{ figure }', { viewer: viewer('o1', secret) })
    expect([maxAge, isPublic]).toEqual([60, false])
    expect((await graph.run('{ thing { a } }', { viewer: viewer('o1') })).isPublic).toBe(false)
    expect((await graph.run('{ open }', { viewer: viewer('o1') })).isPublic).toBe(true)
  })

  it('are not kept with an age where a field was refused', async () => {
    await using graph = await cachedGraph(guarded, { byViewer: true, access })
    const { data, errors, maxAge } = await graph.run('{ figure open }')
    expect([data, errors!.length, maxAge]).toEqual([{ figure: null, open: 2 }, 1, 0])
  })

  it('are kept for each viewer where they are private', async () => {
    await using graph = await cachedGraph(guarded, { byViewer: true, access })
    const ask = async (who: Viewer) => (await graph.run('{ own }', { viewer: who })).state
    expect([await ask(viewer('o1')), await ask(viewer('o1')), await ask(viewer('o1', { userId: 'another' }))]).toEqual(['miss', 'hit', 'miss'])
    expect([await ask(anonymous), await ask(anonymous)]).toEqual(['miss', 'miss'])
  })
})
