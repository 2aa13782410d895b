import { type ExecutionResult, GraphQLError } from 'graphql'
import { createDocuments, type Reading } from '../../../door/documents/documents.ts'
import type { EngineRequest, GatewayEngine, IncrementalPayload } from '../../../engine/package/standalone/create-engine.ts'

/** An engine for clients that nobody knows. */
export interface PublicEngine extends GatewayEngine {
  /** Parses, measures and validates an operation. */
  read(text: string): Reading
}

/**
 * Returns an engine that refuses operations which are too large, by the limits of the platform's doors: validation takes
 * time with the square of some sizes, and nobody else is answered meanwhile. Its errors name no address of a subgraph
 * and no line of its code.
 * @param complain is given what clients do not see of a failure
 */
export function forClients(engine: GatewayEngine, complain: (line: string) => void): PublicEngine {
  const documents = createDocuments(engine.schema, { introspection: true })
  const read = ({ query, ...request }: EngineRequest) => {
    const reading = typeof query === 'string' ? documents.read(query) : { document: query }
    return 'errors' in reading ? { errors: reading.errors } : { request: { ...request, query: reading.document } }
  }
  const shown = (error: GraphQLError): GraphQLError => {
    const { code, stacktrace: _stacktrace, exception: _exception, response, ...details } = error.extensions ?? {}
    if (code === undefined || response !== undefined) complain(`a subgraph failed: ${error.message}${addressOf(response)}`)
    const message = code === undefined ? 'A subgraph could not be asked.' : error.message
    return new GraphQLError(message, { path: error.path, extensions: { code: code ?? 'UPSTREAM_FAILED', ...details } })
  }
  const cleaned = <Part extends { readonly errors?: readonly GraphQLError[] }>(part: Part): Part =>
    part.errors ? { ...part, errors: part.errors.map(shown) } : part
  const payload = (each: IncrementalPayload): IncrementalPayload => ({
    ...cleaned(each),
    ...(each.incremental && { incremental: each.incremental.map(cleaned) }),
    ...(each.completed && { completed: each.completed.map(cleaned) }),
  })
  return {
    ...engine,
    read: text => documents.read(text),
    async execute(asked) {
      const { request, errors } = read(asked)
      if (!request) return { errors }
      const result = await engine.execute(request)
      return Symbol.asyncIterator in result ? mapped(result, payload) : cleaned(result)
    },
    async subscribe(asked) {
      const { request, errors } = read(asked)
      if (!request) return { errors }
      const result = await engine.subscribe(request)
      return Symbol.asyncIterator in result ? mapped<ExecutionResult>(result, cleaned) : cleaned(result)
    },
  }
}

const addressOf = (response: unknown): string => (typeof response === 'object' && response !== null && 'url' in response ? ` (${response.url})` : '')

/** Changes each value of an iteration; it is no async generator, so that `return()` ends the source at once. */
function mapped<Value>(source: AsyncIterableIterator<Value>, change: (value: Value) => Value): AsyncIterableIterator<Value> {
  return {
    async next() {
      const step = await source.next()
      return step.done ? step : { value: change(step.value), done: false }
    },
    return: async () => (await source.return?.()) ?? { value: undefined, done: true },
    [Symbol.asyncIterator]() {
      return this
    },
  }
}
