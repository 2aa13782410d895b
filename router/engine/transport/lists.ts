import {
  defaultFieldResolver,
  type FieldNode,
  type FragmentDefinitionNode,
  type GraphQLField,
  type GraphQLNamedType,
  type GraphQLResolveInfo,
  isListType,
  isNonNullType,
  isObjectType,
  Kind,
  type SelectionSetNode,
} from 'graphql'
import { isThenable, settled } from '../repairs/jit-rejected-elements/settled.ts'
import { isOver, takeValues, type Work } from '../work.ts'

type Resolver = NonNullable<GraphQLField<unknown, unknown>['resolve']>

/** Key under which a context holds its operation's work: a WeakMap costs a small operation a tenth of its time. */
const workKey = Symbol('work')

/** Assigns a resolvers' context to an operation, whose work counts the elements of lists. */
export function workWith<Context extends object>(context: Context, work: Work): Context {
  ;(context as { [workKey]?: Work })[workKey] = work
  return context
}

/** Fields that count already: introspection fields are the same objects in every schema. */
const metered = new WeakSet<GraphQLField<unknown, unknown>>()

/**
 * Makes the list fields of some types count their elements, because only lists multiply work. Work that exceeded a
 * limit, or for which no caller waits, continues with empty lists and so ends soon; long work pauses after some
 * thousand values until all others had a turn. List fields also await their elements, which graphql-jit needs. Must be
 * applied to a schema's types before the first operation.
 */
export function meterLists(types: Iterable<GraphQLNamedType>): void {
  for (const type of types) {
    if (!isObjectType(type)) continue
    for (const field of Object.values(type.getFields())) {
      if (metered.has(field) || !isListType(isNonNullType(field.type) ? field.type.ofType : field.type)) continue
      field.resolve = counted(field.resolve ?? defaultFieldResolver)
      metered.add(field)
    }
  }
}

/** Returns the resolver of a list field that awaits the list's elements and counts them. */
function counted(resolve: Resolver): Resolver {
  return (source, args, context, info) => {
    const list = resolve(source, args, context, info)
    const work = (context as { [workKey]?: Work } | null | undefined)?.[workKey]
    return isThenable(list) ? list.then(known => awaited(known, work, info)) : awaited(list, work, info)
  }
}

function awaited(list: unknown, work: Work | undefined, info: GraphQLResolveInfo): unknown {
  const elements = settled(list)
  if (!work) return elements
  return isThenable(elements) ? elements.then(known => count(known, work, info)) : count(elements, work, info)
}

function count(list: unknown, work: Work, info: GraphQLResolveInfo): unknown {
  if (!Array.isArray(list) || list.length === 0) return list
  const turn = takeValues(work, list.length * weightOf(info))
  if (work.ended || work.leaving?.aborted) return none
  return turn ? turn.then(() => (isOver(work) ? none : list)) : list
}

const none: readonly unknown[] = []

const weights = new WeakMap<FieldNode, number>()

/** Returns the number of fields selected below a list, at all levels. */
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
