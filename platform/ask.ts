import type { TypedDocumentNode } from '@graphql-typed-document-node/core'
import type { OutboundAnswer } from './outbound/outbound.ts'

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
export type CallService = (path: string, as: CallAs, options?: CallOptions) => Promise<OutboundAnswer>

export interface CallAs {
  /** The calling app, `app_<slug>`. */
  readonly appId: string
  /** For which organization; null: the platform itself. */
  readonly organizationId: string | null
}

export interface CallOptions {
  /** @default GET */
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | Uint8Array | null
  /** Until the whole answer is there, in ms. @default 10000 */
  readonly timeoutMs?: number
}

export const usualCallMs = 10_000
