import { setImmediate } from 'node:timers/promises'
import { GraphQLError, GraphQLScalarType } from 'graphql'
import { DomainError } from '../../../platform/errors.ts'
import { createMemoryEvents } from '../../../platform/events.ts'
import type { Part } from '../supergraph-fixture.ts'

export const events = createMemoryEvents()

const Moment = new GraphQLScalarType({
  name: 'Moment',
  parseValue(value) {
    if (value === 'now') return value
    throw new GraphQLError(`"${value}" is no moment.`)
  },
})

/** A shop in two subgraphs: the catalogue names products, the stock counts them. */
export const shop: Readonly<Record<'catalogue' | 'stock', Part>> = {
  catalogue: {
    sdl: `type Query { products: [Product!] product(id: ID!): Product since(moment: Moment): String refused: String crashed: String name: String }
      type Mutation { rename(id: ID!, name: String!): Product }
      type Subscription { renamed: Product endless: Int twice: Int picky(at: Moment): Int }
      scalar Moment
      type Product @key(fields: "id") { id: ID! name: String }`,
    resolvers: {
      Moment,
      Query: {
        products: () => [
          { id: 'p1', name: 'Pen' },
          { id: 'p2', name: 'Paper' },
        ],
        product: (_: unknown, { id }: { id: string }) => ({ id, name: `name of ${id}` }),
        since: (_: unknown, { moment }: { moment?: string }) => moment ?? 'ever',
        refused: () => {
          throw new DomainError('CONFLICT', 'Somebody was faster.', { version: 3 })
        },
        crashed: () => {
          throw new Error('select * from secrets')
        },
        name: () => 'catalogue',
      },
      Mutation: { rename: (_: unknown, product: object) => product },
      Subscription: {
        renamed: { subscribe: () => events.listen(['renamed']), resolve: ({ id }: { id: string }) => ({ id, name: `new ${id}` }) },
        endless: {
          subscribe: () => {
            let count = 0
            return {
              [Symbol.asyncIterator]() {
                return this
              },
              next: async () => ({ value: { endless: await setImmediate(++count) }, done: false }),
              return: async () => ({ value: undefined, done: true }),
            }
          },
        },
        twice: {
          async *subscribe() {
            yield { twice: 1 }
            yield { twice: 2 }
          },
        },
        picky: { subscribe: () => events.listen(['picky']) },
      },
      Product: { __resolveReference: ({ id }: { id: string }) => ({ id, name: `name of ${id}` }) },
    },
  },
  stock: {
    sdl: 'type Product @key(fields: "id") { id: ID! count: Int where: String } type Query { total: Int }',
    resolvers: {
      Query: { total: () => 7 },
      Product: { count: ({ id }: { id: string }) => id.length, where: () => 'shelf', __resolveReference: (reference: unknown) => reference },
    },
  },
}
