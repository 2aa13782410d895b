/** The variables of the environment that `@apollo/gateway` reads too; the library reads no other. */
type Variable =
  | 'NODE_ENV'
  | 'APOLLO_KEY'
  | 'APOLLO_GRAPH_REF'
  | 'APOLLO_SCHEMA_CONFIG_DELIVERY_ENDPOINT'
  | 'APOLLO_UPLINK_ENDPOINTS'
  | 'APOLLO_OUT_OF_BAND_REPORTER_ENDPOINT'

/** All variables, for the command. */
// biome-ignore lint/style/noProcessEnv: a library outside of this program has no other configuration
export const variables = (): Readonly<Record<string, string | undefined>> => process.env

export const environment = (name: Variable): string | undefined => variables()[name]

export const isProduction = (): boolean => environment('NODE_ENV') === 'production'
