import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { Mistake } from '../../schema/source/mistake.ts'
import { readPublicFields } from '../../schema/source/public-fields.ts'
import { extensions } from './extensions.ts'
import { contributions, type Field, isRoot, readSubgraphs, readSupergraphTypes } from './graph.ts'
import { publicTypes } from './public-types.ts'

const subgraphs = await readSubgraphs()
const supergraph = readSupergraphTypes()
const isObject = (name: string): boolean => supergraph.get(name)?.kind === 'ObjectTypeDefinition'

/** The object types behind a field: itself, the members of a union, the implementers of an interface. */
function objectsBehind(name: string): readonly string[] {
  const type = supergraph.get(name)
  if (type?.kind === 'UnionTypeDefinition') return type.named
  if (type?.kind === 'InterfaceTypeDefinition') return implementers(name)
  return isObject(name) ? [name] : []
}

const implementers = (name: string): readonly string[] =>
  [...supergraph.values()].filter(type => type.kind === 'ObjectTypeDefinition' && type.named.includes(name)).map(type => type.name)

/** Every field that clients can reach from the roots. */
function reachableFields(): readonly Field[] {
  const seen = new Set<string>()
  const fields: Field[] = []
  const visit = (name: string): void => {
    if (seen.has(name)) return
    seen.add(name)
    for (const field of supergraph.get(name)?.fields ?? []) {
      fields.push(field)
      for (const next of objectsBehind(field.type)) visit(next)
    }
  }
  for (const name of ['Query', 'Mutation', 'Subscription']) visit(name)
  return fields
}

const reachable = reachableFields()
const rulesOf = (name: string): readonly string[] => supergraph.get(name)?.rules ?? []
const everyTypeOfSubgraphs = subgraphs.flatMap(({ slug, types }) => [...types.values()].map(type => ({ slug, type })))

describe('access rules in the graph', () => {
  test('S-07 the graph has something to protect', () => {
    expect(reachable.length).toBeGreaterThan(0)
    expect(reachable.some(({ rules, type }) => rules.length > 0 || rulesOf(type).length > 0)).toBe(true)
  })

  test('S-07 every reachable object type has a rule, or its field does, or it is in the public list', () => {
    const unguarded = reachable.flatMap(field =>
      field.rules.length > 0
        ? []
        : objectsBehind(field.type)
            .filter(name => rulesOf(name).length === 0 && !(name in publicTypes))
            .map(name => `${field.coordinate} → ${name}`),
    )
    expect(unguarded, 'give the type its read rule, or list it with a reason in test/schema/public-types.ts').toEqual([])
  })

  test('the public list names only types that are reached without a rule, and every type they are reached from', () => {
    const ways = new Map<string, Set<string>>()
    for (const { owner, rules, type } of reachable) {
      if (rules.length > 0) continue
      for (const name of objectsBehind(type)) if (rulesOf(name).length === 0) ways.set(name, (ways.get(name) ?? new Set()).add(owner))
    }
    expect(Object.keys(publicTypes).filter(name => !ways.has(name))).toEqual([])
    for (const [name, { from, because }] of Object.entries(publicTypes)) {
      if (from) expect([...(ways.get(name) ?? [])].sort(), name).toEqual([...from].sort())
      expect(because.length, name).toBeGreaterThan(20)
    }
  })

  test('S-07 every root field of the supergraph has the rule of its operation or is in the public list', async () => {
    const mistakes: Mistake[] = []
    const listed = await readPublicFields(join(import.meta.dirname, '../..'), mistakes)
    const free = reachable.filter(({ owner, rules }) => isRoot(owner) && rules.length === 0).map(({ coordinate }) => coordinate)
    expect([mistakes, free.sort()]).toEqual([[], listed.map(({ coordinate }) => coordinate).sort()])
  })

  test('no interface, and no field of one, has a rule in any subgraph', () => {
    const ruled = everyTypeOfSubgraphs
      .filter(({ type }) => type.kind === 'InterfaceTypeDefinition')
      .flatMap(({ slug, type }) => [type, ...type.fields].filter(({ rules }) => rules.length > 0).map(() => `${slug}: ${type.name}`))
    expect(ruled).toEqual([])
  })

  test('no interface spans types with different rules', () => {
    const mixed = [...supergraph.values()]
      .filter(type => type.kind === 'InterfaceTypeDefinition')
      .filter(({ name }) => new Set(implementers(name).map(each => rulesOf(each).join(' '))).size > 1)
      .map(({ name }) => name)
    expect(mixed, 'use a union: the rules of an interface are the conjunction of those of its types').toEqual([])
  })

  test('no shareable field spans types with different rules, nor has rules that differ between subgraphs', () => {
    const resolvers = new Map<string, { slug: string; field: Field }[]>()
    for (const { slug, type } of everyTypeOfSubgraphs) {
      const shared = type.directives.some(({ name }) => name.value === 'shareable')
      for (const field of type.fields) {
        if (!shared && !field.node.directives?.some(({ name }) => name.value === 'shareable')) continue
        resolvers.set(field.coordinate, [...(resolvers.get(field.coordinate) ?? []), { slug, field }])
      }
    }
    const mixed = [...resolvers].filter(([, found]) => {
      const rules = new Set(found.map(({ field }) => field.rules.join(' ')))
      const behind = new Set(objectsBehind(found[0]!.field.type).map(name => rulesOf(name).join(' ')))
      return rules.size > 1 || behind.size > 1
    })
    expect(mixed.map(([coordinate]) => coordinate)).toEqual([])
  })

  test('the rule of an entity is in the SDL of its owner only', () => {
    const given = contributions(subgraphs)
    const misplaced = everyTypeOfSubgraphs.filter(({ slug, type }) => {
      const extended = extensions.find(({ entity }) => entity === type.name)
      const contributors = [...(given.get(type.name)?.keys() ?? [])]
      const owner = extended?.owner ?? (contributors.length === 1 ? contributors[0] : undefined)
      return owner !== undefined && owner !== slug && type.rules.length > 0
    })
    expect(misplaced.map(({ slug, type }) => `${slug}: ${type.name}`)).toEqual([])
  })
})
