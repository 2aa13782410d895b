import type { ExecutionResult, GraphQLError } from 'graphql'
import { isErrorCode } from '../../../platform/errors.ts'
import { isData } from '../data/merge.ts'
import { type HttpAnswer, UpstreamFailure } from './exchange.ts'

/** Maximum number of errors read from one answer: clients receive fewer, and each is looked up in the data. */
const mostErrors = 200

/** Maximum depth of an error's details, so that walking through them cannot exhaust the stack. */
const deepestDetails = 20

/** Maximum length of an error's path. */
const longestPath = 100

/**
 * Reads a subgraph's answer (GraphQL over HTTP, draft of the GraphQL foundation). A GraphQL result is accepted whatever
 * its status and media type, because servers differ there; anything else is a failure of the subgraph.
 * @throws UpstreamFailure for a body that is not a GraphQL result, and for errors that only report that the subgraph
 * itself failed
 */
export function readAnswer({ status, text }: HttpAnswer): ExecutionResult {
  if (isBottomless(text)) throw new UpstreamFailure('answered', `It answered ${status} with lists that nest deeper than any result`)
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    value = parseMarked(text)
    if (value === undefined) throw new UpstreamFailure('answered', `It answered ${status} with something that is not JSON`)
  }
  const result = isData(value) ? readResult(value) : undefined
  if (!result) throw new UpstreamFailure('answered', `It answered ${status} with JSON that is no GraphQL result`)
  return result.data === undefined ? refusal(result.errors as readonly RemoteError[], status) : result
}

const bottomless = '['.repeat(1000)

/**
 * Whether a text opens a thousand lists in a row outside its strings. No result does, and parsing a megabyte of brackets
 * would hold up every other operation for 0.4 s.
 */
export function isBottomless(text: string): boolean {
  for (let at = text.indexOf(bottomless), from = 0; at >= 0; ) {
    // Walks over the strings before it; one that holds it is passed.
    const opens = text.indexOf('"', from)
    if (opens < 0 || opens > at) return true
    from = endOfString(text, opens) + 1
    if (from === 0) return false
    if (from > at) at = text.indexOf(bottomless, from)
  }
  return false
}

/** Returns the position of the quotation mark that ends the string that begins at a position; -1 where none does. */
function endOfString(text: string, opens: number): number {
  for (let at = text.indexOf('"', opens + 1); at >= 0; at = text.indexOf('"', at + 1)) {
    let before = at - 1
    while (text[before] === '\\') before -= 1
    if ((at - before) % 2 === 1) return at
  }
  return -1
}

/** Parses JSON that may begin with a byte order mark, as some servers send (RFC 8259 §8.1). */
function parseMarked(text: string): unknown {
  if (text.charCodeAt(0) !== 0xfeff) return undefined
  try {
    return JSON.parse(text.slice(1))
  } catch {
    return undefined
  }
}

/** Reads the errors with which a subgraph rejects a subscription; undefined when there are none. */
export function readRefusal(errors: unknown): ExecutionResult | undefined {
  const result = readResult({ errors })
  try {
    return result && refusal(result.errors as readonly RemoteError[], 200)
  } catch {
    // Reported as internal errors of the subgraph; its own message goes to the log.
    return result
  }
}

/** Reads data and errors of an object, ignoring parts of another form; undefined when it has neither. */
export function readResult(value: Readonly<Record<string, unknown>>): ExecutionResult | undefined {
  const { data, errors, extensions } = value as { data?: ExecutionResult['data']; errors?: unknown; extensions?: unknown }
  const aside = isData(extensions) && { extensions }
  if (errors === undefined || errors === null) return isData(data) ? (value as ExecutionResult) : undefined
  const read = (Array.isArray(errors) ? errors.slice(0, mostErrors) : []).flatMap(readError) as unknown as readonly GraphQLError[]
  if (read.length === 0) return isData(data) ? { data, ...aside } : undefined
  return data === undefined ? { errors: read } : { data, errors: read, ...aside }
}

interface RemoteError {
  readonly message?: unknown
  readonly path?: readonly (string | number)[]
  readonly extensions?: { readonly code?: unknown }
}

/** Reads the usable parts of an error. An unusable path is left out, so that the error concerns the whole answer. */
function readError(error: unknown): RemoteError[] {
  if (typeof error === 'string') return [{ message: error }]
  if (!isData(error)) return []
  const { message, path, extensions } = error
  return [
    {
      message,
      ...(isPath(path) && { path }),
      ...(isData(extensions) && isShallow(extensions, deepestDetails) && { extensions }),
    },
  ]
}

const isPath = (path: unknown): path is (string | number)[] =>
  Array.isArray(path) &&
  path.length > 0 &&
  path.length <= longestPath &&
  path.every(segment => typeof segment === 'string' || (Number.isSafeInteger(segment) && segment >= 0))

function isShallow(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return true
  return levels > 0 && Object.values(value).every(inner => isShallow(inner, levels - 1))
}

/** Codes with which servers report that they could not read a request or its variables. */
const requestCodes: readonly unknown[] = [undefined, 'BAD_REQUEST', 'BAD_USER_INPUT', 'GRAPHQL_VALIDATION_FAILED']

/**
 * Matches the messages of graphql-js and its relatives for a document that does not fit the schema: then the supergraph
 * is out of date.
 */
const outdated =
  /^(?:Cannot query field|Unknown (?:type|argument|directive|fragment|field)|Field "[^"]*" (?:argument|must|is not defined)|Fields "[^"]*" conflict|Fragment |Variable "[^"]*" of type|Syntax Error)/

/**
 * Converts the errors of a request that was not executed at all. The documents are ours and valid, so only the client's
 * values can be the reason: BAD_USER_INPUT, as in one process. Other errors are a failure of the subgraph.
 */
function refusal(errors: readonly RemoteError[], status: number): ExecutionResult {
  const readable = errors.map(error => {
    const code = error.extensions?.code
    const message = String(error.message ?? '')
    if (isErrorCode(code) && code !== 'INTERNAL_SERVER_ERROR' && code !== 'BAD_USER_INPUT') return error
    if (status >= 500 || !requestCodes.includes(code) || outdated.test(message))
      throw new UpstreamFailure('answered', `It answered ${status} and did not execute the request: ${message}`)
    return { ...error, message, extensions: { ...error.extensions, code: 'BAD_USER_INPUT' } }
  })
  return { errors: readable as unknown as readonly GraphQLError[] }
}
