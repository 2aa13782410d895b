import { fetchesOf, planInWords } from '../execute/plan-in-words.ts'
import type { Shape, ValueShape } from '../shape/shape.ts'
import type { Supergraph } from '../supergraph.ts'
import { addressesOf } from '../transport/addresses.ts'
import type { Ready } from './prepare.ts'

/**
 * Returns everything of a graph that an operation depends on, as text: its plan, the addresses of the subgraphs in it,
 * and the form of its answer. On a graph with the same text the operation has the same answer.
 */
export function basisOf({ variant: { plan, shape }, decision }: Ready, supergraph: Supergraph): string {
  const addresses = read.get(supergraph) ?? addressesOf(supergraph.sdl)
  read.set(supergraph, addresses)
  const asked = [...new Set(fetchesOf(plan).map(({ subgraph }) => subgraph))].map(name => [name, addresses.get(name) ?? null])
  return JSON.stringify([planInWords(plan, key => key), asked, decision?.verdict ?? '', formOf(shape)])
}

/** Addresses of the subgraphs, read once for each graph. */
const read = new WeakMap<Supergraph, ReadonlyMap<string, string>>()

const formOf = (shape: Shape): unknown => [
  shape.type.name,
  shape
    .possibleTypes()
    .map(name => [
      name,
      shape.of(name)?.fields.map(({ responseKey, key, coordinate, from, value }) => [responseKey, key, coordinate, from, formOfValue(value)]),
    ]),
]

const formOfValue = ({ nonNull, items, object, names, plain, bytes }: ValueShape): unknown => [
  nonNull,
  items && formOfValue(items),
  object && formOf(object),
  names && [...names].toSorted(),
  plain,
  bytes,
]
