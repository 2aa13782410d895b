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

/** A document that also asks for the type of everything whose type its place does not tell. */
export interface Typed {
  readonly document: DocumentNode
  /** The response key under which the answer tells types: one that the client did not use. */
  readonly typeKey: string
}

/** Makes a filtered document complete again: types where they are needed, and something in selection sets that were left empty. */
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
 * Shapes data by the document that the client sent: whatever the data does not have is null, moved up by the rules of GraphQL. What
 * is wrong in the data has been told already, so that errors of shaping are not.
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
