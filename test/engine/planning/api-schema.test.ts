import { printSchema } from 'graphql'
import { expect, test } from 'vitest'
import { testGraph } from '../supergraph-fixture.ts'

const graph = testGraph({
  one: {
    sdl: `
      extend schema @link(url: "https://specs.platform.invalid/shared/v1.0", import: ["@shared", "SharedBy"]) @composeDirective(name: "@shared")
      directive @shared(by: SharedBy!) on FIELD_DEFINITION
      enum SharedBy { ORGANIZATION EVERYONE }
      "Where reading starts."
      type Query {
        seen(hiddenArgument: Int @inaccessible, shown: Filter): Seen @requiresScopes(scopes: [["one:read"]])
        hidden: Hidden @inaccessible
        strict: Int @authenticated
        odd: My__Type
        either: Either
      }
      type Subscription { tick: Int @shared(by: EVERYONE) }
      input Filter { a: Int = 3, b: Int @inaccessible, kind: Kind = OPEN }
      enum Kind { OPEN SHUT @inaccessible GONE @deprecated(reason: "Since 2026.") }
      interface Secret @inaccessible { id: ID }
      type Seen implements Secret @key(fields: "id") { id: ID url: Address old: Int @deprecated(reason: "Use url.") }
      type Hidden @inaccessible { x: Int }
      union Either = Seen | Hidden
      scalar Address @specifiedBy(url: "https://url.spec.whatwg.org/")
      type My__Type { x: Int }`,
    resolvers: { Query: { seen: () => ({ id: 1 }) }, Seen: { url: () => 'u' } },
  },
  two: { sdl: 'type Seen @key(fields: "id") { id: ID more: Int }' },
})

test('the clients’ schema has no federation machinery, no inaccessible elements, and no directives but GraphQL’s own, @defer and @stream', () => {
  expect(printSchema(graph.schema)).toBe(`"""
Sends the fragment after the rest of the answer, to clients that take incremental answers.
"""
directive @defer(if: Boolean! = true, label: String) on FRAGMENT_SPREAD | INLINE_FRAGMENT

"""
Sends all but the first elements of a list after the rest of the answer, to clients that take incremental answers.
"""
directive @stream(if: Boolean! = true, label: String, initialCount: Int = 0) on FIELD

scalar Address @specifiedBy(url: "https://url.spec.whatwg.org/")

union Either = Seen

input Filter {
  a: Int = 3
  kind: Kind = OPEN
}

enum Kind {
  OPEN
  GONE @deprecated(reason: "Since 2026.")
}

type My__Type {
  x: Int
}

"""Where reading starts."""
type Query {
  seen(shown: Filter): Seen
  strict: Int
  odd: My__Type
  either: Either
}

type Seen {
  id: ID
  url: Address
  old: Int @deprecated(reason: "Use url.")
  more: Int
}

type Subscription {
  tick: Int
}`)
  expect(graph.schema.getDirectives().map(directive => directive.name)).toEqual(['defer', 'stream', 'include', 'skip', 'deprecated', 'specifiedBy', 'oneOf'])
})

test('plans and runs a supergraph with scopes like any other', async () => {
  expect((await graph.run('{ seen { id url } }')).text).toBe('{"seen":{"id":"1","url":"u"}}')
})
