import { describe, expect, it } from 'vitest'
import { label } from '../../../router/engine/transport/cache/store.ts'
import { cachedGraph, people } from './graph.ts'

describe('response cache', () => {
  it('answers a repeated root field without its subgraph, with an age that falls', async () => {
    await using graph = await cachedGraph(people().parts)
    const first = await graph.run('{ person(id: "1") { id name } }')
    expect([first.state, first.maxAge, first.isPublic]).toEqual(['miss', 60, true])
    graph.asked('a')
    graph.pass(20.5)
    const second = await graph.run('{ person(id: "1") { id name } }')
    expect([second.state, second.maxAge, graph.asked('a')]).toEqual(['hit', 39, 0])
    expect(second.data).toEqual(first.data)
    expect(second.parts).toEqual([{ subgraph: 'a', type: 'Query', field: 'person', state: 'hit', maxAge: 39, scope: 'PUBLIC' }])
    graph.pass(40)
    expect((await graph.run('{ person(id: "1") { id name } }')).state).toBe('miss')
  })

  it('gives each caller objects of its own', async () => {
    await using graph = await cachedGraph(people().parts)
    await graph.run('{ people { name } }')
    const [one, other] = await Promise.all([graph.run('{ people { name note } }'), graph.run('{ people { name } }')])
    expect(one.data.people[0]).toEqual({ name: 'Ann', note: 'first' })
    expect(other.data.people[0]).toEqual({ name: 'Ann' })
  })

  it('shares answers of equal arguments, however they are written', async () => {
    await using graph = await cachedGraph(people().parts)
    await graph.run('{ person(id: "1") { name } }')
    graph.asked('a')
    const same = [
      await graph.run('query ($id: ID!) { other: person(id: $id) { name } }', { variables: { id: '1' } }),
      await graph.run('query ($form: Form = LONG) { person(form: $form, id: "1") { name } }'),
      await graph.run('query ($form: Form) { person(form: $form, id: "1") { name } }'),
    ]
    expect(same.map(({ state }) => state)).toEqual(['hit', 'hit', 'hit'])
    expect(same[0]!.data).toEqual({ other: { name: 'Ann' } })
    const differing = [
      await graph.run('{ person(id: "1", form: SHORT) { name } }'),
      await graph.run('query ($form: Form) { person(form: $form, id: "1") { name } }', { variables: { form: null } }),
      await graph.run('{ person(id: "2") { name } }'),
      await graph.run('{ person(id: "1") { name id } }'),
    ]
    expect(differing.map(({ state }) => state)).toEqual(['miss', 'miss', 'miss', 'miss'])
  })

  it('tells values of variables within a selection apart, an absent one from null', async () => {
    await using graph = await cachedGraph(people().parts)
    const ask = async (variables: Record<string, unknown>) => {
      const { state, data } = await graph.run('query ($of: String, $loud: Boolean! = false) { person(id: "1") { greeting(of: $of, loud: $loud) } }', {
        variables,
      })
      return [state, data.person.greeting]
    }
    expect(await ask({})).toEqual(['miss', 'none Ann'])
    expect(await ask({ of: null })).toEqual(['miss', 'null Ann'])
    expect(await ask({ of: 'Dear' })).toEqual(['miss', 'Dear Ann'])
    expect(await ask({ of: 'Dear', loud: true })).toEqual(['miss', 'Dear Ann!'])
    expect(await ask({ of: 'Dear' })).toEqual(['hit', 'Dear Ann'])
    expect(await ask({})).toEqual(['hit', 'none Ann'])
  })

  it('asks for the root fields alone that it does not have', async () => {
    await using graph = await cachedGraph(people().parts)
    await graph.run('query ($id: ID!) { person(id: $id) { name } }', { variables: { id: '1' } })
    const { state, data, maxAge } = await graph.run('query ($id: ID!, $size: Int!) { person(id: $id) { name } count long(size: $size) }', {
      variables: { id: '1', size: 3 },
    })
    expect([state, data, maxAge]).toEqual(['partial', { person: { name: 'Ann' }, count: 3, long: 'xxx' }, 20])
    const { query, variables } = graph.servers.a!.asked.at(-1)!
    expect(query).not.toContain('person')
    expect(Object.values(variables!)).toEqual([3])
  })

  it('asks for the entities alone that it does not have, each at its place', async () => {
    const { parts, notes } = people()
    await using graph = await cachedGraph(parts)
    await graph.run('{ person(id: "2") { note } }')
    notes[2] = 'another'
    const { data, state } = await graph.run('{ people { id note } }')
    expect(graph.servers.b!.asked.at(-1)!.variables).toEqual({
      representations: [
        { __typename: 'Person', id: '1' },
        { __typename: 'Person', id: '3' },
      ],
    })
    expect([data.people.map((each: { note: string }) => each.note), state]).toEqual([['first', 'second', 'third'], 'partial'])
    graph.asked('b')
    expect((await graph.run('{ people { id note } }')).state).toBe('hit')
    expect(graph.asked('b')).toBe(0)
  })

  it('reports the error of an entity at its place among those that it had, and keeps nothing of such an answer', async () => {
    await using graph = await cachedGraph(people().parts)
    await graph.run('{ person(id: "1") { fails } }')
    for (const _ of [1, 2]) {
      const { data, errors, maxAge, state } = await graph.run('{ people { id fails } }')
      expect(data.people).toEqual([
        { id: '1', fails: 'works for 1' },
        { id: '2', fails: null },
        { id: '3', fails: 'works for 3' },
      ])
      expect(errors!.map(({ path }) => path)).toEqual([['people', 1, 'fails']])
      expect([maxAge, state]).toEqual([0, 'partial'])
    }
    expect(graph.servers.b!.asked.at(-1)!.variables!.representations).toHaveLength(2)
  })

  it('keeps nothing of an answer with errors, whichever root field they are about', async () => {
    await using graph = await cachedGraph(people().parts)
    graph.servers.a!.fault = (_request, response) => void response.end('{"data":{"_p0":3,"count":3,"now":null},"errors":[{"message":"no","path":["now"]}]}')
    await graph.run('{ count now }')
    graph.servers.a!.fault = null
    expect([(await graph.run('{ count }')).state, (await graph.run('{ count }')).state]).toEqual(['miss', 'hit'])
  })

  it('keeps the null of a root field, but none of an entity that was not found', async () => {
    const { parts, names, notes } = people()
    await using graph = await cachedGraph(parts)
    expect((await graph.run('{ person(id: "9") { name } }')).data).toEqual({ person: null })
    expect((await graph.run('{ person(id: "9") { name } }')).state).toBe('hit')
    delete notes[3]
    await graph.run('{ person(id: "3") { note } }')
    notes[3] = 'found'
    expect((await graph.run('{ person(id: "3") { note } }')).data).toEqual({ person: { note: 'found' } })
    expect(names[3]).toBe('Cleo')
  })

  it('keeps an answer for one viewer where it is private, and for nobody where none is known', async () => {
    await using graph = await cachedGraph({ a: { ...people().parts.a, open: () => ({ who: 'somebody' }) }, b: people().parts.b })
    const ask = async (who?: string) => (await graph.run('{ mine }', { headers: who ? { 'x-who': who } : {} })).state
    expect([await ask('ann'), await ask('ann'), await ask('bob'), await ask('ann'), await ask(), await ask()]).toEqual([
      'miss',
      'hit',
      'miss',
      'hit',
      'miss',
      'miss',
    ])
    const { isPublic, parts } = await graph.run('{ mine }', { headers: { 'x-who': 'ann' } })
    expect([isPublic, parts[0]!.scope]).toEqual([false, 'PRIVATE'])
  })

  it('shares a public answer among viewers, unless the subgraph says that a passed header counts', async () => {
    await using graph = await cachedGraph(people().parts)
    const ask = async (headers: Record<string, string>) => (await graph.run('{ count }', { headers })).state
    expect([await ask({ 'x-who': 'ann' }), await ask({ 'x-who': 'bob' })]).toEqual(['miss', 'hit'])
    graph.pass(30)
    graph.servers.a!.headers = { 'cache-control': 'max-age=30', vary: 'Accept-Encoding, X-Language' }
    expect([await ask({ 'x-language': 'de' }), await ask({ 'x-language': 'en' }), await ask({ 'x-language': 'de', 'x-who': 'bob' }), await ask({})]).toEqual([
      'miss',
      'miss',
      'hit',
      'miss',
    ])
    graph.pass(30)
    graph.servers.a!.headers = { 'cache-control': 'max-age=30', vary: '*' }
    expect([await ask({}), await ask({})]).toEqual(['miss', 'miss'])
  })

  it('reads nothing from the cache and renews it for no-cache, and does neither for no-store', async () => {
    const { parts, names } = people()
    await using graph = await cachedGraph(parts)
    const ask = async (control?: string) => {
      const { state, data } = await graph.run('{ person(id: "1") { name } }', { headers: control ? { 'cache-control': control } : {} })
      return [state, data.person.name]
    }
    await ask()
    names[1] = 'Anna'
    expect(await ask('no-store')).toEqual(['bypass', 'Anna'])
    expect(await ask()).toEqual(['hit', 'Ann'])
    expect(await ask('max-age=0, No-Cache')).toEqual(['bypass', 'Anna'])
    expect(await ask()).toEqual(['hit', 'Anna'])
  })

  it('drops everything of a subgraph when it has answered a mutation, and keeps what no mutation asked', async () => {
    const { parts } = people()
    await using graph = await cachedGraph(parts, { dropsOnMutation: true })
    await graph.run('{ person(id: "1") { name note } }')
    await graph.run('mutation { rename(id: "1", name: "Anna") { id } }')
    graph.asked('b')
    const { data, state } = await graph.run('{ person(id: "1") { name note } }')
    expect([data.person.name, state, graph.asked('b')]).toEqual(['Anna', 'partial', 0])
  })

  it('does not keep what it began to fetch before a drop', async () => {
    const { parts } = people()
    await using graph = await cachedGraph(parts)
    const asked = Promise.withResolvers<void>()
    const answer = Promise.withResolvers<void>()
    graph.servers.a!.fault = async (_request, response) => {
      asked.resolve()
      await answer.promise
      response.end('{"data":{"count":3}}')
    }
    const running = graph.run('{ count }')
    await asked.promise
    graph.cache.drop([label.subgraph('a')], 'request')
    answer.resolve()
    expect((await running).data).toEqual({ count: 3 })
    graph.servers.a!.fault = null
    expect((await graph.run('{ count }')).state).toBe('miss')
    expect((await graph.run('{ count }')).state).toBe('hit')
  })

  it('keeps nothing above a mebibyte', async () => {
    await using graph = await cachedGraph(people().parts, { bytes: 8 * 1024 * 1024 })
    await graph.run('{ long(size: 1048577) }')
    expect(graph.cache.figures().entries).toBe(0)
    await graph.run('{ long(size: 1048000) }')
    expect(graph.cache.figures().entries).toBe(1)
  })

  it('keeps no more bytes than it may, and the latest used of them', async () => {
    await using graph = await cachedGraph(people().parts, { bytes: 100_000 })
    for (let size = 10_000; size < 10_020; size++) await graph.run(`{ long(size: ${size}) }`)
    expect(graph.cache.figures().bytes).toBeLessThanOrEqual(100_000)
    expect((await graph.run('{ long(size: 10019) }')).state).toBe('hit')
    expect((await graph.run('{ long(size: 10000) }')).state).toBe('miss')
  })

  it('keeps answers apart by active labels of overrides', async () => {
    await using graph = await cachedGraph(people().parts)
    const ask = async (active: readonly string[]) => (await graph.run('{ count }', { active })).state
    expect([await ask([]), await ask(['new']), await ask(['new']), await ask([])]).toEqual(['miss', 'miss', 'hit', 'hit'])
  })

  it('counts hits, misses and bypasses by type', async () => {
    await using graph = await cachedGraph(people().parts)
    await graph.run('{ people { note } }')
    await graph.run('{ people { note } count }')
    await graph.run('{ count }', { headers: { 'cache-control': 'no-cache' } })
    expect(Object.fromEntries(graph.cache.figures().types)).toEqual({
      Query: { hits: 1, misses: 2, bypasses: 1 },
      Person: { hits: 3, misses: 3, bypasses: 0 },
    })
  })

  it('is not asked by mutations and says nothing about them', async () => {
    await using graph = await cachedGraph(people().parts)
    const { state, maxAge } = await graph.run('mutation { rename(id: "1", name: "Anna") { id note } }')
    expect([state, maxAge, graph.cache.figures().entries]).toEqual([undefined, 0, 0])
  })
})
