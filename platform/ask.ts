import type { TypedDocumentNode } from '@graphql-typed-document-node/core'
import { Refusal } from './errors.ts'
import type { OutboundAnswer } from './outbound/outbound.ts'
import type { StreamedAnswer } from './outbound/stream.ts'

/**
 * Asking: a named operation executed against the supergraph as a service (`app_<slug>`), with no more scopes than both
 * the service's registration and the viewer it acts for have. A call when embedded, HTTP to the router otherwise.
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
   * The viewer for whom it asks: gives the organization, the person and the upper bound of scopes. A job, which nobody's request is
   * behind, makes one of what it has kept: the organization, the person on whose behalf it works or null, and the scopes that it needs
   * of those that its service is registered for. Between processes that takes the service's token (APP_SERVICE_TOKENS).
   */
  readonly viewer: {
    readonly userId: string | null
    readonly organizationId: string | null
    readonly roles: readonly string[]
    readonly scopes: readonly string[]
    readonly context: 'personal' | 'organization'
  }
  /**
   * The person whose work it is, where the service asks with its own scopes: a member of the organization. The call is attributed to them in
   * limits, usage and log; what they may do themselves does not narrow it. Not together with a person in `viewer`, on whose behalf it asks.
   */
  readonly forUser?: string | null | undefined
  /** How long the answer may take at least in ms, for what takes longer than questions usually do. The operation itself says how long it has. @default what is usual */
  readonly patienceMs?: number | undefined
  /** Aborts when nobody waits for the answer any more. */
  readonly signal?: AbortSignal | undefined
}

/**
 * Calling a row of another service that no operation stands behind, such as one that passes bytes on, as a service (`app_<slug>`). A call
 * when embedded, HTTP to the router with the service's token otherwise.
 * @param path from the service's slug on, query included: `/providers/platform/youtube/youtube/v3/channels?mine=true`
 * @returns whatever the row answers, a refusal too
 * @throws OutboundFailure when no answer came in time; `sent` as there
 */
export type CallWhole = (path: string, as: CallAs, options?: CallOptions) => Promise<OutboundAnswer>

/**
 * The same for a row whose answer is streamed: it resolves with the answer's status and headers, and hands its body over piece by piece, each as
 * it comes. The row hears at once when the caller's signal aborts, or when the body is left or cancelled.
 * @throws OutboundFailure when no answer begins in time, when it breaks off, or, of kind `left`, when the signal aborts
 */
export type CallStream = (path: string, as: CallAs, options?: CallStreamOptions) => Promise<StreamedAnswer>

export type CallService = CallWhole & { readonly stream: CallStream }

export interface CallAs {
  /** The calling app, `app_<slug>`. */
  readonly appId: string
  /** For which organization; null: the platform itself. */
  readonly organizationId: string | null
  /** The person whose work it is, as `AskAs` has it. */
  readonly forUser?: string | null | undefined
}

export interface CallOptions {
  /** @default GET */
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | Uint8Array | null
  /** Until the whole answer is there, in ms. @default 10000 */
  readonly timeoutMs?: number
}

export interface CallStreamOptions extends Omit<CallOptions, 'timeoutMs'> {
  /** Until the first byte of the answer's body, and then between two of its pieces, in ms. @default 60000 */
  readonly idleMs?: number
  /** Until the whole answer is there, in ms. @default 600000 */
  readonly totalMs?: number
  /** Aborts when nobody waits for the answer any more. */
  readonly signal?: AbortSignal | undefined
}

export const usualCallMs = 10_000
export const usualStreamMs = { idleMs: 60_000, totalMs: 600_000 } as const

/** The header by which a service says whose work a call is, beside its token. */
export const forUserHeader = 'x-for-user'

/** @returns the refusal of a call that is made on behalf of one person and attributed to another, or to the same */
export const twoPeople = (): Refusal =>
  new Refusal('BAD_USER_INPUT', 'A service asks on behalf of a person, within what they may do, or for a person, with its own scopes: name only one.', {
    field: 'X-For-User',
  })

/** @returns the refusal of a call for somebody who is no member of the organization that it names, or of one that names none */
export const notMember = (): Refusal =>
  new Refusal('FORBIDDEN', 'The person in X-For-User is no member of the organization of this call: nothing can be attributed to them there.', {
    reason: 'DELEGATION',
    field: 'X-For-User',
  })
