import {
  type FieldNode,
  type FragmentDefinitionNode,
  type FragmentSpreadNode,
  type GraphQLCompositeType,
  type GraphQLField,
  type GraphQLInterfaceType,
  type GraphQLObjectType,
  type GraphQLOutputType,
  type GraphQLSchema,
  getNamedType,
  type InlineFragmentNode,
  isAbstractType,
  isCompositeType,
  isEnumType,
  isListType,
  isNonNullType,
  isObjectType,
  isSpecifiedScalarType,
  isUnionType,
  Kind,
  type SelectionSetNode,
} from 'graphql'
import type { Data } from '../data/merge.ts'
import type { Deferral, Deferrals } from '../operation/deferral.ts'
import type { Names } from '../operation/names.ts'
import type { Operation } from '../operation/operation.ts'

/** The fields that a selection yields for each runtime type: computed when a type first occurs, then cached. */
export interface Shape {
  readonly type: GraphQLCompositeType
  /**
   * Fields for objects of a runtime type, in the order in which graphql-js answers them; undefined for an impossible
   * type.
   */
  of(typename: string): ObjectShape | undefined
  /** Fields for objects whose runtime type was not fetched: those that every type of the selection has. */
  readonly common: ObjectShape
  /** Names of all types that objects here can have. */
  possibleTypes(): readonly string[]
}

export interface ObjectShape {
  /** Name of the type; null in `common` of an abstract type. */
  readonly typename: string | null
  readonly fields: readonly FieldShape[]
  /** The fields of the whole operation, where `fields` are only those of one payload. */
  readonly all: readonly FieldShape[]
  /** Deferred fragments that complete the object, the outer ones before those nested in them. */
  readonly begins: readonly Deferral[]
  readonly byKey: ReadonlyMap<string, FieldShape>
  /** Bytes of an object in JSON without its values: braces, keys, colons, commas. */
  readonly bytes: number
}

export interface FieldShape {
  /** The client's alias or the field's name. */
  readonly responseKey: string
  /** Key of the value in the data. */
  readonly key: string
  /** Further keys of the same field, where subgraphs type it differently. */
  readonly otherKeys: readonly string[]
  /** Schema coordinate, `Type.field`, for error messages. */
  readonly coordinate: string
  readonly value: ValueShape
  /** Origin of the value: subgraphs, the object's type, the schema itself, or nowhere because access was rejected. */
  readonly from: 'data' | 'typename' | 'introspection' | 'refused'
  /** The field's nodes in the client's document, at every position. */
  readonly nodes: readonly FieldNode[]
  /** Deferred fragments that select the field, and null among them where others do too; null where no fragment defers it. */
  readonly by: readonly (Deferral | null)[] | null
  /** The deferral of all but the first elements, where the list is streamed. */
  readonly stream: Deferral | null
}

export interface ValueShape {
  readonly nonNull: boolean
  /** Shape of the elements of a list; null for other values. */
  readonly items: ValueShape | null
  /** Shape of the value, if it is an object; null for other values. */
  readonly object: Shape | null
  /** Enum values that clients know; null if the type is no enum. */
  readonly names: ReadonlySet<string> | null
  /** Whether a leaf must be a string, a number or a boolean. */
  readonly plain: boolean
  /**
   * Maximum bytes of a leaf in JSON, where its type determines them; null for text and for values other than leaves.
   */
  readonly bytes: number | null
}

/** A place where a field's selection was written. */
interface Written {
  readonly set: SelectionSetNode
  readonly parent: GraphQLCompositeType
  readonly by: Deferral | null
}

/** One operation in two forms: as the client wrote it, and without the fields that its viewer may not read. */
interface Reading {
  readonly asked: readonly Written[]
  /** Selections that the viewer may read; the very same array when none is rejected. */
  readonly allowed: readonly Written[]
}

/**
 * Returns the shape of an operation's answer.
 * @param asked   the operation as the client wrote it, conditions folded
 * @param allowed the operation without rejected fields; null when nothing is left, the same object when nothing was
 * rejected
 * @param deferrals collects the deferred fragments @default none are deferred
 */
export function shapeOf(
  asked: Operation,
  allowed: Operation | null,
  rootType: GraphQLObjectType,
  names: Names,
  schema: GraphQLSchema,
  deferrals: Deferrals | null = null,
): Shape {
  const written = [{ set: asked.definition.selectionSet, parent: rootType, by: null }]
  const remaining = allowed === asked ? written : allowed ? [{ set: allowed.definition.selectionSet, parent: rootType, by: null }] : []
  const known: Known = { schema, deferrals }
  return createShape(rootType, { asked: written, allowed: remaining }, [])

  /** @param path response keys from the root */
  function createShape(type: GraphQLCompositeType, reading: Reading, path: readonly string[]): Shape {
    const objects = new Map<string, ObjectShape | undefined>()
    let common: ObjectShape | undefined
    const of = (typename: string) => {
      if (objects.has(typename)) return objects.get(typename)
      const runtime = schema.getType(typename)
      const possible = isObjectType(runtime) && (runtime === type || (isAbstractType(type) && schema.isSubType(type, runtime)))
      // Unknown names are not cached, because they would accumulate.
      if (!possible) return undefined
      const shape = createObjectShape(runtime, reading, path)
      objects.set(typename, shape)
      return shape
    }
    return {
      type,
      of,
      get common() {
        common ??= isObjectType(type) ? of(type.name)! : createObjectShape(type, reading, path)
        return common
      },
      possibleTypes: () => (isAbstractType(type) ? schema.getPossibleTypes(type).map(possible => possible.name) : [type.name]),
    }
  }

  function createObjectShape(runtime: GraphQLCompositeType, reading: Reading, path: readonly string[]): ObjectShape {
    const begins: Deferral[] = []
    const askedFields = collectFields(known, runtime, reading.asked, asked.fragments, path, begins)
    const allowedFields =
      reading.allowed === reading.asked ? askedFields : collectFields(known, runtime, reading.allowed, (allowed ?? asked).fragments, path, null)
    const fields: FieldShape[] = []
    const byKey = new Map<string, FieldShape>()
    for (const [responseKey, nodes] of askedFields) {
      const shape = createFieldShape(responseKey, nodes, allowedFields.get(responseKey), runtime, path)
      if (!shape) continue
      fields.push(shape)
      if (shape.from === 'data') for (const key of [shape.key, ...shape.otherKeys]) byKey.set(key, shape)
    }
    const bytes = bytesOf(fields)
    return { typename: isObjectType(runtime) ? runtime.name : null, fields, all: fields, begins, byKey, bytes }
  }

  function createFieldShape(
    responseKey: string,
    nodes: readonly CollectedField[],
    allowedNodes: readonly CollectedField[] | undefined,
    runtime: GraphQLCompositeType,
    path: readonly string[],
  ): FieldShape | null {
    const first = nodes[0]!
    const name = first.node.name.value
    const base = {
      responseKey,
      key: name,
      otherKeys: [],
      coordinate: `${runtime.name}.${name}`,
      nodes: nodes.map(({ node }) => node),
      by: byOf(nodes),
      stream: null,
    }
    if (name === '__typename') return { ...base, from: 'typename', value: typenameShape }
    // The schema's own description is always in the first payload.
    if (path.length === 0 && (name === '__schema' || name === '__type')) return { ...base, by: null, from: 'introspection', value: introspectionShape }
    const field = fieldOf(runtime, name)
    if (!field) return null
    const keys = [...new Set(nodes.map(({ node, parent }) => names.keyOf(node, parent.name)))]
    const askedSets = writtenUnder(field, nodes)
    const allowedSets = allowedNodes === nodes ? askedSets : writtenUnder(field, allowedNodes ?? [])
    const at = deferrals ? [...path, responseKey] : below
    return {
      ...base,
      stream: deferrals?.streamAt(at) ?? null,
      key: keys[0]!,
      otherKeys: keys.slice(1),
      from: allowedNodes ? 'data' : 'refused',
      value: createValueShape(field.type, { asked: askedSets, allowed: allowedSets }, at),
    }
  }

  function createValueShape(type: GraphQLOutputType, reading: Reading, path: readonly string[]): ValueShape {
    const nonNull = isNonNullType(type)
    const nullable = isNonNullType(type) ? type.ofType : type
    const leaf = { nonNull, items: null, object: null, names: null, plain: false, bytes: null }
    if (isListType(nullable)) return { ...leaf, items: createValueShape(nullable.ofType, reading, path) }
    if (isCompositeType(nullable)) return { ...leaf, object: createShape(nullable, reading, path) }
    if (isEnumType(nullable)) {
      const names = nullable.getValues().map(value => value.name)
      return { ...leaf, names: new Set(names), bytes: Math.max(...names.map(name => name.length + 2)) }
    }
    const isText = nullable.name !== 'Int' && nullable.name !== 'Float' && nullable.name !== 'Boolean'
    return { ...leaf, plain: isSpecifiedScalarType(nullable), bytes: isText ? null : 24 }
  }
}

/** What collecting fields needs to know of the operation. */
interface Known {
  readonly schema: GraphQLSchema
  readonly deferrals: Deferrals | null
}

/**
 * Collects fields as graphql-js does, so that the order of keys is the same.
 * @param begins is given the deferred fragments at this place; null where none is looked for
 */
function collectFields(
  { schema, deferrals }: Known,
  runtime: GraphQLCompositeType,
  sets: readonly Written[],
  fragments: ReadonlyMap<string, FragmentDefinitionNode>,
  path: readonly string[],
  begins: Deferral[] | null,
) {
  const fields = new Map<string, CollectedField[]>()
  const spread = new Set<string>()
  const begun = (fragment: FragmentSpreadNode | InlineFragmentNode, by: Deferral | null): Deferral | null =>
    deferrals && begins ? deferrals.begun(fragment, path, by) : by
  const visitSet = (set: SelectionSetNode, parent: GraphQLCompositeType, by: Deferral | null): void => {
    for (const selection of set.selections) {
      if (selection.kind === Kind.FIELD) {
        const responseKey = (selection.alias ?? selection.name).value
        const nodes = fields.get(responseKey)
        if (nodes) nodes.push({ node: selection, parent, by })
        else fields.set(responseKey, [{ node: selection, parent, by }])
        continue
      }
      if (selection.kind === Kind.INLINE_FRAGMENT) {
        visitFragment(selection.selectionSet, selection.typeCondition?.name.value, parent, begun(selection, by), by)
        continue
      }
      const fragment = fragments.get(selection.name.value)
      if (!fragment) continue
      const within = begun(selection, by)
      const once = within ? `${selection.name.value} ${within.id}` : selection.name.value
      if (spread.has(once)) continue
      spread.add(once)
      visitFragment(fragment.selectionSet, fragment.typeCondition.name.value, parent, within, by)
    }
  }
  const visitFragment = (
    set: SelectionSetNode,
    condition: string | undefined,
    parent: GraphQLCompositeType,
    by: Deferral | null,
    before: Deferral | null,
  ): void => {
    const type = condition === undefined ? parent : schema.getType(condition)
    if (!isCompositeType(type) || !always(schema, type, runtime)) return
    if (by && by !== before && !begins!.includes(by)) begins!.push(by)
    // Below a narrower parent type a wider condition is redundant: planner and names ignore it.
    const narrower = type !== parent && isAbstractType(type) && !isUnionType(parent) && schema.isSubType(type, parent)
    visitSet(set, narrower ? parent : type, by)
  }
  for (const { set, parent, by } of sets) visitSet(set, parent, by)
  return fields
}

/** Returns the bytes of an object in JSON without its values. */
export const bytesOf = (fields: readonly FieldShape[]): number =>
  fields.reduce((sum, { responseKey }) => sum + Buffer.byteLength(JSON.stringify(responseKey)) + 2, 2)

/** Path of everything below the root, where paths are not needed. */
const below: readonly string[] = ['']

function byOf(nodes: readonly CollectedField[]): FieldShape['by'] {
  if (nodes.every(({ by }) => by === null)) return null
  return [...new Set(nodes.map(({ by }) => by))]
}

/** Whether every object of a type fulfils a type condition. */
function always(schema: GraphQLSchema, condition: GraphQLCompositeType, runtime: GraphQLCompositeType): boolean {
  if (condition === runtime) return true
  if (!isAbstractType(condition)) return false
  if (!isUnionType(runtime)) return schema.isSubType(condition, runtime)
  return schema.getPossibleTypes(runtime).every(type => schema.isSubType(condition, type))
}

/** Returns the shape for one object; undefined when clients do not know its type or it is impossible here. */
export function runtimeShape(shape: Shape, object: Data): ObjectShape | undefined {
  const isAbstract = shape.common.typename === null
  const typename = object.__typename
  // An interface's own name comes from a subgraph that sees the interface as an object: no more is known.
  if (!isAbstract || typeof typename !== 'string' || typename === shape.type.name) return shape.common
  return shape.of(typename)
}

interface CollectedField {
  readonly node: FieldNode
  readonly parent: GraphQLCompositeType
  readonly by: Deferral | null
}

const writtenUnder = (field: GraphQLField<unknown, unknown>, nodes: readonly CollectedField[]): Written[] => {
  const parent = getNamedType(field.type)
  if (!isCompositeType(parent)) return []
  const sets: Written[] = []
  for (const { node, by } of nodes) if (node.selectionSet) sets.push({ set: node.selectionSet, parent, by })
  return sets
}

const fieldOf = (type: GraphQLCompositeType, name: string): GraphQLField<unknown, unknown> | undefined =>
  isUnionType(type) ? undefined : (type as GraphQLObjectType | GraphQLInterfaceType).getFields()[name]

const typenameShape: ValueShape = { nonNull: true, items: null, object: null, names: null, plain: true, bytes: null }
const introspectionShape: ValueShape = { nonNull: false, items: null, object: null, names: null, plain: false, bytes: null }
