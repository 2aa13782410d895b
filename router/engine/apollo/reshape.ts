import {
  type DocumentNode,
  type ExecutionResult,
  execute,
  type FieldNode,
  type GraphQLSchema,
  isAbstractType,
  Kind,
  type SelectionSetNode,
  TypeInfo,
  visit,
  visitWithTypeInfo,
} from 'graphql'
import type { OperationRequest } from '../engine.ts'

/** A document that also selects `__typename` wherever the schema alone does not determine an object's type. */
export interface Typed {
  readonly document: DocumentNode
  /** Response key for the added `__typename`: one that the client did not use. */
  readonly typeKey: string
}

/**
 * Makes a filtered document valid again: selects `__typename` where types are needed and fills selection sets that
 * filtering left empty.
 */
export function withTypes(document: DocumentNode, schema: GraphQLSchema): Typed {
  const keys = new Set<string>()
  visit(document, { Field: node => void keys.add((node.alias ?? node.name).value) })
  let typeKey = '_type'
  while (keys.has(typeKey)) typeKey = `_${typeKey}`
  const asking: FieldNode = { kind: Kind.FIELD, alias: { kind: Kind.NAME, value: typeKey }, name: { kind: Kind.NAME, value: '__typename' } }
  const types = new TypeInfo(schema)
  const typed = visit(
    document,
    visitWithTypeInfo(types, {
      SelectionSet: {
        leave(node: SelectionSetNode) {
          if (node.selections.length > 0 && !isAbstractType(types.getParentType())) return undefined
          return { ...node, selections: [...node.selections, asking] }
        },
      },
    }),
  )
  return { document: typed, typeKey }
}

/**
 * Shapes data by the document that the client sent: a field without data becomes null, and nulls propagate by the rules
 * of GraphQL. Errors in the data were reported before, so shaping reports none.
 */
export async function reshape(
  schema: GraphQLSchema,
  document: DocumentNode,
  { operationName, variables }: OperationRequest,
  data: Record<string, unknown>,
  typeKey: string,
): Promise<NonNullable<ExecutionResult['data']> | null> {
  const result = await execute({
    schema,
    document,
    operationName,
    variableValues: variables,
    rootValue: data,
    fieldResolver: (source, _arguments, _context, { path }) => (Object.hasOwn(source, path.key) ? source[path.key] : null),
    typeResolver: value => (value as Record<string, string>)[typeKey],
  })
  return result.data ?? null
}
