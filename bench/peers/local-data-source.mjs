// ApolloGateway with its subgraphs in the same process. Arguments: the supergraph's file.
import { readFileSync } from 'node:fs'
import { ApolloGateway, LocalGraphQLDataSource } from '@apollo/gateway'
import { buildSubgraphSchema } from '@apollo/subgraph'
import { parse } from 'graphql'
import { federationLink, parts, query } from '../shop/graph.ts'
import { takeTurns } from '../turns.mjs'

const sources = new Map(
  Object.entries(parts).map(([name, { sdl, resolvers }]) => [
    name,
    new LocalGraphQLDataSource(buildSubgraphSchema([{ typeDefs: parse(federationLink + sdl), resolvers }])),
  ]),
)
const gateway = new ApolloGateway({ supergraphSdl: readFileSync(process.argv[2], 'utf8'), buildService: ({ name }) => sources.get(name) })
const { schema, executor } = await gateway.load()
const document = parse(query)
const logger = { debug() {}, info() {}, warn() {}, error: console.error }

await takeTurns(async () =>
  JSON.stringify(
    await executor({
      document,
      request: { query, variables: {} },
      operationName: 'Shop',
      queryHash: 'workload 1',
      context: {},
      schema,
      logger,
      metrics: {},
      cache: undefined,
      overallCachePolicy: undefined,
    }),
  ),
)
