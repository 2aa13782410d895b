import { GraphQLError } from 'graphql'
import { withClientVariables } from '../../repairs/hive-variables/variables.ts'
import type { ExplainFailure } from '../../shape/errors.ts'

/** Code of errors of subgraphs that have none. */
const downstream = 'DOWNSTREAM_SERVICE_ERROR'

/**
 * Describes failures as `@apollo/gateway` does. An error in a subgraph's answer keeps message, extensions and path, and
 * names its subgraph; what a data source threw is passed on as it is, without a path.
 */
export const explainAsGateway: ExplainFailure = ({ subgraph, error, cause }) => {
  if (!error) return thrown(cause)
  const { message, extensions = {}, path } = error
  const text = typeof message === 'string' && message !== '' ? withClientVariables(message) : `Error while fetching subquery from service "${subgraph}"`
  return {
    message: text,
    extensions: { ...extensions, serviceName: subgraph, ...(!extensions.code && { code: downstream }) },
    originalError: error as unknown as Error,
    isPathless: !path,
  }
}

function thrown(cause: unknown) {
  if (cause instanceof GraphQLError) return { message: cause.message, extensions: { ...cause.extensions }, originalError: cause, isPathless: true }
  const message = cause instanceof Error ? cause.message : 'Unexpected error during query plan execution'
  const { extensions } = (cause ?? {}) as { extensions?: unknown }
  const details = typeof extensions === 'object' && extensions !== null ? { ...(extensions as Record<string, unknown>) } : {}
  return { message, extensions: details, originalError: cause instanceof Error ? cause : null, isPathless: true }
}
