import type { Sequelize, Transaction } from 'sequelize'
import { rows, type Statement, statement } from '../../sql/statement.ts'
import type { RetentionRule } from '../retention.ts'
import { type Fact, keptDays } from './fact.ts'

const dayMs = 86_400_000

/** Statements on the facts that one receiver has acted on. */
export interface Inbox {
  readonly record: Statement
}

/** @param slug the SQL schema with the table `inbox` */
export const inboxOf = (slug: string): Inbox => ({
  // A second delivery of the same fact waits here until the first one commits or fails.
  record: statement(
    `insert into ${slug}.inbox (writer, fact_id, kind, subject, told_at, at) values ($1, $2, $3, $4, $5, $6)
     on conflict (writer, fact_id) do nothing returning fact_id as id`,
  ),
})

/**
 * Records a fact in the transaction of its effect. @returns false when it was recorded before, so that its effect must
 * not be repeated
 */
export async function recordFact(sequelize: Sequelize, { record }: Inbox, fact: Fact, now: Date, transaction: Transaction): Promise<boolean> {
  const { from, id, kind, subject, at } = fact
  const recorded = await rows(sequelize, record, [from, id, kind, subject, at, now], transaction)
  return recorded.length > 0
}

/** Whether a fact is older than the inbox remembers. */
export const isTooOld = ({ at }: Pick<Fact, 'at'>, now: Date): boolean => now.getTime() - at.getTime() >= keptDays * dayMs

/** Retention of receipts: as long as facts are accepted, counted from the time of their change. */
export const inboxRetention = (slug: string): RetentionRule => ({
  table: `${slug}.inbox`,
  days: keptDays,
  old: 'o.at < $1 and o.told_at < $1',
  order: 'o.at',
})
