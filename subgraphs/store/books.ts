import type { Sequelize, Transaction } from 'sequelize'
import type { Clock } from '../../platform/clock.ts'
import { DomainError } from '../../platform/errors.ts'
import { checkSameContent } from '../../platform/idempotency.ts'
import { newIdInTurn } from '../../platform/ids.ts'
import type { RetentionRule } from '../../platform/jobs/retention.ts'
import { lockingStatement, rows, type Statement, statement } from '../../platform/sql/statement.ts'
import type { Row, Table } from '../../platform/sql/table.ts'
import type { Viewer } from '../viewer.ts'
import type { NewFact } from './fact-kinds.ts'
import { type FactWriting, writeNewFacts } from './new-facts.ts'
import type { Rows } from './store.ts'

/**
 * The author of changes, and the audit log and idempotency keys of a subgraph. Every context has one, and so has every
 * job.
 */
export interface Writer {
  readonly sequelize: Sequelize
  readonly clock: Clock
  /** Author in audit entries: `user:<id>`, `key:<id>`, `service:<app>`, or the job itself: `delivery`. */
  readonly actor: string
  /** The viewer; null for a job. */
  readonly viewer: Viewer | null
  readonly books: Books
  readonly facts: FactWriting
  /**
   * Called when a mutation is answered with an earlier result of the same idempotency key, so that the client learns
   * it. @default not called
   */
  replay?(): void
}

/** Key under which a context holds its writer, so that resolvers write by the functions of `write.ts` only. */
export const writing = Symbol('writing')

export interface Writing {
  readonly [writing]: Writer
}

/** The transaction in progress and its time, which every write in it uses. */
export interface WriteTransaction {
  readonly transaction: Transaction
  readonly now: Date
}

/** An entry of the audit log. It is written in the transaction of the audited change and never changes. */
export interface AuditLine {
  /** The tenant that the entry belongs to: a brand or an organization. */
  readonly tenantId: string
  /** Noun and past participle: `post.scheduled`. */
  readonly action: string
  readonly subjectId: string
  /** The actor, if it differs from the context's writer. @default the context's actor */
  readonly actor?: string
  /** JSON-safe facts about the change; never the text of a post, never a secret. */
  readonly details?: Readonly<Record<string, unknown>>
  /**
   * The person whose account the change concerns and who may read the entry from any organization. Only identity's
   * audit log stores it.
   */
  readonly personId?: string
}

/** An audit entry as it is stored, with its final actor. */
export type Entry = Required<Omit<AuditLine, 'personId'>> &
  Pick<AuditLine, 'personId'> & { readonly id: string; readonly at: Date; readonly viewer: Viewer | null }

/** Writes a subgraph's audit entries. */
export interface Recording {
  readonly statement: Statement
  values(entry: Entry): readonly unknown[]
  /** Called with each entry after its transaction is committed. */
  recorded?(entry: Entry): void
}

/**
 * The statements for a subgraph's audit log and idempotency keys. All subgraphs have tables of the same form for them.
 */
export interface Books {
  readonly record: Recording
  /**
   * Returns the next sequence number for an audit entry: entries of the same millisecond keep the order in which this
   * process wrote them.
   */
  nextTurn(): number
  readonly claim: Statement
  readonly claimed: Statement
  readonly release: Statement
  /** Statements for keys that are held outside of a transaction (`makeHeld`). */
  readonly hold: Statement
  readonly held: Statement
  readonly resume: Statement
  readonly endHold: Statement
  readonly releaseHeld: Statement
  readonly keysOf: KeysOf
}

/** Scope of an idempotency key: the whole organization, or the caller alone in any organization. */
export type KeysOf = 'organization' | 'caller'

/** Audit recording of a subgraph without fields of its own. */
export const recordingOf = (slug: string): Recording => ({
  statement: statement(`insert into ${slug}.audit_entries (tenant_id, id, at, actor, action, subject_id, details) values ($1, $2, $3, $4, $5, $6, $7)`),
  values: ({ tenantId, id, at, actor, action, subjectId, details }) => [tenantId, id, at, actor, action, subjectId, JSON.stringify(details)],
})

function countUp(): () => number {
  let turn = 0
  return () => turn++
}

/**
 * @param slug the SQL schema with `audit_entries` and `idempotency_keys`
 * @param record writes audit entries, where the subgraph has fields of its own
 */
export const booksOf = (slug: string, keysOf: KeysOf, record: Recording = recordingOf(slug)): Books => ({
  record,
  nextTurn: countUp(),
  // A concurrent request with the same key waits here until the first one commits or fails.
  claim: statement(
    `insert into ${slug}.idempotency_keys (tenant_id, caller, what, key, hash, made_id, at) values ($1, $2, $3, $4, $5, $6, $7)
     on conflict do nothing returning key`,
  ),
  claimed: statement(
    `select tenant_id as "tenantId", hash, made_id as "madeId" from ${slug}.idempotency_keys
      where ${keysOf === 'organization' ? 'tenant_id' : 'caller'} = $1 and what = $2 and key = $3`,
  ),
  release: statement(`delete from ${slug}.idempotency_keys where tenant_id = $1 and what = $2 and key = $3`),
  ...holdingBooks(slug, keysOf),
  keysOf,
})

function holdingBooks(slug: string, keysOf: KeysOf): Pick<Books, 'hold' | 'held' | 'resume' | 'endHold' | 'releaseHeld'> {
  const table = `${slug}.idempotency_keys`
  const isKey = `${keysOf === 'organization' ? 'tenant_id' : 'caller'} = $1 and what = $2 and key = $3`
  return {
    hold: lockingStatement(
      `insert into ${table} (tenant_id, caller, what, key, hash, made_id, at, holder, held_until) values ($1, $2, $3, $4, $5, $6, $7, $8, $9)
       on conflict do nothing returning made_id as id`,
    ),
    held: statement(`select tenant_id as "tenantId", hash, made_id as id, held_until as "heldUntil" from ${table} where ${isKey}`),
    resume: lockingStatement(`update ${table} set holder = $4, held_until = $5 where ${isKey} and held_until < $6 returning made_id as id`),
    endHold: lockingStatement(`update ${table} set holder = null, held_until = null where ${isKey} and holder = $4 returning made_id`),
    releaseHeld: lockingStatement(`delete from ${table} where ${isKey} and holder = $4`),
  }
}

/**
 * Retention of audit entries.
 * @param permit the setting by which a protected table allows the removal
 */
export const agingOfRecord = (slug: string, days: number, permit?: string): RetentionRule => ({
  table: `${slug}.audit_entries`,
  days,
  old: 'o.at < $1',
  order: 'o.at',
  ...(permit && { permit }),
})

/**
 * Retention of idempotency keys: clients repeat a request within minutes.
 * @param ever condition for keys that are kept forever; an index has to exclude them as well
 */
export const agingOfKeys = (slug: string, days = 7, ever?: string): RetentionRule => ({
  table: `${slug}.idempotency_keys`,
  days,
  old: `o.at < $1${ever ? ` and o.what <> '${ever}'` : ''}`,
  order: 'o.at',
})

/** Writes one audit entry. */
export async function record(context: Writing, { actor, details = {}, ...line }: AuditLine, { transaction, now }: WriteTransaction): Promise<void> {
  const { sequelize, books, actor: writer, viewer } = context[writing]
  const entry = { ...line, details, actor: actor ?? writer, viewer, id: newIdInTurn(now, books.nextTurn()), at: now }
  await rows(sequelize, books.record.statement, books.record.values(entry), transaction)
  if (books.record.recorded) transaction.afterCommit(() => books.record.recorded!(entry))
}

/** Publishes facts for other subgraphs, for code that changes several records in one transaction. */
export const writeFacts = (context: Writing, made: readonly NewFact[], { transaction, now }: WriteTransaction): Promise<void> =>
  writeNewFacts(context[writing], made, now, transaction)

/** An idempotency key, and the record that it would create. */
export interface Claim {
  readonly tenantId: string
  readonly id: string
  readonly key: string
  readonly hash: string
  /** Name that the key is stored with: a mutation that changes rows. @default the noun of the created record */
  readonly what?: string | undefined
}

/** Returns the row that the same key created before; null when there is none, and the key then belongs to this row. */
export async function findMade<T extends Table>(writer: Writer, of: Rows<T, never, never>, claim: Claim, unit: WriteTransaction): Promise<Row<T> | null> {
  const { sequelize, books, actor } = writer
  const { tenantId, id, key, hash, what = of.what } = claim
  const { transaction, now } = unit
  const [taken] = await rows(sequelize, books.claim, [tenantId, actor, what, key, hash, id, now], transaction)
  if (taken) return null
  // The key may expire at this very moment.
  return (await findKnown(writer, of, claim, unit)) ?? findMade(writer, of, claim, unit)
}

/**
 * Returns the row that a key created before; null when it created none. @throws CONFLICT, reason KEY_REUSED; NOT_FOUND
 * when that row is gone
 */
export async function findKnown<T extends Table>(
  writer: Writer,
  of: Rows<T, never, never>,
  claim: Omit<Claim, 'id'>,
  unit: WriteTransaction,
): Promise<Row<T> | null> {
  const { sequelize, books, actor } = writer
  const { tenantId, key, hash, what = of.what } = claim
  const { transaction } = unit
  const owner = books.keysOf === 'organization' ? tenantId : actor
  const [known] = await rows<{ tenantId: string; hash: string; madeId: string }>(sequelize, books.claimed, [owner, what, key], transaction)
  if (!known) return null
  checkSameContent(known.tenantId === tenantId ? known.hash : null, { key, hash }, what)
  const made = await of.lock(known.madeId, transaction)
  if (made) {
    writer.replay?.()
    return made
  }
  throw notThere(of.what)
}

/** Error for a key whose record is gone. */
export const notThere = (what: string) =>
  new DomainError('NOT_FOUND', `The ${what} that this idempotencyKey created does not exist any more: choose a new key to create another.`, {
    field: 'idempotencyKey',
  })
