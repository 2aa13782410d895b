import { DomainError } from '../../../platform/errors.ts'
import { createMemoryEvents, type Events } from '../../../platform/events.ts'
import { createAccessFilter } from '../../../router/access/filter.ts'
import { readSupergraph } from '../../../router/engine/supergraph.ts'
import { compose, type GraphOptions, type Part, type Sent, testGraph } from '../supergraph-fixture.ts'

const items = ['1', '2', '3']

/** The subgraphs; the events of their subscriptions are announced at `events`, on the topic `item`, with the item's id. */
const partsOver = (events: Events): Readonly<Record<string, Part>> => ({
  a: {
    sdl: `type Query { items: [Item!] @listSize(assumedSize: 3) item(id: ID!): Item now: String } type Mutation { rename(id: ID!): Item } type Subscription { changed: Item }
      type Item @key(fields: "id") { id: ID! name: String! owner: Owner peers: [Item!] @listSize(assumedSize: 3) } type Owner @key(fields: "id") { id: ID! }`,
    resolvers: {
      Query: { items: () => items.map(id => ({ id })), item: (_: unknown, { id }: { id: string }) => ({ id }), now: () => 'now' },
      Mutation: { rename: (_: unknown, { id }: { id: string }) => ({ id }) },
      Subscription: {
        changed: { subscribe: () => events.listen(['item']), resolve: ({ id }: { id: string }) => (id === 'none' ? null : { id }) },
      },
      Item: { name: ({ id }: { id: string }) => `name ${id}`, owner: ({ id }: { id: string }) => ({ id: `o${id}` }), peers: () => items.map(id => ({ id })) },
    },
  },
  b: {
    sdl: `type Query { far: String } type Item @key(fields: "id") { id: ID! slow: String slower: String secret: String @requiresScopes(scopes: [["b:secrets"]]) fails: String needed: String! } type Owner @key(fields: "id") { id: ID! title: String item: Item }`,
    resolvers: {
      Query: { far: () => 'far' },
      Item: {
        slow: ({ id }: { id: string }) => `slow ${id}`,
        secret: () => 'secret',
        slower: ({ id }: { id: string }) => `slower ${id}`,
        fails() {
          throw new DomainError('CONFLICT', 'It fails on purpose.')
        },
        needed() {
          throw new DomainError('CONFLICT', 'It is needed and fails.')
        },
      },
      Owner: { title: ({ id }: { id: string }) => `title ${id}`, item: ({ id }: { id: string }) => ({ id: id.slice(1) }) },
    },
  },
})

/** The supergraph of `itemsGraph`. */
export const itemsSupergraph = (): string => compose(partsOver(createMemoryEvents()))

/** Access by the scopes that the graph declares. */
export const accessByScopes = () => createAccessFilter(readSupergraph(itemsSupergraph()).access)

/** Items in one subgraph, with slow and failing fields of another one; `wait` holds the fetches of the slow one. */
export function itemsGraph(options: GraphOptions = {}) {
  const gate = { open: Promise.resolve() as Promise<unknown>, aborted: 0 }
  const events = createMemoryEvents()
  const graph = testGraph(partsOver(events), {
    ...options,
    async intercept(fetch, call, next) {
      if (fetch.subgraph !== 'b') return next()
      const left = new Promise<never>((_, reject) => {
        call.signal?.addEventListener('abort', () => {
          gate.aborted += 1
          reject(new Error('aborted'))
        })
      })
      left.catch(() => {})
      await Promise.race([gate.open, left])
      return next()
    },
  })
  /** Holds the slow subgraph until the returned function is called. */
  const hold = () => {
    const { promise, resolve } = Promise.withResolvers<void>()
    gate.open = promise
    return resolve
  }
  return { graph, gate, hold, events }
}

/** The fetches of an operation as `subgraph: fields`, without what every fetch of entities has. */
export const fetchesIn = (sent: readonly Sent[]): string[] =>
  sent.map(
    ({ subgraph, text }) =>
      `${subgraph}: ${text.replace(/^query\([^)]*\)/, '').replace(/\{_entities\(representations: ?\$representations\)\{\.\.\.on (\w+)(.*)\}\}$/, '$1$2')}`,
  )
