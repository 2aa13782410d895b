import { type DocumentNode, execute as executeSchema, type GraphQLSchema, introspectionTypes, Kind, type SelectionNode } from 'graphql'
import type { Data } from '../data/merge.ts'
import type { OperationRequest } from '../engine.ts'
import { TooMuch } from '../errors.ts'
import type { Operation } from '../operation/operation.ts'
import type { Shape } from '../shape/shape.ts'
import { meterLists, workWith } from '../transport/lists.ts'
import { Work } from '../work.ts'

// Lists of introspection types multiply as those of subgraphs do.
meterLists(introspectionTypes)

/** Returns the root fields about the schema itself, with all fragments: graphql-js answers them. */
export function introspectionOf(document: DocumentNode, { definition }: Operation, shape: Shape): DocumentNode | null {
  const selections: SelectionNode[] = shape.common.fields.flatMap(field => (field.from === 'introspection' ? field.nodes : []))
  if (selections.length === 0) return null
  const fragments = document.definitions.filter(candidate => candidate.kind === Kind.FRAGMENT_DEFINITION)
  return { kind: Kind.DOCUMENT, definitions: [{ ...definition, selectionSet: { kind: Kind.SELECTION_SET, selections } }, ...fragments] }
}

/** Answers the introspection fields. @throws TooMuch when the answer is too large */
export async function introspect(
  schema: GraphQLSchema,
  document: DocumentNode,
  { variables, requestId, signal }: OperationRequest,
  now: () => number,
): Promise<Data> {
  const work = new Work(requestId, signal, undefined, now)
  const { data } = await executeSchema({ schema, document, variableValues: variables, contextValue: workWith({}, work) })
  if (work.ended instanceof TooMuch) throw work.ended
  return data ?? {}
}
