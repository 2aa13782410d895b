/**
 * Program with the platform in one process on its own database, for workload 2: the query that crosses three subgraphs.
 * Arguments: `native` for our engine, `apollo` for the stock gateway over the same subgraphs. It prints an operation's
 * SQL statements to standard error.
 */
import { readFileSync } from 'node:fs'
import { ApolloServer, HeaderMap } from '@apollo/server'
import { createAccessFilter } from '../../router/access/filter.ts'
import { createGateway, type RequestContext } from '../../router/engine/gateway.ts'
import { readSupergraph } from '../../router/engine/supergraph.ts'
import { createEmbeddedTransport } from '../../router/engine/transport/embedded.ts'
import { openEngine } from '../../router/start/engine.ts'
import { supergraph } from '../../test/kit/supergraph.ts'
import { takeTurns } from '../turns.mjs'
import { crossing, withoutIds } from './query.ts'

const graph = await supergraph({ sandbox: true })
const { owner } = await graph.seed.owner().brand('Bench').connection().posts(5)
const engine = process.argv[2] === 'apollo' ? await stock() : graph.platform.engine
const server = new ApolloServer<RequestContext>({
  gateway: createGateway(engine),
  introspection: true,
  csrfPrevention: false,
  stopOnTerminationSignals: false,
})
await server.start()

const request = () => ({ method: 'POST', headers: new HeaderMap([['content-type', 'application/json']]), search: '', body: { query: crossing } })
const context = async () => ({ viewer: owner, requestId: 'bench' })

async function work(): Promise<string> {
  const { body } = await server.executeHTTPGraphQLRequest({ httpGraphQLRequest: request(), context })
  if (body.kind !== 'complete') throw new Error('answers come whole')
  return body.string
}

const cold = await graph.statements(work)
for (let runs = 0; runs < 5; runs++) await work()
const warm = await graph.statements(work)
console.error(`${process.argv[2]}: ${cold.length} SQL statements an operation when new, ${warm.length} when repeated`)
if (warm.length > cold.length) throw new Error(`Repeated, the operation costs more SQL:\n${warm.join('\n')}`)

await takeTurns(work, { answer: withoutIds(await work()) })

async function stock() {
  const read = readSupergraph(readFileSync(new URL('../../schema/supergraph.graphql', import.meta.url), 'utf8'))
  const subgraphs = new Map(graph.platform.subgraphs.map(subgraph => [subgraph.registration.slug as string, subgraph]))
  return openEngine('apollo', { supergraphSdl: read, transport: createEmbeddedTransport(subgraphs), access: createAccessFilter(read.access), log: console })
}
