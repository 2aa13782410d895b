import {
  BREAK,
  type FieldNode,
  type GraphQLArgument,
  type GraphQLField,
  type GraphQLInputType,
  getNamedType,
  isInputObjectType,
  Kind,
  type ValueNode,
  valueFromAST,
  visit,
} from 'graphql'
import { type Amount, amountFor, type Given, sum } from './amount.ts'
import type { Costs, ListSize } from './costs.ts'

/** Assumed length of a list without `@listSize`, in a supergraph of other authors. */
export const unknownLength = 100

/** A value that an argument has, once variables are known. */
type Value = { readonly known: unknown } | { readonly read: (given: Given) => unknown }

/** Returns the length of a field's lists by its arguments; null arguments are ignored. */
export function lengthOf({ assumed, slicing }: ListSize, field: GraphQLField<unknown, unknown>, node: FieldNode): Amount {
  const lengths = slicing.flatMap(([name, ...way]) => {
    const argument = field.args.find(each => each.name === name)
    if (!argument) return []
    const byDefault = within(argument.defaultValue, way)
    const lengthIn = (value: unknown) => {
      const length = within(value, way)
      return typeof length === 'number' ? Math.max(0, length) : null
    }
    return [{ value: givenTo(argument, node), lengthIn, byDefault: typeof byDefault === 'number' ? byDefault : null }]
  })
  const otherwise = assumed ?? Math.max(-1, ...lengths.map(({ byDefault }) => byDefault ?? -1))
  const length = (given: Given) => {
    let most = -1
    for (const { value, lengthIn } of lengths) most = Math.max(most, lengthIn('known' in value ? value.known : value.read(given)) ?? -1)
    if (most >= 0) return most
    return otherwise >= 0 ? otherwise : unknownLength
  }
  return lengths.every(({ value }) => 'known' in value) ? length({}) : length
}

/** Returns the cost of a field's arguments and of the values within them. */
export function inputCost(costs: Costs, coordinate: string, field: GraphQLField<unknown, unknown>, node: FieldNode): Amount {
  if (costs.inputs.size === 0 && costs.types.size === 0) return 0
  return sum(
    field.args.map((argument): Amount => {
      const value = givenTo(argument, node)
      const weight = costs.inputs.get(`${coordinate}(${argument.name})`)
      const cost = (found: unknown) => costOf(found, argument.type, weight)
      return 'known' in value ? cost(value.known) : given => cost(value.read(given))
    }),
  )

  /** @param weight declared at this position, in place of the weight of a leaf's type */
  function costOf(value: unknown, type: GraphQLInputType, weight: number | undefined): number {
    if (value === undefined || value === null) return 0
    const named = getNamedType(type)
    if (!isInputObjectType(named)) return (weight ?? costs.types.get(named.name) ?? 0) * (Array.isArray(value) ? value.flat(Infinity).length : 1)
    const objects = Array.isArray(value) ? value.flat(Infinity) : [value]
    let cost = (weight ?? 0) * objects.length
    for (const object of objects)
      for (const [name, field] of Object.entries(named.getFields()))
        cost += costOf((object as Record<string, unknown> | null)?.[name], field.type, costs.inputs.get(`${named.name}.${name}`))
    return cost
  }
}

/** Returns the cost of one field's arguments as a function of the variables. */
export const inputCostFor = (costs: Costs, coordinate: string, field: GraphQLField<unknown, unknown>, node: FieldNode, given: Given): number =>
  amountFor(inputCost(costs, coordinate, field, node), given)

function givenTo(argument: GraphQLArgument, node: FieldNode): Value {
  const value = node.arguments?.find(({ name }) => name.value === argument.name)?.value
  if (!value) return { known: argument.defaultValue }
  if (value.kind === Kind.VARIABLE) {
    const name = value.name.value
    return { read: given => (Object.hasOwn(given, name) ? given[name] : argument.defaultValue) }
  }
  if (!holdsVariable(value)) return { known: valueFromAST(value, argument.type) }
  return { read: given => valueFromAST(value, argument.type, given as Record<string, unknown>) }
}

function holdsVariable(value: ValueNode): boolean {
  let found = false
  visit(value, {
    Variable() {
      found = true
      return BREAK
    },
  })
  return found
}

const within = (value: unknown, way: readonly string[]): unknown =>
  way.reduce<unknown>((inner, name) => (typeof inner === 'object' && inner !== null ? (inner as Record<string, unknown>)[name] : undefined), value)
