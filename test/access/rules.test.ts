import { parse, print } from 'graphql'
import { describe, expect, test } from 'vitest'
import { policies } from '../../router/access/policies.ts'
import { meets, type Requirement, readAccessTable } from '../../router/access/rules.ts'
import { withoutAccess } from '../../router/access/strip.ts'
import type { Viewer } from '../../subgraphs/viewer.ts'
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

  test('recognizes directives under their imported names', () => {
    const ruleWith = (link: string, use: string) =>
      asked(
        readAccessTable(`extend schema @link(url: "https://x.test/requiresScopes/v0.1", ${link}) type Query { a: Int ${use} }`).fields.get('Query')!.get('a')!
          .all,
      )
    const rule = ['scopes [["x:y"]]']
    for (const imported of [
      '"@requiresScopes"',
      '"Scope", "@requiresScopes"',
      '{ name: "@requiresScopes" }',
      '{ name: "Scope", as: "S" }, { name: "@requiresScopes" }',
    ])
      expect(ruleWith(`as: "prefix", import: [${imported}]`, '@requiresScopes(scopes: ["x:y"])'), imported).toEqual(rule)
    expect(ruleWith('as: "prefix", import: ["Scope"]', '@prefix(scopes: ["x:y"])')).toEqual(rule)
    expect(ruleWith('for: SECURITY', '@requiresScopes(note: "of another kind", scopes: ["x:y"])')).toEqual(rule)
  })

  test('accepts only a `@link` of the schema as a link', () => {
    const text = 'scalar Odd @specifiedBy(url: "https://x.test/authenticated/v0.1") type Query { a: Odd @authenticated }'
    expect(readAccessTable(text).requirements).toEqual([])
  })

  test('names the roots as the schema and its extensions do, and otherwise as GraphQL does', () => {
    const types = 'type Query { a: Int }'
    expect(readAccessTable(types).roots).toEqual({ query: 'Query', mutation: 'Mutation', subscription: 'Subscription' })
    expect(readAccessTable(`schema { query: Root } extend schema { mutation: Change } ${types}`).roots).toEqual({
      query: 'Root',
      mutation: 'Change',
      subscription: 'Subscription',
    })
  })
})

describe('the access table of a text that composition did not complete', () => {
  const links = ['authenticated', 'requiresScopes', 'policy'].map(feature => `@link(url: "https://specs.apollo.dev/${feature}/v0.1", for: SECURITY)`).join(' ')
  const text = `
    schema ${links} { query: Query }
    type Query { list: [Thing!]! any: Any mood: Mood odd: Odd it: It number: Int }
    interface It @policy(policies: [["service"]]) { name: String @authenticated  plain: Int }
    type Thing implements It @requiresScopes(scopes: [["b:2", "a:1"]]) { name: String @policy(policies: [["person"]])  plain: Int  own: Int @authenticated }
    type Other implements It { name: String @requiresScopes(scopes: "c:3")  plain: Int @authenticated }
    union Any = Thing | Other
    enum Mood @authenticated { CALM }
    scalar Odd @policy(policies: [["person"]])`
  const read = () => readAccessTable(text)
  const rule = (type: string, field: string) => asked(read().fields.get(type)!.get(field)!.all)

  test('is the same for text and parsed document', () => {
    expect(readAccessTable(parse(text))).toEqual(read())
  })

  test('numbers each requirement, with its lists in order', () => {
    const { requirements } = read()
    expect(requirements.map(({ id }) => id)).toEqual(requirements.map((_, place) => place))
    expect(requirements.map(({ id, ...rest }) => rest)).toEqual([
      { kind: 'policies', any: [['service']] },
      { kind: 'authenticated' },
      { kind: 'scopes', any: [['a:1', 'b:2']] },
      { kind: 'policies', any: [['person']] },
      { kind: 'scopes', any: [['c:3']] },
    ])
  })

  test('gives an interface its own rule and those of every implementer, on itself and on each of its fields', () => {
    const all = ['policies [["service"]]', 'scopes [["a:1","b:2"]]']
    expect(asked(read().types.get('It'))).toEqual(all)
    expect(rule('Query', 'it')).toEqual(all)
    expect(rule('It', 'name')).toEqual(['authenticated', 'policies [["person"]]', 'scopes [["c:3"]]'])
    expect(rule('It', 'plain')).toEqual(['authenticated'])
    expect(rule('Thing', 'name')).toEqual(['policies [["person"]]'])
    expect(rule('Other', 'name')).toEqual(['scopes [["c:3"]]'])
    expect([rule('Thing', 'plain'), rule('Other', 'plain')]).toEqual([[], ['authenticated']])
  })

  test('adds the requirements of a field’s type, through lists, and of enums and scalars', () => {
    expect(read().fields.get('Query')!.get('list')).toMatchObject({ type: 'Thing', members: null })
    expect(rule('Query', 'list')).toEqual(['scopes [["a:1","b:2"]]'])
    expect(rule('Query', 'mood')).toEqual(['authenticated'])
    expect(rule('Query', 'odd')).toEqual(['policies [["person"]]'])
    expect(rule('Query', 'number')).toEqual([])
  })

  test('requires for a union only what one of its members requires', () => {
    const { all, members } = read().fields.get('Query')!.get('any')!
    expect([all, members!.map(asked)]).toEqual([[], [['scopes [["a:1","b:2"]]'], []]])
  })

  test('knows which types are abstract', () => {
    expect([...read().abstract].sort()).toEqual(['Any', 'It'])
  })

  test('is safe without implementers, member definitions and arguments: nobody is admitted', () => {
    const odd = readAccessTable(`schema ${links} { query: Query } type Query implements Gone { a: Any @policy  b: Int } union Any = Gone union None`)
    expect(odd.fields.get('Query')!.get('a')!.members).toEqual([[]])
    expect(odd.requirements).toEqual([{ id: 0, kind: 'policies', any: [] }])
    expect(odd.requirements.some(each => meets(each, signedIn([], ['platform_super_admin'])))).toBe(false)
  })
})

describe('a viewer meets', () => {
  const service: Viewer = { ...keyed([]), kind: 'service', appId: 'app' }
  test('@authenticated unless it is anonymous', () => {
    expect([anonymous, keyed([]), service, signedIn()].map(viewer => meets({ id: 0, kind: 'authenticated' }, viewer))).toEqual([false, true, true, true])
  })

  test.each<[readonly string[], boolean]>([
    [[], false],
    [['a:1'], false],
    [['a:2'], false],
    [['a:1', 'a:2'], true],
    [['a:3'], true],
    [['a:4', 'a:1', 'a:2'], true],
    [['a:4'], false],
  ])('@requiresScopes (a:1 and a:2, or a:3) with %j: %s', (scopes, met) => {
    expect(meets({ id: 0, kind: 'scopes', any: [['a:1', 'a:2'], ['a:3']] }, keyed(scopes))).toBe(met)
  })

  test.each<[string, Viewer, boolean]>([
    ['a stranger', anonymous, false],
    ['a member', signedIn(), false],
    ['an admin', signedIn([], ['admin']), true],
    ['a key with the role of an admin', { ...keyed([]), roles: ['admin'] }, false],
    ['a service', service, true],
  ])('@policy (person and organization_admin, or service) as %s: %s', (_who, viewer, met) => {
    expect(meets({ id: 0, kind: 'policies', any: [['person', 'organization_admin'], ['service']] }, viewer)).toBe(met)
  })
})

describe('unusual forms in a supergraph', () => {
  const guarded = (links: string, uses: string) => `
    schema @link(url: "https://specs.apollo.dev/link/v1.0") ${links} { query: Query }
    type Query { a: Int ${uses} }`
  const link = (feature: string) => `@link(url: "https://specs.apollo.dev/${feature}", for: SECURITY)`
  const ruleOf = (supergraph: string) => asked(readAccessTable(supergraph).fields.get('Query')!.get('a')!.all)

  test('one value in place of a list counts as a list of that value, as composition allows', () => {
    const table = readAccessTable(
      compose({ one: 'type Query { a: Int @requiresScopes(scopes: "ab") b: Int @requiresScopes(scopes: ["ab", "c"]) c: Int @policy(policies: ["person"]) }' }),
    )
    expect(asked([...table.fields.get('Query')!.values()].flatMap(rule => rule.all))).toEqual([
      'scopes [["ab"]]',
      'scopes [["ab"],["c"]]',
      'policies [["person"]]',
    ])
  })

  test('a rule without alternatives admits nobody, one with an empty alternative everyone', () => {
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
    for (const feature of ['clearance/v1.0', 'authenticated/v0.2', 'policy/v1.0', 'inaccessible/v9.0', 'inaccessible/v0.10', 'context/v0.1.2'])
      expect(() => readAccessTable(guarded(link(feature), ''))).toThrow(feature)
    for (const feature of ['inaccessible/v0.1', 'inaccessible/v0.2', 'context/v0.1', 'policy/v0.1']) expect(ruleOf(guarded(link(feature), ''))).toEqual([])
    expect(ruleOf(guarded('@link(url: "https://example.test/clearance/v1.0")', ''))).toEqual([])
  })
})

describe('policies', () => {
  const service = { ...anonymous, kind: 'service' as const, appId: 'app_launcher', onBehalfOf: 'someone', roles: ['owner'] }
  test.each([
    ['person', [signedIn()], [anonymous, keyed([]), service, { ...signedIn(), userId: null }, { ...keyed([]), userId: 'someone' }]],
    ['service', [service], [anonymous, keyed([]), signedIn()]],
    ['organization_admin', [signedIn([], ['owner']), signedIn([], ['admin'])], [signedIn(), { ...keyed([]), roles: ['owner'] }, service, anonymous]],
    ['platform_admin', [signedIn([], ['platform_admin']), signedIn([], ['platform_super_admin'])], [signedIn([], ['owner']), service]],
    ['platform_super_admin', [signedIn([], ['platform_super_admin'])], [signedIn([], ['platform_admin']), signedIn([], ['owner']), anonymous]],
  ] as const)('%s lets in whom it names and nobody else', (name, inside, outside) => {
    for (const viewer of inside) expect(policies[name]!(viewer)).toBe(true)
    for (const viewer of outside) expect(policies[name]!(viewer)).toBe(false)
  })

  test('an undefined policy admits nobody', () => {
    for (const name of ['persons', 'toString', '__proto__'])
      expect(meets({ id: 0, kind: 'policies', any: [[name]] }, signedIn([], ['platform_super_admin', 'owner']))).toBe(false)
  })
})
