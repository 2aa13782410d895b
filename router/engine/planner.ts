import { type PlanNode, type QueryPlan, QueryPlanner } from '@graphql-hive/router-query-planner'
import {
  type ArgumentNode,
  type FieldNode,
  type GraphQLCompositeType,
  getNamedType,
  isAbstractType,
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
import { Refusal } from '../../platform/errors.ts'
import { createSecondPlanner } from './apollo/planner.ts'
import type { Names } from './names.ts'
import type { Operation } from './operation.ts'
import type { InterfaceObject, Supergraph } from './supergraph.ts'
import { createTurns, within } from './turns.ts'

/** Plans operations over the subgraphs. */
export interface Planner {
  /**
   * Plans one operation that is folded and filtered already. Several plans come back for a mutation with several root
   * fields: each is to be finished before the next begins. None comes back when no subgraph is needed.
   * Throws Refusal BAD_USER_INPUT for an operation that is too large or takes too long to plan, RATE_LIMITED when too many others
   * are before it, and whatever the planner throws.
   */
  plan(operation: Operation, names: Names): Promise<readonly PlanNode[]>
}

/** What client variables are called towards subgraphs: the planner declares variables of its own beside them. */
export const variablePrefix = 'v_'

/** How many fields an operation may select once its fragments are unfolded; nesting fragments multiplies them, and so do abstract types. */
const mostFields = 20_000

/**
 * How many combinations of types one path may have at which the planner looks at every type apart (`Supergraph.scattered`). Its time
 * grows with more than their number: a thousand take it one or two seconds, six fields within each other on six types minutes.
 */
const mostCombinations = 1000

/** Milliseconds that an operation may wait for its turn, and that planning it may take then. */
const patienceMs = 5000

/**
 * The planner computes on the threads on which files are read, names looked up and passwords checked. Node has four of them, and
 * nothing stops a plan that has begun.
 */
const line = {
  atOnce: 2,
  waiting: 500,
  patienceMs,
  busy: 'Too many operations that were not asked before wait to be planned: try again in a moment.',
}

/** With it no `@override(label: "percent(…)")` ever holds: the field stays with the subgraph that gives it away. */
const noPercentage = 100

/** Makes a planner. Throws for a supergraph that the planner cannot read. */
export function createPlanner(supergraph: Supergraph): Planner {
  const planner = new QueryPlanner(supergraph.sdl)
  const second = createSecondPlanner(supergraph)
  const noLabels = new Set<string>()
  const turns = createTurns(line)
  /** What is being planned: who asks again for what takes long does not make it be planned twice. */
  const underway = new Map<string, Promise<QueryPlan>>()

  const planText = (text: string): Promise<QueryPlan> => {
    let planning = underway.get(text)
    if (!planning) {
      planning = turns.run(() => planner.planAsync(text, null, noLabels, noPercentage))
      underway.set(text, planning)
      const forget = () => underway.delete(text)
      planning.then(forget, forget)
    }
    return within(2 * patienceMs, planning, () => new Refusal('BAD_USER_INPUT', 'The operation takes too long to plan; ask for less at once.'))
  }

  const planAgain = async (text: string, cause: unknown): Promise<PlanNode> => {
    if (cause instanceof Refusal) throw cause
    // The parser of the planner goes fifty levels deep, whatever they consist of.
    if (String((cause as Error | null)?.message).includes('Recursion limit exceeded'))
      throw new Refusal('BAD_USER_INPUT', 'The operation nests fields, fragments and values too deep to be planned; send deep values as variables.')
    const plan = await second(text)
    if (!plan) throw cause
    return plan
  }

  return {
    async plan(operation, names) {
      const plans: PlanNode[] = []
      for (const text of plannable(operation, names, supergraph)) {
        const node = await planText(text).then(
          plan => plan.node,
          cause => planAgain(text, cause),
        )
        if (node) plans.push(node)
      }
      return plans
    },
  }
}

type PlannedGraph = Pick<Supergraph, 'schema' | 'interfaceObjects' | 'yieldingInterfaceObjects' | 'scattered'>

/**
 * Rewrites an operation to the form in which it is planned: private names, no named fragments, no fragment that says what
 * is known already, no introspection, only the variables in use. One text for a query or subscription, one for each root
 * field of a mutation, none when nothing is left.
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

  /** @param combinations of types for which the planner looks at this place; 0 is the root */
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
      // Fragments that say what is known already lead the planner astray, to a wrong subgraph or to no plan at all.
      if (type === parent || (isAbstractType(type) && !isUnionType(parent) && schema.isSubType(type, parent))) {
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
      throw new Refusal(
        'BAD_USER_INPUT',
        `The operation nests abstract types so that more than ${mostCombinations} combinations of types are to be planned; nest less, or say by fragments which types you mean.`,
      )
    }
    count += combinations
    if (count > mostFields) {
      throw new Refusal('BAD_USER_INPUT', `The operation selects more than ${mostFields} fields once its fragments are unfolded; ask for less at once.`)
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
