/**
 * Program that measures the cost of a subscription's event after its arrival: three entity fetches, the answer's shape,
 * its text. Arguments: the supergraph's file, and the subgraphs' origin for fetches over HTTP.
 */
import { readFileSync } from 'node:fs'
import { type ExecutionResult, parse } from 'graphql'
import type { ResultStream, Transport } from '../../router/engine/engine.ts'
import { createEngine } from '../../router/engine/native/native.ts'
import { createEmbeddedTransport } from '../../router/engine/transport/embedded.ts'
import { createRemoteTransport } from '../../router/engine/transport/remote.ts'
import { anonymous } from '../../subgraphs/viewer.ts'
import { subscribeAlone } from '../../test/kit/stream.ts'
import { parts, subscription } from '../shop/graph.ts'
import { shopSubgraphs } from '../shop/supergraph.ts'
import { takeTurns } from '../turns.mjs'

const [, , file, origin] = process.argv
/** Number of overlapping streams: over HTTP events overlap, as those of several subscriptions do. */
const streams = origin ? 20 : 1
const event = JSON.stringify({
  data: { reviewAdded: { id: '1', body: 'Fine.', author: { __typename: 'User', id: '2' }, product: { __typename: 'Product', upc: '3' } } },
})

const subgraphs: Transport = origin
  ? createRemoteTransport({ subgraphs: new Map(Object.keys(parts).map(name => [name, { url: `${origin}/${name}` }])) })
  : createEmbeddedTransport(shopSubgraphs())
let fetches = 0
const transport: Transport = {
  fetch(fetch, call) {
    fetches++
    return subgraphs.fetch(fetch, call)
  },
  // Every event is parsed anew, as it is when it comes over a socket.
  subscribe: async () => endless(() => JSON.parse(event)),
}
const engine = createEngine({ supergraphSdl: readFileSync(file!, 'utf8'), transport, log: console })

function endless(next: () => ExecutionResult): ResultStream {
  return {
    next: async () => ({ value: next(), done: false }),
    return: async () => ({ value: undefined, done: true }),
    [Symbol.asyncIterator]() {
      return this
    },
  }
}

const document = parse(subscription)
const open = await Promise.all(
  Array.from({ length: streams }, async () => (await subscribeAlone(engine, { document, viewer: anonymous, requestId: 'bench' })) as ResultStream),
)
const read = async (stream: ResultStream) => JSON.stringify((await stream.next()).value)

const answer = await read(open[0]!)
if (fetches !== 3) throw new Error(`An event costs ${fetches} fetches in place of 3`)
await takeTurns(() => Promise.all(open.map(read)), { operations: streams, answer })
