import type { TypedDocumentNode } from '@graphql-typed-document-node/core'
import { DomainError } from './errors.ts'
import type { OutboundAnswer } from './outbound/outbound.ts'
import type { StreamedAnswer } from './outbound/stream.ts'

/**
 * Runs a named operation on the supergraph as a service (`app_<slug>`), with the scopes that both the service's
 * registration and the viewer have. A call in one process, HTTP to the router in distributed mode.
 * @returns the operation's data; throws the first error of the answer when there is one
 */
export type Ask = <Data, Variables extends Record<string, unknown>>(
  document: TypedDocumentNode<Data, Variables>,
  variables: Variables,
  as: AskAs,
) => Promise<Data>

export interface AskAs {
  /** The asking app, `app_<slug>`. */
  readonly appId: string
  /**
   * The viewer on whose behalf the service calls: organization, person and upper bound of scopes. A job, which no
   * request caused, builds one from stored data: the organization, the person on whose behalf it works or null, and the
   * scopes that it needs of those in its service's registration. Between processes that takes the service's token
   * (APP_SERVICE_TOKENS).
   */
  readonly viewer: {
    readonly userId: string | null
    readonly organizationId: string | null
    readonly roles: readonly string[]
    readonly scopes: readonly string[]
    readonly context: 'personal' | 'organization'
  }
  /**
   * The person for whom the work is done, where the service calls with its own scopes: a member of the organization.
   * Limits, usage and logs attribute the call to this person, whose own rights do not restrict it. Not allowed together
   * with a person in `viewer`.
   */
  readonly forUser?: string | null | undefined
  /**
   * Milliseconds that the caller waits at least, for operations that take longer than usual. The operation's fields
   * declare their own limits. @default the usual limit
   */
  readonly timeoutMs?: number | undefined
  /** Aborts when the caller no longer waits for the answer. */
  readonly signal?: AbortSignal | undefined
}

/**
 * Calls a route of another service that is not an operation, such as one that forwards bytes, as a service
 * (`app_<slug>`). A call in one process, HTTP to the router with the service's token otherwise.
 * @param path from the service's slug on, query included: `/providers/platform/youtube/youtube/v3/channels?mine=true`
 * @returns the route's answer, errors included
 * @throws OutboundFailure when no answer arrived in time; see there for `sent`
 */
export type CallWhole = (path: string, as: CallAs, options?: CallOptions) => Promise<OutboundAnswer>

/**
 * Calls a route whose answer is streamed: resolves with the answer's status and headers, and yields its body piece by
 * piece. The route is notified at once when the caller's signal aborts, or when the body is left or cancelled.
 * @throws OutboundFailure when no answer begins in time, when it breaks off, or, of kind `left`, when the signal aborts
 */
export type CallStream = (path: string, as: CallAs, options?: CallStreamOptions) => Promise<StreamedAnswer>

export type CallService = CallWhole & { readonly stream: CallStream }

export interface CallAs {
  /** The calling app, `app_<slug>`. */
  readonly appId: string
  /** Organization of the call; null for the platform itself. */
  readonly organizationId: string | null
  /** The person for whom the work is done, as in `AskAs`. */
  readonly forUser?: string | null | undefined
}

export interface CallOptions {
  /** @default GET */
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | Uint8Array | null
  /** Time limit of the whole answer, in ms. @default 10000 */
  readonly timeoutMs?: number
}

export interface CallStreamOptions extends Omit<CallOptions, 'timeoutMs'> {
  /** Time limit of the first byte of the answer's body, and between two of its pieces, in ms. @default 60000 */
  readonly idleMs?: number
  /** Time limit of the whole answer, in ms. @default 600000 */
  readonly totalMs?: number
  /** Aborts when the caller no longer waits for the answer. */
  readonly signal?: AbortSignal | undefined
}

export const usualCallMs = 10_000
export const usualStreamMs = { idleMs: 60_000, totalMs: 600_000 } as const

/** Header by which a service names the person for whom a call is made, beside its token. */
export const forUserHeader = 'x-for-user'

/** @returns the error for a call that names a person both in its viewer and as the one for whom it is made */
export const twoPeople = (): DomainError =>
  new DomainError('BAD_USER_INPUT', 'A service asks on behalf of a person, within what they may do, or for a person, with its own scopes: name only one.', {
    field: 'X-For-User',
  })

/**
 * @returns the error for a call for a person who is not a member of the named organization, or without an organization
 */
export const notMember = (): DomainError =>
  new DomainError('FORBIDDEN', 'The person in X-For-User is no member of the organization of this call: nothing can be attributed to them there.', {
    reason: 'DELEGATION',
    field: 'X-For-User',
  })
