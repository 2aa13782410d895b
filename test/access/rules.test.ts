import { describe, expect, test } from 'vitest'
import { policies } from '../../router/access/policies.ts'
import { meets, type Requirement, readAccessTable } from '../../router/access/rules.ts'
import { anonymous, compose, keyed, signedIn } from './supergraph.ts'

const asked = (list: readonly Requirement[] | undefined) =>
  list?.map(each => (each.kind === 'authenticated' ? 'authenticated' : `${each.kind} ${JSON.stringify(each.any)}`))

describe('the access table of a supergraph', () => {
  test('joins the rule of a field with the rule of the type that it leads to', () => {
    const table = readAccessTable(
      compose({ one: 'type Query { thing: Thing @authenticated } type Thing @requiresScopes(scopes: [["publishing:posts.read"]]) { id: ID }' }),
    )
    expect(asked(table.fields.get('Query')!.get('thing')!.all)).toEqual(['authenticated', 'scopes [["publishing:posts.read"]]'])
    expect(asked(table.fields.get('Thing')!.get('id')!.all)).toEqual([])
  })

  test('derives interfaces and their fields from every implementer', () => {
    const table = readAccessTable(
      compose({
        one: `type Query { it: It } interface It { name: String }
          type A implements It @authenticated { name: String @policy(policies: [["person"]]) } type B implements It @policy(policies: [["service"]]) { name: String }`,
      }),
    )
    expect(asked(table.types.get('It'))!.sort()).toEqual(['authenticated', 'policies [["service"]]'])
    expect(asked(table.fields.get('It')!.get('name')!.all)).toEqual(['policies [["person"]]'])
  })

  test('counts a requirement once, however often it is written', () => {
    const table = readAccessTable(compose({ one: 'type Query { a: Int @authenticated b: Int @authenticated c: Int @policy(policies: [["person"]]) }' }))
    expect(table.requirements).toHaveLength(2)
  })

  test('knows directives that a supergraph renames or leaves under their prefix', () => {
    const table = readAccessTable(`
      schema @link(url: "https://specs.apollo.dev/link/v1.0")
        @link(url: "https://specs.apollo.dev/authenticated/v0.1", as: "auth", for: SECURITY)
        @link(url: "https://specs.apollo.dev/requiresScopes/v0.1", import: [{ name: "@requiresScopes", as: "@scoped" }], for: SECURITY)
      { query: Root }
      type Root { a: Int @auth  b: Int @scoped(scopes: [["x:y"]])  c: Int @authenticated }`)
    const fields = table.fields.get('Root')!
    expect([...fields.values()].map(rule => asked(rule.all))).toEqual([['authenticated'], ['scopes [["x:y"]]'], []])
    expect(table.roots.query).toBe('Root')
  })
})

describe('policies', () => {
  const service = { ...anonymous, kind: 'service' as const, appId: 'app_launcher', onBehalfOf: 'someone', roles: ['owner'] }
  test.each([
    ['person', [signedIn()], [anonymous, keyed([]), service]],
    ['service', [service], [anonymous, keyed([]), signedIn()]],
    ['organization_admin', [signedIn([], ['owner']), signedIn([], ['admin'])], [signedIn(), { ...keyed([]), roles: ['owner'] }, service, anonymous]],
    ['platform_admin', [signedIn([], ['platform_admin']), signedIn([], ['platform_super_admin'])], [signedIn([], ['owner']), service]],
    ['platform_super_admin', [signedIn([], ['platform_super_admin'])], [signedIn([], ['platform_admin']), signedIn([], ['owner']), anonymous]],
  ] as const)('%s lets in whom it names and nobody else', (name, inside, outside) => {
    for (const viewer of inside) expect(policies[name]!(viewer)).toBe(true)
    for (const viewer of outside) expect(policies[name]!(viewer)).toBe(false)
  })

  test('a policy that nobody defined lets nobody in', () => {
    for (const name of ['persons', 'toString', '__proto__'])
      expect(meets({ id: 0, kind: 'policies', any: [[name]] }, signedIn([], ['platform_super_admin', 'owner']))).toBe(false)
  })
})
