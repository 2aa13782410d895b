import { isScalarType, isSpecifiedScalarType, Kind, type ObjectTypeDefinitionNode, print, visit } from 'graphql'
import { describe, expect, test } from 'vitest'
import { extensions } from './extensions.ts'
import { contributions, type Field, isRoot, namedType, readApi, readSubgraphs, readSupergraphTypes } from './graph.ts'

const subgraphs = await readSubgraphs()
const supergraph = readSupergraphTypes()
const { document, schema } = readApi()
const fields = [...supergraph.values()].flatMap(type => type.fields)
const given = contributions(subgraphs)
const rulesOf = (name: string): readonly string[] => supergraph.get(name)?.rules ?? []
const coordinates = (list: readonly Field[]): readonly string[] => list.map(({ coordinate, node }) => `${coordinate}: ${print(node.type)}`)

/** The subgraph to which an entity belongs: the table says it where several give fields, else it is the only one that does. */
function ownerOf(entity: string): string | undefined {
  const contributors = [...(given.get(entity)?.keys() ?? [])]
  return extensions.find(each => each.entity === entity)?.owner ?? (contributors.length === 1 ? contributors[0] : undefined)
}

describe('the conventions of the graph', () => {
  test('the graph is not empty', () => {
    expect(supergraph.get('Query')?.fields.length).toBeGreaterThan(0)
    expect(subgraphs.every(({ types }) => types.size > 0)).toBe(true)
  })

  describe('nullable is', () => {
    test('every root field', () => {
      expect(coordinates(fields.filter(({ owner, nullable }) => isRoot(owner) && !nullable))).toEqual([])
    })

    test('every field with a rule, or of a type with one', () => {
      const behind = (name: string): readonly string[] => {
        const type = supergraph.get(name)
        return type?.kind === 'UnionTypeDefinition' ? type.named.flatMap(rulesOf) : rulesOf(name)
      }
      expect(coordinates(fields.filter(({ nullable, rules, type }) => !nullable && (rules.length > 0 || behind(type).length > 0)))).toEqual([])
    })

    test('nodes, edges and node of every page', () => {
      const parts = fields.filter(
        ({ owner, name }) => (owner.endsWith('Connection') && (name === 'nodes' || name === 'edges')) || (owner.endsWith('Edge') && name === 'node'),
      )
      expect(coordinates(parts.filter(({ nullable }) => !nullable))).toEqual([])
    })

    test('every field whose type another subgraph owns', () => {
      const foreign = subgraphs.flatMap(({ slug, types }) =>
        [...types.values()].flatMap(type => type.fields).filter(field => (ownerOf(field.type) ?? slug) !== slug),
      )
      expect(coordinates(foreign.filter(({ nullable }) => !nullable))).toEqual([])
    })
  })

  test('extensions of other subgraphs’ entities are listed in one table', () => {
    const found = [...given]
      .filter(([, bySlug]) => bySlug.size > 1)
      .flatMap(([entity, bySlug]) =>
        [...bySlug].filter(([slug]) => slug !== ownerOf(entity)).map(([by, names]) => ({ entity, owner: ownerOf(entity), by, fields: names })),
      )
    const written = extensions.map(({ entity, owner, by, fields: names }) => ({ entity, owner, by, fields: [...names].sort() }))
    const sorted = (rows: readonly { entity: string; by: string }[]): readonly object[] =>
      [...rows].sort((a, b) => (`${a.entity} ${a.by}` < `${b.entity} ${b.by}` ? -1 : 1))
    expect(sorted(found), 'test/schema/extensions.ts').toEqual(sorted(written))
    for (const { because } of extensions) expect(because.length).toBeGreaterThan(20)
  })

  test('every type, root field, input and enum value is described', () => {
    const silent: string[] = []
    for (const node of document.definitions) {
      if (!('name' in node) || !node.name || !('description' in node)) continue
      const name = node.name.value
      if (!isRoot(name) && !node.description?.value.trim()) silent.push(name)
      if (isRoot(name))
        for (const field of (node as ObjectTypeDefinitionNode).fields ?? []) if (!field.description?.value.trim()) silent.push(`${name}.${field.name.value}`)
      if (node.kind === Kind.ENUM_TYPE_DEFINITION)
        for (const value of node.values ?? []) if (!value.description?.value.trim()) silent.push(`${name}.${value.name.value}`)
    }
    expect(silent).toEqual([])
  })

  test('every mutation has one input, named after it', () => {
    const mutations = fields.filter(({ owner }) => owner === 'Mutation')
    const wrong = mutations.filter(({ name, node }) => {
      const [argument, ...others] = node.arguments ?? []
      return others.length > 0 || argument?.name.value !== 'input' || print(argument.type) !== `${name[0]!.toUpperCase()}${name.slice(1)}Input!`
    })
    expect(wrong.map(({ coordinate, node }) => `${coordinate}(${node.arguments?.map(argument => print(argument.type)).join()})`)).toEqual([])
  })

  test('every scalar of ours has a specification', () => {
    const scalars = Object.values(schema.getTypeMap()).filter(type => isScalarType(type) && !isSpecifiedScalarType(type))
    expect(scalars.length).toBeGreaterThan(0)
    expect(scalars.filter(scalar => !('specifiedByURL' in scalar && URL.canParse(scalar.specifiedByURL ?? ''))).map(({ name }) => name)).toEqual([])
  })

  /** Inputs of parts that are new where they come without an id, and of a choice of none. */
  const newWithoutId: ReadonlySet<string> = new Set(['DashboardBoardInput', 'SelectHouseholdInput'])

  test('ids are ID!, and a field named after an entity with Id behind it is an ID', () => {
    const wrong: string[] = []
    for (const node of document.definitions) {
      if (node.kind !== Kind.OBJECT_TYPE_DEFINITION && node.kind !== Kind.INPUT_OBJECT_TYPE_DEFINITION) continue
      for (const member of node.fields ?? []) {
        const name = member.name.value
        const place = `${node.name.value}.${name}: ${print(member.type)}`
        const entity = /^(.+)Id$/.exec(name)?.[1]
        const isEntity = entity !== undefined && supergraph.has(entity[0]!.toUpperCase() + entity.slice(1))
        if (name === 'id' && print(member.type) !== 'ID!' && !newWithoutId.has(node.name.value)) wrong.push(place)
        if (isEntity && namedType(member.type) !== 'ID') wrong.push(place)
      }
    }
    expect(wrong).toEqual([])
  })

  test('there is no Node interface, and no entity by its id alone', () => {
    expect(supergraph.has('Node')).toBe(false)
    expect(fields.filter(({ owner, name }) => owner === 'Query' && (name === 'node' || name === 'nodes'))).toEqual([])
  })

  test('every page has nodes, edges, pageInfo and totalCount, and its fields have first and after', () => {
    const pages = [...supergraph.values()].filter(({ name }) => name.endsWith('Connection') && supergraph.has(name.replace(/Connection$/, 'Edge')))
    for (const page of pages) expect(page.fields.map(({ name }) => name).sort(), page.name).toEqual(['edges', 'nodes', 'pageInfo', 'totalCount'])
    const names = new Set(pages.map(({ name }) => name))
    const leading = fields.filter(({ type }) => names.has(type))
    const wrong = leading.filter(({ node }) => {
      const types = new Map(
        node.arguments?.map(argument => [argument.name.value, `${print(argument.type)} = ${argument.defaultValue ? print(argument.defaultValue) : ''}`]),
      )
      return types.get('first') !== 'Int = 20' || types.get('after') !== 'String = '
    })
    expect(coordinates(wrong)).toEqual([])
  })

  test('every subscription has a query for the same data, or a page of it at a record that has one', () => {
    const queries = fields.filter(({ owner }) => owner === 'Query').map(({ type }) => type.replace(/Connection$/, ''))
    const pages = fields.flatMap(({ owner, type }) => (queries.includes(owner) && type.endsWith('Connection') ? [type.replace(/Connection$/, '')] : []))
    const alone = fields.filter(({ owner, type }) => owner === 'Subscription' && !queries.includes(type) && !pages.includes(type))
    expect(coordinates(alone)).toEqual([])
  })

  test('deprecated elements say why, and since when', () => {
    const silent: string[] = []
    visit(document, {
      Directive: (node, _key, _parent, _path, ancestors) => {
        if (node.name.value !== 'deprecated') return
        const reason = node.arguments?.find(({ name }) => name.value === 'reason')?.value
        const owner = ancestors.findLast(each => 'kind' in each && 'name' in each)
        if (reason?.kind !== Kind.STRING || !/\d{4}-\d{2}-\d{2}/.test(reason.value)) silent.push(owner && 'name' in owner ? (owner.name?.value ?? '') : '')
      },
    })
    expect(silent).toEqual([])
  })

  test('clients see no machinery: no directive of access or federation, no type of theirs', () => {
    const foreign: string[] = []
    visit(document, {
      Directive: ({ name }) => void (['deprecated', 'specifiedBy', 'oneOf'].includes(name.value) || foreign.push(`@${name.value}`)),
      DirectiveDefinition: ({ name }) => void (['defer', 'stream'].includes(name.value) || foreign.push(`directive @${name.value}`)),
      Name: ({ value }) => void (value.includes('__') && foreign.push(value)),
    })
    expect(foreign).toEqual([])
  })
})
