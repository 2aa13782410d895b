import { type DocumentNode, GraphQLError } from 'graphql'
import { findOperation } from '../operation.ts'
import { type Amount, amountFor, type Given } from './amount.ts'
import { type Estimate, estimateOf, type Priced } from './estimate.ts'

/** Estimates operations and rejects those that are too expensive. */
export interface Pricing {
  readonly max: number
  /**
   * Returns the estimated cost of an operation.
   * @param document folded and filtered; the same object for the same text, so that it is read once. Null when nothing
   * of it remains
   */
  estimate(document: DocumentNode | null, operationName: string | undefined, given: Given): number
  /** Error for an operation above the cost limit, with code OPERATION_TOO_EXPENSIVE. */
  refusal(document: DocumentNode, operationName: string | undefined, given: Given): GraphQLError
}

/**
 * Creates the pricing; null where nothing is counted: without a limit, and for a supergraph that declares no list
 * sizes.
 */
export function createPricing(graph: Priced, max: number | undefined): Pricing | null {
  if (max === undefined || graph.costs.lists.size === 0) return null
  // Stores only the result: its parts take as much memory as the document.
  const totals = new WeakMap<DocumentNode, Map<string | undefined, Amount>>()
  const read = (document: DocumentNode, operationName: string | undefined): Estimate => {
    const operation = findOperation(document, operationName)
    return typeof operation === 'string' ? nothing : estimateOf(operation, graph)
  }
  const totalOf = (document: DocumentNode, operationName: string | undefined): Amount => {
    const known = totals.get(document)?.get(operationName)
    if (known !== undefined) return known
    const { total } = read(document, operationName)
    const ofDocument = totals.get(document) ?? new Map<string | undefined, Amount>()
    totals.set(document, ofDocument.set(operationName, total))
    return total
  }
  return {
    max,
    estimate: (document, operationName, given) => (document ? amountFor(totalOf(document, operationName), given) : 0),
    refusal(document, operationName, given) {
      const { total, dearest } = read(document, operationName)
      const estimated = amountFor(total, given)
      const sentence =
        `The operation may cost ${estimated.toLocaleString('en')}, and ${max.toLocaleString('en')} is the most: each object of the answer counts, ` +
        `and lists multiply. The most of it is ${cut(dearest(given))}. Ask for shorter lists (first), for fewer lists within lists, or split it.`
      return new GraphQLError(sentence, { extensions: { code: 'OPERATION_TOO_EXPENSIVE', cost: { estimated, max } } })
    },
  }
}

const nothing: Estimate = { total: 0, dearest: () => '' }

const cut = (way: string): string => (way.length <= 300 ? way : `${way.slice(0, 300)}…`)
