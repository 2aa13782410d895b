import { type GatewayConfig, type SupergraphManager, type SupergraphSdlHook, sourceKindOf } from '../config.ts'
import type { Logger } from '../types.ts'
import { IntrospectAndCompose } from './introspect-and-compose.ts'
import { LocalCompose } from './local-compose.ts'
import { UplinkSupergraphManager } from './uplink.ts'

/** Key and graph of GraphOS, as Apollo Server reads them from the environment. */
export interface GraphOsAccess {
  readonly key?: string
  readonly keyHash?: string
  readonly graphRef?: string
}

/** Returns what brings the supergraph. @throws Error when the configuration names none, and there is no graph of GraphOS either */
export function managerOf(config: GatewayConfig, logger: Logger, { key, keyHash, graphRef }: GraphOsAccess): SupergraphManager {
  switch (sourceKindOf(config)) {
    case 'text':
      return { initialize: async () => ({ supergraphSdl: config.supergraphSdl as string }) }
    case 'manager':
      return typeof config.supergraphSdl === 'function'
        ? { initialize: config.supergraphSdl as SupergraphSdlHook }
        : (config.supergraphSdl as SupergraphManager)
    case 'local':
      return new LocalCompose({ localServiceList: config.localServiceList!, logger })
    case 'list':
      logger.warn(
        'The `serviceList` option is deprecated and will be removed in a future version of `@apollo/gateway`. Please migrate to its replacement `IntrospectAndCompose`. More information on `IntrospectAndCompose` can be found in the documentation.',
      )
      return new IntrospectAndCompose({
        subgraphs: config.serviceList!,
        pollIntervalInMs: config.pollIntervalInMs,
        logger,
        subgraphHealthCheck: config.serviceHealthCheck,
        introspectionHeaders: config.introspectionHeaders,
      })
    case 'managed': {
      if (!graphRef || !keyHash || !key)
        throw new Error(
          'When a manual configuration is not provided, gateway requires an Apollo configuration. See https://www.apollographql.com/docs/apollo-server/federation/managed-federation/ for more information. Manual configuration options include: `serviceList`, `supergraphSdl`, and `experimental_updateServiceDefinitions`.',
        )
      const { uplinkEndpoints, schemaConfigDeliveryEndpoint: former } = config
      return new UplinkSupergraphManager({
        graphRef,
        apiKey: key,
        shouldRunSubgraphHealthcheck: config.serviceHealthCheck,
        uplinkEndpoints: uplinkEndpoints ?? (former === undefined ? undefined : [former]),
        maxRetries: config.uplinkMaxRetries,
        fetcher: config.fetcher,
        logger,
        fallbackPollIntervalInMs: config.fallbackPollIntervalInMs ?? config.pollIntervalInMs,
      })
    }
  }
}
