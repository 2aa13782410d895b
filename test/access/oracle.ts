import {
  buildASTSchema,
  type DocumentNode,
  type ExecutionResult,
  execute,
  type FieldNode,
  type FragmentDefinitionNode,
  type GraphQLCompositeType,
  type GraphQLSchema,
  getNamedType,
  isCompositeType,
  isInterfaceType,
  isUnionType,
  Kind,
  type OperationDefinitionNode,
  parse,
  printSchema,
  type SelectionNode,
  type SelectionSetNode,
} from 'graphql'
import { type Ask, type Facts, isUnion, membersOf, type RandomGraph, type Thing } from './random-graph.ts'

/** What an operation answers to one viewer when fields are taken out before it runs. */
export interface Expected {
  /** The data as JSON, keys in order. */
  readonly text: string
  /** Paths of refused places by response keys, sorted, each once. */
  readonly refused: readonly string[]
  /** Fields that may be asked of subgraphs: those of which something was allowed. */
  readonly allowed: ReadonlySet<string>
}

/**
 * The directives by their specification, over one schema that graphql-js executes: every selection is judged by itself where it stands,
 * and a field of which no selection is left answers null.
 */
export function createOracle(clientSchema: GraphQLSchema, graph: RandomGraph) {
  const schema = buildASTSchema(parse(printSchema(clientSchema)))

  return async (source: string, variables: Record<string, unknown>, facts: Facts): Promise<Expected> => {
    const document = opened(parse(source), variables)
    const operation = document.definitions[0] as OperationDefinitionNode
    const refusedNodes = new Set<FieldNode>()
    const paths = new Set<string>()
    const allowed = new Set<string>()
    const fails = (rules: readonly Ask[] | undefined) => (rules ?? []).some(rule => !rule.met(facts))
    /** An interface asks for what all its implementers ask for; of a union one member must be open. */
    const typeFails = (name: string): boolean => {
      const members = membersOf(name)
      if (!members) return fails(graph.typeRules.get(name))
      const failing = members.filter(member => fails(graph.typeRules.get(member)))
      return isUnion(name) ? failing.length === members.length : failing.length > 0
    }
    const fieldFails = (parent: GraphQLCompositeType, name: string): boolean =>
      isInterfaceType(parent)
        ? membersOf(parent.name)!.some(member => fails(graph.fieldRules.get(`${member}.${name}`)))
        : fails(graph.fieldRules.get(`${parent.name}.${name}`))

    const judge = (set: SelectionSetNode, parent: GraphQLCompositeType, path: string, isRefused: boolean, isReported: boolean): void => {
      for (const selection of set.selections) {
        if (selection.kind === Kind.INLINE_FRAGMENT) {
          const type = selection.typeCondition ? (schema.getType(selection.typeCondition.name.value) as GraphQLCompositeType) : parent
          // A union as type condition narrows none of its members.
          judge(
            selection.selectionSet,
            type,
            path,
            isRefused || (selection.typeCondition !== undefined && !isUnionType(type) && typeFails(type.name)),
            isReported,
          )
          continue
        }
        if (selection.kind !== Kind.FIELD || selection.name.value.startsWith('__')) continue
        const name = selection.name.value
        const type = getNamedType((parent as Exclude<GraphQLCompositeType, { getTypes(): unknown }>).getFields()[name]!.type)
        const here = `${path}${(selection.alias ?? selection.name).value}`
        const refused = isRefused || fieldFails(parent, name) || typeFails(type.name)
        if (refused) {
          refusedNodes.add(selection)
          if (!isReported) paths.add(here)
        } else allowed.add(name)
        if (selection.selectionSet && isCompositeType(type)) judge(selection.selectionSet, type, `${here}.`, refused, isReported || refused)
      }
    }
    judge(operation.selectionSet, schema.getRootType(operation.operation)!, '', false, false)
    if (operation.operation !== 'query' && paths.size > 0) return { text: 'null', refused: [...paths].sort(), allowed: new Set() }

    const result: ExecutionResult = await execute({
      schema,
      document,
      variableValues: variables,
      rootValue: { __typename: operation.operation === 'query' ? 'Query' : 'Mutation', id: '' },
      typeResolver: value => (value as Thing).__typename,
      fieldResolver: (object: Thing, _given, _context, info) =>
        info.fieldNodes.every(node => refusedNodes.has(node)) ? null : graph.fieldValue(object, info.fieldName),
    })
    return { text: JSON.stringify(result.data), refused: [...paths].sort(), allowed }
  }
}

/** The document with its fragments opened, so that every selection is a node of its own, and without what conditions drop. */
function opened(document: DocumentNode, variables: Record<string, unknown>): DocumentNode {
  const fragments = new Map<string, FragmentDefinitionNode>()
  for (const each of document.definitions) if (each.kind === Kind.FRAGMENT_DEFINITION) fragments.set(each.name.value, each)
  const operation = document.definitions.find(each => each.kind === Kind.OPERATION_DEFINITION)!
  const isSet = (name: string): boolean => {
    const definition = operation.variableDefinitions?.find(each => each.variable.name.value === name)
    const value = Object.hasOwn(variables, name) ? variables[name] : definition?.defaultValue?.kind === Kind.BOOLEAN && definition.defaultValue.value
    return value === true
  }
  const stays = (selection: SelectionNode): boolean =>
    (selection.directives ?? []).every(({ name, arguments: given }) => {
      const value = given![0]!.value
      const holds = value.kind === Kind.VARIABLE ? isSet(value.name.value) : value.kind === Kind.BOOLEAN && value.value
      return name.value === 'skip' ? !holds : holds
    })
  const open = (set: SelectionSetNode): SelectionSetNode => ({
    ...set,
    selections: set.selections.filter(stays).map((selection): SelectionNode => {
      if (selection.kind === Kind.FRAGMENT_SPREAD) {
        const { typeCondition, selectionSet } = fragments.get(selection.name.value)!
        return { kind: Kind.INLINE_FRAGMENT, typeCondition, selectionSet: open(selectionSet) }
      }
      return { ...selection, directives: [], ...(selection.selectionSet && { selectionSet: open(selection.selectionSet) }) } as SelectionNode
    }),
  })
  return { kind: Kind.DOCUMENT, definitions: [{ ...operation, selectionSet: open(operation.selectionSet) }] }
}
