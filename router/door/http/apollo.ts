import { ApolloServer, type GraphQLRequestListener } from '@apollo/server'
import { ApolloServerPluginLandingPageDisabled } from '@apollo/server/plugin/disabled'
import type { GraphQLFormattedError } from 'graphql'
import { statusOf } from '../../../platform/errors.ts'
import type { Answer, Engine, OperationRequest } from '../../engine/engine.ts'
import { createGateway, type RequestContext } from '../../engine/gateway.ts'
import { unresolvedOperation } from '../documents/documents.ts'
import { formatAsError, formatError } from '../errors.ts'
import { prefersResponseJson } from '../headers.ts'
import { isIncremental } from '../streaming/payloads.ts'
import { waitOf } from './direct.ts'
import type { HttpDoor } from './door.ts'

/**
 * Codes of failures of the request itself, which `application/json` answers with 200 and
 * `application/graphql-response+json` with 400.
 */
const requestFailures: ReadonlySet<unknown> = new Set(['GRAPHQL_PARSE_FAILED', 'GRAPHQL_VALIDATION_FAILED', 'OPERATION_RESOLUTION_FAILURE', 'BAD_USER_INPUT'])

/** Wraps the engine so that its errors are formatted for clients. @param ready collects the formatted errors */
export function tellingEngine({ engine, log, production, exposeErrors: expose }: HttpDoor, ready: WeakSet<object>): Engine {
  return {
    ...engine,
    get schema() {
      return engine.schema
    },
    async execute(request) {
      return told(await engine.execute(request), request)
    },
    ...(engine.executeIncrementally && {
      async executeIncrementally(request: OperationRequest) {
        const result = await engine.executeIncrementally!(request)
        return isIncremental(result) ? result : told(result, request)
      },
    }),
  }

  function told(result: Answer, { requestId }: OperationRequest): Answer {
    if (!result.errors) return result
    const errors = result.errors.map(error => formatAsError(error, { requestId, log, hideSuggestions: production, expose }))
    for (const error of errors) ready.add(error)
    return { ...result, errors }
  }
}

/**
 * Creates the Apollo Server that handles unusual GraphQL requests over HTTP. @param ready errors that are formatted
 * already
 */
export function createApollo(
  { documents, log, production, exposeErrors: expose, countError }: HttpDoor,
  engine: Engine,
  ready: WeakSet<object>,
): ApolloServer<RequestContext> {
  /** Ids of the requests in which errors occurred: Apollo Server formats an error without naming its request. */
  const requestOf = new WeakMap<object, string>()
  return new ApolloServer<RequestContext>({
    gateway: createGateway(engine),
    logger: log,
    // The door has its own CSRF rule (`refusesUnasked`), and decides on introspection during validation.
    csrfPrevention: false,
    introspection: true,
    includeStacktraceInErrorResponses: false,
    stopOnTerminationSignals: false,
    allowBatchedHttpRequests: false,
    stringifyResult: value => JSON.stringify(value),
    formatError(formatted, error) {
      if (ready.has(error as object)) return formatted
      countError?.({ extensions: formatted.extensions })
      return formatError({ ...formatted, originalError: error }, { requestId: requestOf.get(error as object) ?? '-', log, hideSuggestions: production, expose })
    },
    documentStore: {
      // Apollo's key is a digest of the schema and the SHA-256 of the text.
      get: async key => documents.known(key.slice(key.lastIndexOf(':') + 1)),
      set: async () => undefined,
      delete: async () => undefined,
    },
    plugins: [
      // The landing page is the door's own; Apollo Server would put its page before every GET that prefers HTML.
      ApolloServerPluginLandingPageDisabled(),
      {
        requestDidStart: async () => ({
          async didResolveOperation({ document, request }) {
            const unresolved = unresolvedOperation(document, request.operationName)
            if (unresolved) throw Object.assign(unresolved, { extensions: { ...unresolved.extensions, http: { status: 400 } } })
          },
          async didEncounterErrors({ errors, contextValue }) {
            for (const error of errors) requestOf.set(error, contextValue.requestId)
          },
          async willSendResponse(context) {
            lowerStatus(context)
            sayWait(context)
          },
        }),
      },
    ],
  })
}

/** Whether an error reports a mistake in the request itself. */
export const isRequestFailure = ({ extensions }: Pick<GraphQLFormattedError, 'extensions'>): boolean => requestFailures.has(extensions?.code)

type Sending = Parameters<NonNullable<GraphQLRequestListener<RequestContext>['willSendResponse']>>[0]

function lowerStatus({ request, response }: Sending): void {
  if (response.body.kind !== 'single' || response.http.status !== 400) return
  const { errors, data } = response.body.singleResult
  if (data != null || !errors?.length || !errors.every(isRequestFailure)) return
  if (!prefersResponseJson(request.http?.headers.get('accept'))) response.http.status = 200
}

function sayWait({ response: { body, http } }: Sending): void {
  const wait = body.kind === 'single' && body.singleResult.data === null ? waitOf(body.singleResult.errors) : undefined
  if (wait === undefined) return
  http.status = statusOf.RATE_LIMITED
  http.headers.set('retry-after', String(wait))
}
