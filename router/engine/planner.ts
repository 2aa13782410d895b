import { type PlanNode, QueryPlanner } from '@graphql-hive/router-query-planner'
import {
  type ArgumentNode,
  type FieldNode,
  type GraphQLCompositeType,
  getNamedType,
  isAbstractType,
  isCompositeType,
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
import { Refusal } from '../../platform/errors.ts'
import type { Names } from './names.ts'
import type { Operation } from './operation.ts'
import type { InterfaceObject, Supergraph } from './supergraph.ts'

/** Plans operations over the subgraphs. */
export interface Planner {
  /**
   * Plans one operation that is folded and filtered already. Several plans come back for a mutation with several root
   * fields: each is to be finished before the next begins. None comes back when no subgraph is needed.
   * Throws Refusal BAD_USER_INPUT for an operation too large to plan, and whatever the planner throws.
   */
  plan(operation: Operation, names: Names): Promise<readonly PlanNode[]>
}

/** What client variables are called towards subgraphs: the planner declares variables of its own beside them. */
export const variablePrefix = 'v_'

/** How many fields an operation may select once its fragments are unfolded; nesting fragments multiplies them. */
const mostFields = 20_000

/** Makes a planner. Throws for a supergraph that the planner cannot read. */
export function createPlanner(supergraph: Supergraph): Planner {
  const planner = new QueryPlanner(supergraph.sdl)
  const noLabels = new Set<string>()
  return {
    async plan(operation, names) {
      const plans: PlanNode[] = []
      for (const text of plannable(operation, names, supergraph)) {
        const plan = await planner.planAsync(text, null, noLabels, 100)
        if (plan.node) plans.push(plan.node)
      }
      return plans
    },
  }
}

/**
 * Rewrites an operation to the form in which it is planned: private names, no named fragments, no fragment that says what
 * is known already, no introspection, only the variables in use. One text for a query or subscription, one for each root
 * field of a mutation, none when nothing is left.
 */
export function plannable(
  operation: Operation,
  names: Names,
  supergraph: Pick<Supergraph, 'schema' | 'interfaceObjects' | 'yieldingInterfaceObjects'>,
): string[] {
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
  { schema, interfaceObjects, yieldingInterfaceObjects }: Pick<Supergraph, 'schema' | 'interfaceObjects' | 'yieldingInterfaceObjects'>,
  rootType: GraphQLCompositeType,
): SelectionNode[] {
  let count = 0
  return rewrite(operation.definition.selectionSet, rootType, true, new Set())

  function rewrite(set: SelectionSetNode, parent: GraphQLCompositeType, isRoot: boolean, spread: Set<string>): SelectionNode[] {
    const selections: SelectionNode[] = []
    for (const selection of set.selections) {
      if (selection.kind === Kind.FIELD) {
        const field = rewriteField(selection, parent, isRoot)
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
      // Fragments that say what is known already lead the planner astray, to a wrong subgraph or to no plan at all.
      if (type === parent || (isAbstractType(type) && !isUnionType(parent) && schema.isSubType(type, parent))) {
        for (const field of rewrite(inner, parent, isRoot, spread)) selections.push(field)
        continue
      }
      if (isObjectType(parent)) continue
      const rewritten = rewrite(inner, type, isRoot, new Set(spread))
      if (rewritten.length === 0) continue
      selections.push({
        kind: Kind.INLINE_FRAGMENT,
        typeCondition: { kind: Kind.NAMED_TYPE, name: { kind: Kind.NAME, value: type.name } },
        selectionSet: { kind: Kind.SELECTION_SET, selections: rewritten },
      })
    }
    return selections
  }

  function rewriteField(node: FieldNode, parent: GraphQLCompositeType, isRoot: boolean): FieldNode | null {
    const name = node.name.value
    if (name.startsWith('__')) return isRoot ? null : typenameField
    if (++count > mostFields) {
      throw new Refusal('BAD_USER_INPUT', `The operation selects more than ${mostFields} fields once its fragments are unfolded; ask for less at once.`)
    }
    const field = isUnionType(parent) ? undefined : parent.getFields()[name]
    if (!field) return null
    const key = names.keyOf(node, parent.name)
    const type = getNamedType(field.type)
    let selectionSet: SelectionSetNode | undefined
    if (isCompositeType(type)) {
      const selections = node.selectionSet ? rewrite(node.selectionSet, type, false, new Set()) : []
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

const plainField = (name: string): FieldNode => ({ kind: Kind.FIELD, name: { kind: Kind.NAME, value: name } })

const typenameField = plainField('__typename')

/**
 * Asks an interface that subgraphs know as an object type for its fields as a whole, not for those of one implementation: then
 * the planner forgets the key, or to ask at all. What is asked too much is left out when the answer is shaped.
 */
function widened(selections: readonly SelectionNode[], { keys, fields, owned }: InterfaceObject): SelectionNode[] {
  const own: SelectionNode[] = []
  const narrowed: SelectionNode[] = []
  for (const selection of selections) {
    if (selection.kind !== Kind.INLINE_FRAGMENT) {
      own.push(selection)
      continue
    }
    const condition = selection.typeCondition?.name.value
    const kept = selection.selectionSet.selections.filter(
      inner => inner.kind !== Kind.FIELD || !fields.has(inner.name.value) || owned.has(`${condition}.${inner.name.value}`),
    )
    own.push(...selection.selectionSet.selections.filter(inner => !kept.includes(inner)))
    narrowed.push({ ...selection, selectionSet: { kind: Kind.SELECTION_SET, selections: kept.length === 0 ? [typenameField] : kept } })
  }
  if (narrowed.length === 0) return own
  const isAsked = (key: string) => own.some(each => each.kind === Kind.FIELD && (each.alias ?? each.name).value === key)
  return [...own, ...keys.filter(key => !isAsked(key)).map(plainField), ...narrowed]
}

const withPrivateVariables = (argument: ArgumentNode): ArgumentNode =>
  visit(argument, { Variable: node => ({ ...node, name: { ...node.name, value: variablePrefix + node.name.value } }) })

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
