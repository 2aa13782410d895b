import fc from 'fast-check'
import { parse, print, validate } from 'graphql'
import { expect, test } from 'vitest'
import { createAccessFilter } from '../../router/access/filter.ts'
import { readSupergraph } from '../../router/engine/supergraph.ts'
import type { Viewer } from '../../subgraphs/viewer.ts'
import { generateOperation } from '../differential/operation.ts'
import { anonymous, compose, keyed, signedIn } from './supergraph.ts'

const supergraph = readSupergraph(
  compose({
    one: `
      type Query { thing: Thing @requiresScopes(scopes: [["a:1"], ["a:2", "a:3"]]) any: [Any] named: Named mood: Mood secret: Secret plain: Plain }
      type Thing @authenticated { id: ID mood: Mood secret: Secret plain: Plain any: Any named: Named }
      type Plain { id: ID thing: Thing admin: String @policy(policies: [["organization_admin"], ["service"]]) named: Named }
      interface Named { name: String mood: Mood }
      type Robot implements Named @policy(policies: [["service"]]) { name: String mood: Mood owner: Person }
      type Person implements Named { name: String @requiresScopes(scopes: [["a:1"]]) mood: Mood plain: Plain }
      union Any = Robot | Person | Thing
      enum Mood @policy(policies: [["person"]]) { CALM }
      scalar Secret @requiresScopes(scopes: [["a:3"]])`,
  }),
)
const scopes = ['a:1', 'a:2', 'a:3']
const subsets = Array.from({ length: 2 ** scopes.length }, (_, bits) => scopes.filter((_scope, place) => bits & (1 << place)))
const viewers: readonly Viewer[] = [
  anonymous,
  ...subsets.flatMap((some): Viewer[] => [keyed(some), signedIn(some), signedIn(some, ['admin']), { ...keyed(some), kind: 'service', appId: 'app' }]),
]

test('viewers with one verdict keep the same fields of a document, and with other fields have another verdict', () => {
  const filter = createAccessFilter(supergraph.access)
  let differing = 0
  fc.assert(
    fc.property(fc.array(fc.nat({ max: 27_720 }), { minLength: 20, maxLength: 200 }), choices => {
      const document = parse(generateOperation({ schema: supergraph.schema, values: {} }, choices).source)
      fc.pre(validate(supergraph.schema, document).length === 0)
      const remains = new Map<string, string>()
      for (const viewer of viewers) {
        const decision = filter.filter(document, undefined, viewer)
        const left = decision.document ? print(decision.document) : 'nothing'
        expect(remains.get(decision.verdict) ?? left).toBe(left)
        remains.set(decision.verdict, left)
        // A variable used only by a refused field stays declared.
        const mistakes = decision.document ? validate(supergraph.schema, decision.document) : []
        expect(mistakes.filter(({ message }) => !message.endsWith('is never used.'))).toEqual([])
      }
      if (remains.size > 2) differing++
    }),
    { seed: 20_261_124, numRuns: 300 },
  )
  expect(differing).toBeGreaterThan(150)
})

test('S-07 @policy, @requiresScopes and @authenticated apply to fields, types, enums, scalars, and to interfaces through their implementers', () => {
  const filter = createAccessFilter(supergraph.access)
  const service: Viewer = { ...keyed([]), kind: 'service', appId: 'app' }
  const refused = (source: string, viewer: Viewer) => filter.filter(parse(source), undefined, viewer).errors.map(error => error.path!.join('.'))
  expect(refused('{ plain { admin } }', signedIn())).toEqual(['plain.admin'])
  expect(refused('{ plain { admin } }', signedIn([], ['admin']))).toEqual([])
  expect(refused('{ mood }', service)).toEqual(['mood'])
  expect(refused('{ secret }', keyed(['a:1', 'a:2']))).toEqual(['secret'])
  expect(refused('{ plain { thing { id } } }', anonymous)).toEqual(['plain.thing'])
  expect(refused('{ named { name } }', signedIn(['a:1']))).toEqual(['named'])
  expect(refused('{ named { name } }', service)).toEqual(['named.name'])
  expect(refused('{ named { name } }', { ...service, scopes: ['a:1'] })).toEqual([])
  expect(refused('{ any { ... on Robot { name } ... on Person { name } } }', anonymous)).toEqual(['any.name'])
})
