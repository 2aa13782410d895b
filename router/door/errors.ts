import { STATUS_CODES } from 'node:http'
import type { FastifyReply } from 'fastify'
import { GraphQLError, type GraphQLFormattedError } from 'graphql'
import type { Logger } from 'pino'
import { isErrorCode, Refusal, statusOf } from '../../platform/errors.ts'
import { toldAsWait } from '../../platform/sql/wait.ts'
import { toldCode } from '../access/refusal.ts'
import { prefersResponseJson } from './headers.ts'

/** How much of a message is told: it may repeat a value that the client sent, however large. */
const mostMessageCharacters = 1000

/** What telling an error takes: the request it belongs to, and how much may be told. */
export interface Telling {
  readonly requestId: string
  readonly log: Logger
  /** Takes "Did you mean" out of validation messages, so that they do not spell the schema. */
  readonly hideSuggestions: boolean
  /** Tells messages that are no refusals, too: for development. @default false */
  readonly expose?: boolean | undefined
}

/**
 * The form in which an error leaves the platform. One with a known code goes as it is, without stack and without anything
 * that could set an HTTP status; any other is logged whole and told as INTERNAL_SERVER_ERROR with the request's id.
 */
export function tell(error: unknown, telling: Telling): GraphQLFormattedError {
  const { message, path, locations, extensions = {} } = error as GraphQLFormattedError
  const { code: _code, http: _http, stacktrace: _stacktrace, ...details } = extensions as Record<string, unknown>
  const code = toldCode(error)
  const known = code !== 'INTERNAL_SERVER_ERROR'
  const cause = causeOf(error)
  if (!known) telling.log.error({ requestId: telling.requestId, err: cause, path }, 'operation failed')
  // The client learns that a dependency is unavailable; the log names which one.
  else if (code === 'UPSTREAM_FAILED' && (cause as Error | null)?.cause)
    telling.log.error({ requestId: telling.requestId, err: (cause as Error).cause, path }, 'operation failed')
  return {
    message: known ? shortened(telling.hideSuggestions ? withoutSuggestion(message) : message) : accident(error, telling),
    ...(locations && { locations }),
    ...(path && { path }),
    extensions: known
      ? { ...details, code }
      : { code: 'INTERNAL_SERVER_ERROR', requestId: telling.requestId, ...('service' in details && { service: details.service }) },
  }
}

/** The same as an instance, for those who check for one. */
export function tellAsError(error: unknown, telling: Telling): GraphQLError {
  const { message, path, extensions, locations } = tell(error, telling)
  const made = new GraphQLError(message, { path, extensions })
  if (locations) Object.defineProperty(made, 'locations', { value: locations, enumerable: true })
  return made
}

/** Sends errors in place of an execution, in the type that the client prefers. */
export function sendErrors(reply: FastifyReply, status: number, errors: readonly GraphQLFormattedError[], accept: string | null | undefined): FastifyReply {
  const type = prefersResponseJson(accept) ? 'application/graphql-response+json' : 'application/json'
  return reply.code(status).header('content-type', `${type}; charset=utf-8`).send(JSON.stringify({ errors }))
}

const withoutSuggestion = (message: string) => message.replace(/ ?Did you mean [^?]+\?/, '')

const shortened = (message: string) => (message.length <= mostMessageCharacters ? message : `${message.slice(0, mostMessageCharacters)}…`)

const causeOf = (error: unknown): unknown => (error as { originalError?: unknown } | null)?.originalError ?? error

/** An error of an HTTP exchange outside GraphQL, as RFC 9457 writes it. */
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

/** @param details facts for a program, beside the fields that every problem has */
export function problem(status: number, code: string, detail: string, requestId: string, details: Record<string, unknown> = {}): Problem {
  return { ...details, type: 'about:blank', title: STATUS_CODES[status] ?? 'Error', status, detail: shortened(detail), code, requestId }
}

/** A refusal whose HTTP status stands in no table, because only HTTP knows such things: 405, 412, 413, 415. */
const ownStatus = new WeakMap<Refusal, number>()

/** Gives a refusal an HTTP status other than its code's, and hands it back. */
export function withStatus(status: number, refusal: Refusal): Refusal {
  ownStatus.set(refusal, status)
  return refusal
}

/** Makes a refusal of the door itself, with a status of its own. */
export const doorRefusal = (status: number, sentence: string, details: Record<string, unknown> = {}): Refusal =>
  withStatus(status, new Refusal('BAD_USER_INPUT', sentence, details))

/** What Fastify says of a request that it could not read, in our words. */
const unreadable: Readonly<Record<string, readonly [status: number, sentence: string]>> = {
  FST_ERR_CTP_INVALID_MEDIA_TYPE: [415, 'The body’s Content-Type is not one that is read here: send application/json.'],
  FST_ERR_CTP_EMPTY_TYPE: [415, 'The body has no Content-Type: send application/json.'],
  FST_ERR_CTP_BODY_TOO_LARGE: [413, 'The body is too large.'],
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: [400, 'The body’s length differs from its Content-Length.'],
  FST_ERR_ROUTE_MISSING_CONTENT_TYPE: [400, 'A request with the method QUERY says in its Content-Type what its body is.'],
  FST_ERR_BAD_URL: [400, 'The path is not a valid URL path: check its percent-encoding.'],
  FST_ERR_MAX_PARAM_LENGTH: [400, 'A part of the path is too long.'],
}

/** What a caller may know of something thrown. */
export interface Told {
  readonly status: number
  readonly refusal: Refusal
  /** Whether something behind was away, or took too long: whoever asked may ask again, and operators are to hear of it. */
  readonly isWait: boolean
}

/** Makes of anything thrown on the way of a request what the caller may know: status and refusal. Null: an accident, for the log. */
export function refusalOfThrown(error: unknown): Told | null {
  if (error instanceof Refusal) return { status: ownStatus.get(error) ?? statusOf[error.code], refusal: error, isWait: false }
  const { code, extensions, message } = (error ?? {}) as { code?: unknown; extensions?: { code?: unknown }; message?: string }
  const own = typeof code === 'string' ? unreadable[code] : undefined
  if (own) return { status: own[0], refusal: doorRefusal(own[0], own[1]), isWait: false }
  const carried = extensions?.code
  if (isErrorCode(carried) && carried !== 'INTERNAL_SERVER_ERROR')
    return { status: statusOf[carried], refusal: new Refusal(carried, message ?? '', extensions as Record<string, unknown>), isWait: false }
  const wait = carried === undefined ? toldAsWait(error) : error
  return wait instanceof Refusal ? { status: statusOf[wait.code], refusal: wait, isWait: true } : null
}

/** After how many seconds whoever was refused may ask again; undefined where asking again changes nothing. */
export function retryAfterOf({ status, refusal }: Told): number | undefined {
  const { retryAfter } = refusal.extensions
  // A service that did not answer is restarting or being replaced, which takes moments.
  return typeof retryAfter === 'number' ? retryAfter : status === statusOf.UPSTREAM_FAILED ? 1 : undefined
}

/** The sentence for an accident: never where it was thrown, and what was thrown only when it may be told. */
export function accident(error: unknown, { requestId, expose }: Pick<Telling, 'requestId' | 'expose'>): string {
  const { message = String(error) } = (error ?? {}) as { message?: string }
  return expose ? shortened(message) : `Something went wrong on our side. Quote request ${requestId} when you ask about it.`
}
