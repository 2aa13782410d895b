import type { Logger } from 'pino'
import { causeNow, doFor } from '../../platform/caller/cause.ts'
import { crash } from '../../platform/crash.ts'
import { type Fact, longMs, type Receipt } from '../../platform/jobs/facts/fact.ts'
import { inboxOf, inboxRetention, isTooOld, recordFact } from '../../platform/jobs/facts/inbox.ts'
import { outboxOf, outboxRetention } from '../../platform/jobs/facts/outbox.ts'
import { createRelay } from '../../platform/jobs/facts/relay.ts'
import type { Sweep } from '../../platform/jobs/queue.ts'
import type { RetentionRule } from '../../platform/jobs/retention.ts'
import { rows } from '../../platform/sql/statement.ts'
import type { Slug } from '../scopes.ts'
import type { Foundation } from '../subgraph.ts'
import type { WriteTransaction, Writing } from './books.ts'
import { type FactBody, type FactKind, factKinds, type KindsTo, kindOf } from './fact-kinds.ts'
import type { FactWriting } from './new-facts.ts'
import { write } from './write.ts'

/** A subgraph's handlers for facts of other subgraphs. */
export type Receives<S extends Slug, Job> = {
  /**
   * Acts on a fact. All its writes are in the unit's transaction, in which the fact is recorded as well. The handler
   * acts once, however often the fact is delivered; an error rolls back both, and the fact is delivered again.
   * @returns a function that publishes events after the commit
   */
  // biome-ignore lint/suspicious/noConfusingVoidType: a handler that has nothing to tell returns nothing
  readonly [K in KindsTo<S>]: (fact: Received<K>, job: Job, unit: WriteTransaction) => Promise<(() => void) | void>
}

/** A fact as a handler receives it, with a validated body. */
export interface Received<K extends FactKind> extends Omit<Fact, 'body'> {
  readonly body: FactBody<K>
}

/** The facts that one subgraph publishes and receives. */
export interface Facts extends FactWriting {
  /** Sweeps that deliver written facts, for the subgraph's job runner. */
  readonly sweeps: readonly Sweep[]
  /** Retention of old rows, for `platform/jobs/retention.ts`. */
  readonly retentionRules: readonly RetentionRule[]
  /** Receives a fact of another subgraph. */
  receive(fact: Fact): Promise<Receipt>
  /**
   * Returns a sentence for operators about published facts that are undelivered for too long; undefined when there are
   * none.
   */
  undelivered(): Promise<string | undefined>
  /** Receives no more facts, and waits for running deliveries. */
  stop(): Promise<void>
}

/**
 * Opens the facts of a subgraph. Its schema has the table `facts` if it writes any, and `inbox` if it receives any.
 * @param options.received handlers of received facts: exactly those that `subgraphs/store/fact-kinds.ts` lists for the
 * subgraph
 * @param options.job      creates the context of a handler, anew for each fact
 */
export function openFacts<S extends Slug, Job extends Writing>(
  { sequelize, clock, carrier }: Pick<Foundation, 'sequelize' | 'clock' | 'carrier'>,
  { slug, received, job, log }: { slug: S; received: Receives<S, Job>; job(): Job; log: Logger },
): Facts {
  const outbox = outboxOf(slug)
  const inbox = inboxOf(slug)
  const tells = Object.values(factKinds).some(({ from }) => (from as readonly string[]).includes(slug))
  const receives = Object.keys(received).length > 0
  const relay = createRelay({ slug, outbox, sequelize, clock, carrier, log })
  const handlers = received as Readonly<Record<string, ((fact: Fact, job: Job, unit: WriteTransaction) => Promise<(() => void) | undefined>) | undefined>>

  async function receive(fact: Fact): Promise<Receipt> {
    const kind = kindOf(fact.kind)
    const handle = Object.hasOwn(handlers, fact.kind) ? handlers[fact.kind] : undefined
    if (!kind || !handle) return { refused: `${slug} of this version knows no fact ${fact.kind}: start the version that does, then retry` }
    if (!(kind.from as readonly string[]).includes(fact.from)) return { refused: `${fact.from} is not who tells ${fact.kind}` }
    const body = kind.body.safeParse(fact.body)
    if (!body.success)
      return { refused: `its body is not that of ${fact.kind}: ${body.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`).join('; ')}` }
    if (isTooOld(fact, clock.now())) return { refused: `it became true on ${fact.at.toISOString()}, which is too long ago to know whether it was received` }
    const opened = job()
    crash('before-inbox')
    let announce: (() => void) | undefined
    await write(opened, {
      async run(unit) {
        if (!(await recordFact(sequelize, inbox, fact, unit.now, unit.transaction))) return
        crash('in-inbox')
        announce = (await handle({ ...fact, body: body.data }, opened, unit)) ?? undefined
        crash('after-effect')
      },
    })
    crash('after-inbox')
    announce?.()
    return 'received'
  }

  return {
    slug,
    receivers: carrier.receivers,
    outbox,
    log,
    wake: relay.wake,
    sweeps: tells ? [relay.sweep] : [],
    retentionRules: [...(tells ? [outboxRetention(slug)] : []), ...(receives ? [inboxRetention(slug)] : [])],
    receive: fact => doFor({ ...causeNow(), fact: fact.id }, () => receive(fact)),
    async undelivered() {
      if (!tells) return undefined
      const now = clock.now()
      const found = await rows<Undelivered>(sequelize, outbox.undelivered, [new Date(now.getTime() - longMs)])
      if (found.length === 0) return undefined
      const each = found.map(
        ({ receiver, count, since, refused }) => `${count} to ${receiver} since ${since.toISOString()}${refused > 0 ? ` (${refused} refused)` : ''}`,
      )
      return `facts are not delivered: ${each.join(', ')}; npm run facts -- list shows them`
    },
    stop: relay.stop,
  }
}

interface Undelivered {
  readonly receiver: string
  readonly count: number
  readonly since: Date
  readonly refused: number
}
