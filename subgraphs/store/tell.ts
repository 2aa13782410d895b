import type { Logger } from 'pino'
import type { Sequelize, Transaction } from 'sequelize'
import { crash } from '../../platform/crash.ts'
import { type Outbox, type Outgoing, writeFacts } from '../../platform/jobs/facts/outbox.ts'
import type { Slug } from '../scopes.ts'
import { kindOf, type NewFact } from './fact-kinds.ts'

/** How a subgraph tells others: made by `openFacts`. */
export interface Telling {
  readonly slug: Slug
  /** The receivers that exist. */
  readonly receivers: readonly string[]
  readonly outbox: Outbox
  readonly log: Pick<Logger, 'info'>
  /** The subgraph's own handling of its facts, in the same transaction. @default nothing */
  keep?(made: readonly NewFact[], now: Date, transaction: Transaction): Promise<void>
  /** Has what was written delivered: called after the commit. */
  wake(): void
}

/** What facts are told by, and in. */
export interface Teller {
  readonly sequelize: Sequelize
  readonly facts: Telling
}

/** Writes facts, checked, in the transaction that makes them true; they go out once it is through. Writes any number of facts in one statement. */
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

/** @throws Error for what the table of kinds does not allow: a mistake of the program, which undoes the transaction */
function outgoingOf({ slug, receivers }: Telling, { kind, body }: NewFact): Outgoing {
  const { from, to, subject, body: form, only } = kindOf(kind)!
  if (!from.includes(slug)) throw new Error(`subgraphs/store/fact-kinds.ts does not say that ${slug} tells ${kind}`)
  const checked = form.parse(body)
  const wanted = only ? to.filter(receiver => receiver === only(checked)) : to
  return { kind, subject: subject(checked), body: checked, receivers: wanted.filter(receiver => receivers.includes(receiver)) }
}
