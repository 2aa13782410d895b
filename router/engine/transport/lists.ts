import {
  defaultFieldResolver,
  type FieldNode,
  type FragmentDefinitionNode,
  type GraphQLField,
  type GraphQLResolveInfo,
  type GraphQLSchema,
  isListType,
  isNonNullType,
  isObjectType,
  Kind,
  type SelectionSetNode,
} from 'graphql'
import { isOver, takeValues, type Work } from './work.ts'

type Resolver = NonNullable<GraphQLField<unknown, unknown>['resolve']>

/** Under which a context keeps the work that it is for: a WeakMap costs a small operation a tenth of its time. */
const workKey = Symbol('work')

/** Says for whose operation a resolvers' context is: what their lists hold is counted there. */
export function workWith<Context extends object>(context: Context, work: Work): Context {
  ;(context as { [workKey]?: Work })[workKey] = work
  return context
}

/** A field that answers a list. */
export interface ListField {
  readonly field: GraphQLField<unknown, unknown>
  /** As the subgraph has it; null for one that is read from the object. */
  readonly own: Resolver | null
}

/** Those of introspection are the same in every schema. */
const meteredFields = new WeakMap<GraphQLField<unknown, unknown>, ListField>()

const metered = new WeakMap<GraphQLSchema, readonly ListField[]>()

/**
 * Lets every list field of a schema count its elements, because lists are all that multiplies: work that has become too much, or for
 * which nobody waits, goes on with empty lists and so comes to its end, and long work stops after some thousand values until everybody
 * else had a turn. Done once to a schema.
 */
export function meterLists(schema: GraphQLSchema): readonly ListField[] {
  const known = metered.get(schema)
  if (known) return known
  const lists: ListField[] = []
  for (const type of Object.values(schema.getTypeMap())) {
    if (!isObjectType(type)) continue
    for (const field of Object.values(type.getFields())) {
      if (!isListType(isNonNullType(field.type) ? field.type.ofType : field.type)) continue
      const list = meteredFields.get(field) ?? { field, own: field.resolve ?? null }
      if (!meteredFields.has(field)) field.resolve = counted(list.own ?? defaultFieldResolver)
      meteredFields.set(field, list)
      lists.push(list)
    }
  }
  metered.set(schema, lists)
  return lists
}

/** A resolver of a list whose elements count. */
export function counted(resolve: Resolver): Resolver {
  return (source, args, context, info) => {
    const list = resolve(source, args, context, info)
    const work = (context as { [workKey]?: Work } | null | undefined)?.[workKey]
    if (!work) return list
    return isThenable(list) ? list.then(settled => count(settled, work, info)) : count(list, work, info)
  }
}

function count(list: unknown, work: Work, info: GraphQLResolveInfo): unknown {
  if (!Array.isArray(list) || list.length === 0) return list
  const turn = takeValues(work, list.length * weightOf(info))
  if (work.ended || work.leaving?.aborted) return none
  return turn ? turn.then(() => (isOver(work) ? none : list)) : list
}

const none: readonly unknown[] = []

const weights = new WeakMap<FieldNode, number>()

/** How many fields are selected below a list, with all that its elements hold. */
function weightOf({ fieldNodes, fragments }: GraphQLResolveInfo): number {
  let weight = 0
  for (const node of fieldNodes) {
    let known = weights.get(node)
    if (known === undefined) {
      known = node.selectionSet ? fieldsIn(node.selectionSet, fragments) : 1
      weights.set(node, known)
    }
    weight += known
  }
  return weight
}

function fieldsIn(set: SelectionSetNode, fragments: Readonly<Record<string, FragmentDefinitionNode>>): number {
  let fields = 0
  for (const selection of set.selections) {
    if (selection.kind === Kind.FIELD) fields += 1 + (selection.selectionSet ? fieldsIn(selection.selectionSet, fragments) : 0)
    else if (selection.kind === Kind.INLINE_FRAGMENT) fields += fieldsIn(selection.selectionSet, fragments)
    else {
      const fragment = fragments[selection.name.value]
      if (fragment) fields += fieldsIn(fragment.selectionSet, fragments)
    }
  }
  return fields
}

export const isThenable = (value: unknown): value is Promise<unknown> =>
  typeof value === 'object' && value !== null && typeof (value as { then?: unknown }).then === 'function'
