import { type ConstDirectiveNode, type FieldDefinitionNode, Kind, type TypeNode, valueFromASTUntyped } from 'graphql'
import { at, type Mistake } from './mistake.ts'
import { documentOf, type SubgraphSources } from './sources.ts'

/**
 * Checks that every list declares its maximum length, from which an operation's cost is estimated before it runs: by
 * `@listSize(assumedSize:)` with a number that a rule of the domain guarantees, or by `slicingArguments`. The lists of
 * a page get their length from the fields that lead to it (`sizedFields`). Lists of scalars also declare a cost,
 * because thousands of small ones take more processor time than thousands of objects.
 * @returns one mistake for each list that does not, at its place in the source
 */
export function listMistakes(sources: SubgraphSources): readonly Mistake[] {
  const leaves = leavesOf(sources)
  const fields = documentOf(sources).definitions.flatMap(node =>
    node.kind === Kind.OBJECT_TYPE_DEFINITION ||
    node.kind === Kind.OBJECT_TYPE_EXTENSION ||
    node.kind === Kind.INTERFACE_TYPE_DEFINITION ||
    node.kind === Kind.INTERFACE_TYPE_EXTENSION
      ? (node.fields ?? []).map(field => ({ parent: node.name.value, field, size: sizeOf(field) }))
      : [],
  )
  return fields.flatMap(({ parent, field, size }) => {
    const place = field.loc
    if (!place || !isList(field.type)) return []
    const name = `${parent}.${field.name.value}`
    if (leaves.has(namedType(field.type)) && !field.directives?.some(each => each.name.value === 'cost'))
      return [at(place, 'LIST_WITHOUT_COST', `${name} is a list of leaves, which cost nothing by themselves: write @cost(weight: 1)`)]
    if (size) {
      const { assumedSize, slicingArguments } = size
      if (Number(assumedSize) > 0 || (Array.isArray(slicingArguments) && slicingArguments.length > 0)) return []
      return [at(place, 'LIST_WITHOUT_SIZE', `${name}: @listSize names an assumedSize above 0, or slicingArguments`)]
    }
    const leading = fields.filter(each => namedType(each.field.type) === parent)
    const isSized = (each: (typeof fields)[number]) => Array.isArray(each.size?.sizedFields) && each.size.sizedFields.includes(field.name.value)
    if (leading.length > 0 && leading.every(isSized)) return []
    const sentence = `${name} is a list of no known length: write @listSize(assumedSize: N) with the most that a rule of the domain lets it have, or make it a page`
    return [at(place, 'LIST_WITHOUT_SIZE', sentence)]
  })
}

const leavesOf = (sources: SubgraphSources): ReadonlySet<string> =>
  new Set([
    ...['Int', 'Float', 'String', 'Boolean', 'ID'],
    ...documentOf(sources).definitions.flatMap(node =>
      node.kind === Kind.SCALAR_TYPE_DEFINITION || node.kind === Kind.ENUM_TYPE_DEFINITION ? [node.name.value] : [],
    ),
  ])

function sizeOf({ directives }: FieldDefinitionNode): Record<string, unknown> | null {
  const size: ConstDirectiveNode | undefined = directives?.find(({ name }) => name.value === 'listSize')
  return size ? Object.fromEntries((size.arguments ?? []).map(each => [each.name.value, valueFromASTUntyped(each.value)])) : null
}

const isList = (type: TypeNode): boolean => type.kind === Kind.LIST_TYPE || (type.kind === Kind.NON_NULL_TYPE && isList(type.type))

const namedType = (type: TypeNode): string => (type.kind === Kind.NAMED_TYPE ? type.name.value : namedType(type.type))
