import {
  type FieldNode,
  type GraphQLCompositeType,
  getNamedType,
  isCompositeType,
  isInterfaceType,
  isObjectType,
  isUnionType,
  Kind,
  type OperationDefinitionNode,
  print,
  type SelectionNode,
  type SelectionSetNode,
  type VariableDefinitionNode,
  visit,
} from 'graphql'
import { DomainError } from '../../../platform/errors.ts'
import type { Names } from '../operation/names.ts'
import type { Operation } from '../operation/operation.ts'
import { typenameField, widened } from '../repairs/hive-interface-objects/widened.ts'
import { variablePrefix, withPrivateVariables } from '../repairs/hive-variables/variables.ts'
import type { Supergraph } from '../supergraph.ts'
import { saysWhatIsKnown } from './known-fragments.ts'

/**
 * Maximum number of fields that an operation may select once its fragments are expanded; nested fragments multiply
 * them, and so do abstract types.
 */
const mostFields = 20_000

/**
 * Maximum number of type combinations on one path where the planner treats every type separately
 * (`Supergraph.scattered`). Its time grows faster than their number: a thousand take one or two seconds, six nested
 * fields on six types take minutes.
 */
const mostCombinations = 1000

type PlannedGraph = Pick<Supergraph, 'schema' | 'interfaceObjects' | 'yieldingInterfaceObjects' | 'scattered'>

/**
 * Rewrites an operation to the form in which it is planned: private names, no named fragments, no redundant fragments,
 * no introspection, only the variables in use. The result is one text for a query or subscription, one for each root
 * field of a mutation, and none when nothing is left.
 */
export function plannable(operation: Operation, names: Names, supergraph: PlannedGraph): string[] {
  const { schema } = supergraph
  const { definition } = operation
  const rootType = schema.getRootType(definition.operation)
  if (!rootType) return []
  const fields = rewriteSelections(operation, names, supergraph, rootType)
  if (fields.length === 0) return []
  if (definition.operation !== 'mutation') return [printOperation(definition, fields)]
  const byKey = Map.groupBy(fields, field => (field.kind === Kind.FIELD ? (field.alias ?? field.name).value : ''))
  return [...byKey.values()].map(sameKey => printOperation(definition, sameKey))
}

function rewriteSelections(
  operation: Operation,
  names: Names,
  { schema, interfaceObjects, yieldingInterfaceObjects, scattered }: PlannedGraph,
  rootType: GraphQLCompositeType,
): SelectionNode[] {
  let count = 0
  return rewrite(operation.definition.selectionSet, rootType, 0, new Set())

  /** @param combinations number of type combinations that the planner tries at this place; 0 is the root */
  function rewrite(set: SelectionSetNode, parent: GraphQLCompositeType, combinations: number, spread: Set<string>): SelectionNode[] {
    const selections: SelectionNode[] = []
    for (const selection of set.selections) {
      if (selection.kind === Kind.FIELD) {
        const field = rewriteField(selection, parent, combinations)
        if (field) selections.push(field)
        continue
      }
      let inner: SelectionSetNode
      let condition: string | undefined
      if (selection.kind === Kind.FRAGMENT_SPREAD) {
        const fragment = operation.fragments.get(selection.name.value)
        if (!fragment || spread.has(selection.name.value)) continue
        spread.add(selection.name.value)
        inner = fragment.selectionSet
        condition = fragment.typeCondition.name.value
      } else {
        inner = selection.selectionSet
        condition = selection.typeCondition?.name.value
      }
      const type = condition === undefined ? parent : schema.getType(condition)
      if (!type || !isCompositeType(type)) continue
      if (saysWhatIsKnown(type, parent, schema)) {
        for (const field of rewrite(inner, parent, combinations, spread)) selections.push(field)
        continue
      }
      if (isObjectType(parent)) continue
      const rewritten = rewrite(inner, type, combinations, new Set(spread))
      if (rewritten.length === 0) continue
      selections.push({
        kind: Kind.INLINE_FRAGMENT,
        typeCondition: { kind: Kind.NAMED_TYPE, name: { kind: Kind.NAME, value: type.name } },
        selectionSet: { kind: Kind.SELECTION_SET, selections: rewritten },
      })
    }
    return selections
  }

  function rewriteField(node: FieldNode, parent: GraphQLCompositeType, before: number): FieldNode | null {
    const name = node.name.value
    if (name.startsWith('__')) return before === 0 ? null : typenameField
    const types = isInterfaceType(parent) && scattered.has(`${parent.name}.${name}`) ? schema.getPossibleTypes(parent).length : 1
    const combinations = Math.max(before, 1) * types
    if (combinations > mostCombinations) {
      throw new DomainError(
        'BAD_USER_INPUT',
        `The operation nests abstract types so that more than ${mostCombinations} combinations of types are to be planned; nest less, or say by fragments which types you mean.`,
      )
    }
    count += combinations
    if (count > mostFields) {
      throw new DomainError('BAD_USER_INPUT', `The operation selects more than ${mostFields} fields once its fragments are unfolded; ask for less at once.`)
    }
    const field = isUnionType(parent) ? undefined : parent.getFields()[name]
    if (!field) return null
    const key = names.keyOf(node, parent.name)
    const type = getNamedType(field.type)
    let selectionSet: SelectionSetNode | undefined
    if (isCompositeType(type)) {
      const selections = node.selectionSet ? rewrite(node.selectionSet, type, combinations, new Set()) : []
      const known = yieldingInterfaceObjects.has(`${parent.name}.${name}`) ? interfaceObjects.get(type.name) : undefined
      selectionSet = { kind: Kind.SELECTION_SET, selections: selections.length === 0 ? [typenameField] : known ? widened(selections, known) : selections }
    }
    return {
      kind: Kind.FIELD,
      name: { kind: Kind.NAME, value: name },
      ...(key !== name && { alias: { kind: Kind.NAME, value: key } }),
      arguments: node.arguments?.map(withPrivateVariables) ?? [],
      ...(selectionSet && { selectionSet }),
    }
  }
}

function printOperation(definition: OperationDefinitionNode, selections: readonly SelectionNode[]): string {
  const selectionSet: SelectionSetNode = { kind: Kind.SELECTION_SET, selections }
  const used = new Set<string>()
  visit(selectionSet, {
    Variable(node) {
      used.add(node.name.value)
    },
  })
  const variableDefinitions: VariableDefinitionNode[] = []
  for (const { type, defaultValue, variable } of definition.variableDefinitions ?? []) {
    const value = variablePrefix + variable.name.value
    if (!used.has(value)) continue
    variableDefinitions.push({
      kind: Kind.VARIABLE_DEFINITION,
      variable: { kind: Kind.VARIABLE, name: { kind: Kind.NAME, value } },
      type,
      ...(defaultValue && { defaultValue }),
    })
  }
  return print({ kind: Kind.OPERATION_DEFINITION, operation: definition.operation, variableDefinitions, selectionSet })
}
