import { parse, print } from 'graphql'
import { describe, expect, test } from 'vitest'
import { createAccessFilter } from '../../router/access/filter.ts'
import { readAccessTable } from '../../router/access/rules.ts'
import type { Viewer } from '../../subgraphs/viewer.ts'
import { anonymous, compose, keyed, signedIn } from './supergraph.ts'

const table = readAccessTable(
  compose({
    one: `
      type Query { open: Int found: Found other: Other named: Named }
      union Found = Guarded | Plain
      union Other = Left | Right
      type Guarded @authenticated @requiresScopes(scopes: [["a:1"]]) { name: String }
      type Plain { name: String  hidden: Int @authenticated  guarded: Guarded }
      type Left @requiresScopes(scopes: [["l:1"]]) { name: String }
      type Right @authenticated @requiresScopes(scopes: [["r:1"]]) { name: String }
      interface Named { name: String  rank: Int }
      type Officer implements Named { name: String  rank: Int @authenticated  pay: Int @authenticated }
      type Guest implements Named { name: String  rank: Int }`,
  }),
)
const filter = createAccessFilter(table)

/** What remains of a query for a viewer, and the refused places. */
function ask(query: string, viewer: Viewer) {
  const { document, errors, verdict } = filter.filter(parse(query), undefined, viewer)
  return { verdict, remains: document && print(document).replace(/\s+/g, ' ').trim(), paths: errors.map(error => error.path!.join('.')) }
}

test('a document of another supergraph is an internal error, and no field of it is allowed', () => {
  expect(() => ask('{ nowhere }', signedIn())).toThrow('Query.nowhere')
})

describe('a type with several rules', () => {
  test('is open only to viewers that meet every rule', () => {
    const query = '{ found { ... on Guarded { name } ... on Plain { plain: name } } }'
    expect(ask(query, signedIn(['a:1'])).paths).toEqual([])
    for (const viewer of [anonymous, keyed([])])
      expect(ask(query, viewer)).toMatchObject({ remains: '{ found { ... on Plain { plain: name } __typename } }', paths: ['found.name'] })
  })

  test('opens a union as a member only to viewers that meet every rule', () => {
    const query = '{ open other { __typename } }'
    expect(ask(query, keyed(['r:1'])).paths).toEqual([])
    expect(ask(query, keyed(['l:1'])).paths).toEqual([])
    expect(ask(query, { ...anonymous, scopes: ['r:1'] }).paths).toEqual(['other'])
    expect(ask(query, keyed([])).paths).toEqual(['other'])
  })

  test('has a verdict that distinguishes which member admits a viewer', () => {
    const verdicts = [keyed([]), { ...anonymous, scopes: ['r:1'] }, keyed(['l:1'])].map(viewer => ask('{ open other { __typename } }', viewer).verdict)
    expect(new Set(verdicts).size).toBe(3)
  })
})

describe('a fragment', () => {
  test('of a refused type is lost wherever it is used', () => {
    const query = '{ a: found { ...G ...P } b: found { ...P ...G } } fragment G on Guarded { secret: name } fragment P on Plain { name }'
    expect(ask(query, anonymous)).toMatchObject({
      remains: '{ a: found { ...P __typename } b: found { ...P __typename } } fragment P on Plain { name }',
      paths: ['a.secret', 'b.secret'],
    })
  })

  test('of a type that others may not read is complete for those who may', () => {
    const query = '{ a: found { ...P } b: found { ...P } } fragment P on Plain { name guarded { name } hidden }'
    expect(ask(query, signedIn(['a:1']))).toMatchObject({ verdict: 'all', paths: [] })
    expect(ask(query, signedIn())).toMatchObject({
      remains: '{ a: found { ...P } b: found { ...P } } fragment P on Plain { name hidden }',
      paths: ['a.guarded', 'b.guarded'],
    })
  })

  test('keeps its permitted fields, on the union itself too', () => {
    expect(ask('{ found { ... on Found { __typename ... on Plain { name hidden } } } }', anonymous)).toMatchObject({
      remains: '{ found { ... on Found { __typename ... on Plain { name } } } }',
      paths: ['found.hidden'],
    })
  })

  test('of a rejected type selects nothing guarded when it selects type names only, used once or twice', () => {
    const query = '{ found { ... on Guarded { ...N ... { __typename } ...N } } } fragment N on Guarded { __typename }'
    expect(ask(query, anonymous)).toMatchObject({ verdict: 'all', paths: [] })
  })

  test.each([
    '__typename name',
    'name __typename',
    '... { name }',
    '...N',
    '__typename ... { ...N }',
  ])('of a refused type that asks for { %s } is lost with all of it', inner => {
    const query = `{ open found { ... on Guarded { ${inner} } } } ${inner.includes('...N') ? 'fragment N on Guarded { name }' : ''}`
    expect(ask(query, anonymous)).toMatchObject({ remains: '{ open found { __typename } }', paths: ['found.name'] })
  })

  test('that multiplies and selects type names only is visited once', () => {
    const levels = 14
    const text = Array.from({ length: levels }, (_, n) => `fragment F${n} on Guarded { ...F${n + 1} ...F${n + 1} }`).join(' ')
    const query = parse(`{ found { ...F0 } } ${text} fragment F${levels} on Guarded { __typename }`, { noLocation: true })
    let reads = 0
    for (const { selectionSet } of query.definitions as unknown as { selectionSet: { selections: unknown } }[]) {
      const { selections } = selectionSet
      Object.defineProperty(selectionSet, 'selections', {
        get() {
          reads += 1
          return selections
        },
      })
    }
    expect(filter.filter(query, undefined, anonymous).verdict).toBe('all')
    expect(reads).toBeLessThan(levels * levels * 2)
  })
})

describe('of an interface', () => {
  test('a rejected field leaves the others, and no type name is fetched in its place', () => {
    expect(ask('{ named { name rank } }', anonymous)).toMatchObject({ remains: '{ named { name } }', paths: ['named.rank'] })
  })

  test('the type name is fetched beside the rest of other fragments, and under its own name', () => {
    expect(ask('{ named { ... on Guest { name } ... on Officer { pay } } }', anonymous)).toMatchObject({
      remains: '{ named { ... on Guest { name } __typename } }',
      paths: ['named.pay'],
    })
    expect(ask('{ named { kind: __typename ... on Officer { pay } } }', anonymous).remains).toBe('{ named { kind: __typename __typename } }')
    expect(ask('{ named { __typename ... on Officer { pay } } }', anonymous).remains).toBe('{ named { __typename } }')
  })

  test('a fragment of which nothing remains is used no more', () => {
    const query = '{ open named { ...All } } fragment All on Named { ... on Officer { pay } }'
    expect(ask(query, anonymous)).toMatchObject({ remains: '{ open named { __typename } }', paths: ['named.pay'] })
  })
})
