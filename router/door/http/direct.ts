import type { DocumentNode, ExecutionResult, GraphQLError, GraphQLFormattedError, OperationDefinitionNode } from 'graphql'
import { statusOf } from '../../../platform/errors.ts'
import type { OperationRequest } from '../../engine/engine.ts'
import { prefersResponseJson } from '../headers.ts'

/** What a usual request asks the engine. */
export type DirectRequest = Pick<OperationRequest, 'document' | 'operationName' | 'variables'>

/**
 * Reads the body of a request that needs nothing of Apollo Server: a document that is known to be good, variables and a name in their
 * usual form. Null for whatever is unusual, of which Apollo Server says what is wrong with it, or which it knows how to answer.
 */
export function readDirect(body: unknown, document: DocumentNode, operation: OperationDefinitionNode): DirectRequest | null {
  const { operationName, variables, extensions } = body as Record<string, unknown>
  if (extensions !== undefined && extensions !== null) return null
  if (operationName !== undefined && operationName !== null && typeof operationName !== 'string') return null
  if (variables !== undefined && variables !== null && (typeof variables !== 'object' || Array.isArray(variables))) return null
  return { document, operationName: operation.name?.value, variables: (variables as Record<string, unknown> | null | undefined) ?? undefined }
}

/** An answer as Apollo Server would send it. */
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
 * Makes an answer of a result, by GraphQL over HTTP: what was not executed is 400 in GraphQL's own media type, and 200 as plain JSON; what was
 * too much beside the caller's other operations is 429, as it is where the door refuses it.
 * @param errors in the form in which they leave the platform
 * @param isRequestFailure whether an error says that the request itself was wrong
 */
export function directAnswer(
  { data, extensions }: ExecutionResult,
  errors: readonly GraphQLError[] | undefined,
  accept: string | null,
  isRequestFailure: (error: GraphQLError) => boolean,
): DirectAnswer {
  const isOwn = prefersResponseJson(accept)
  const headers = isOwn ? own : plain
  const body = textOf(data, { errors, data, extensions })
  const wait = data === null ? waitOf(errors) : undefined
  if (wait !== undefined) return { status: statusOf.RATE_LIMITED, headers: { ...headers, 'retry-after': String(wait) }, body }
  const isRefused = data === undefined && Boolean(errors?.length)
  const status = isRefused && (isOwn || !errors!.every(isRequestFailure)) ? 400 : 200
  return { status, headers, body }
}

/** After how many seconds an operation without any data may be asked again, where it was too much beside others. */
export function waitOf(errors: readonly Pick<GraphQLFormattedError, 'extensions'>[] | undefined): number | undefined {
  const { code, retryAfter } = errors?.[0]?.extensions ?? {}
  return code === 'RATE_LIMITED' && typeof retryAfter === 'number' ? retryAfter : undefined
}

/** What was written of data that was answered whole: who asked the same at the same time is sent the same. */
const written = new WeakMap<object, string>()

function textOf(data: ExecutionResult['data'], answer: { readonly errors: unknown; readonly data: unknown; readonly extensions: unknown }): string {
  if (answer.errors || !data) return JSON.stringify(answer)
  let text = written.get(data)
  if (text === undefined) {
    text = JSON.stringify(answer)
    written.set(data, text)
  }
  return text
}
