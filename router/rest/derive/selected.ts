import {
  type ArgumentNode,
  type FieldNode,
  type GraphQLArgument,
  type GraphQLField,
  type GraphQLLeafType,
  type GraphQLObjectType,
  type GraphQLOutputType,
  getNamedType,
  isLeafType,
  isListType,
  isNonNullType,
  isObjectType,
  Kind,
  parse,
  print,
  type SelectionSetNode,
} from 'graphql'
import type { OperationRoute } from '../row.ts'

/** A field of an answer, as a route shows it. */
export interface Part {
  readonly name: string
  /** The field's description in the graph. */
  readonly description: string | null
  readonly shape: Shape
  /** Whether the field is replaced by its own parts. */
  readonly spread: boolean
  /** Whether the answer is 404 without the field. */
  readonly required: boolean
}

/** The shape of a value in an answer. */
export type Shape =
  | { readonly kind: 'leaf'; readonly type: GraphQLLeafType; readonly nullable: boolean }
  /** The id alone of a record. */
  | { readonly kind: 'reference'; readonly id: Part; readonly nullable: boolean }
  | { readonly kind: 'list'; readonly of: Shape; readonly nullable: boolean }
  /** The entries of a page, and the cursor of the next one. */
  | { readonly kind: 'page'; readonly nodes: Part; readonly nextCursor: Part; readonly totalCount: Part; readonly nullable: boolean }
  | { readonly kind: 'object'; readonly type: GraphQLObjectType; readonly parts: readonly Part[]; readonly nullable: boolean }

/** A field with its selection. */
interface Selected {
  readonly part: Part
  /** The field as text of GraphQL. */
  readonly text: string
}

/** Reads selections of one route. */
export interface Reader {
  /** @param text selection of the field; by default the selection of its type */
  field(node: FieldNode, parent: GraphQLObjectType, text?: string): Selected
  /** The arguments that are variables, by their names. */
  readonly variables: ReadonlyMap<string, GraphQLArgument>
}

const parsed = new Map<string, readonly FieldNode[]>()

/** Parses the fields of a selection. @throws GraphQLError, Error for anything that is not a field */
export function fieldsOf(text: string): readonly FieldNode[] {
  const known = parsed.get(text)
  if (known) return known
  const [operation] = parse(`{ ${text} }`, { noLocation: true }).definitions
  const fields = operation?.kind === Kind.OPERATION_DEFINITION ? fieldsIn(operation.selectionSet) : []
  parsed.set(text, fields)
  return fields
}

const fieldsIn = ({ selections }: SelectionSetNode): readonly FieldNode[] =>
  selections.map(each => {
    if (each.kind !== Kind.FIELD) throw new Error('a selection of a route has fields alone: no fragments')
    return each
  })

/** Fields of a page besides its entries. */
const pageFields = 'pageInfo { hasNextPage endCursor } totalCount'

/** Selections already read, by a noun's selections and type: they are the same for each of its routes. */
export type Known = Map<OperationRoute['selections'], Map<GraphQLObjectType, readonly Selected[]>>

/**
 * Reads the selections of routes, along the types of the graph. @throws Error for a field that the graph does not have,
 * or whose type has no selection
 */
export function createReader(selections: OperationRoute['selections'], known: Known): Reader {
  const cache = known.get(selections) ?? new Map<GraphQLObjectType, readonly Selected[]>()
  known.set(selections, cache)
  const variables = new Map<string, GraphQLArgument>()

  function argumentsOf(field: GraphQLField<unknown, unknown>, nodes: readonly ArgumentNode[]): string {
    for (const { name, value } of nodes) {
      const argument = field.args.find(each => each.name === name.value)
      if (!argument) throw new Error(`${field.name} has no argument ${name.value}`)
      if (value.kind === Kind.VARIABLE) variables.set(value.name.value, argument)
    }
    return nodes.length > 0 ? `(${nodes.map(print).join(', ')})` : ''
  }

  /** Returns the selection of a type: the route's own, or the one declared for the type. */
  function below(type: GraphQLObjectType, node: FieldNode, text: string | undefined): readonly Selected[] {
    const own = text !== undefined ? fieldsOf(text) : node.selectionSet && fieldsIn(node.selectionSet)
    if (own) return own.map(each => reader.field(each, type))
    const before = cache.get(type)
    if (before) return before
    const selection = selections[type.name]
    if (!selection) throw new Error(`nothing says which fields of ${type.name} are shown: add it to select`)
    const asked = variables.size
    const selected = fieldsOf(selection.fields).map(each => reader.field(each, type))
    // Variables belong to a single route.
    if (variables.size === asked) cache.set(type, selected)
    return selected
  }

  function shapeOf(type: GraphQLOutputType, node: FieldNode, text: string | undefined, nullable = true): { readonly shape: Shape; readonly text: string } {
    if (isNonNullType(type)) return shapeOf(type.ofType, node, text, false)
    if (isListType(type)) {
      const item = shapeOf(type.ofType, node, text)
      // Entries that the caller may not see are missing from a list; lists of plain values have no hidden entries.
      const isValues = item.shape.kind === 'leaf'
      return { shape: { kind: 'list', of: isValues ? item.shape : notNull(item.shape), nullable: isValues && nullable }, text: item.text }
    }
    if (isLeafType(type)) return { shape: { kind: 'leaf', type, nullable }, text: '' }
    if (!isObjectType(type)) throw new Error(`${node.name.value} is of ${type.name}, which is no object`)
    const nodes = type.name.endsWith('Connection') ? type.getFields().nodes : undefined
    if (nodes) {
      const item = shapeOf(nodes.type, node, text)
      const leaf = (name: string, field: GraphQLField<unknown, unknown>) => partOf(name, field, shapeOf(field.type, node, undefined).shape)
      const [nextCursor, totalCount] = [leaf('nextCursor', endCursorOf(type)), leaf('totalCount', fieldOf(type, 'totalCount'))]
      return {
        shape: { kind: 'page', nodes: partOf('nodes', nodes, notNull(item.shape)), nextCursor, totalCount, nullable },
        text: ` { nodes${item.text} ${pageFields} }`,
      }
    }
    const selected = below(type, node, text)
    const parts = selected.map(({ part }) => part)
    return { shape: { kind: 'object', type, parts, nullable }, text: ` { ${selected.map(each => each.text).join(' ')} }` }
  }

  const reader: Reader = {
    variables,
    field(node, parent, text) {
      const field = fieldOf(parent, node.name.value)
      const args = argumentsOf(field, node.arguments ?? [])
      const { shape, text: selected } = shapeOf(field.type, node, text)
      const name = node.alias?.value ?? node.name.value
      const has = (directive: string) => node.directives?.some(each => each.name.value === directive) ?? false
      const part = partOf(name, field, node.alias && /Ids?$/.test(name) ? referring(shape) : shape)
      const required = has('required') || has('spread')
      return {
        part: { ...part, ...(required && { shape: notNull(part.shape) }), spread: has('spread'), required },
        text: `${node.alias ? `${name}: ` : ''}${node.name.value}${args}${selected}`,
      }
    },
  }
  return reader
}

const partOf = (name: string, { description }: { readonly description?: string | null | undefined }, shape: Shape): Part => ({
  name,
  description: description ?? null,
  shape,
  spread: false,
  required: false,
})

/** Returns the field of a page that holds the cursor of the next one. */
function endCursorOf(type: GraphQLObjectType): GraphQLField<unknown, unknown> {
  const info = getNamedType(fieldOf(type, 'pageInfo').type)
  if (!isObjectType(info)) throw new Error(`${type.name}.pageInfo is no object`)
  return fieldOf(info, 'endCursor')
}

function fieldOf(type: GraphQLObjectType, name: string): GraphQLField<unknown, unknown> {
  const field = type.getFields()[name]
  if (!field) throw new Error(`${type.name} has no field ${name}`)
  return field
}

const notNull = (shape: Shape): Shape => ({ ...shape, nullable: false })

/** Replaces objects of which only the id is selected by their ids. */
function referring(shape: Shape): Shape {
  if (shape.kind === 'list') return { ...shape, of: referring(shape.of) }
  if (shape.kind !== 'object') return shape
  const [id, ...others] = shape.parts
  return id?.name === 'id' && others.length === 0 ? { kind: 'reference', id, nullable: shape.nullable } : shape
}

/** Returns the parts of a body, with spread fields replaced by their parts. */
export function flattened(parts: readonly Part[]): readonly Part[] {
  return parts.flatMap(part => {
    const { name, shape } = part
    if (!part.spread) return [part]
    if (shape.kind === 'page') return [{ ...shape.nodes, name }, shape.nextCursor, shape.totalCount]
    return shape.kind === 'object' ? flattened(shape.parts) : [part]
  })
}
