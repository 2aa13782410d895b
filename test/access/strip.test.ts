import { parse, print } from 'graphql'
import { expect, test } from 'vitest'
import { withoutAccess } from '../../router/access/strip.ts'

const flat = (text: string) => print(parse(text))
const stripped = (text: string) => print(withoutAccess(parse(text)))

test('a supergraph loses its access directives, their definitions, links and types, and nothing else', () => {
  const text = (access: (part: string) => string) => `
    schema
      @link(url: "https://specs.apollo.dev/link/v1.0")
      @link(url: "https://specs.apollo.dev/join/v0.5", for: EXECUTION)
      ${access('@link(url: "https://specs.apollo.dev/authenticated/v0.1", for: SECURITY)')}
      ${access('@link(url: "https://specs.apollo.dev/requiresScopes/v0.1", as: "scoped", for: SECURITY)')}
    { query: Query }
    directive @link(url: String, as: String, for: link__Purpose) repeatable on SCHEMA
    directive @tag(name: Name) on OBJECT | FIELD_DEFINITION
    ${access('directive @authenticated on FIELD_DEFINITION | OBJECT')}
    ${access('directive @scoped(scopes: [[scoped__Scope!]!]!) on FIELD_DEFINITION')}
    enum link__Purpose { SECURITY EXECUTION }
    scalar Name
    ${access('scalar scoped__Scope')}
    scalar Date
    type Query @tag(name: "root") ${access('@authenticated')} {
      a: Int @tag(name: "a") ${access('@scoped(scopes: [["x:y"]])')}
      when(on: Date): Date ${access('@authenticated')}
    }
    type scoped { authenticated: Int }`
  expect(stripped(text(part => part))).toBe(flat(text(() => '')))
})

test('a supergraph without rules stays as it is', () => {
  const text = 'schema @link(url: "https://specs.apollo.dev/link/v1.0") { query: Query } directive @authenticated on OBJECT type Query @tag { a: Int }'
  expect(stripped(text)).toBe(flat(text))
})
