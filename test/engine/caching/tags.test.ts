import { describe, expect, it } from 'vitest'
import { label } from '../../../router/engine/transport/cache/store.ts'
import { cachedGraph, people } from './graph.ts'

/** Writes tags into a supergraph as composition does for `@cacheTag`. */
const tagged = (sdl: string) =>
  sdl
    .replace(
      /(person\(id: ID!, form: Form = LONG\): Person[^\n]*)/,
      '$1 @join__directive(graphs: [A], name: "federation__cacheTag", args: {format: "person-{$args.id}"})',
    )
    .replace(
      /(type Person\n)/,
      '$1  @join__directive(graphs: [B], name: "federation__cacheTag", args: {format: "note-{$key.id}"})\n  @join__directive(graphs: [A], name: "federation__cacheTag", args: {format: "own-{$key.id}"})\n',
    )
    .replace(
      /^(directive @join__enumValue)/m,
      'directive @join__directive(graphs: [join__Graph!], name: String!, args: join__DirectiveArguments) repeatable on SCHEMA | OBJECT | INTERFACE | FIELD_DEFINITION\nscalar join__DirectiveArguments\n$1',
    )

describe('cache tags', () => {
  it('drop root fields by their arguments and entities by their keys, in the subgraphs that declare them', async () => {
    await using graph = await cachedGraph(people().parts, { rewrite: tagged })
    const ask = async (id: string) => (await graph.run('query ($id: ID!) { person(id: $id) { name note } }', { variables: { id } })).state
    await ask('1')
    await ask('2')
    const { cache } = graph
    expect(cache.drop([label.tag('b', 'person-1'), label.tag('b', 'own-1')], 'request')).toBe(0)
    expect(cache.drop([label.tag('a', 'person-1')], 'request')).toBe(1)
    expect([await ask('1'), await ask('1'), await ask('2')]).toEqual(['partial', 'hit', 'hit'])
    expect(cache.drop([label.tag('b', 'note-2'), label.tag('b', 'note-3')], 'request')).toBe(1)
    expect([await ask('1'), await ask('2')]).toEqual(['hit', 'partial'])
  })

  it('are taken from the answers of subgraphs, and are not passed on', async () => {
    await using graph = await cachedGraph(people().parts)
    graph.servers.a!.extensions = { apolloCacheTags: ['everybody', 7] }
    graph.servers.b!.extensions = { apolloEntityCacheTags: [['one'], ['two', 'both'], ['both']] }
    const first = await graph.run('{ people { note } }')
    expect(first.extensions).toBeUndefined()
    expect(first.text).not.toContain('everybody')
    expect(graph.cache.drop([label.tag('b', 'both')], 'request')).toBe(2)
    expect(graph.cache.drop([label.tag('a', 'everybody')], 'request')).toBe(1)
    await graph.run('{ people { note } }')
    expect(graph.servers.b!.asked.at(-1)!.variables!.representations).toHaveLength(2)
  })

  it('stand beside types and subgraphs, by which answers are dropped as well', async () => {
    await using graph = await cachedGraph(people().parts)
    await graph.run('{ count people { note } }')
    const { cache } = graph
    expect(cache.drop([label.type('a', 'Person')], 'request')).toBe(1)
    expect(cache.drop([label.type('a', 'Person')], 'request')).toBe(0)
    expect(cache.drop([label.subgraph('a')], 'request')).toBe(1)
    expect(cache.drop([label.subgraph('b')], 'request')).toBe(3)
    expect(cache.figures().entries).toBe(0)
  })
})
