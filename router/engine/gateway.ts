import type { ApolloServerOptionsWithGateway } from '@apollo/server'
import type { Browser } from '../../subgraphs/http/browser.ts'
import type { Viewer } from '../../subgraphs/viewer.ts'
import type { Claim } from '../access/callers/claim.ts'
import type { Answer, Engine } from './engine.ts'

/** Result of Apollo Server's context function: the viewer, and the id under which the request is logged. */
export interface RequestContext {
  readonly viewer: Viewer
  /** Identity under which the caller's use is counted. */
  readonly claim?: Claim | undefined
  readonly requestId: string
  /** Name of the variant of the graph that the client asked. @default the whole graph */
  readonly graphVariant?: string | undefined
  readonly headers?: Headers | undefined
  readonly browser?: Browser | undefined
  /** Aborts when the client leaves. */
  readonly signal?: AbortSignal | undefined
  /** Called with the engine's answer, of which Apollo Server passes on only what clients get. */
  answered?(answer: Answer): void
}

type Gateway = NonNullable<ApolloServerOptionsWithGateway<RequestContext>['gateway']>
type SchemaListener = Parameters<Gateway['onSchemaLoadOrUpdate']>[0]

/**
 * Lets Apollo Server run operations on the engine (Apollo's GatewayInterface). Apollo Server keeps parsing, validation
 * and the landing page; the supergraph's text is not used. Stopping the gateway does not stop the engine, which belongs
 * to its creator.
 */
export function createGateway(engine: Engine): Gateway {
  const listeners = new Set<SchemaListener>()
  return {
    onSchemaLoadOrUpdate(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    async load() {
      const tellAll = () => {
        for (const tell of listeners) tell({ apiSchema: engine.schema, coreSupergraphSdl: '' })
      }
      engine.onChange?.(tellAll)
      tellAll()
      return {
        async executor({ document, request, operationName, context }) {
          const { answered, ...asked } = context as RequestContext
          const answer = await engine.execute({ ...asked, document, operationName: operationName ?? undefined, variables: request.variables })
          answered?.(answer)
          return answer
        },
      }
    },
    async stop() {
      listeners.clear()
    },
  }
}
