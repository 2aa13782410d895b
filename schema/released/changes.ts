import { type Change, CriticalityLevel, diff } from '@graphql-inspector/core'
import {
  type GraphQLNamedType,
  type GraphQLSchema,
  type GraphQLType,
  getNamedType,
  isCompositeType,
  isEnumType,
  isInputObjectType,
  isInterfaceType,
  isObjectType,
  isScalarType,
} from 'graphql'

/** A change of a schema by which clients may lose something. */
export interface BreakingChange {
  /** Its kind in graphql-inspector: `FIELD_REMOVED`. */
  readonly kind: string
  /** `Post.copy`, `Query.posts(first:)` */
  readonly coordinate: string
  readonly message: string
  /** Place of the change in graphql-inspector's form, `Query.posts.first`, if it has one. */
  readonly path: string | undefined
  /** Why it breaks clients, if there is a reason to tell. */
  readonly reason: string | undefined
  /** Coordinates of the former schema whose use the change breaks; null where use of its kind is not recorded. */
  readonly touches: readonly string[] | null
}

/** Lists the breaking changes between two schemas; additions and merely dangerous changes (a new enum value) are none. */
export async function breakingBetween(before: GraphQLSchema, after: GraphQLSchema): Promise<readonly BreakingChange[]> {
  const changes = await diff(before, after)
  return changes
    .filter(({ criticality }) => criticality.level === CriticalityLevel.Breaking)
    .map(change => ({
      kind: change.type,
      coordinate: coordinateOf(change),
      message: change.message,
      path: change.path,
      reason: change.criticality.reason,
      touches: touchesOf(change, before),
    }))
}

type Meta = Readonly<Record<string, string>>

const metaOf = ({ meta }: Change): Meta => meta as never

/** Returns the schema coordinate of a change. */
function coordinateOf(change: Change): string {
  const path = change.path ?? 'schema'
  if (!/^FIELD_ARGUMENT_/.test(change.type)) return path
  const [type, field, argument] = path.split('.')
  return `${type}.${field}(${argument}:)`
}

/** Returns the coordinates of a former schema whose use a change breaks; null for kinds whose use is not recorded. */
function touchesOf(change: Change, schema: GraphQLSchema): readonly string[] | null {
  const meta = metaOf(change)
  const type = (name: string | undefined) => (name === undefined ? undefined : schema.getType(name))
  switch (String(change.type)) {
    case 'FIELD_REMOVED':
    case 'FIELD_TYPE_CHANGED':
      return [change.path!]
    // Whoever asks the field has to write the argument from then on.
    case 'FIELD_ARGUMENT_ADDED':
      return [`${meta.typeName}.${meta.fieldName}`]
    case 'FIELD_ARGUMENT_REMOVED':
      return [coordinateOf(change)]
    case 'FIELD_ARGUMENT_TYPE_CHANGED':
      return becomesRequired(meta.oldArgumentType, meta.newArgumentType) ? [`${meta.typeName}.${meta.fieldName}`] : [coordinateOf(change)]
    case 'INPUT_FIELD_REMOVED':
      return [change.path!]
    case 'INPUT_FIELD_ADDED':
      return inputUse(schema, meta.inputName!)
    case 'INPUT_FIELD_TYPE_CHANGED':
      return becomesRequired(meta.oldInputFieldType, meta.newInputFieldType) ? inputUse(schema, meta.inputName!) : [change.path!]
    case 'ENUM_VALUE_REMOVED':
      return [`${meta.enumName}.${meta.removedEnumValueName}`, ...placesOf(schema, type(meta.enumName)!, ['fields'])]
    case 'TYPE_REMOVED':
    case 'TYPE_KIND_CHANGED':
      return typeUse(schema, type(meta.removedTypeName ?? meta.typeName)!)
    case 'UNION_MEMBER_REMOVED':
      return typeUse(schema, type(meta.removedUnionMemberTypeName)!)
    // The object keeps its fields: it cannot be had where the interface is asked for any more.
    case 'OBJECT_TYPE_INTERFACE_REMOVED':
      return [...typeUse(schema, type(meta.removedInterfaceName)!), meta.objectTypeName!]
    case 'SCHEMA_QUERY_TYPE_CHANGED':
      return rootUse(schema.getQueryType())
    case 'SCHEMA_MUTATION_TYPE_CHANGED':
      return rootUse(schema.getMutationType())
    case 'SCHEMA_SUBSCRIPTION_TYPE_CHANGED':
      return rootUse(schema.getSubscriptionType())
    // An input of which exactly one field may be written from then on.
    case 'DIRECTIVE_USAGE_INPUT_OBJECT_ADDED':
      return inputUse(schema, meta.inputObjectName!)
    default:
      return null
  }
}

const becomesRequired = (before: string | undefined, after: string | undefined): boolean => Boolean(after?.endsWith('!') && !before?.endsWith('!'))

/** Returns the coordinates of a type's own fields or values. */
function membersOf(type: GraphQLNamedType): readonly string[] {
  if (isEnumType(type)) return type.getValues().map(({ name }) => `${type.name}.${name}`)
  return 'getFields' in type ? Object.keys(type.getFields()).map(name => `${type.name}.${name}`) : []
}

/** Returns what uses a type: its fields or values, `... on` it, and of types without fields the places that have it. */
function typeUse(schema: GraphQLSchema, type: GraphQLNamedType): readonly string[] {
  const conditions = isCompositeType(type) ? [type.name] : []
  const places = isObjectType(type) || isInterfaceType(type) ? [] : placesOf(schema, type, ['fields', 'inputs'])
  return [...conditions, ...membersOf(type), ...places]
}

/** Returns what writes an input object: its fields, and the places that take it. */
const inputUse = (schema: GraphQLSchema, name: string): readonly string[] => [
  ...membersOf(schema.getType(name)!),
  ...placesOf(schema, schema.getType(name)!, ['inputs']),
]

const rootUse = (type: GraphQLNamedType | null | undefined): readonly string[] => (type ? membersOf(type) : [])

const namedTypeOf = ({ type }: { readonly type: GraphQLType }): GraphQLNamedType => getNamedType(type)

/** Returns fields that answer a type, and arguments and input fields that take it. */
function placesOf(schema: GraphQLSchema, type: GraphQLNamedType, of: readonly ('fields' | 'inputs')[]): readonly string[] {
  const found: string[] = []
  for (const each of Object.values(schema.getTypeMap())) {
    if (each.name.startsWith('__') || isScalarType(each) || !('getFields' in each)) continue
    for (const field of Object.values(each.getFields())) {
      const isPlace = namedTypeOf(field) === type
      if (isPlace && of.includes(isInputObjectType(each) ? 'inputs' : 'fields')) found.push(`${each.name}.${field.name}`)
      if (!('args' in field) || !of.includes('inputs')) continue
      for (const argument of field.args) if (namedTypeOf(argument) === type) found.push(`${each.name}.${field.name}(${argument.name}:)`)
    }
  }
  return found
}
