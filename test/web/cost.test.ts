import { globSync, readFileSync } from 'node:fs'
import { type DefinitionNode, Kind, parse } from 'graphql'
import { describe, expect, it } from 'vitest'
import { operations as limits } from '../../config/asking.ts'
import { amountFor } from '../../router/engine/operation/cost/amount.ts'
import { estimateOf } from '../../router/engine/operation/cost/estimate.ts'
import { findOperation, type Operation } from '../../router/engine/operation/operation.ts'
import { readSupergraph } from '../../router/engine/supergraph.ts'

const graph = readSupergraph(readFileSync('schema/supergraph.graphql', 'utf8'))
const definitions = globSync('web/**/*.graphql').flatMap(file => parse(readFileSync(file, 'utf8')).definitions)
const fragments: DefinitionNode[] = definitions.filter(({ kind }) => kind === Kind.FRAGMENT_DEFINITION)
const operations = definitions.flatMap(each => (each.kind === Kind.OPERATION_DEFINITION ? [[each.name!.value, each] as const] : []))
/** The longest page that a list takes. */
const longest = { first: 100 }

describe('operations of the pages', () => {
  it.each(operations)('%s costs no more than an operation may by default', (name, operation) => {
    const document = { kind: Kind.DOCUMENT, definitions: [operation, ...fragments] } as const
    const { total } = estimateOf(findOperation(document, name) as Operation, graph)
    expect(amountFor(total, longest)).toBeLessThanOrEqual(limits.maxCost.fallback)
  })
})
