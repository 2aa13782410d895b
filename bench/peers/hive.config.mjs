// Hive Gateway as its command starts it. HIVE_DEDUPE=0 takes away its sharing of equal requests in flight.
import { defineConfig } from '@graphql-hive/gateway'

// biome-ignore lint/style/noProcessEnv: the command that reads this file hands it nothing else
const { HIVE_SUPERGRAPH: supergraph, HIVE_PORT: port, HIVE_DEDUPE: dedupe } = process.env

export const gatewayConfig = defineConfig({
  supergraph,
  host: '127.0.0.1',
  port: Number(port),
  logging: 'error',
  landingPage: false,
  graphiql: false,
  transportEntries: { '*.http': { options: dedupe === '0' ? { deduplicateInflightRequests: false } : {} } },
})
