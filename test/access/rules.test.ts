import { parse, print } from 'graphql'
import { describe, expect, test } from 'vitest'
import { policies } from '../../router/access/policies.ts'
import { meets, type Requirement, readAccessTable } from '../../router/access/rules.ts'
import { withoutAccess } from '../../router/access/strip.ts'
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

describe('what a supergraph writes in another way', () => {
  const guarded = (links: string, uses: string) => `
    schema @link(url: "https://specs.apollo.dev/link/v1.0") ${links} { query: Query }
    type Query { a: Int ${uses} }`
  const link = (feature: string) => `@link(url: "https://specs.apollo.dev/${feature}", for: SECURITY)`
  const ruleOf = (supergraph: string) => asked(readAccessTable(supergraph).fields.get('Query')!.get('a')!.all)

  test('one value in place of a list counts as the list of that value, as composition lets it pass', () => {
    const table = readAccessTable(
      compose({ one: 'type Query { a: Int @requiresScopes(scopes: "ab") b: Int @requiresScopes(scopes: ["ab", "c"]) c: Int @policy(policies: ["person"]) }' }),
    )
    expect(asked([...table.fields.get('Query')!.values()].flatMap(rule => rule.all))).toEqual([
      'scopes [["ab"]]',
      'scopes [["ab"],["c"]]',
      'policies [["person"]]',
    ])
  })

  test('a rule without a way in lets nobody in, one with an empty way everybody', () => {
    const [never, always] = ['[]', '[[]]'].map(
      scopes => readAccessTable(guarded(link('requiresScopes/v0.1'), `@requiresScopes(scopes: ${scopes})`)).requirements[0]!,
    )
    expect(meets(never!, signedIn(['ab'], ['owner']))).toBe(false)
    expect(meets(always!, anonymous)).toBe(true)
  })

  test('a link directive of another name is a link', () => {
    const text = guarded('@core(url: "https://specs.apollo.dev/authenticated/v0.1", as: "known", for: SECURITY)', '@known')
    expect(ruleOf(text)).toEqual(['authenticated'])
    expect(print(withoutAccess(parse(text)))).not.toMatch(/known|authenticated/)
  })

  test('a security feature that is not known here is not overlooked: the supergraph is refused', () => {
    for (const feature of ['clearance/v1.0', 'authenticated/v0.2', 'policy/v1.0', 'inaccessible/v9.0'])
      expect(() => readAccessTable(guarded(link(feature), ''))).toThrow(feature)
    for (const feature of ['inaccessible/v0.1', 'inaccessible/v0.2', 'context/v0.1', 'policy/v0.1']) expect(ruleOf(guarded(link(feature), ''))).toEqual([])
    expect(ruleOf(guarded('@link(url: "https://example.test/clearance/v1.0")', ''))).toEqual([])
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
