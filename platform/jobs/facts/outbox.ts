import type { Sequelize, Transaction } from 'sequelize'
import { newId } from '../../ids.ts'
import { rows, type Statement, statement } from '../../sql/statement.ts'
import type { RetentionRule } from '../retention.ts'
import { keptDays, mostBodyBytes } from './fact.ts'

/** A fact to be written, with its receivers. */
export interface Outgoing {
  readonly kind: string
  readonly subject: string
  readonly body: unknown
  readonly receivers: readonly string[]
}

/** Statements on one writer's facts; the tables are alike in each schema. */
export interface Outbox {
  readonly write: Statement
  readonly take: Statement
  readonly delivered: Statement
  readonly failed: Statement
  readonly refused: Statement
  readonly release: Statement
  readonly undelivered: Statement
}

/** Whether a fact is due. After a clock was set back, rows must not wait for a time that is reached only much later. */
const isDue = `(f.next_at <= $1 or f.next_at > $1::timestamptz + interval '10 minutes')`

/** Whether an earlier fact of the same subject is undelivered to the same receiver. */
const isBehind = (table: string, f: string) =>
  `exists (select from ${table} e where e.receiver = ${f}.receiver and e.subject = ${f}.subject and e.seq < ${f}.seq and e.delivered_at is null)`

/** @param slug the SQL schema with the table `facts` */
export function outboxOf(slug: string): Outbox {
  const table = `${slug}.facts`
  return {
    // Locks the subject until the commit, before the row gets its number, so facts of one subject become visible in the
    // order of their numbers.
    write: statement(
      `with locked as materialized (select pg_advisory_xact_lock(hashtextextended('${table} ' || s, 4)) from (select distinct s from unnest($4::text[]) s order by s) t)
       insert into ${table} (id, receiver, kind, subject, body, at, next_at)
       select t.id, t.receiver, t.kind, t.subject, t.body, $6::timestamptz, $6::timestamptz from (select count(*) from locked) l
         cross join unnest($1::uuid[], $2::text[], $3::text[], $4::text[], $5::jsonb[]) with ordinality t (id, receiver, kind, subject, body, place) order by t.place`,
    ),
    // The claim expires then: if this process dies, the next one takes the rows.
    take: statement(
      `update ${table} f set next_at = $2, attempts = f.attempts + 1
         from (select f.receiver, f.seq from ${table} f
                where ${isDue} and f.receiver <> all($3::text[]) and not ${isBehind(table, 'f')}
                order by f.next_at, f.seq limit $4 for update of f skip locked) head
        where f.receiver = head.receiver and f.seq = head.seq
       returning f.receiver, f.seq, f.id, f.kind, f.subject, f.body, f.at, f.attempts`,
    ),
    delivered: statement(
      `update ${table} f set delivered_at = $3, next_at = null, failure = null where f.receiver = $1 and f.seq = $2 and f.delivered_at is null
       returning exists (select from ${table} n where n.receiver = f.receiver and n.subject = f.subject and n.seq > f.seq and n.delivered_at is null) as "isFollowed"`,
    ),
    failed: statement(`update ${table} set next_at = $3, failure = $4 where receiver = $1 and seq = $2 and delivered_at is null and next_at is not null`),
    refused: statement(`update ${table} set next_at = null, failure = $3 where receiver = $1 and seq = $2 and delivered_at is null`),
    release: statement(
      `update ${table} f set next_at = $3, attempts = f.attempts - 1 from unnest($2::bigint[]) s (seq)
        where f.receiver = $1 and f.seq = s.seq and f.delivered_at is null and f.next_at is not null`,
    ),
    undelivered: statement(
      `select receiver, count(*)::int as count, min(at) as since, (count(*) filter (where next_at is null))::int as refused
         from ${table} where delivered_at is null and at < $1 group by receiver order by receiver`,
    ),
  }
}

/**
 * Writes facts with one statement, in the transaction of their change.
 * @returns their ids
 * @throws Error for a body above the size limit, which is a programming mistake
 */
export async function writeFacts(sequelize: Sequelize, { write }: Outbox, facts: readonly Outgoing[], now: Date, transaction: Transaction): Promise<string[]> {
  const ids = facts.map(() => newId(now))
  const made = facts.flatMap(({ receivers, ...fact }, at) => {
    const id = ids[at]!
    const body = JSON.stringify(fact.body)
    if (Buffer.byteLength(body) > mostBodyBytes)
      throw new Error(`a fact ${fact.kind} would have ${Buffer.byteLength(body)} bytes: the maximum is ${mostBodyBytes}`)
    return receivers.map(receiver => ({ ...fact, id, receiver, body }))
  })
  const column = <Name extends keyof (typeof made)[number]>(name: Name) => made.map(fact => fact[name])
  await rows(sequelize, write, [column('id'), column('receiver'), column('kind'), column('subject'), column('body'), now], transaction)
  return ids
}

/**
 * Retention of facts: old delivered ones are removed; the others stay until they are delivered or an operator drops
 * them.
 */
export const outboxRetention = (slug: string): RetentionRule => ({
  table: `${slug}.facts`,
  days: keptDays,
  old: 'o.delivered_at < $1',
  order: 'o.delivered_at',
})
