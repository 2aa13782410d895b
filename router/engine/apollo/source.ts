import type { GraphQLDataSource } from '@apollo/gateway'
import { GraphQLError, Kind, parse } from 'graphql'
import { LRUCache } from 'lru-cache'
import { codeOf } from '../../../platform/errors.ts'
import type { Fetch, FetchCall, Transport } from '../engine.ts'
import { findOperation } from '../operation/operation.ts'
import { patienceOf } from '../operation/patience.ts'
import type { Supergraph } from '../supergraph.ts'

/** Maximum number of parsed documents cached for one subgraph. */
const mostFetches = 1000

/** What the gateway's context passes to data sources. */
interface SourceContext {
  readonly call: Omit<FetchCall, 'variables'>
}

/**
 * One subgraph as a data source of the stock gateway, reached over our transport, so that resolvers get the same viewer
 * and loaders.
 */
export function createSource(transport: Transport, subgraph: string, supergraph: Supergraph): GraphQLDataSource {
  const fetches = new LRUCache<string, Fetch>({ max: mostFetches })
  const fetchOf = (text: string): Fetch => {
    let fetch = fetches.get(text)
    if (!fetch) {
      const document = parse(text, { noLocation: true })
      const [definition] = document.definitions
      const operation = findOperation(document, undefined)
      const kind = definition?.kind === Kind.OPERATION_DEFINITION ? definition.operation : 'query'
      fetch = { subgraph, document, text, kind, timeoutMs: typeof operation === 'string' ? 0 : patienceOf(operation, supergraph) }
      fetches.set(text, fetch)
    }
    return fetch
  }
  return {
    async process({ request, context }) {
      const { call } = context as SourceContext
      try {
        // The two packages write optional properties differently; the form is one.
        return (await transport.fetch(fetchOf(request.query!), { ...call, variables: request.variables ?? {} })) as Awaited<
          ReturnType<GraphQLDataSource['process']>
        >
      } catch (cause) {
        const code = codeOf(cause)
        throw new GraphQLError(
          code === 'INTERNAL_SERVER_ERROR' ? `The service "${subgraph}" did not answer; try again in a moment.` : (cause as Error).message,
          { extensions: { code: code === 'INTERNAL_SERVER_ERROR' ? 'UPSTREAM_FAILED' : code, serviceName: subgraph } },
        )
      }
    },
  }
}
