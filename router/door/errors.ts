import { STATUS_CODES } from 'node:http'
import type { FastifyReply } from 'fastify'
import { GraphQLError, type GraphQLFormattedError } from 'graphql'
import type { Logger } from 'pino'
import { DomainError, isErrorCode, statusOf } from '../../platform/errors.ts'
import { toldAsWait } from '../../platform/sql/wait.ts'
import { publicCodeOf } from '../access/refusal.ts'
import { prefersResponseJson } from './headers.ts'

/** Maximum characters of a message: it may repeat a value that the client sent. */
const mostMessageCharacters = 1000

/** The request that an error belongs to, and how much of the error clients may see. */
export interface ErrorFormatting {
  readonly requestId: string
  readonly log: Logger
  /** Removes "Did you mean" from validation messages, so that they do not reveal the schema. */
  readonly hideSuggestions: boolean
  /** Sends clients the messages of internal errors, too: for development. @default false */
  readonly expose?: boolean | undefined
}

/**
 * Formats an error for clients. An error with a known code keeps its message, without stack and without anything that
 * could set an HTTP status; any other is logged whole and becomes INTERNAL_SERVER_ERROR with the request's id.
 */
export function formatError(error: unknown, formatting: ErrorFormatting): GraphQLFormattedError {
  const { message, path, locations, extensions = {} } = error as GraphQLFormattedError
  const { code: _code, http: _http, stacktrace: _stacktrace, ...details } = extensions as Record<string, unknown>
  const code = publicCodeOf(error)
  const known = code !== 'INTERNAL_SERVER_ERROR'
  const cause = causeOf(error)
  if (!known) formatting.log.error({ requestId: formatting.requestId, err: cause, path }, 'operation failed')
  // The client learns that a dependency is unavailable; the log names which one.
  else if (code === 'UPSTREAM_FAILED' && (cause as Error | null)?.cause)
    formatting.log.error({ requestId: formatting.requestId, err: (cause as Error).cause, path }, 'operation failed')
  return {
    message: known ? shortened(formatting.hideSuggestions ? withoutSuggestion(message) : message) : accident(error, formatting),
    ...(locations && { locations }),
    ...(path && { path }),
    extensions: known
      ? { ...details, code }
      : { code: 'INTERNAL_SERVER_ERROR', requestId: formatting.requestId, ...('service' in details && { service: details.service }) },
  }
}

/** Formats an error like `formatError`, as an instance for libraries that check for one. */
export function formatAsError(error: unknown, formatting: ErrorFormatting): GraphQLError {
  const { message, path, extensions, locations } = formatError(error, formatting)
  const made = new GraphQLError(message, { path, extensions })
  if (locations) Object.defineProperty(made, 'locations', { value: locations, enumerable: true })
  return made
}

/** Sends errors in place of an execution, in the type that the client prefers. */
export function sendErrors(reply: FastifyReply, status: number, errors: readonly GraphQLFormattedError[], accept: string | null | undefined): FastifyReply {
  const type = prefersResponseJson(accept) ? 'application/graphql-response+json' : 'application/json'
  return reply
    .code(status)
    .headers({ 'content-type': `${type}; charset=utf-8`, 'cache-control': 'no-store' })
    .send(JSON.stringify({ errors }))
}

const withoutSuggestion = (message: string) => message.replace(/ ?Did you mean [^?]+\?/, '')

const shortened = (message: string) => (message.length <= mostMessageCharacters ? message : `${message.slice(0, mostMessageCharacters)}…`)

const causeOf = (error: unknown): unknown => (error as { originalError?: unknown } | null)?.originalError ?? error

/** An error of an HTTP request outside GraphQL, in the format of RFC 9457. */
export interface Problem {
  readonly type: 'about:blank'
  readonly title: string
  readonly status: number
  readonly detail: string
  readonly code: string
  readonly requestId: string
  readonly [detail: string]: unknown
}

export const problemType = 'application/problem+json; charset=utf-8'

/** @param details machine-readable facts, besides the fields of every problem */
export function problem(status: number, code: string, detail: string, requestId: string, details: Record<string, unknown> = {}): Problem {
  return { ...details, type: 'about:blank', title: STATUS_CODES[status] ?? 'Error', status, detail: shortened(detail), code, requestId }
}

/** HTTP statuses of domain errors that no table lists, because they exist in HTTP only: 405, 412, 413, 415. */
const ownStatus = new WeakMap<DomainError, number>()

/** Gives a domain error an HTTP status other than its code's, and returns it. */
export function withStatus(status: number, refusal: DomainError): DomainError {
  ownStatus.set(refusal, status)
  return refusal
}

/** Creates a domain error of the router itself, with its HTTP status. */
export const doorRefusal = (status: number, sentence: string, details: Record<string, unknown> = {}): DomainError =>
  withStatus(status, new DomainError('BAD_USER_INPUT', sentence, details))

/** Statuses and messages for Fastify's errors about requests that it could not read. */
const unreadable: Readonly<Record<string, readonly [status: number, sentence: string]>> = {
  FST_ERR_CTP_INVALID_MEDIA_TYPE: [415, 'The body’s Content-Type is not one that is read here: send application/json.'],
  FST_ERR_CTP_EMPTY_TYPE: [415, 'The body has no Content-Type: send application/json.'],
  FST_ERR_CTP_BODY_TOO_LARGE: [413, 'The body is too large.'],
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: [400, 'The body’s length differs from its Content-Length.'],
  FST_ERR_ROUTE_MISSING_CONTENT_TYPE: [400, 'A request with the method QUERY says in its Content-Type what its body is.'],
  FST_ERR_BAD_URL: [400, 'The path is not a valid URL path: check its percent-encoding.'],
  FST_ERR_MAX_PARAM_LENGTH: [400, 'A part of the path is too long.'],
}

/** What a caller may see of a thrown error. */
export interface ShownError {
  readonly status: number
  readonly refusal: DomainError
  /**
   * Whether a service behind the router was unavailable or too slow: the caller may retry, and operators should see it.
   */
  readonly isWait: boolean
}

/** Converts a thrown error to status and domain error for the caller. Null for an internal error, which is logged. */
export function refusalOfThrown(error: unknown): ShownError | null {
  if (error instanceof DomainError) return { status: ownStatus.get(error) ?? statusOf[error.code], refusal: error, isWait: false }
  const { code, extensions, message } = (error ?? {}) as { code?: unknown; extensions?: { code?: unknown }; message?: string }
  const own = typeof code === 'string' ? unreadable[code] : undefined
  if (own) return { status: own[0], refusal: doorRefusal(own[0], own[1]), isWait: false }
  const carried = extensions?.code
  if (isErrorCode(carried) && carried !== 'INTERNAL_SERVER_ERROR')
    return { status: statusOf[carried], refusal: new DomainError(carried, message ?? '', extensions as Record<string, unknown>), isWait: false }
  const wait = carried === undefined ? toldAsWait(error) : error
  return wait instanceof DomainError ? { status: statusOf[wait.code], refusal: wait, isWait: true } : null
}

/** Returns the seconds after which a rejected request may be repeated; undefined where repeating changes nothing. */
export function retryAfterOf({ status, refusal }: ShownError): number | undefined {
  const { retryAfter } = refusal.extensions
  // A service that did not answer is restarting or being replaced, which takes moments.
  return typeof retryAfter === 'number' ? retryAfter : status === statusOf.UPSTREAM_FAILED ? 1 : undefined
}

/**
 * Message for an internal error: it never contains the place, and the error's own text only where the configuration
 * exposes it.
 */
export function accident(error: unknown, { requestId, expose }: Pick<ErrorFormatting, 'requestId' | 'expose'>): string {
  const { message = String(error) } = (error ?? {}) as { message?: string }
  return expose ? shortened(message) : `Something went wrong on our side. Quote request ${requestId} when you ask about it.`
}
