import {
  type FieldNode,
  type FragmentDefinitionNode,
  type GraphQLCompositeType,
  type GraphQLObjectType,
  type GraphQLSchema,
  getNamedType,
  isAbstractType,
  isCompositeType,
  isListType,
  isNonNullType,
  Kind,
  type SelectionSetNode,
} from 'graphql'
import { isIncremental } from '../deferral.ts'
import type { Operation } from '../operation.ts'
import { type Amount, amountFor, type Given, greatest, product, sum } from './amount.ts'
import type { Costs } from './costs.ts'
import { inputCost, lengthOf, unknownLength } from './inputs.ts'

/** Additional cost of each root field of a mutation, compared with a query. */
export const mutationCost = 10

/** A graph whose operations have costs. */
export interface Priced {
  readonly schema: GraphQLSchema
  readonly costs: Costs
}

/** Maximum cost of an operation, once its variables are known. */
export interface Estimate {
  readonly total: Amount
  /** Path to the most expensive field in the client's words: response keys from the root, lists with their length. */
  dearest(given: Given): string
}

/** One field of an answer, in the cost estimate. */
interface Term {
  readonly key: string
  /** Number of the field's values. */
  readonly count: Amount
  readonly total: Amount
  /** Cost of each value, by the types that it can have. */
  readonly kinds: readonly Kinds[]
}

interface Kinds {
  readonly total: Amount
  readonly terms: readonly Term[]
}

/**
 * Estimates the cost of an operation. A field that answers objects costs its weight for each of them; lists multiply
 * it, and everything below, by their length. Fields under the same key count once; of the types that an object can
 * have, the most expensive counts. Everything that depends on no variable is computed here, so that a cached estimate
 * costs next to nothing.
 * @param operation without `@skip` and `@include`, and without fields that the viewer may not read
 */
export function estimateOf({ definition, fragments }: Operation, { schema, costs }: Priced): Estimate {
  const numbers = new Map<SelectionSetNode, number>()
  /**
   * Estimates already computed, by type and the numbers of the selections: nested types meet the same selections again.
   */
  const known = new Map<string, Kinds>()
  const root = schema.getRootType(definition.operation)!
  const terms = termsOf(root, [definition.selectionSet], null, definition.operation === 'mutation' ? mutationCost : 0)
  return { total: sum(terms.map(({ total }) => total)), dearest: given => wayIn(terms, given) }

  /** @param sizes lengths of lists that the parent field declares */
  function termsOf(type: GraphQLObjectType, sets: readonly SelectionSetNode[], sizes: ReadonlyMap<string, Amount> | null, more = 0): Term[] {
    const terms: Term[] = []
    const { fields, deferred } = collect(type, sets)
    // Each deferred part is an entry of its own in the answer.
    if (deferred > 0) terms.push({ key: '@defer', count: deferred, total: deferred, kinds: [] })
    for (const [key, nodes] of fields) {
      const term = termOf(type, key, nodes, sizes, more)
      if (term) terms.push(term)
    }
    return terms
  }

  function termOf(type: GraphQLObjectType, key: string, nodes: readonly FieldNode[], sizes: ReadonlyMap<string, Amount> | null, more: number): Term | null {
    const node = nodes[0]!
    const name = node.name.value
    if (name === '__typename') return null
    const field = type.getFields()[name]
    // Introspection types have limits of their own.
    if (!field) return { key, count: 1, total: 1, kinds: [] }
    const coordinate = `${type.name}.${name}`
    const size = costs.lists.get(coordinate)
    const length = size ? lengthOf(size, field, node) : null
    const own = sizes?.get(name) ?? (size?.sized.size === 0 ? length : null) ?? unknownLength
    let count: Amount = 1
    for (let inner = field.type; isListType(inner) || isNonNullType(inner); inner = inner.ofType) if (isListType(inner)) count = product(count, own)
    const weight = costs.fields.get(coordinate)
    const named = getNamedType(field.type)
    const input = inputCost(costs, coordinate, field, node)
    if (!isCompositeType(named)) {
      const total = sum([more, input, product(count, weight ?? costs.types.get(named.name) ?? 0)])
      return { key, count, total, kinds: [] }
    }
    const below = size && length !== null && size.sized.size > 0 ? new Map([...size.sized].map(sized => [sized, length])) : null
    const sets = nodes.flatMap(({ selectionSet }) => (selectionSet ? [selectionSet] : []))
    const kinds = possibleTypes(named).map(possible => {
      const { total, terms } = kindOf(possible, sets, below)
      return { total: sum([weight ?? costs.types.get(possible.name) ?? 1, total]), terms }
    })
    return { key, count, total: sum([more, input, product(count, greatest(kinds.map(({ total }) => total)))]), kinds }
  }

  function kindOf(type: GraphQLObjectType, sets: readonly SelectionSetNode[], sizes: ReadonlyMap<string, Amount> | null): Kinds {
    const identity = sizes ? null : `${type.name} ${sets.map(numberOf).join()}`
    const found = identity !== null && known.get(identity)
    if (found) return found
    const terms = termsOf(type, sets, sizes)
    const kind = { total: sum(terms.map(({ total }) => total)), terms }
    if (identity !== null) known.set(identity, kind)
    return kind
  }

  function numberOf(set: SelectionSetNode): number {
    const number = numbers.get(set) ?? numbers.size
    numbers.set(set, number)
    return number
  }

  function possibleTypes(type: GraphQLCompositeType): readonly GraphQLObjectType[] {
    return isAbstractType(type) ? schema.getPossibleTypes(type) : [type]
  }

  /** The fields of an object by response key, as graphql-js collects them, and the number of its deferred fragments. */
  function collect(
    type: GraphQLObjectType,
    sets: readonly SelectionSetNode[],
  ): { readonly fields: ReadonlyMap<string, readonly FieldNode[]>; readonly deferred: number } {
    let deferred = 0
    const fields = new Map<string, FieldNode[]>()
    const spread = new Set<FragmentDefinitionNode>()
    const visit = (set: SelectionSetNode): void => {
      for (const selection of set.selections) {
        if (selection.kind === Kind.FIELD) {
          const key = (selection.alias ?? selection.name).value
          if (selection.directives?.some(isIncremental)) deferred += 1
          if (!fields.get(key)?.push(selection)) fields.set(key, [selection])
          continue
        }
        const fragment = selection.kind === Kind.FRAGMENT_SPREAD ? fragments.get(selection.name.value) : selection
        if (!fragment) continue
        if (fragment.kind === Kind.FRAGMENT_DEFINITION) {
          if (spread.has(fragment)) continue
          spread.add(fragment)
        }
        const condition = fragment.typeCondition && schema.getType(fragment.typeCondition.name.value)
        if (condition && condition !== type && !(isAbstractType(condition) && schema.isSubType(condition, type))) continue
        if (selection.directives?.some(isIncremental)) deferred += 1
        visit(fragment.selectionSet)
      }
    }
    for (const set of sets) visit(set)
    return { fields, deferred }
  }
}

function wayIn(terms: readonly Term[], given: Given): string {
  const way: string[] = []
  const totalOf = ({ total }: { readonly total: Amount }) => amountFor(total, given)
  for (let level = terms; level.length > 0; ) {
    const term = level.reduce((most, each) => (totalOf(each) > totalOf(most) ? each : most))
    if (totalOf(term) === 0) break
    const count = amountFor(term.count, given)
    way.push(count === 1 ? term.key : `${term.key}[${count}]`)
    level = term.kinds.length === 0 ? [] : term.kinds.reduce((most, each) => (totalOf(each) > totalOf(most) ? each : most)).terms
  }
  return way.join('.')
}
