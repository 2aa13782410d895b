import {
  type DefinitionNode,
  type DirectiveNode,
  type DocumentNode,
  type FragmentDefinitionNode,
  Kind,
  type OperationDefinitionNode,
  type SelectionNode,
  type SelectionSetNode,
  visit,
} from 'graphql'
import { isActive, isIncremental, unconditional } from './deferral.ts'

/** One operation of a document with the fragments it may use. */
export interface Operation {
  readonly definition: OperationDefinitionNode
  readonly fragments: ReadonlyMap<string, FragmentDefinitionNode>
}

/** Finds the operation that a request names, or explains in a sentence why there is none. */
export function findOperation(document: DocumentNode, name: string | undefined): Operation | string {
  const fragments = new Map<string, FragmentDefinitionNode>()
  const operations: OperationDefinitionNode[] = []
  for (const definition of document.definitions) {
    if (definition.kind === Kind.FRAGMENT_DEFINITION) fragments.set(definition.name.value, definition)
    else if (definition.kind === Kind.OPERATION_DEFINITION) operations.push(definition)
  }
  if (name === undefined) {
    if (operations.length === 1) return { definition: operations[0]!, fragments }
    return operations.length === 0
      ? 'The document holds no operation; send a query, a mutation or a subscription.'
      : 'The document holds several operations; say in operationName which one to run.'
  }
  const definition = operations.find(candidate => candidate.name?.value === name)
  return definition ? { definition, fragments } : `The document holds no operation named "${name}"; send operationName as it is written in the document.`
}

/**
 * Returns the names of the variables used by `@skip` and `@include`, sorted; null when the document uses neither
 * directive.
 */
export function conditionVariables(document: DocumentNode): readonly string[] | null {
  const names = new Set<string>()
  let found = false
  visit(document, {
    Directive(node) {
      if (!isCondition(node)) return
      found = true
      const value = node.arguments?.[0]?.value
      if (value?.kind === Kind.VARIABLE) names.add(value.name.value)
    },
  })
  return found ? [...names].sort() : null
}

/**
 * Returns the document without `@skip`, `@include` and the fields that they exclude. A selection set may become empty;
 * that is no valid text, but everything behind this function accepts it (the object is still wanted, but none of its
 * fields).
 * @param isTrue   returns the value of a boolean variable
 * @param isLater  the same for variables that decide on `@defer` and `@stream`, of which only active ones stay; null removes all
 */
export function foldConditions(
  document: DocumentNode,
  isTrue: (variable: string) => boolean,
  isLater: ((variable: string) => boolean) | null = null,
): DocumentNode {
  const holds = (directive: DirectiveNode) => {
    const value = directive.arguments?.[0]?.value
    return value?.kind === Kind.VARIABLE ? isTrue(value.name.value) : value?.kind === Kind.BOOLEAN && value.value
  }
  const kept = (directive: DirectiveNode): readonly DirectiveNode[] => {
    if (isCondition(directive)) return []
    if (!isIncremental(directive)) return [directive]
    return isLater && isActive(directive, isLater) ? [unconditional(directive)] : []
  }
  const foldSet = (set: SelectionSetNode): SelectionSetNode => {
    const selections: SelectionNode[] = []
    for (const selection of set.selections) {
      if (selection.directives?.some(directive => isCondition(directive) && holds(directive) === (directive.name.value === 'skip'))) continue
      const directives = selection.directives?.flatMap(kept) ?? []
      if (selection.kind === Kind.FRAGMENT_SPREAD) selections.push({ ...selection, directives })
      else if (selection.kind === Kind.INLINE_FRAGMENT) selections.push({ ...selection, directives, selectionSet: foldSet(selection.selectionSet) })
      else if (!selection.selectionSet) selections.push({ ...selection, directives })
      else selections.push({ ...selection, directives, selectionSet: foldSet(selection.selectionSet) })
    }
    return { ...set, selections }
  }
  const definitions = document.definitions.map((definition): DefinitionNode => {
    const runs = definition.kind === Kind.OPERATION_DEFINITION || definition.kind === Kind.FRAGMENT_DEFINITION
    return runs ? { ...definition, selectionSet: foldSet(definition.selectionSet) } : definition
  })
  return { kind: Kind.DOCUMENT, definitions }
}

const isCondition = (directive: DirectiveNode) => directive.name.value === 'skip' || directive.name.value === 'include'
