import { type GraphQLField, type GraphQLSchema, getNamedType, isInterfaceType, isLeafType, isObjectType } from 'graphql'
import { type Data, isData } from '../data/merge.ts'
import type { Given } from '../operation/cost/amount.ts'
import { mutationCost, type Priced } from '../operation/cost/estimate.ts'
import { inputCostFor } from '../operation/cost/inputs.ts'
import { type FieldShape, type ObjectShape, runtimeShape, type Shape, type ValueShape } from './shape.ts'

/**
 * Returns the actual cost of an answer: the estimate, computed with the objects in the answer instead of those that
 * were possible.
 * @param data   the merged data, which holds the objects' types; the answer may not
 * @param answer as the client receives it
 */
export function actualCost(shape: Shape, data: Data, answer: Data | null, { schema, costs }: Priced, given: Given): number {
  const isMutation = shape.type === schema.getMutationType()
  const known = new Map<FieldShape, FieldCost>()
  let cost = 0
  if (isMutation) for (const { from } of shape.common.fields) if (from === 'data') cost += mutationCost
  if (answer) objectCost(shape.common, data, answer)
  return cost

  function objectCost(object: ObjectShape, data: Data, answer: Data): void {
    for (const field of object.fields) {
      const value = answer[field.responseKey]
      if (field.from === 'introspection') cost += value == null ? 0 : 1
      if (field.from !== 'data') continue
      const each = costOf(field)
      cost += each.input
      // Fields without cost are skipped.
      if (each.leaf !== 0) valueCost(field.value, read(field, data), value, each)
    }
  }

  function valueCost(shape: ValueShape, data: unknown, answer: unknown, each: FieldCost): void {
    if (answer === null || answer === undefined) return
    if (shape.items) {
      const from = Array.isArray(data) ? data : []
      for (const [at, item] of (answer as readonly unknown[]).entries()) valueCost(shape.items, from[at], item, each)
    } else if (!shape.object) cost += each.leaf ?? 0
    else if (isData(data)) {
      const runtime = runtimeShape(shape.object, data) ?? shape.object.common
      cost += each.object ?? objectWeight(shape.object, runtime)
      objectCost(runtime, data, answer as Data)
    }
  }

  function costOf(shape: FieldShape): FieldCost {
    const found = known.get(shape)
    if (found) return found
    const field = fieldOf(schema, shape)
    const weight = costs.fields.get(shape.coordinate)
    const input = field ? inputCostFor(costs, shape.coordinate, field, shape.nodes[0]!, given) : 0
    const type = field && getNamedType(field.type)
    const leaf = type && isLeafType(type) ? (weight ?? costs.types.get(type.name) ?? 0) : null
    const made = { input, leaf, object: weight ?? null }
    known.set(shape, made)
    return made
  }

  /**
   * Returns the weight of an object. Where its type was not fetched, the cheapest possible type counts; an estimate
   * uses the most expensive.
   */
  function objectWeight(object: Shape, { typename }: ObjectShape): number {
    if (typename !== null) return costs.types.get(typename) ?? 1
    return Math.min(...object.possibleTypes().map(name => costs.types.get(name) ?? 1))
  }
}

/** Cost of a field by itself: its arguments once, and each of its values. */
interface FieldCost {
  readonly input: number
  /** Weight of a leaf; null for objects. */
  readonly leaf: number | null
  /** Weight declared for the field; null where the weights of the object types count. */
  readonly object: number | null
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
