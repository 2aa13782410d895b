import type { IncomingMessage, ServerResponse } from 'node:http'
import type { ExecutionResult, GraphQLError } from 'graphql'
import type { Logger } from 'pino'
import { addressHeader } from '../../platform/caller/cause.ts'
import { codeOf, type DomainError } from '../../platform/errors.ts'
import { browserHeader } from '../../subgraphs/http/browser.ts'
import type { Subgraph } from '../../subgraphs/subgraph.ts'
import type { Viewer } from '../../subgraphs/viewer.ts'
import { claimOf } from '../access/callers/claim.ts'
import { readBody } from '../door/body.ts'
import { formatError } from '../door/errors.ts'
import { leavingSignal } from '../door/sending.ts'
import { requireFits } from '../engine/data/bytes.ts'
import type { BytesInFlight } from '../engine/data/in-flight.ts'
import type { FetchCall } from '../engine/engine.ts'
import { createEmbeddedTransport } from '../engine/transport/embedded.ts'
import { finish, Work } from '../engine/work.ts'
import { coded, createDocuments } from './documents.ts'
import { jsonOf, mostBodyBytes } from './json.ts'

/** Maximum bytes of an answer that the router reads. */
const mostAnswerBytes = 32 * 1024 * 1024
export interface OperationsOptions {
  readonly inFlight: BytesInFlight | undefined
  /** Whether the router, and so clients, learn the text of internal errors. */
  readonly expose: boolean
  readonly log: Logger
}

export type Operations = ReturnType<typeof createOperations>

/** Runs the operations that the router sends to one subgraph. */
export function createOperations(subgraph: Subgraph, { inFlight, expose, log }: OperationsOptions) {
  const { slug } = subgraph.registration
  const transport = createEmbeddedTransport(new Map([[slug, subgraph]]))
  const read = createDocuments(slug, subgraph.schema)
  const callOf = (viewer: Viewer, requestId: string, variables: unknown, address: unknown, signal?: AbortSignal): FetchCall => ({
    variables: (variables ?? {}) as Record<string, unknown>,
    viewer,
    requestId,
    operation: new Work(requestId, signal, undefined, () => performance.now(), inFlight, claimOf(viewer, typeof address === 'string' ? address : '')),
    signal,
  })
  const tellable = ({ data, errors, extensions }: ExecutionResult, requestId: string): ExecutionResult => ({
    ...(data !== undefined && { data }),
    ...(extensions && { extensions }),
    ...(errors && {
      errors: errors.map(error => formatError(error, { requestId, log, hideSuggestions: false, expose })) as unknown as readonly GraphQLError[],
    }),
  })

  const answerGraphql = async (request: IncomingMessage, response: ServerResponse, viewer: Viewer, requestId: string): Promise<ExecutionResult> => {
    const { query, variables } = jsonOf(await readBody(request, mostBodyBytes)) as { query?: unknown; variables?: unknown }
    const fetch = read(typeof query === 'string' ? query : '')
    if (!('text' in fetch)) return { errors: fetch }
    if (fetch.kind === 'subscription') return { errors: [coded('Send a subscription over WebSocket.')] }
    if (!isVariables(variables)) return { errors: [coded('Variables must be one JSON object.', 'BAD_USER_INPUT')] }
    const fingerprint = request.headers[browserHeader]
    const signal = leavingSignal(response)
    const call = {
      ...callOf(viewer, requestId, variables, request.headers[addressHeader], signal),
      ...(typeof fingerprint === 'string' && { browser: { fingerprint } }),
    }
    try {
      const result = await transport.fetch(fetch, call)
      // The router would reject a longer answer, and repeated text is long only once it is serialized.
      requireFits(result.data, mostAnswerBytes)
      return result
    } catch (cause) {
      if (codeOf(cause) === 'INTERNAL_SERVER_ERROR') throw cause
      return { errors: [coded((cause as Error).message, codeOf(cause), (cause as Partial<DomainError>).extensions)] }
    } finally {
      const { operation } = call
      // Data that was read goes into the answer, which is held until the router has received it.
      if (operation.taken > 0 && !signal.aborted) response.once('close', () => finish(operation))
      else finish(operation)
    }
  }

  return { read, transport, callOf, tellable, answerGraphql }
}

const isVariables = (value: unknown) => value === undefined || value === null || (typeof value === 'object' && !Array.isArray(value))
