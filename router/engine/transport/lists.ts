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

/** Under which a context keeps the work that it is for: a WeakMap costs a small operation a tenth of its time. */
const workKey = Symbol('work')

/** Says for whose operation a resolvers' context is: what their lists hold is counted there. */
export function workWith<Context extends object>(context: Context, work: Work): Context {
  ;(context as { [workKey]?: Work })[workKey] = work
  return context
}

/** Fields that count already: those of introspection are the same objects in every schema. */
const metered = new WeakSet<GraphQLField<unknown, unknown>>()

/**
 * Lets every list field of some types count its elements, because lists are all that multiplies: work that has become too much, or for
 * which nobody waits, goes on with empty lists and so comes to its end, and long work stops after some thousand values until everybody
 * else had a turn. And lets it wait for its elements, for graphql-jit's sake. To be done to the types of a schema before anything is asked of it.
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

/** The resolver of a list field, which waits for the list's elements and counts them. */
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
