import fc from 'fast-check'
import { type DocumentNode, type FieldNode, type GraphQLSchema, Kind, type OperationDefinitionNode, parse, print, validate, visit } from 'graphql'
import { expect, test } from 'vitest'
import { createMemoryEvents } from '../../../platform/events.ts'
import type { IncrementalForm } from '../../../router/engine/engine.ts'
import { comparableErrors, deferRandomly, differs, mergedOr, undeferred } from '../../kit/payloads.ts'
import { library } from '../library-graph.ts'
import { randomOperation } from '../random-operation.ts'
import { type Part, testGraph } from '../supergraph-fixture.ts'
import { follow, nextEvent } from './payloads-of.ts'

const events = createMemoryEvents()
const { catalog } = library as { readonly catalog: Part }
const queries = catalog.resolvers!.Query as Readonly<Record<string, (...passed: unknown[]) => unknown>>
const roots = ['books', 'book', 'shelves', 'found', 'nodes'] as const

/** The library, whose lists and books are subscribed to as well: each event is what a query would answer then. */
const graph = testGraph({
  ...library,
  catalog: {
    sdl: `${catalog.sdl} type Subscription { books(first: Int = 2): [Book] book(id: ID!): Book shelves: [[Book]] found: [Found] nodes: [Node!]! }`,
    resolvers: {
      ...catalog.resolvers,
      Subscription: Object.fromEntries(
        roots.map(field => [
          field,
          { subscribe: () => events.listen(['library']), resolve: (_: unknown, ...passed: unknown[]) => queries[field]!({}, ...passed) },
        ]),
      ),
    },
  },
})
const forms: readonly IncrementalForm[] = ['v0.2', '20220824']

/** At the last of so many events everything that can be generated is. */
const warmEvents = 4

/** Makes a subscription of a query: of its first field that can be subscribed to. Null where there is none. */
function subscriptionOf(source: string, schema: GraphQLSchema): string | null {
  const document = parse(source)
  const operation = document.definitions.find((each): each is OperationDefinitionNode => each.kind === Kind.OPERATION_DEFINITION)!
  const field = operation.selectionSet.selections.find(
    (each): each is FieldNode => each.kind === Kind.FIELD && (roots as readonly string[]).includes(each.name.value),
  )
  if (!field) return null
  const root = { ...field, directives: [] }
  const fragments = new Map(document.definitions.flatMap(each => (each.kind === Kind.FRAGMENT_DEFINITION ? [[each.name.value, each] as const] : [])))
  const [spread, used] = [new Set<string>(), new Set<string>()]
  const read = (node: DocumentNode['definitions'][number] | FieldNode) =>
    void visit(node, {
      Variable: ({ name }) => void used.add(name.value),
      FragmentSpread({ name: { value } }) {
        const fragment = fragments.get(value)
        if (!fragment || spread.has(value)) return
        spread.add(value)
        read(fragment)
      },
    })
  read(root)
  const subscription: DocumentNode = {
    kind: Kind.DOCUMENT,
    definitions: [
      {
        ...operation,
        operation: 'subscription' as OperationDefinitionNode['operation'],
        selectionSet: { kind: Kind.SELECTION_SET, selections: [root] },
        variableDefinitions: operation.variableDefinitions?.filter(({ variable }) => used.has(variable.name.value)) ?? [],
      },
      ...[...spread].map(name => fragments.get(name)!),
    ],
  }
  return validate(schema, subscription).length > 0 ? null : print(subscription)
}

test('all payloads of an event merge to the undeferred event, errors included, whatever fragments are deferred', { timeout: 240_000 }, async () => {
  const seed = Number(process.env.SEED ?? 20_260_202)
  const runs = Number(process.env.RUNS ?? 200)
  const counted = { compared: 0, incremental: 0, failed: 0, payloads: 0 }
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.nat({ max: 2520 }), { minLength: 40, maxLength: 240 }),
      fc.array(fc.nat({ max: 2520 }), { minLength: 40, maxLength: 80 }),
      async (choices, defers) => {
        const { source, variables } = randomOperation(graph.schema, choices)
        const subscription = validate(graph.schema, parse(source)).length > 0 ? null : subscriptionOf(source, graph.schema)
        if (subscription === null) return
        let next = 0
        const deferred = deferRandomly(subscription, graph.schema, below => (defers[next++ % defers.length]! + next) % below, true)
        if (validate(graph.schema, parse(undeferred(deferred))).length > 0) return
        counted.compared++
        const plain = await follow(graph, undeferred(deferred), undefined, { variables })
        const streams = await Promise.all(forms.map(form => follow(graph, deferred, form, { variables })))
        for (let event = 1; event <= warmEvents; event++) {
          const coming = [plain, ...streams].map(nextEvent)
          events.announce('library', { id: String(event) })
          const [[whole], ...all] = (await Promise.all(coming)) as [Awaited<(typeof coming)[0]>, ...Awaited<(typeof coming)[0]>[]]
          for (const payloads of all) {
            const told = `${event}\n${deferred}\n${JSON.stringify(variables)}\n${payloads.map(each => JSON.stringify(each)).join('\n')}\nwhole ${JSON.stringify(whole)}`
            const merged = mergedOr(payloads, told)
            expect(differs(merged.data, whole!.data, merged.failed), told).toBeNull()
            if (merged.failed.length === 0) expect(comparableErrors(merged.errors, whole!.data), told).toEqual(comparableErrors(whole!.errors, whole!.data))
            counted.incremental += payloads.length > 1 ? 1 : 0
            counted.failed += merged.failed.length > 0 ? 1 : 0
            counted.payloads += payloads.length
          }
        }
        for (const stream of [plain, ...streams]) await stream.return()
      },
    ),
    { seed, numRuns: runs, endOnFailure: process.env.SHRINK === undefined },
  )
  console.log(counted)
  expect(counted.compared).toBeGreaterThan(runs / 4)
  expect(counted.incremental).toBeGreaterThan(counted.compared)
  expect(events.listenerCount()).toBe(0)
})
