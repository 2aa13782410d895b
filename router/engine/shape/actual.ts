import { type FieldNode, type GraphQLField, type GraphQLSchema, isInterfaceType, isObjectType } from 'graphql'
import { type Data, isData } from '../data/merge.ts'
import type { Given } from '../operation/cost/amount.ts'
import { mutationCost, type Priced } from '../operation/cost/estimate.ts'
import { inputCostFor } from '../operation/cost/inputs.ts'
import { type FieldShape, type ObjectShape, runtimeShape, type Shape, type ValueShape } from './shape.ts'

/**
 * What an answer has cost: as it was estimated, with the objects that are in it in place of those that could have been.
 * @param data   of which the answer was made: it knows the types of objects, of which the answer may not tell
 * @param answer as the client gets it
 */
export function actualCost(shape: Shape, data: Data, answer: Data | null, { schema, costs }: Priced, given: Given): number {
  const isMutation = shape.type === schema.getMutationType()
  let cost = 0
  if (isMutation) for (const { from } of shape.common.fields) if (from === 'data') cost += mutationCost
  if (answer) objectCost(shape.common, data, answer)
  return cost

  function objectCost(object: ObjectShape, data: Data, answer: Data): void {
    for (const field of object.fields) {
      const value = answer[field.responseKey]
      if (field.from === 'introspection') cost += value == null ? 0 : 1
      if (field.from !== 'data') continue
      const definition = fieldOf(schema, field)
      if (definition) cost += inputCostFor(costs, field.coordinate, definition, field.nodes[0]!, given)
      valueCost(field.value, read(field, data), value, costs.fields.get(field.coordinate), field.nodes[0]!, definition)
    }
  }

  function valueCost(
    shape: ValueShape,
    data: unknown,
    answer: unknown,
    weight: number | undefined,
    node: FieldNode,
    field: GraphQLField<unknown, unknown> | undefined,
  ): void {
    if (answer === null || answer === undefined) return
    if (shape.items) {
      const from = Array.isArray(data) ? data : []
      ;(answer as readonly unknown[]).forEach((item, at) => {
        valueCost(shape.items!, from[at], item, weight, node, field)
      })
    } else if (!shape.object) cost += weight ?? leafWeight(field)
    else if (isData(data)) {
      const runtime = runtimeShape(shape.object, data) ?? shape.object.common
      cost += weight ?? objectWeight(shape.object, runtime)
      objectCost(runtime, data, answer as Data)
    }
  }

  function leafWeight(field: GraphQLField<unknown, unknown> | undefined): number {
    if (!field || costs.types.size === 0) return 0
    return costs.types.get(String(field.type).replaceAll(/[[\]!]/g, '')) ?? 0
  }

  /** Of an object whose type nobody asked for, that of the type that costs the least: an estimate takes the dearest. */
  function objectWeight(object: Shape, { typename }: ObjectShape): number {
    if (typename !== null) return costs.types.get(typename) ?? 1
    return Math.min(...object.possibleTypes().map(name => costs.types.get(name) ?? 1))
  }
}

function fieldOf(schema: GraphQLSchema, { coordinate }: FieldShape): GraphQLField<unknown, unknown> | undefined {
  const [type, name] = coordinate.split('.')
  const parent = schema.getType(type!)
  return isObjectType(parent) || isInterfaceType(parent) ? parent.getFields()[name!] : undefined
}

function read({ key, otherKeys }: FieldShape, data: Data): unknown {
  if (Object.hasOwn(data, key)) return data[key]
  for (const other of otherKeys) if (Object.hasOwn(data, other)) return data[other]
  return undefined
}
