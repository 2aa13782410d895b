// Hive Gateway with what it measures about others turned off: HIVE_DEDUPE=0 takes away its sharing of equal requests in flight.
import { defineConfig } from '@graphql-hive/gateway'

const options = process.env.HIVE_DEDUPE === '0' ? { deduplicateInflightRequests: false } : {}

export const gatewayConfig = defineConfig({
  supergraph: process.env.HIVE_SUPERGRAPH,
  host: '127.0.0.1',
  port: Number(process.env.HIVE_PORT),
  logging: 'error',
  landingPage: false,
  graphiql: false,
  transportEntries: { '*.http': { options } },
})
