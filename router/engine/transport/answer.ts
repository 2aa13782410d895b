import type { ExecutionResult, GraphQLError } from 'graphql'
import { isErrorCode } from '../../../platform/errors.ts'
import { isData } from '../data/merge.ts'
import { type HttpAnswer, UpstreamFailure } from './exchange.ts'

/**
 * Reads a subgraph's answer (GraphQL over HTTP, draft of the GraphQL foundation): a result counts whatever its status and media
 * type say, because servers differ there; anything else is a failure of the subgraph.
 * @throws UpstreamFailure for a body that is no GraphQL result, and for errors that only say that the subgraph itself failed
 */
export function readAnswer({ status, text }: HttpAnswer): ExecutionResult {
  let result: unknown
  try {
    result = JSON.parse(text)
  } catch {
    throw new UpstreamFailure('answered', `It answered ${status} with something that is not JSON`)
  }
  if (!isData(result) || (!isData(result.data) && !isErrors(result.errors)))
    throw new UpstreamFailure('answered', `It answered ${status} with JSON that is no GraphQL result`)
  return result.data === undefined ? refusal(result.errors as readonly RemoteError[], status) : (result as ExecutionResult)
}

interface RemoteError {
  readonly message?: unknown
  readonly extensions?: { readonly code?: unknown }
}

const isErrors = (errors: unknown): errors is readonly RemoteError[] => Array.isArray(errors) && errors.length > 0 && errors.every(isData)

/** Codes by which servers say that they could not read a request or its variables. */
const requestCodes: readonly unknown[] = [undefined, 'BAD_REQUEST', 'BAD_USER_INPUT', 'GRAPHQL_VALIDATION_FAILED']

/** Words of graphql-js and those who follow it for a document that does not fit the schema: then the supergraph is out of date. */
const outdated =
  /^(?:Cannot query field|Unknown (?:type|argument|directive|fragment|field)|Field "[^"]*" (?:argument|must|is not defined)|Fields "[^"]*" conflict|Fragment |Variable "[^"]*" of type|Syntax Error)/

/**
 * A request that was not executed at all. The documents are ours and valid, so only values can be the reason, and they are the
 * client's: BAD_USER_INPUT, as in one process. What cannot be that is a failure of the subgraph.
 */
function refusal(errors: readonly RemoteError[], status: number): ExecutionResult {
  const told = errors.map(error => {
    const code = error.extensions?.code
    const message = String(error.message ?? '')
    if (isErrorCode(code) && code !== 'INTERNAL_SERVER_ERROR' && code !== 'BAD_USER_INPUT') return error
    if (status >= 500 || !requestCodes.includes(code) || outdated.test(message))
      throw new UpstreamFailure('answered', `It answered ${status} and did not execute the request: ${message}`)
    return { ...error, message, extensions: { ...error.extensions, code: 'BAD_USER_INPUT' } }
  })
  return { errors: told as unknown as readonly GraphQLError[] }
}
