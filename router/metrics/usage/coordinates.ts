import {
  type DocumentNode,
  type FieldNode,
  type GraphQLArgument,
  type GraphQLCompositeType,
  type GraphQLInputType,
  type GraphQLNamedType,
  type GraphQLSchema,
  getNamedType,
  isCompositeType,
  isEnumType,
  isInputObjectType,
  isInputType,
  isUnionType,
  Kind,
  type SelectionSetNode,
  typeFromAST,
  type ValueNode,
} from 'graphql'
import { findOperation } from '../../engine/operation/operation.ts'

/** A variable whose value names input fields or enum values. */
export interface InputVariable {
  readonly name: string
  readonly names: ReadonlyMap<string, Named>
}

/** What an operation uses of a schema. */
export interface Used {
  /**
   * Schema coordinates, sorted: `Type.field`, `Type.field(argument:)`, `Input.field`, `Enum.VALUE` (as input), and
   * `Type` for the condition of a fragment.
   */
  readonly coordinates: readonly string[]
  /** Used variables whose values, which differ between requests, have coordinates of their own (`visitValues`). */
  readonly inputs: readonly InputVariable[]
}

/**
 * Returns what an operation uses of a schema. Parts of it that the schema does not know, and introspection, are left
 * out.
 * @param document valid against the schema, without `@skip` and `@include` (`foldConditions`)
 * @returns null when the document holds no such operation
 */
export function usedBy(schema: GraphQLSchema, document: DocumentNode, operationName: string | undefined): Used | null {
  const operation = findOperation(document, operationName)
  if (typeof operation === 'string') return null
  const { definition, fragments } = operation
  const found = new Set<string>()
  const variables = new Set<string>()
  const spread = new Set<string>()

  const visitArguments = (args: readonly GraphQLArgument[], coordinate: string, node: FieldNode) => {
    for (const { name, value } of node.arguments ?? []) {
      const argument = args.find(each => each.name === name.value)
      if (!argument) continue
      found.add(`${coordinate}(${argument.name}:)`)
      addWritten(argument.type, value, found, variables)
    }
  }
  const visitField = (parent: GraphQLCompositeType, node: FieldNode) => {
    const field = isUnionType(parent) ? undefined : parent.getFields()[node.name.value]
    if (!field) return
    const coordinate = `${parent.name}.${field.name}`
    found.add(coordinate)
    visitArguments(field.args, coordinate, node)
    const type = getNamedType(field.type)
    if (node.selectionSet && isCompositeType(type)) visit(type, node.selectionSet)
  }
  const visitCondition = (name: string, set: SelectionSetNode) => {
    const type = schema.getType(name)
    if (!isCompositeType(type) || isIntrospection(type)) return
    found.add(name)
    visit(type, set)
  }
  const visit = (parent: GraphQLCompositeType, { selections }: SelectionSetNode) => {
    if (isIntrospection(parent)) return
    for (const selection of selections) {
      if (selection.kind === Kind.FIELD) visitField(parent, selection)
      else if (selection.kind === Kind.INLINE_FRAGMENT) {
        if (selection.typeCondition) visitCondition(selection.typeCondition.name.value, selection.selectionSet)
        else visit(parent, selection.selectionSet)
      } else {
        const fragment = fragments.get(selection.name.value)
        // A fragment uses the same wherever it is spread.
        if (!fragment || spread.has(fragment.name.value)) continue
        spread.add(fragment.name.value)
        visitCondition(fragment.typeCondition.name.value, fragment.selectionSet)
      }
    }
  }

  const root = schema.getRootType(definition.operation)
  if (root) visit(root, definition.selectionSet)
  const inputs: InputVariable[] = []
  for (const { variable, type: node, defaultValue } of definition.variableDefinitions ?? []) {
    if (!variables.has(variable.name.value)) continue
    const type = typeFromAST(schema, node as never) as GraphQLNamedType | undefined
    if (!isInputType(type)) continue
    if (defaultValue) addWritten(type, defaultValue, found, variables)
    const names = namesOf(type)
    if (names) inputs.push({ name: variable.name.value, names })
  }
  return { coordinates: [...found].sort(), inputs }
}

const isIntrospection = ({ name }: GraphQLNamedType): boolean => name.startsWith('__')

/** Adds the coordinates that a value in a document names, and the variables in it. */
function addWritten(type: GraphQLInputType, value: ValueNode, found: Set<string>, variables: Set<string>): void {
  if (value.kind === Kind.VARIABLE) return void variables.add(value.name.value)
  if (value.kind === Kind.LIST) {
    for (const each of value.values) addWritten(type, each, found, variables)
    return
  }
  const named = getNamedType(type)
  if (value.kind === Kind.ENUM && isEnumType(named) && named.getValue(value.value)) found.add(`${named.name}.${value.value}`)
  if (value.kind !== Kind.OBJECT || !isInputObjectType(named)) return
  const fields = named.getFields()
  for (const { name, value: inner } of value.fields) {
    const field = fields[name.value]
    if (!field) continue
    found.add(`${named.name}.${field.name}`)
    addWritten(field.type, inner, found, variables)
  }
}

/** What values of an input object or enum may name, by the name. */
interface Named {
  readonly coordinate: string
  /** Whether it is an input field, not a value of an enum. */
  readonly isField: boolean
  /** What the value of an input field may name in turn. */
  readonly inner: ReadonlyMap<string, Named> | null
}

const namedBy = new WeakMap<GraphQLNamedType, Map<string, Named>>()

function namesOf(type: GraphQLInputType): ReadonlyMap<string, Named> | null {
  const named = getNamedType(type)
  const isInput = isInputObjectType(named)
  if (!isInput && !isEnumType(named)) return null
  const known = namedBy.get(named)
  if (known) return known
  const names = new Map<string, Named>()
  // Kept before it is complete, because input types may hold themselves.
  namedBy.set(named, names)
  if (isInput)
    for (const field of Object.values(named.getFields()))
      names.set(field.name, { coordinate: `${named.name}.${field.name}`, isField: true, inner: namesOf(field.type) })
  else for (const { name } of named.getValues()) names.set(name, { coordinate: `${named.name}.${name}`, isField: false, inner: null })
  return names
}

/**
 * Visits the coordinates of input fields and enum values that the values of variables name, some of them repeatedly.
 * Names that the schema does not know are left out, so that nothing that a client invented is recorded.
 * @param values as the client sent them, before coercion
 */
export function visitValues(
  inputs: readonly InputVariable[],
  values: Readonly<Record<string, unknown>> | null | undefined,
  visit: (coordinate: string) => void,
): void {
  for (const { name, names } of inputs) if (values && Object.hasOwn(values, name)) visitValue(names, values[name], visit)
}

function visitValue(names: ReadonlyMap<string, Named>, value: unknown, visit: (coordinate: string) => void): void {
  if (typeof value === 'string') {
    // An enum's value: a text is no input object.
    const named = names.get(value)
    if (named && !named.isField) visit(named.coordinate)
  } else if (Array.isArray(value)) for (const each of value) visitValue(names, each, visit)
  else if (typeof value === 'object' && value !== null)
    for (const key in value) {
      const named = names.get(key)
      if (!named?.isField) continue
      visit(named.coordinate)
      if (named.inner) visitValue(named.inner, (value as Record<string, unknown>)[key], visit)
    }
}

/** Every coordinate of a schema that an operation can use, sorted; introspection and values of enums that are no input are none. */
export function coordinatesIn(schema: GraphQLSchema): readonly string[] {
  const found: string[] = []
  const inputs = new Set<GraphQLNamedType>()
  for (const type of Object.values(schema.getTypeMap())) {
    if (isIntrospection(type)) continue
    if (isInputObjectType(type))
      for (const field of Object.values(type.getFields())) {
        found.push(`${type.name}.${field.name}`)
        inputs.add(getNamedType(field.type))
      }
    else if ('getFields' in type)
      for (const field of Object.values(type.getFields())) {
        found.push(`${type.name}.${field.name}`)
        for (const argument of field.args) {
          found.push(`${type.name}.${field.name}(${argument.name}:)`)
          inputs.add(getNamedType(argument.type))
        }
      }
  }
  for (const type of inputs) if (isEnumType(type)) for (const { name } of type.getValues()) found.push(`${type.name}.${name}`)
  return found.sort()
}
