// Hive Gateway as its command starts it. HIVE_DEDUPE=0 takes away its sharing of equal requests in flight, and HIVE_LIVE=1 has subscriptions
// go to subgraphs over WebSocket.
import { defineConfig } from '@graphql-hive/gateway'

// biome-ignore lint/style/noProcessEnv: the command that reads this file hands it nothing else
const { HIVE_SUPERGRAPH: supergraph, HIVE_PORT: port, HIVE_DEDUPE: dedupe, HIVE_LIVE: live } = process.env

export const gatewayConfig = defineConfig({
  supergraph,
  host: '127.0.0.1',
  port: Number(port),
  logging: 'error',
  landingPage: false,
  graphiql: false,
  transportEntries: {
    '*.http': { options: { ...(dedupe === '0' && { deduplicateInflightRequests: false }), ...(live === '1' && { subscriptions: { kind: 'ws' } }) } },
  },
})
