import type { Logger } from 'pino'
import type { Sequelize, Transaction } from 'sequelize'
import { crash } from '../../platform/crash.ts'
import { type Outbox, type Outgoing, writeFacts } from '../../platform/jobs/facts/outbox.ts'
import type { Slug } from '../scopes.ts'
import { kindOf, type NewFact } from './fact-kinds.ts'

/** Publishes facts of a subgraph; created by `openFacts`. */
export interface FactWriting {
  readonly slug: Slug
  /** The receivers that exist. */
  readonly receivers: readonly string[]
  readonly outbox: Outbox
  readonly log: Pick<Logger, 'info'>
  /** The subgraph's own handling of its facts, in the same transaction. @default nothing */
  keep?(made: readonly NewFact[], now: Date, transaction: Transaction): Promise<void>
  /** Starts the delivery of written facts; called after the commit. */
  wake(): void
}

/** What publishing facts needs from a context. */
export interface Teller {
  readonly sequelize: Sequelize
  readonly facts: FactWriting
}

/**
 * Writes facts, validated, in the transaction of their change; they are delivered after it. One statement writes any
 * number of facts.
 */
export async function writeNewFacts({ sequelize, facts }: Teller, made: readonly NewFact[], now: Date, transaction: Transaction): Promise<void> {
  if (made.length > 0) await facts.keep?.(made, now, transaction)
  const outgoing = made.map(each => outgoingOf(facts, each)).filter(({ receivers }) => receivers.length > 0)
  if (outgoing.length === 0) return
  const ids = await writeFacts(sequelize, facts.outbox, outgoing, now, transaction)
  transaction.afterCommit(() => {
    crash('fact-written')
    // The row does not name its cause; the receiver logs the fact's id.
    for (const [at, { kind, subject }] of outgoing.entries()) facts.log.info({ fact: ids[at], kind, subject }, 'fact published')
    facts.wake()
  })
}

/**
 * @throws Error for a fact that the table of kinds does not allow: a programming mistake, which rolls the transaction
 * back
 */
function outgoingOf({ slug, receivers }: FactWriting, { kind, body }: NewFact): Outgoing {
  const { from, to, subject, body: form, only } = kindOf(kind)!
  if (!from.includes(slug)) throw new Error(`subgraphs/store/fact-kinds.ts does not say that ${slug} tells ${kind}`)
  const checked = form.parse(body)
  const wanted = only ? to.filter(receiver => receiver === only(checked)) : to
  return { kind, subject: subject(checked), body: checked, receivers: wanted.filter(receiver => receivers.includes(receiver)) }
}
