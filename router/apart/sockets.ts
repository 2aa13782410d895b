import type { ExecutionResult } from 'graphql'
import { useServer } from 'graphql-ws/use/ws'
import type { WebSocketServer } from 'ws'
import { addressHeader, type Cause, doFor } from '../../platform/caller/cause.ts'
import { goOnFrom } from '../../platform/events.ts'
import { newId } from '../../platform/ids.ts'
import { forOperation, isFor, sealHeader } from '../../subgraphs/seal.ts'
import type { Subgraph } from '../../subgraphs/subgraph.ts'
import { loggedAs, type Viewer } from '../../subgraphs/viewer.ts'
import type { Fetch, FetchCall } from '../engine/engine.ts'
import { begun, unheardHeader } from '../engine/transport/streams/socket.ts'
import type { Seals } from './ask.ts'
import { causeOf, mostIdCharacters } from './cause.ts'
import type { Operations } from './operations.ts'
import { createRenewal, type Renewal } from './renewal.ts'

/**
 * Milliseconds that the start of a stream, and each of its events, may take. For requests over HTTP the router's own
 * limit applies: it disconnects.
 */
const streamMs = 30_000
interface Started {
  readonly fetch: Fetch
  readonly call: FetchCall
  readonly cause: Cause
  /** For a stream that replaces a broken one: since when its subscribers have received nothing. */
  readonly since: number | null
}

/** Maximum milliseconds of missed events: a router gives up sooner. */
const mostUnheardMs = 5 * 60_000

function sinceOf(said: Readonly<Record<string, unknown>> | undefined): number | null {
  const ms = Number(said?.[unheardHeader])
  return ms > 0 ? performance.now() - Math.min(ms, mostUnheardMs) : null
}

/** What a socket needs of the server. */
interface SocketDoor {
  readonly subgraph: Subgraph
  readonly readSeal: Seals['read']
  readonly seals: Pick<Seals, 'streaming'>
  readonly operations: Operations
}

/** Serves GraphQL over WebSocket to the router, whose seal opens a socket. */
export function serveSockets(sockets: WebSocketServer, { subgraph, readSeal, seals, operations }: SocketDoor) {
  const { read, transport, callOf, tellable } = operations
  return useServer<Record<string, unknown>, { viewer?: Viewer; renewal?: Renewal }>(
    {
      async onConnect({ connectionParams, extra }) {
        const viewer = await readSeal(connectionParams?.[sealHeader], isFor(forOperation)).catch(() => null)
        if (!viewer) return false
        const renewal = createRenewal(extra.socket)
        extra.renewal = renewal
        extra.viewer = seals.streaming(viewer, renewal.ask)
        return true
      },
      onPong: ({ extra }, payload) => extra.renewal?.heard(payload),
      onClose: ({ extra }) => extra.renewal?.end(),
      onSubscribe({ extra, connectionParams }, _id, { query, variables }) {
        const fetch = read(query)
        if (!('text' in fetch)) return fetch
        const requestId = String(connectionParams?.['x-request-id'] ?? newId()).slice(0, mostIdCharacters)
        const cause = { ...causeOf(requestId, name => connectionParams?.[name]), caller: loggedAs(extra.viewer!) }
        return {
          schema: subgraph.schema,
          document: fetch.document,
          contextValue: {
            fetch,
            cause,
            call: callOf(extra.viewer!, requestId, variables, connectionParams?.[addressHeader]),
            since: sinceOf(connectionParams),
          },
        }
      },
      execute: ({ contextValue }) => {
        const { fetch, call, cause } = contextValue as Started
        return doFor(cause, () => transport.fetch(fetch, call))
      },
      subscribe: (({ contextValue }: { contextValue: Started }) =>
        doFor(contextValue.cause, () => {
          const { fetch, call, since } = contextValue
          const begin = () => transport.subscribe(fetch, { ...call, deadline: performance.now() + streamMs, eventMs: streamMs })
          return since === null ? begin() : goOnFrom(since, begin)
        })) as never,
      // The listener receives events from here on, which the router must learn.
      onOperation({ extra }, _id, _payload, _args, result) {
        if (Symbol.asyncIterator in result) extra.socket.send(JSON.stringify({ type: 'ping', payload: { [begun]: true } }))
      },
      onNext(_context, _id, _payload, { contextValue }, result) {
        const { call, cause } = contextValue as Started
        return doFor(cause, () => tellable(result as ExecutionResult, call.requestId)) as never
      },
    },
    sockets,
  )
}
