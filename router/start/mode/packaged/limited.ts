import { createDocuments, type Reading } from '../../../door/documents/documents.ts'
import type { EngineRequest, GatewayEngine } from '../../../engine/package/standalone/create-engine.ts'

/** An engine with limits for the operations of clients. */
export interface LimitedEngine extends GatewayEngine {
  /** Parses, measures and validates an operation. */
  read(text: string): Reading
}

/**
 * Returns an engine that refuses operations which are too large, by the limits of the platform's doors: validation takes
 * time with the square of some sizes, and nobody else is answered meanwhile.
 */
export function withLimits(engine: GatewayEngine): LimitedEngine {
  const documents = createDocuments(engine.schema, { introspection: true })
  const read = ({ query, ...request }: EngineRequest) => {
    const reading = typeof query === 'string' ? documents.read(query) : { document: query }
    return 'errors' in reading ? { errors: reading.errors } : { request: { ...request, query: reading.document } }
  }
  return {
    ...engine,
    read: text => documents.read(text),
    async execute(asked) {
      const { request, errors } = read(asked)
      return request ? engine.execute(request) : { errors }
    },
    async subscribe(asked) {
      const { request, errors } = read(asked)
      return request ? engine.subscribe(request) : { errors }
    },
  }
}
