import { parse, print, visit } from 'graphql'
import { describe, expect, test } from 'vitest'
import { createAccessFilter } from '../../router/access/filter.ts'
import { readAccessTable } from '../../router/access/rules.ts'
import type { Viewer } from '../../subgraphs/viewer.ts'
import { anonymous, compose, keyed, signedIn } from './supergraph.ts'

const table = readAccessTable(
  compose({
    publishing: `
      type Query {
        brand: Brand @requiresScopes(scopes: [["publishing:accounts.read"]])
        post: Post
        posts: PostConnection
        open: String
        anything: Anything
        machine: Machine
        secret: Secret
        mood: Mood
      }
      type Mutation { createPost: Post @requiresScopes(scopes: [["publishing:posts.write"]])  ping: String }
      type Subscription { postStatusChanged: Post }
      type Brand @key(fields: "id") @requiresScopes(scopes: [["publishing:accounts.read"]]) { id: ID! name: String }
      type Post @key(fields: "id") @requiresScopes(scopes: [["publishing:posts.read"], ["publishing:posts.write"]]) {
        id: ID!  copy: String  brand: Brand  author: User
        cost: Int @requiresScopes(scopes: [["publishing:analytics.read", "publishing:dashboard.read"]])
      }
      type PostConnection { nodes: [Post] totalCount: Int }
      type User @key(fields: "id") { id: ID! }
      union Anything = Brand | Post
      interface Machine { name: String }
      type Robot implements Machine @policy(policies: [["service"]]) { name: String }
      type Lathe implements Machine @authenticated { name: String }
      scalar Secret @authenticated
      enum Mood @policy(policies: [["platform_super_admin"]]) { CALM }
      extend type Query { thing: Thing  moods(like: Mood, secret: Secret, input: MoodInput): [String] }
      input MoodInput { mood: Mood }
      interface Thing { label: String }
      type Tool implements Thing { label: String  price: Int @requiresScopes(scopes: [["publishing:analytics.read"]]) }
      type Toy implements Thing { label: String  price: Int @authenticated }
    `,
    identity: `
      type Query { viewer: Who }
      type Who { kind: String user: User }
      type User @key(fields: "id") @authenticated { id: ID! name: String email: String @policy(policies: [["person"]]) }
    `,
  }),
)
const filter = createAccessFilter(table)
const flat = (text: string) => text.replace(/\s+/g, ' ').trim()

/** A query that counts how often anything below it is looked at: the document itself, and each of its selection sets. */
function counting(text: string) {
  let [reads, sets] = [0, 0]
  const watched = <Value>(holder: object, name: string, value: Value) =>
    Object.defineProperty(holder, name, {
      enumerable: true,
      get() {
        reads += 1
        return value
      },
    })
  const query = parse(text, { noLocation: true })
  visit(query, {
    SelectionSet(set) {
      sets += 1
      watched(set, 'selections', set.selections)
    },
  })
  watched(query, 'definitions', query.definitions)
  reads = 0
  return { query, sets, reads: () => reads }
}

/** What remains of a query for a viewer, and the refused paths. */
function ask(query: string, viewer: Viewer) {
  const decision = filter.filter(parse(query), undefined, viewer)
  return {
    ...decision,
    remains: decision.document && flat(print(decision.document)),
    paths: decision.errors.map(error => error.path?.join('.')),
  }
}

describe('a query', () => {
  test('S-07 loses only the fields that its viewer may not read, with errors at the client’s paths', () => {
    const seen = ask('{ open it: post { copy brand { name } who: author { name email } } }', keyed(['publishing:posts.read']))
    expect(seen.remains).toBe('{ open it: post { copy who: author { name } } }')
    expect(seen.paths).toEqual(['it.brand', 'it.who.email'])
    expect(seen.refusedWhole).toBe(false)
  })

  test('S-07 gets an error with the sufficient scopes, and the hint to sign in when it is anonymous', () => {
    const [known] = ask('{ post { brand { name } } }', keyed(['publishing:posts.read'])).errors
    expect(known).toMatchObject({ extensions: { code: 'UNAUTHORIZED_FIELD_OR_TYPE', requiredScopes: [['publishing:accounts.read']] } })
    expect(known!.message).toContain('publishing:accounts.read')
    expect(known!.extensions).not.toHaveProperty('signIn')
    const [stranger] = ask('{ posts { nodes { id } } }', anonymous).errors
    expect(stranger).toMatchObject({
      path: ['posts', 'nodes'],
      extensions: { signIn: true, requiredScopes: [['publishing:posts.read'], ['publishing:posts.write']] },
    })
    expect(stranger!.message).toMatch(/^Sign in/)
  })

  test('of a viewer with all rights stays the same object', () => {
    const document = parse('{ post { copy author { name email } } }')
    const decision = filter.filter(document, undefined, signedIn(['publishing:posts.read']))
    expect(decision.document).toBe(document)
    expect(decision.errors).toEqual([])
  })

  test('needs one whole inner list of scopes', () => {
    const read = ['publishing:posts.read']
    expect(ask('{ post { cost } }', signedIn([...read, 'publishing:analytics.read'])).paths).toEqual(['post.cost'])
    expect(ask('{ post { cost } }', signedIn([...read, 'publishing:analytics.read', 'publishing:dashboard.read'])).paths).toEqual([])
    expect(ask('{ post { copy } }', signedIn(['publishing:posts.write'])).paths).toEqual([])
  })

  test('keeps a parent whose whole selection is rejected, so that the client sees whether it is null', () => {
    const seen = ask('{ viewer { user { name } } posts { nodes { id } } }', anonymous)
    expect(seen.remains).toBe('{ viewer { __typename } posts { __typename } }')
    expect(seen.paths).toEqual(['viewer.user', 'posts.nodes'])
  })

  test('of which nothing remains has no document', () => {
    expect(ask('{ post { id } }', anonymous)).toMatchObject({ document: null, refusedWhole: false, paths: ['post'] })
  })

  test('keeps introspection and __typename for everyone', () => {
    expect(ask('{ __typename __schema { types { name } } open }', anonymous).paths).toEqual([])
  })
})

describe('a rule on a type applies to every field that leads to it', () => {
  test('from another subgraph, without a rule of its own', () => {
    expect(ask('{ viewer { kind user { id } } }', anonymous)).toMatchObject({ remains: '{ viewer { kind } }', paths: ['viewer.user'] })
  })

  test('inside lists, named fragments and fragments without a condition', () => {
    const seen = ask(
      `{ posts { totalCount ...List } open }
       fragment List on PostConnection { nodes { ...One } }
       fragment One on Post { copy ... { brand { ...Name } } }
       fragment Name on Brand { name }`,
      keyed(['publishing:posts.read']),
    )
    expect(seen.remains).toBe('{ posts { totalCount ...List } open } fragment List on PostConnection { nodes { ...One } } fragment One on Post { copy }')
    expect(seen.paths).toEqual(['posts.nodes.brand'])
  })

  test('through a union: its permitted members stay', () => {
    const query = '{ anything { __typename ... on Post { copy } ... on Brand { title: name } } }'
    expect(ask(query, keyed(['publishing:posts.read']))).toMatchObject({
      remains: '{ anything { __typename ... on Post { copy } } }',
      paths: ['anything.title'],
    })
    expect(ask(query, anonymous)).toMatchObject({ document: null, paths: ['anything'] })
  })

  test('through a union, of which any member would do', () => {
    const [error] = ask('{ anything { __typename } }', keyed([])).errors
    expect(error!.extensions!.requiredScopes).toEqual([['publishing:accounts.read'], ['publishing:posts.read'], ['publishing:posts.write']])
    expect(error!.message).toBe(
      'You may not see Query.anything: it takes the scope publishing:accounts.read or publishing:posts.read or publishing:posts.write.',
    )
  })

  test('through a fragment that loses everything: the type name is still fetched, so that nulls can be distinguished', () => {
    const query = '{ thing { label ... on Tool { price } ...Toy } } fragment Toy on Toy { label price }'
    expect(ask(query, anonymous)).toMatchObject({
      remains: '{ thing { label ...Toy __typename } } fragment Toy on Toy { label }',
      paths: ['thing.price'],
    })
    expect(ask('{ thing { __typename label ... on Tool { price } } }', anonymous).remains).toBe('{ thing { __typename label } }')
  })

  test('but not for type names: a fragment that selects __typename only stays, without an error', () => {
    const query = '{ anything { ... on Post { copy } ... on Brand { __typename ...Name } } } fragment Name on Brand { kind: __typename }'
    expect(ask(query, keyed(['publishing:posts.read']))).toMatchObject({ verdict: 'all', errors: [] })
  })

  test('through an interface: all its implementers must be permitted', () => {
    expect(ask('{ machine { name } open }', signedIn())).toMatchObject({ remains: '{ open }', paths: ['machine'] })
    expect(ask('{ machine { name } }', { ...keyed([]), kind: 'service' }).paths).toEqual([])
  })

  test('of scalars and enums', () => {
    expect(ask('{ open secret mood }', anonymous)).toMatchObject({ remains: '{ open }', paths: ['secret', 'mood'] })
    expect(ask('{ open secret mood }', signedIn()).paths).toEqual(['mood'])
    expect(ask('{ open secret mood }', signedIn([], ['platform_super_admin'])).paths).toEqual([])
  })
})

describe('the reported places of rejections', () => {
  const writer = keyed(['publishing:posts.read'])
  test('of a rejected fragment are all its fields, within any other fragments, except introspection', () => {
    const seen = ask(
      '{ anything { ... on Brand { __typename ... { one: name } ...More } ... on Post { copy } } } fragment More on Brand { id two: name }',
      writer,
    )
    expect(seen.paths).toEqual(['anything.one', 'anything.id', 'anything.two'])
  })

  test('of one field have the same message', () => {
    const [one, two] = ask('{ a: post { brand { name } } b: post { brand { name } } }', writer).errors
    expect([one!.path, two!.path]).toEqual([
      ['a', 'brand'],
      ['b', 'brand'],
    ])
    expect(one!.extensions).toBe(two!.extensions)
  })

  test('are a hundred at most, side by side, below and in turn', () => {
    const brands = (count: number) => Array.from({ length: count }, (_, n) => `b${n}: brand { name }`).join(' ')
    expect(ask(`{ post { ${brands(100)} } }`, writer).errors).toHaveLength(100)
    expect(ask(`{ post { ${brands(101)} } }`, writer).errors).toHaveLength(100)
    expect(ask(`{ ${brands(60)} post { ${brands(60)} } }`, writer).errors).toHaveLength(100)
    expect(ask(`{ a: post { ${brands(99)} } b: post { ${brands(2)} } c: post { brand { id } } }`, writer).paths.slice(98)).toEqual(['a.b98', 'b.b0'])
  })

  test('of a field that is selected twice are one', () => {
    expect(ask('{ post { brand { id } } post { brand { name } ... { brand { id } } } }', writer).paths).toEqual(['post.brand'])
  })
})

test('rules of enums and scalars apply to answers only: everyone may send a value as an argument', () => {
  const query = 'query ($mood: Mood, $input: MoodInput) { moods(like: CALM, secret: "x", input: { mood: CALM }) more: moods(like: $mood, input: $input) }'
  expect(ask(query, anonymous)).toMatchObject({ verdict: 'all', errors: [] })
})

test('a policy requires a person: a key does not read mail addresses', () => {
  expect(ask('{ viewer { user { email } } }', keyed([]))).toMatchObject({ paths: ['viewer.user.email'] })
  expect(ask('{ viewer { user { email } } }', keyed([])).errors[0]!.extensions).toMatchObject({ requiredPolicies: [['person']] })
})

test('S-07 a mutation with any refused field is refused whole', () => {
  const seen = ask('mutation { ping createPost { id brand { name } } }', keyed(['publishing:posts.write']))
  expect(seen).toMatchObject({ refusedWhole: true, document: null, paths: ['createPost.brand'] })
  expect(ask('mutation { ping }', anonymous).refusedWhole).toBe(false)
})

test('S-07 a subscription is refused whole at its start', () => {
  expect(ask('subscription { postStatusChanged { id brand { name } } }', keyed(['publishing:posts.read']))).toMatchObject({
    refusedWhole: true,
    document: null,
  })
})

describe('a decision', () => {
  const document = parse('{ open post { copy brand { name } } }')
  test('is shared by viewers with the same rights, and has a separate verdict otherwise', () => {
    const [one, other] = [signedIn(['publishing:posts.read']), keyed(['publishing:posts.read'])]
    expect(filter.filter(document, undefined, one).verdict).toBe(filter.filter(document, undefined, other).verdict)
    const verdicts = [anonymous, one, signedIn(['publishing:posts.read', 'publishing:accounts.read'])].map(
      viewer => filter.filter(document, undefined, viewer).verdict,
    )
    expect(new Set(verdicts).size).toBe(3)
  })

  test('is cached: the same document and rights give the same object', () => {
    expect(filter.filter(document, undefined, signedIn(['publishing:posts.read']))).toBe(
      filter.filter(document, undefined, signedIn(['publishing:posts.read'])),
    )
  })

  test('is about the named operation only', () => {
    const two = parse('query Mine { open } query Theirs { post { id } }')
    expect(filter.filter(two, 'Mine', anonymous).errors).toEqual([])
    expect(filter.filter(two, 'Theirs', anonymous).document).toBe(null)
  })

  test('lets nothing run when the operation is ambiguous', () => {
    const one = parse('{ post { id } }')
    const two = parse('query Mine { open } query Theirs { post { id } }')
    expect(filter.filter(one, undefined, signedIn(['publishing:posts.read'])).verdict).toBe('all')
    for (const [of, name] of [
      [one, ''],
      [one, 'Mine'],
      [two, undefined],
      [two, ''],
    ] as const)
      expect(filter.filter(of, name, signedIn(['publishing:posts.read']))).toMatchObject({
        verdict: 'unknown',
        document: null,
        refusedWhole: true,
        errors: [{ message: expect.stringContaining('operationName'), extensions: { code: 'BAD_USER_INPUT' } }],
      })
  })

  test('needs no operation name in a document with one named operation', () => {
    expect(filter.filter(parse('query Mine { open }'), undefined, anonymous).verdict).toBe('all')
  })

  test('is not shared by viewers who meet the same number of rules, but others', () => {
    const document = parse('{ brand { name } posts { nodes { id } } }')
    const paths = ['publishing:posts.read', 'publishing:accounts.read'].map(scope =>
      filter.filter(document, undefined, keyed([scope])).errors.map(error => error.path!.join('.')),
    )
    expect(paths).toEqual([['brand'], ['posts.nodes']])
  })

  test('is not shared by anonymous and known viewers, because anonymous ones are asked to sign in', () => {
    const scoped = createAccessFilter(readAccessTable(compose({ one: 'type Query { open: Int a: Int @requiresScopes(scopes: [["a:1"]]) }' })))
    const document = parse('{ open a }')
    const hints = [anonymous, keyed([]), signedIn(), anonymous].map(viewer => scoped.filter(document, undefined, viewer).errors[0]!.extensions!.signIn)
    expect(hints).toEqual([true, undefined, undefined, true])
  })

  test('has one verdict for one set of unmet rules, and never that of another set', () => {
    const rules = Array.from({ length: 13 }, (_, n) => `f${n}: Int @requiresScopes(scopes: [["a:${n}"]])`).join(' ')
    const many = createAccessFilter(readAccessTable(compose({ one: `type Query { ${rules} }` })))
    const document = parse(`{ ${Array.from({ length: 13 }, (_, n) => `f${n}`).join(' ')} }`)
    const without = (...missing: number[]) =>
      many.filter(document, undefined, keyed(Array.from({ length: 13 }, (_, n) => n).flatMap(n => (missing.includes(n) ? [] : [`a:${n}`])))).verdict
    const verdicts = [without(), without(1, 2), without(12), without(1, 12), without(11, 2), without(1)]
    expect(new Set(verdicts).size).toBe(verdicts.length)
  })

  test('keeps fragments that lose nothing, with the fragments that they use, and drops unused ones', () => {
    const document = parse(`{ post { ...Mine ...Theirs } }
      fragment Mine on Post { copy author { ...Person } } fragment Person on User { id }
      fragment Theirs on Post { brand { ...Name } } fragment Name on Brand { name }`)
    const left = filter.filter(document, undefined, keyed(['publishing:posts.read'])).document!
    expect(left.definitions.slice(1)).toEqual([document.definitions[1], document.definitions[2]])
    expect(left.definitions[1]).toBe(document.definitions[1])
  })

  test.each([
    ['so many others', '{ open post { copy } }', 5000],
    ['others of so many bytes', `{ post { copy ${'id '.repeat(1000)} } }`, 400],
    ['others with so many refusals', `{ post { ${Array.from({ length: 100 }, (_, n) => `b${n}: brand { name }`).join(' ')} } }`, 1500],
  ])('is kept among %s and no more, whoever makes them necessary', (_what, text, most) => {
    const ofMany = createAccessFilter(table)
    const viewer = keyed(['publishing:posts.read'])
    const first = ofMany.filter(document, undefined, viewer)
    const others = Array.from({ length: most }, () => parse(text, { noLocation: true }))
    for (const each of others.slice(0, most / 2)) ofMany.filter(each, undefined, viewer)
    expect(ofMany.filter(document, undefined, viewer)).toBe(first)
    for (const each of others) ofMany.filter(each, undefined, viewer)
    expect(ofMany.filter(document, undefined, viewer)).not.toBe(first)
  })

  test('costs next to nothing when it is cached', () => {
    const viewer = keyed(['publishing:posts.read'])
    const { query, reads } = counting('{ open post { copy brand { id } } }')
    const first = filter.filter(query, undefined, viewer)
    const before = reads()
    expect(before).toBeGreaterThan(0)
    for (let turn = 0; turn < 1000; turn++) expect(filter.filter(query, undefined, viewer)).toBe(first)
    expect(reads()).toBe(before)
  })

  test('costs little for refused fields within fragments within fragments', () => {
    const fields = Array.from({ length: 100 }, (_, n) => `refused${n}: brand { name }`).join(' ')
    const { query, sets, reads } = counting(`{ post { ${'... { '.repeat(500)} ${fields} ${'} '.repeat(500)} } }`)
    expect(filter.filter(query, undefined, keyed(['publishing:posts.read'])).errors).toHaveLength(100)
    expect(reads()).toBeLessThan(10 * sets)
  })

  test('stays small for fragments that multiply', () => {
    const levels = Array.from({ length: 24 }, (_, n) => `fragment F${n} on Post { ...F${n + 1} again${n}: author { email ...U } ...F${n + 1} }`).join('\n')
    const { query, sets, reads } = counting(`{ post { ...F0 } } ${levels} fragment F24 on Post { brand { id } } fragment U on User { id }`)
    const decision = filter.filter(query, undefined, keyed(['publishing:posts.read']))
    expect(decision.errors.length).toBe(25)
    expect(reads()).toBeLessThan(20 * sets)
  })
})
