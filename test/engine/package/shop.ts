import { createServer, type IncomingHttpHeaders, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { composeServices } from '@apollo/composition'
import { buildSubgraphSchema } from '@apollo/subgraph'
import { GraphQLError, type GraphQLSchema, graphql, parse } from 'graphql'

type Resolvers = NonNullable<Extract<Parameters<typeof buildSubgraphSchema>[0], { typeDefs: unknown }>['resolvers']>

export const link =
  'extend schema @link(url: "https://specs.apollo.dev/federation/v2.9", import: ["@key", "@external", "@requires", "@shareable", "@provides", "@inaccessible", "@tag"])'

const refuse = (message: string, extensions?: Record<string, unknown>) => {
  throw new GraphQLError(message, extensions ? { extensions } : {})
}

const productNames = ['table', 'chair', 'lamp']
const productOf = (id: string) => ({ __typename: 'Product', id, name: productNames[Number(id) - 1], grams: Number(id) * 100 })

/** Three subgraphs with keys, required fields, unions, interfaces, errors of every kind, and mutations. */
export const parts: Readonly<Record<string, { readonly sdl: string; readonly resolvers: Resolvers }>> = {
  catalog: {
    sdl: `type Query { products(first: Int = 3): [Product!]! product(id: ID!): Product anything: [Thing!]! broken: String unsure: Int! hidden: String @inaccessible echo(input: Filter, kind: Kind): String }
      type Mutation { rename(id: ID!, name: String!): Product }
      input Filter { text: String! tags: [String!] = ["a"] } enum Kind { BIG SMALL }
      union Thing = Product | Note
      type Note { text: String } interface Named { name: String }
      type Product implements Named @key(fields: "id") { id: ID! name: String grams: Int @tag(name: "weight") wrong: String! }`,
    resolvers: {
      Query: {
        products: (_: unknown, { first }: { first: number }) => productNames.slice(0, first).map((_name, at) => productOf(String(at + 1))),
        product: (_: unknown, { id }: { id: string }) => (Number(id) > 3 ? null : productOf(id)),
        anything: () => [productOf('1'), { __typename: 'Note', text: 'a note' }],
        broken: () => refuse('It is broken', { code: 'BROKEN', detail: 1 }),
        unsure: () => null,
        echo: (_: unknown, args: unknown) => JSON.stringify(args),
      },
      Mutation: { rename: (_: unknown, { id, name }: { id: string; name: string }) => ({ ...productOf(id), name }) },
      Product: { __resolveReference: ({ id }: { id: string }) => productOf(id), wrong: () => refuse('no') },
    } as Resolvers,
  },
  stock: {
    sdl: `type Query { warehouse: Warehouse } type Warehouse @key(fields: "id") { id: ID! city: String }
      type Product @key(fields: "id") { id: ID! grams: Int @external stock: Int freight: Int @requires(fields: "grams") at: Warehouse failing: String loud: String }`,
    resolvers: {
      Query: { warehouse: () => ({ id: 'w', city: 'Rotterdam' }) },
      Product: {
        __resolveReference: (reference: { id: string }) => (reference.id === '3' ? null : reference),
        stock: ({ id }: { id: string }) => Number(id) * 10,
        freight: ({ grams }: { grams: number }) => grams * 2,
        at: () => ({ id: 'w', city: 'Rotterdam' }),
        failing: ({ id }: { id: string }) => (id === '2' ? refuse('No second') : 'fine'),
        loud: () => refuse('Loud', { code: 'UNAUTHENTICATED' }),
      },
    } as Resolvers,
  },
  reviews: {
    sdl: `type Query { latest: [Review] } type Review @key(fields: "id") { id: ID! body: String! product: Product }
      type Product @key(fields: "id") { id: ID! reviews(first: Int): [Review!]! score: Float }`,
    resolvers: {
      Query: { latest: () => [{ id: 'r1', body: 'good', product: { id: '2' } }, null, { id: 'r2', body: 'bad', product: { id: '3' } }] },
      Product: {
        __resolveReference: (reference: unknown) => reference,
        reviews: ({ id }: { id: string }, { first = 2 }: { first?: number }) =>
          [1, 2].slice(0, first).map(at => ({ id: `${id}${at}`, body: `review ${at} of ${id}`, product: { id } })),
        score: ({ id }: { id: string }) => Number(id) / 2,
      },
    } as Resolvers,
  },
}

export interface Asked {
  readonly subgraph: string
  readonly headers: IncomingHttpHeaders
  readonly body: {
    readonly query?: string
    readonly operationName?: string
    readonly variables?: Record<string, unknown>
    readonly extensions?: Record<string, unknown>
  }
}

/** What a subgraph answers instead of its own answer. */
export interface Instead {
  readonly status: number
  readonly body: string
  readonly headers?: Record<string, string>
}

export interface Shop {
  readonly supergraphSdl: string
  readonly schemas: Readonly<Record<string, GraphQLSchema>>
  readonly urls: Readonly<Record<string, string>>
  readonly asked: Asked[]
  /** Decides on a request before the subgraph does. @default nothing */
  instead: ((asked: Asked) => Instead | 'cut' | undefined) | null
  /** Headers of the subgraphs' answers. */
  headers: Record<string, Record<string, string>>
  close(): Promise<void>
}

/** Starts the subgraphs, each on a port of its own. */
export async function startShop(): Promise<Shop> {
  const servers: Server[] = []
  const urls: Record<string, string> = {}
  const schemas: Record<string, GraphQLSchema> = {}
  const shop: Shop = {
    supergraphSdl: '',
    schemas,
    urls,
    asked: [],
    instead: null,
    headers: {},
    async close() {
      for (const each of servers) {
        each.closeAllConnections()
        each.close()
      }
    },
  }
  for (const [name, { sdl, resolvers }] of Object.entries(parts)) {
    const schema = buildSubgraphSchema({ typeDefs: parse(`${link}\n${sdl}`), resolvers })
    schemas[name] = schema
    const server = createServer(async (request, response) => {
      const pieces: Buffer[] = []
      for await (const piece of request) pieces.push(piece)
      const body = JSON.parse(Buffer.concat(pieces).toString())
      const asked = { subgraph: name, headers: request.headers, body }
      shop.asked.push(asked)
      const instead = shop.instead?.(asked)
      if (instead === 'cut') return void request.socket.destroy()
      if (instead) return void response.writeHead(instead.status, { 'content-type': 'application/json', ...instead.headers }).end(instead.body)
      const result = await graphql({ schema, source: body.query, variableValues: body.variables, operationName: body.operationName })
      response.writeHead(200, { 'content-type': 'application/json; charset=utf-8', ...shop.headers[name] }).end(JSON.stringify(result))
    })
    servers.push(server)
    await new Promise<void>(listening => server.listen(0, '127.0.0.1', () => listening()))
    urls[name] = `http://127.0.0.1:${(server.address() as AddressInfo).port}/graphql`
  }
  return Object.assign(shop, { supergraphSdl: composeShop(urls) })
}

/** @param more SDL of another subgraph's part */
export function composeShop(urls: Readonly<Record<string, string>>, more: Readonly<Record<string, string>> = {}): string {
  const services = Object.entries(parts).map(([name, { sdl }]) => ({ name, url: urls[name]!, typeDefs: parse(`${link}\n${sdl}${more[name] ?? ''}`) }))
  const { supergraphSdl, errors } = composeServices(services)
  if (!supergraphSdl) throw new Error(errors!.map(String).join('\n'))
  return supergraphSdl
}
