import * as stock from '@apollo/gateway'
import { ApolloServer, type ApolloServerOptionsWithGateway, HeaderMap } from '@apollo/server'
import * as ours from '../../../router/engine/package/exports.ts'

// The only way to keep the stock gateway from reporting to its maker.
process.env.APOLLO_TELEMETRY_DISABLED = 'true'

/** The two packages behind the same types. */
export const packages = { stock, ours: ours as unknown as typeof stock }
export type Name = keyof typeof packages
export const both: readonly Name[] = ['stock', 'ours']

export type Config = NonNullable<ConstructorParameters<typeof stock.ApolloGateway>[0]>

export const silent = { debug() {}, info() {}, warn() {}, error() {} }

export interface Served {
  readonly gateway: stock.ApolloGateway
  run(query: string, variables?: Record<string, unknown>, operationName?: string, headers?: Record<string, string>): Promise<Result>
  readonly server: ApolloServer
  stop(): Promise<void>
}

export interface Result {
  // biome-ignore lint/suspicious/noExplicitAny: a test reads whatever its own operation selects
  readonly data?: any
  readonly errors?: readonly { readonly message: string; readonly path?: readonly (string | number)[]; readonly extensions: Record<string, unknown> }[]
  readonly extensions?: Record<string, unknown>
  /** Header `cache-control` of the answer. */
  readonly cacheControl: string | undefined
}

/** Starts an Apollo Server over the gateway of one of the packages. */
export async function serve(name: Name, config: Config, more: Partial<ApolloServerOptionsWithGateway<object>> = {}): Promise<Served> {
  const gateway = new packages[name].ApolloGateway({ logger: silent, ...config })
  const server = new ApolloServer<object>({ gateway, stopOnTerminationSignals: false, logger: silent, includeStacktraceInErrorResponses: false, ...more })
  await server.start()
  return {
    gateway,
    server,
    stop: () => server.stop(),
    async run(query, variables, operationName, headers) {
      const http = headers && { headers: new HeaderMap(Object.entries(headers)), method: 'POST', search: '', body: '' }
      const request = { query, ...(variables && { variables }), ...(operationName && { operationName }), ...(http && { http }) }
      const response = await server.executeOperation(request, { contextValue: { user: 'ann' } })
      if (response.body.kind !== 'single') throw new Error('One result was expected')
      return { ...JSON.parse(JSON.stringify(response.body.singleResult)), cacheControl: response.http.headers.get('cache-control') }
    },
  }
}
