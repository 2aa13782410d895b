import type { DocumentNode, GraphQLError, GraphQLFormattedError, OperationDefinitionNode } from 'graphql'
import { statusOf } from '../../../platform/errors.ts'
import type { Answer, OperationRequest } from '../../engine/engine.ts'
import { prefersResponseJson } from '../headers.ts'
import { cachingHeaders } from './caching.ts'

/** The parts of a usual request that the engine needs. */
export type DirectRequest = Pick<OperationRequest, 'document' | 'operationName' | 'variables'>

/**
 * Reads the body of a usual request, which needs nothing of Apollo Server: a valid document, and variables and
 * operation name of their usual types. Null for every other request, which Apollo Server answers.
 */
export function readDirect(body: unknown, document: DocumentNode, operation: OperationDefinitionNode): DirectRequest | null {
  const { operationName, variables, extensions } = body as Record<string, unknown>
  if (extensions !== undefined && extensions !== null) return null
  if (operationName !== undefined && operationName !== null && typeof operationName !== 'string') return null
  if (variables !== undefined && variables !== null && (typeof variables !== 'object' || Array.isArray(variables))) return null
  return { document, operationName: operation.name?.value, variables: (variables as Record<string, unknown> | null | undefined) ?? undefined }
}

/** An answer in the form that Apollo Server would send. */
export interface DirectAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

const [plain, own] = [
  { 'content-type': 'application/json; charset=utf-8', 'cache-control': 'no-store' },
  { 'content-type': 'application/graphql-response+json; charset=utf-8', 'cache-control': 'no-store' },
]

/**
 * Converts a result to an HTTP answer by GraphQL over HTTP: a request that was not executed is 400 in GraphQL's own
 * media type, and 200 as plain JSON; one that exceeds its caller's limits together with other operations is 429.
 * @param errors formatted for clients
 * @param isRequestFailure whether an error reports a mistake in the request itself
 */
export function directAnswer(
  answer: Answer,
  errors: readonly GraphQLError[] | undefined,
  accept: string | null,
  isRequestFailure: (error: GraphQLError) => boolean,
): DirectAnswer {
  const { data, extensions } = answer
  const isOwn = prefersResponseJson(accept)
  const kept = cachingHeaders(answer)
  const headers = kept ? { ...(isOwn ? own : plain), ...kept } : isOwn ? own : plain
  const body = textOf(data, { errors, data, extensions })
  const wait = data === null ? waitOf(errors) : undefined
  if (wait !== undefined) return { status: statusOf.RATE_LIMITED, headers: { ...headers, 'retry-after': String(wait) }, body }
  const isRefused = data === undefined && Boolean(errors?.length)
  const status = isRefused && (isOwn || !errors!.every(isRequestFailure)) ? 400 : 200
  return { status, headers, body }
}

/**
 * Returns the seconds after which an operation without any data may be retried, where it exceeded limits together with
 * others.
 */
export function waitOf(errors: readonly Pick<GraphQLFormattedError, 'extensions'>[] | undefined): number | undefined {
  const { code, retryAfter } = errors?.[0]?.extensions ?? {}
  return code === 'RATE_LIMITED' && typeof retryAfter === 'number' ? retryAfter : undefined
}

/** Serialized answers by their data: callers who shared a query's result share its text. */
const written = new WeakMap<object, string>()

function textOf(data: Answer['data'], answer: { readonly errors: unknown; readonly data: unknown; readonly extensions: unknown }): string {
  if (answer.errors || !data) return JSON.stringify(answer)
  let text = written.get(data)
  if (text === undefined) {
    text = JSON.stringify(answer)
    written.set(data, text)
  }
  return text
}
