import {
  type DocumentNode,
  execute as executeSchema,
  type GraphQLSchema,
  introspectionTypes,
  isEnumType,
  isInputObjectType,
  isInterfaceType,
  isObjectType,
  Kind,
  type SelectionNode,
} from 'graphql'
import type { Data } from '../data/merge.ts'
import type { OperationRequest } from '../engine.ts'
import { TooMuch } from '../errors.ts'
import type { Operation } from '../operation/operation.ts'
import type { Shape } from '../shape/shape.ts'
import { meterLists, workWith } from '../transport/lists.ts'
import { Work, workLimits } from '../work.ts'

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
  work.mostValues = mostValuesOf(schema)
  const { data } = await executeSchema({ schema, document, variableValues: variables, contextValue: workWith({}, work) })
  if (work.ended instanceof TooMuch) throw work.ended
  return data ?? {}
}

/**
 * Values that introspection may ask for, by each field, argument, input field and enum value of the schema. The
 * standard query with all its options asks for 70; twice as many would take more than a second of the processor.
 */
const valuesPerElement = 100

const limits = new WeakMap<GraphQLSchema, number>()

/** Returns how many values introspection of a schema may ask for: it grows with the schema, so clients can always read all of it. */
function mostValuesOf(schema: GraphQLSchema): number {
  let most = limits.get(schema)
  if (most === undefined) {
    most = Math.max(workLimits.values, valuesPerElement * elementsOf(schema))
    limits.set(schema, most)
  }
  return most
}

function elementsOf(schema: GraphQLSchema): number {
  let elements = 0
  for (const type of Object.values(schema.getTypeMap())) {
    elements += 1
    if (isEnumType(type)) elements += type.getValues().length
    else if (isInputObjectType(type)) elements += Object.keys(type.getFields()).length
    else if (isObjectType(type) || isInterfaceType(type)) for (const field of Object.values(type.getFields())) elements += 1 + field.args.length
  }
  return elements
}
