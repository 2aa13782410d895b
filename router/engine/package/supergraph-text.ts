import { DEFAULT_SUPPORTED_SUPERGRAPH_FEATURES, Supergraph } from '@apollo/federation-internals'
import { furtherFeatures } from '../plan/apollo.ts'
import { isProduction } from './host/environment.ts'

/**
 * Checks that a text is a supergraph whose rules all are understood, as `@apollo/gateway` does. Unlike there,
 * `@context` and `@cacheTag` are understood; nothing is cached, so tags have no effect.
 * @param validateSupergraph whether each subgraph in it is validated too @default unless NODE_ENV is production
 * @returns name and address of each subgraph
 * @throws Error, or GraphQLError, saying what is wrong with it
 */
export function readSubgraphs(supergraphSdl: string, validateSupergraph = !isProduction()): readonly { readonly name: string; readonly url?: string }[] {
  const supportedFeatures = new Set([...DEFAULT_SUPPORTED_SUPERGRAPH_FEATURES, ...furtherFeatures])
  return Supergraph.build(supergraphSdl, { supportedFeatures, validateSupergraph }).subgraphsMetadata()
}
