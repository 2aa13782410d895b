/** The variables of the environment that `@apollo/gateway` reads too; nothing else of it is read. */
type Variable =
  | 'NODE_ENV'
  | 'APOLLO_KEY'
  | 'APOLLO_GRAPH_REF'
  | 'APOLLO_SCHEMA_CONFIG_DELIVERY_ENDPOINT'
  | 'APOLLO_UPLINK_ENDPOINTS'
  | 'APOLLO_OUT_OF_BAND_REPORTER_ENDPOINT'

// biome-ignore lint/style/noProcessEnv: a library outside of this program has no other configuration
export const environment = (name: Variable): string | undefined => process.env[name]

export const isProduction = (): boolean => environment('NODE_ENV') === 'production'
