import { ApolloServer } from '@apollo/server'
import { describe, expect, it } from 'vitest'
import { cacheControl, cachedGraph } from './graph.ts'

const sdl = `
  type Query {
    none: String
    leaf: String @cacheControl(maxAge: 50)
    own: Plain @cacheControl(maxAge: 40)
    typed: Hinted
    both: Hinted @cacheControl(maxAge: 10)
    longer: Hinted @cacheControl(maxAge: 100)
    secret: Private @cacheControl(maxAge: 40)
    opened: Private @cacheControl(maxAge: 40, scope: PUBLIC)
    hidden: String @cacheControl(maxAge: 40, scope: PRIVATE)
    inheriting: Inheriting @cacheControl(maxAge: 40)
    aloneInheriting: Inheriting
    list: [Hinted!]!
    node: Node @cacheControl(maxAge: 40)
    thing: Thing
    zero: String @cacheControl(maxAge: 0)
  }
  type Plain { a: String short: String @cacheControl(maxAge: 5) longer: String @cacheControl(maxAge: 500) below: Plain
    keeps: Plain @cacheControl(inheritMaxAge: true) keepsSecret: Plain @cacheControl(inheritMaxAge: true, scope: PRIVATE)
    keepsHinted: Hinted @cacheControl(inheritMaxAge: true) scoped: String @cacheControl(scope: PRIVATE) }
  type Hinted implements Node @cacheControl(maxAge: 30) { a: String below: Plain again: Hinted }
  type Private @cacheControl(maxAge: 20, scope: PRIVATE) { a: String }
  type Inheriting @cacheControl(inheritMaxAge: true) { a: String below: Inheriting }
  interface Node { a: String }
  union Thing @cacheControl(maxAge: 25) = Hinted | Plain
`
const plain: object = {
  a: 'a',
  short: 's',
  longer: 'l',
  scoped: 'x',
  below: () => plain,
  keeps: () => plain,
  keepsSecret: () => plain,
  keepsHinted: () => hinted,
}
const hinted: object = { __typename: 'Hinted', a: 'a', below: () => plain, again: () => hinted }
const inheriting: object = { a: 'a', below: () => inheriting }
const Query = {
  ...Object.fromEntries(['none', 'leaf', 'hidden', 'zero'].map(name => [name, () => name])),
  ...{ own: () => plain, list: () => [hinted], node: () => hinted, thing: () => hinted },
  ...Object.fromEntries(['typed', 'both', 'longer'].map(name => [name, () => hinted])),
  ...Object.fromEntries(['secret', 'opened'].map(name => [name, () => ({ a: 'a' })])),
  ...Object.fromEntries(['inheriting', 'aloneInheriting'].map(name => [name, () => inheriting])),
}
const resolvers = { Query, Node: { __resolveType: () => 'Hinted' }, Thing: { __resolveType: () => 'Hinted' } }

const operations = [
  '{ none }',
  '{ leaf }',
  '{ leaf none }',
  '{ leaf zero }',
  '{ own { a } }',
  '{ own { a short } }',
  '{ own { longer } }',
  '{ own { below { a } } }',
  '{ own { keeps { a keeps { a } } } }',
  '{ own { keeps { below { a } } } }',
  '{ own { keepsSecret { a } } }',
  '{ own { keepsHinted { a } } }',
  '{ own { scoped } }',
  '{ typed { a } }',
  '{ both { a } }',
  '{ longer { a } }',
  '{ longer { again { a } } }',
  '{ typed { below { a } } }',
  '{ secret { a } }',
  '{ opened { a } }',
  '{ hidden leaf }',
  '{ inheriting { a below { a } } }',
  '{ aloneInheriting { a } }',
  '{ list { a } }',
  '{ list { a again { a } } leaf }',
  '{ node { a } }',
  '{ thing { ... on Hinted { a } } }',
  '{ ...F } fragment F on Query { leaf other: both { ...G } } fragment G on Hinted { a }',
  '{ leaf @skip(if: true) hidden @include(if: false) both { a } }',
  '{ leaf __typename }',
  '{ __typename }',
  '{ leaf __schema { queryType { name } } }',
]

describe('hints of @cacheControl', () => {
  it.each([0, 15])('give an answer the age and scope that Apollo Server gives it, with a default of %i s', async defaultMaxAge => {
    const directive = cacheControl.slice(cacheControl.indexOf('enum'))
    const { ApolloServerPluginCacheControl } = await import('@apollo/server/plugin/cacheControl')
    const apollo = new ApolloServer({ typeDefs: directive + sdl, resolvers, plugins: [ApolloServerPluginCacheControl({ defaultMaxAge })] })
    await apollo.start()
    await using graph = await cachedGraph({ a: { sdl: cacheControl + sdl, resolvers } }, { defaultMaxAge, maxAge: 1000, isOn: false })
    for (const query of operations) {
      const { http } = await apollo.executeOperation({ query })
      const { maxAge, isPublic, errors } = await graph.run(query)
      expect(errors, query).toBeUndefined()
      // Introspection is answered by the router, whose graph may be replaced.
      const expected = query.includes('__schema') ? 'no-store' : http.headers.get('cache-control')
      expect([query, maxAge > 0 ? `max-age=${maxAge}, ${isPublic ? 'public' : 'private'}` : 'no-store']).toEqual([query, expected])
    }
    await apollo.stop()
  })

  it('of an interface are the strictest of its implementations', async () => {
    const answers = `type Query { nodes: [Node] @cacheControl(maxAge: 60) }
      interface Node { leaf: String inner: Inner owner: Inner }
      type One implements Node { leaf: String @cacheControl(maxAge: 20, scope: PRIVATE) inner: Inner @cacheControl(maxAge: 30) owner: Inner @cacheControl(maxAge: 30) }
      type Two implements Node { leaf: String inner: Inner @cacheControl(maxAge: 10) owner: Inner }
      type Inner { a: String }`
    const [inner, resolveType] = [{ a: 'a' }, { __resolveType: ({ of }: { of: string }) => of }]
    const nodes = ['One', 'Two'].map(of => ({ of, leaf: of, inner, owner: inner }))
    await using graph = await cachedGraph(
      { a: { sdl: cacheControl + answers, resolvers: { Query: { nodes: () => nodes }, Node: resolveType } } },
      { isOn: false },
    )
    const agesOf = async (query: string) => {
      const { maxAge, isPublic } = await graph.run(query)
      return [maxAge, isPublic ?? true]
    }
    expect(await agesOf('{ nodes { leaf } }')).toEqual([20, false])
    expect(await agesOf('{ nodes { inner { a } } }')).toEqual([10, true])
    expect(await agesOf('{ nodes { owner { a } } }')).toEqual([0, true])
  })
})
