/**
 * A fact tells another subgraph of a change that affects its data. It is a row in the writer's own
 * schema (`<slug>.facts`), written in the transaction that makes it true, so there is none without the other. From there it is
 * delivered by the writer's process at least once, by a call or over HTTP, and in order per subject: while a fact of a subject is not
 * delivered to a receiver, later ones of that subject wait for it, and those of other subjects go on. The receiver records it in its
 * inbox (`<slug>.inbox`) in the transaction of its effect, so that it acts once however often it is told.
 *
 * An event (platform/events.ts) refreshes screens and may be lost; a fact may not. `subgraphs/store/fact-kinds.ts` lists all facts with
 * their writers and receivers.
 */
export interface Fact {
  /** The same for every receiver, and however often it is delivered. */
  readonly id: string
  /** The slug of the subgraph that wrote it. */
  readonly from: string
  /** What has become true: `post.failed`. */
  readonly kind: string
  /** What it is about: facts of one subject arrive in the order in which they became true. */
  readonly subject: string
  /** When it became true, by the writer's clock. */
  readonly at: Date
  /** JSON-safe; what it holds depends on the kind. */
  readonly body: unknown
}

/**
 * What a receiver makes of a fact: it has recorded it and acted (now, or when it was told before); or it never will, for the reason
 * given in a sentence to the operator. Whatever it throws instead means: not now, tell it again.
 */
export type Receipt = 'received' | { readonly refused: string }

/** The way of facts from a writer's process to the subgraphs: calls within one process, HTTP between several. */
export interface FactCarrier {
  /** The slugs of the subgraphs that are there. Nobody writes facts for others: they would wait for ever. */
  readonly receivers: readonly string[]
  /** @throws when the receiver cannot be reached or cannot take it at this moment */
  carry(receiver: string, fact: Fact): Promise<Receipt>
}

/** Bytes that the body of a fact may have as JSON: it carries ids and what a person is shown, not documents. */
export const mostBodyBytes = 16 * 1024

/**
 * For how many days facts that were delivered are kept, and what was received is remembered. A receiver refuses what is older, because
 * it could not tell any more whether it has acted on it.
 */
export const keptDays = 30

/** How long what is not delivered may lie before readiness and log say so, in ms. */
export const longMs = 60_000
