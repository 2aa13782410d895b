import { parse } from 'graphql'
import type { IntrospectionHeaders, ServiceEndpointDefinition, SupergraphManager, SupergraphSdlHookOptions } from '../config.ts'
import type { GraphQLDataSource, Logger } from '../types.ts'
import { compose } from './compose.ts'
import { type Poll, poll } from './poll.ts'

export const SERVICE_DEFINITION_QUERY = 'query __ApolloGetServiceDefinition__ { _service { sdl } }'

export interface IntrospectAndComposeOptions {
  subgraphs: ServiceEndpointDefinition[]
  introspectionHeaders?: IntrospectionHeaders | ((service: ServiceEndpointDefinition) => Promise<IntrospectionHeaders> | IntrospectionHeaders) | undefined
  /** Milliseconds between two questions. @default the subgraphs are asked once */
  pollIntervalInMs?: number | undefined
  logger?: Logger
  /** Whether a supergraph is taken into use only when all its subgraphs answer. @default false */
  subgraphHealthCheck?: boolean | undefined
}

/** Asks subgraphs for their SDL and composes it. */
export class IntrospectAndCompose implements SupergraphManager {
  private readonly options: IntrospectAndComposeOptions
  private readonly known = new Map<string, string>()
  private polling: Poll | undefined

  constructor(options: IntrospectAndComposeOptions) {
    this.options = options
  }

  async initialize({ update, getDataSource, healthCheck }: SupergraphSdlHookOptions): Promise<{ supergraphSdl: string; cleanup: () => Promise<void> }> {
    const { subgraphs, pollIntervalInMs, subgraphHealthCheck } = this.options
    const sources = subgraphs.map(subgraph => ({ ...subgraph, dataSource: getDataSource(subgraph) }))
    const look = async () => {
      const supergraphSdl = await this.composed(sources)
      if (supergraphSdl !== null && subgraphHealthCheck) await healthCheck(supergraphSdl)
      return supergraphSdl
    }
    let supergraphSdl: string
    try {
      supergraphSdl = (await look())!
    } catch (cause) {
      this.failed(cause)
      throw cause
    }
    if (pollIntervalInMs)
      this.polling = poll(
        async () => {
          try {
            const changed = await look()
            if (changed !== null) update(changed)
          } catch (cause) {
            this.failed(cause)
          }
        },
        () => pollIntervalInMs,
      )
    return { supergraphSdl, cleanup: async () => this.polling?.stop() }
  }

  /** @returns null when no subgraph has changed */
  private async composed(sources: readonly (ServiceEndpointDefinition & { dataSource: GraphQLDataSource })[]): Promise<string | null> {
    if (sources.length === 0) throw new Error('Tried to load services from remote endpoints but none provided')
    const texts = await Promise.all(sources.map(source => this.sdlOf(source)))
    const isNew = texts.some((text, at) => this.known.get(sources[at]!.name) !== text)
    for (const [at, text] of texts.entries()) this.known.set(sources[at]!.name, text)
    if (!isNew) return null
    return compose(
      sources.map(({ name, url }, at) => ({ name, url: url!, typeDefs: parse(texts[at]!) })),
      'IntrospectAndCompose',
    )
  }

  private async sdlOf({ name, url, dataSource }: ServiceEndpointDefinition & { dataSource: GraphQLDataSource }): Promise<string> {
    if (!url) throw new Error(`Tried to load schema for '${name}' but no 'url' was specified.`)
    const { introspectionHeaders: given } = this.options
    const headers = new Headers(typeof given === 'function' ? await given({ name, url }) : given)
    try {
      const request = { query: SERVICE_DEFINITION_QUERY, http: { url, method: 'POST', headers } }
      const { data, errors } = await dataSource.process({ kind: 'loading schema', request, context: {} })
      if (!data || errors) throw new Error(errors?.map(({ message }) => message).join('\n'))
      const { sdl } = data._service
      parse(sdl)
      return sdl
    } catch (cause) {
      const { message } = cause as Error
      throw new Error(`Couldn't load service definitions for "${name}" at ${url}${message ? `: ${message}` : ''}`, { cause })
    }
  }

  private failed(cause: unknown): void {
    this.options.logger?.error(`IntrospectAndCompose failed to update supergraph with the following error: ${(cause as Error).message ?? cause}`)
  }
}
