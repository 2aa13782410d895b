/**
 * A fact informs another subgraph of a change that affects its data. It is a row in the writer's own schema
 * (`<slug>.facts`), written in the transaction of the change, so neither exists without the other. The writer's process
 * delivers it at least once, by a call or over HTTP, in order per subject: while a fact of a subject is not delivered
 * to a receiver, later ones of that subject wait, and other subjects continue. The receiver records it in its inbox
 * (`<slug>.inbox`) in the transaction of its effect, so that it acts once however often the fact is delivered.
 *
 * An event (platform/events.ts) refreshes screens and may be lost; a fact may not. `subgraphs/store/fact-kinds.ts`
 * lists all facts with their writers and receivers.
 */
export interface Fact {
  /** Id of the fact: the same for every receiver and every delivery. */
  readonly id: string
  /** Slug of the subgraph that wrote the fact. */
  readonly from: string
  /** Kind of the change: `post.failed`. */
  readonly kind: string
  /** Subject of the fact: facts of one subject arrive in the order in which they were written. */
  readonly subject: string
  /** Time of the change, by the writer's clock. */
  readonly at: Date
  /** JSON-safe content, which depends on the kind. */
  readonly body: unknown
}

/**
 * A receiver's answer to a fact: received, now or at an earlier delivery; or permanently refused, with a reason for the
 * operator. A thrown error means that the fact is to be delivered again later.
 */
export type Receipt = 'received' | { readonly refused: string }

/**
 * Delivers facts from a writer's process to other subgraphs: by calls within one process, over HTTP between several.
 */
export interface FactCarrier {
  /** Slugs of the subgraphs that exist. No facts are written for others: they would wait forever. */
  readonly receivers: readonly string[]
  /** Delivers a fact. @throws when the receiver cannot be reached or cannot accept the fact at this moment */
  carry(receiver: string, fact: Fact): Promise<Receipt>
}

/** Maximum bytes of a fact's body as JSON: it carries ids and short texts for people, not documents. */
export const mostBodyBytes = 16 * 1024

/**
 * Days for which delivered facts are stored, and receipts are remembered. A receiver refuses older facts, because it no
 * longer knows whether it has acted on them.
 */
export const keptDays = 30

/** Milliseconds for which a fact may stay undelivered before readiness and the log report it. */
export const longMs = 60_000
