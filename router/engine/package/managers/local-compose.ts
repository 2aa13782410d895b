import type { ServiceDefinition } from '@apollo/federation-internals'
import type { SupergraphManager, SupergraphSdlHookOptions } from '../config.ts'
import type { Logger } from '../types.ts'
import { compose } from './compose.ts'

export interface LocalComposeOptions {
  logger?: Logger
  localServiceList: ServiceDefinition[]
}

/** Composes a supergraph of subgraphs that are given as documents. */
export class LocalCompose implements SupergraphManager {
  private readonly options: LocalComposeOptions

  constructor(options: LocalComposeOptions) {
    this.options = options
    options.logger?.warn(
      'The `localServiceList` option is deprecated and will be removed in a future version of `@apollo/gateway`. Please migrate to the `LocalCompose` supergraph manager exported by `@apollo/gateway`.',
    )
  }

  async initialize({ getDataSource }: SupergraphSdlHookOptions): Promise<{ supergraphSdl: string }> {
    const { localServiceList, logger } = this.options
    try {
      logger?.debug(`Composing schema from service list: \n${localServiceList.map(({ name, url }) => `  ${url || 'local'}: ${name}`).join('\n')}`)
      const supergraphSdl = compose(localServiceList, 'LocalCompose')
      for (const definition of localServiceList) getDataSource(definition)
      return { supergraphSdl }
    } catch (cause) {
      logger?.error(`LocalCompose failed to update supergraph with the following error: ${(cause as Error).message}`)
      throw cause
    }
  }
}
