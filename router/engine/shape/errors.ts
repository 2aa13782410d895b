import { GraphQLError } from 'graphql'
import type { Logger } from 'pino'
import { codeOf } from '../../../platform/errors.ts'
import { type Data, isData } from '../data/merge.ts'
import { errorFor, type Place } from '../errors.ts'
import type { Failure } from '../execute/execute.ts'
import { withClientVariables } from '../repairs/hive-variables/variables.ts'
import type { Flaw } from './project.ts'
import { type FieldShape, runtimeShape, type Shape } from './shape.ts'

export interface ErrorReader {
  readonly log: Pick<Logger, 'error' | 'warn'>
  readonly requestId: string
  /** Whether clients see the text of errors that are no refusal: for development only. */
  readonly exposeInternalErrors: boolean
  /** Describes failures instead of the rules here. @default not */
  readonly explain?: ExplainFailure | undefined
}

/** What clients are told of a failure. */
export interface Explained {
  readonly message: string
  readonly extensions: Record<string, unknown>
  /** The error that was thrown. @default none */
  readonly originalError?: Error | null | undefined
  /** Whether it is reported once and without a path, whatever it concerns. @default it stands at each path */
  readonly isPathless?: boolean | undefined
}

/** Describes a failure at a subgraph for clients. */
export type ExplainFailure = (failure: Pick<Failure, 'subgraph' | 'error' | 'cause'>) => Explained

/** Maximum number of errors in one answer. */
const mostErrors = 100

/**
 * Converts failures at subgraphs to errors for the client: a domain error is passed on, with the subgraph's name; a
 * subgraph that did not answer becomes UPSTREAM_FAILED; everything else becomes `Internal server error`, and its cause
 * is logged.
 */
export function clientErrors(failures: readonly Failure[], shape: Shape, data: Data, reader: ErrorReader): GraphQLError[] {
  const errors: GraphQLError[] = []
  const seen = new Set<string>()
  const causes: Causes = new Map()
  for (const failure of failures) {
    if (errors.length >= mostErrors) {
      reader.log.warn({ requestId: reader.requestId, failures: failures.length }, 'more errors than the answer and the log list')
      break
    }
    // Clients never see the original error; the log uses it to name the unavailable dependency.
    const told: Explained = reader.explain?.(failure) ?? { ...wordsOf(failure, reader, causes), originalError: causeOf(failure) }
    const { message, extensions, originalError } = told
    const places = failure.places.length === 0 || told.isPathless ? [undefined] : failure.places
    for (const place of places) {
      const path = place && clientPath(shape, data, place, failure.renames)
      const identity = `${JSON.stringify(path)} ${message}`
      if (seen.has(identity) || errors.length >= mostErrors) continue
      seen.add(identity)
      errors.push(new GraphQLError(message, { ...(path?.length && { path }), extensions, originalError }))
    }
  }
  for (const { level, message, line, times } of causes.values()) reader.log[level]({ ...line, ...(times > 1 && { times }) }, message)
  return errors
}

interface Line {
  readonly service: string
  readonly err: unknown
  readonly [fact: string]: unknown
}

/** Causes to be logged for one answer: each once, with the number of its occurrences. */
type Causes = Map<string, { readonly level: 'error' | 'warn'; readonly message: string; readonly line: Line; times: number }>

function take(causes: Causes, level: 'error' | 'warn', message: string, line: Line): void {
  const { err, service } = line
  const cause = err instanceof Error ? `${err.name} ${err.message}` : String(err)
  const known = causes.get(`${message} ${service} ${cause}`)
  if (known) known.times += 1
  else causes.set(`${message} ${service} ${cause}`, { level, message, line, times: 1 })
}

function wordsOf(failure: Failure, reader: ErrorReader, causes: Causes): { message: string; extensions: Record<string, unknown> } {
  const { subgraph: service, error, cause, places } = failure
  const { requestId } = reader
  if (!error) {
    take(causes, 'warn', 'A subgraph did not answer', { requestId, service, places: places.slice(0, 3), err: cause })
    const code = codeOf(cause)
    if (code !== 'INTERNAL_SERVER_ERROR') return { message: (cause as Error).message, extensions: { ...detailsOf(cause), code, service } }
    return { message: `The service "${service}" did not answer; try again in a moment.`, extensions: { code: 'UPSTREAM_FAILED', service } }
  }
  const code = codeOf(error)
  if (code !== 'INTERNAL_SERVER_ERROR' && typeof error.message === 'string') {
    return { message: withClientVariables(error.message), extensions: { ...detailsOf(error), code, service } }
  }
  take(causes, 'error', 'field failed', { requestId, service, path: error.path, err: causeOf(failure) ?? error })
  const shown = reader.exposeInternalErrors && typeof error.message === 'string' ? withClientVariables(error.message) : 'Internal server error'
  return { message: shown, extensions: { code: 'INTERNAL_SERVER_ERROR', service } }
}

/** Returns the thrown error, where it was thrown in this process. */
function causeOf({ error, cause }: Failure): Error | null {
  const thrown = error ? error.originalError : cause
  return thrown instanceof Error ? thrown : null
}

/** Returns an error's machine-readable details, without those that servers add for developers. */
function detailsOf(error: unknown): Record<string, unknown> {
  const { stacktrace: _stacktrace, exception: _exception, code: _code, ...details } = { ...(error as { extensions?: Record<string, unknown> }).extensions }
  return details
}

/** Translates a path of the data to the client's path, cut where the client's selection ends. */
function clientPath(shape: Shape, data: Data, place: Place, renames: ReadonlyMap<string, string>): Place {
  const path: (string | number)[] = []
  let at: Shape | null = shape
  let value: unknown = data
  for (const segment of place) {
    if (typeof segment === 'number') {
      path.push(segment)
      value = Array.isArray(value) ? value[segment] : undefined
      continue
    }
    if (!at) return path
    const field = fieldUnder(at, value, renames.get(segment) ?? segment)
    if (!field) return path
    path.push(field.responseKey)
    value = isData(value) && Object.hasOwn(value, segment) ? value[segment] : undefined
    at = objectOf(field)
  }
  return path
}

/**
 * Finds the field under a key. Where the object itself became null its type is unknown: then any type of the selection
 * that has the key will do.
 */
function fieldUnder(shape: Shape, value: unknown, key: string): FieldShape | undefined {
  const known = isData(value) ? runtimeShape(shape, value) : undefined
  const found = known?.byKey.get(key) ?? shape.common.byKey.get(key)
  if (found || known?.typename) return found
  for (const typename of shape.possibleTypes()) {
    const field = shape.of(typename)?.byKey.get(key)
    if (field) return field
  }
  return undefined
}

function objectOf(field: FieldShape): Shape | null {
  let value = field.value
  while (value.items) value = value.items
  return value.object
}

/**
 * Creates the errors for flaws found while shaping. A null that an error explains is not reported again: the error's
 * path leads to it, or below it.
 */
export function flawErrors(flaws: readonly Flaw[], known: readonly GraphQLError[]): GraphQLError[] {
  const errors: GraphQLError[] = []
  for (const { path, message, isNull } of flaws) {
    if (isNull && known.some(error => explains(error.path, path))) continue
    errors.push(errorFor('INTERNAL_SERVER_ERROR', message, path))
  }
  return errors
}

/**
 * Whether a known error explains a null. Access errors have no list indexes, so indexes only count where both paths
 * have them.
 */
function explains(known: Place | undefined, path: Place): boolean {
  if (!known) return true
  const indexed = known.some(segment => typeof segment === 'number')
  const compared = indexed ? path : path.filter(segment => typeof segment === 'string')
  const length = Math.min(known.length, compared.length)
  for (let index = 0; index < length; index++) if (known[index] !== compared[index]) return false
  return true
}
