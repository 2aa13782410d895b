import { isDeepStrictEqual } from 'node:util'
import type { Sequelize, Transaction } from 'sequelize'
import type { Clock } from '../../platform/clock.ts'
import { Refusal } from '../../platform/errors.ts'
import { checkSameContent, readIdempotency } from '../../platform/idempotency.ts'
import { newId, requireId } from '../../platform/ids.ts'
import type { Aging } from '../../platform/jobs/retention.ts'
import { rows, type Statement, statement } from '../../platform/sql/statement.ts'
import type { NewRow, Row, Table } from '../../platform/sql/table.ts'
import type { Told } from './fact-kinds.ts'
import { notFound, type Rows } from './store.ts'
import { type Telling, writeTold } from './tell.ts'

/** Who writes, and into which subgraph's books. Every context has one, and so has every job. */
export interface Writer {
  readonly sequelize: Sequelize
  readonly clock: Clock
  /** `user:<id>`, `key:<id>`, `service:<app>`, or the job itself: `delivery`. */
  readonly actor: string
  readonly books: Books
  readonly facts: Telling
}

/** Under which key a context keeps its writer: a resolver writes by the functions of this file alone. */
export const writing = Symbol('writing')

export interface Writing {
  readonly [writing]: Writer
}

/** The transaction that is under way, and the moment that counts in it. */
export interface Unit {
  readonly transaction: Transaction
  readonly now: Date
}

/** One line of the record of who did what: written in the transaction that did it, never changed. */
export interface AuditLine {
  /** Whose record it is: a brand's, an organization's. */
  readonly tenantId: string
  /** Noun and past participle: `post.scheduled`. */
  readonly action: string
  readonly subjectId: string
  /** Who did it, when it was not the one in whose name everything else is written. */
  readonly actor?: string
  /** JSON-safe facts; never a text of a post, never a secret. */
  readonly details?: Readonly<Record<string, unknown>>
}

/** What follows a change: within its transaction the record, what other subgraphs are told and the wake-ups, after it the news. */
export interface Following<Result> {
  audit?(result: Result): AuditLine | null
  /** Facts that have become true by it, for other subgraphs (`subgraphs/store/fact-kinds.ts`). */
  tell?(result: Result): readonly Told[]
  wake?(result: Result, unit: Unit): Promise<void>
  announce?(result: Result): void
}

/**
 * The one way in which state changes: in a transaction, with its record and its wake-ups in it, and told to screens once it is through.
 * What goes wrong before the commit leaves nothing behind.
 */
export async function write<Result>(
  context: Writing,
  { run, audit, tell: told, wake, announce }: Following<Result> & { run(unit: Unit): Promise<Result> },
): Promise<Result> {
  const { sequelize, clock } = context[writing]
  const result = await sequelize.transaction(async transaction => {
    const unit = { transaction, now: clock.now() }
    const done = await run(unit)
    const line = audit?.(done)
    if (line) await record(context, line, unit)
    if (told) await tell(context, told(done), unit)
    await wake?.(done, unit)
    return done
  })
  announce?.(result)
  return result
}

/** Runs several reads and writes in one transaction that nothing follows but what they record themselves. */
export const inTransaction = <Result>(context: Writing, run: (unit: Unit) => Promise<Result>): Promise<Result> => write(context, { run })

/** A row that was made now, or was made before with the same key. */
export interface Made<R> {
  readonly row: R
  readonly repeated: boolean
}

interface Creation<T extends Table> extends Following<Row<T>> {
  readonly of: Rows<T, never, never>
  /** The input: its `idempotencyKey` makes it once, however often it is sent. */
  readonly once: { readonly idempotencyKey?: string | null | undefined }
  /** The organization for which it is made. */
  readonly tenantId: string
  /** The row to write. @param id what it is known by */
  run(unit: Unit, id: string): NewRow<T> | Promise<NewRow<T>>
}

/**
 * Makes a row. The same key with the same content answers the row of the first time as it stands now, and nothing follows; who sends it
 * while the first is under way waits for what becomes of that.
 * @throws BAD_USER_INPUT for a key that is none; CONFLICT, reason KEY_REUSED, for one that was used with another content or for another
 *   organization; NOT_FOUND when the first row is gone, or is not this viewer's to see
 */
export async function create<T extends Table>(context: Writing, { of, once, tenantId, run, audit, tell, wake, announce }: Creation<T>): Promise<Made<Row<T>>> {
  const idempotency = readIdempotency(once)
  return write<Made<Row<T>>>(context, {
    async run(unit) {
      const id = newId(unit.now)
      const earlier = idempotency && (await findMade(context[writing], of, { tenantId, id, ...idempotency }, unit))
      if (earlier) return { row: earlier, repeated: true }
      return { row: await of.insert(await run(unit, id), unit.transaction), repeated: false }
    },
    audit: ({ row, repeated }) => (repeated ? null : (audit?.(row) ?? null)),
    tell: ({ row, repeated }) => (repeated ? [] : (tell?.(row) ?? [])),
    wake: async ({ row, repeated }, unit) => (repeated ? undefined : wake?.(row, unit)),
    announce: ({ row, repeated }) => (repeated ? undefined : announce?.(row)),
  })
}

/** A row before and after a change; both are the same when it changed nothing. */
export interface Changed<R> {
  readonly before: R
  readonly after: R
}

interface Aim<T extends Table> {
  readonly of: Rows<T, never, never>
  readonly id: string
  /** The version that the caller has seen; absent, the last write wins. */
  readonly expectedVersion?: number | null | undefined
}

interface Changing<T extends Table> extends Following<Changed<Row<T>>>, Aim<T> {
  /** Looks at, or locks, what has to come before the row itself. */
  before?(unit: Unit): Promise<void>
  /** What becomes of the row as it stands under its lock: rules speak here. */
  decide(row: Row<T>, unit: Unit): Partial<Row<T>> | Promise<Partial<Row<T>>>
  /** What every change sets besides, and what makes none by itself. */
  readonly also?: Partial<Row<T>>
}

/**
 * Changes a row under its lock and raises its version. What changes nothing is not written, and nothing follows.
 * @throws BAD_USER_INPUT for what is no id; NOT_FOUND; CONFLICT, reason STALE_VERSION
 */
export async function change<T extends Table>(
  context: Writing,
  { of, id, expectedVersion, before: first, decide, also, audit, tell, wake, announce }: Changing<T>,
): Promise<Row<T>> {
  const key = requireId(id, 'id')
  const { after } = await write<Changed<Row<T>>>(context, {
    async run({ transaction, now }) {
      await first?.({ transaction, now })
      const { row: before, unit } = await lockVersion(context, { of, id: key, expectedVersion }, transaction)
      const changes = await decide(before, unit)
      if (changesNothing(before, changes)) return { before, after: before }
      const stamps = { updatedAt: unit.now, version: (before as Stamped).version + 1 } as unknown as Partial<Row<T>>
      return { before, after: await of.update(before, { ...changes, ...also, ...stamps }, unit.transaction) }
    },
    audit: changed => (isSame(changed) ? null : (audit?.(changed) ?? null)),
    tell: changed => (isSame(changed) ? [] : (tell?.(changed) ?? [])),
    wake: async (changed, unit) => (isSame(changed) ? undefined : wake?.(changed, unit)),
    announce: changed => (isSame(changed) ? undefined : announce?.(changed)),
  })
  return after
}

/**
 * Removes a row under its lock.
 * @param options.decide refuses what may not be removed, and removes what goes with it
 */
export async function remove<T extends Table>(
  context: Writing,
  {
    of,
    id,
    expectedVersion,
    before,
    decide,
    ...following
  }: Following<Row<T>> & Aim<T> & { before?(unit: Unit): Promise<void>; decide?(row: Row<T>, unit: Unit): void | Promise<void> },
): Promise<Row<T>> {
  const key = requireId(id, 'id')
  return write<Row<T>>(context, {
    async run({ transaction, now }) {
      await before?.({ transaction, now })
      const { row, unit } = await lockVersion(context, { of, id: key, expectedVersion }, transaction)
      await decide?.(row, unit)
      await of.remove(row, unit.transaction)
      return row
    },
    ...following,
  })
}

type Stamped = { readonly version: number }

/** Somebody may have held the row for a while: what counts is the time since it is ours. */
async function lockVersion<T extends Table>(
  context: Writing,
  { of, id, expectedVersion }: Aim<T>,
  transaction: Transaction,
): Promise<{ row: Row<T>; unit: Unit }> {
  const row = await of.lock(id, transaction)
  if (!row) throw notFound(of.what, id)
  checkVersion((row as unknown as Stamped).version, expectedVersion, of.what)
  return { row, unit: { transaction, now: context[writing].clock.now() } }
}

/**
 * Refuses a change that was made against an older version.
 * @param expected what the client saw; null or undefined: the last write wins
 * @param what     what is changed: `brand`
 * @throws CONFLICT, reason STALE_VERSION, with the present version
 */
export function checkVersion(present: number, expected: number | null | undefined, what: string): void {
  if (expected === null || expected === undefined || expected === present) return
  throw new Refusal('CONFLICT', `The ${what} is at version ${present}, not ${expected}: somebody changed it since. Read it again, then repeat your change.`, {
    reason: 'STALE_VERSION',
    version: present,
  })
}

const isSame = ({ before, after }: Changed<unknown>) => before === after

const changesNothing = (row: object, changes: object): boolean =>
  Object.entries(changes).every(([name, value]) => isDeepStrictEqual((row as Record<string, unknown>)[name], value))

/** The statements with which a subgraph keeps its record and its keys; their tables look alike in each. */
export interface Books {
  readonly record: Statement
  readonly claim: Statement
  readonly claimed: Statement
  readonly keysOf: KeysOf
}

/** Whose an idempotency key is: everybody's of the organization, or the caller's alone, in whichever organization. */
export type KeysOf = 'organization' | 'caller'

/** @param slug the SQL schema with `audit_entries` and `idempotency_keys` */
export const booksOf = (slug: string, keysOf: KeysOf): Books => ({
  record: statement(`insert into ${slug}.audit_entries (tenant_id, id, at, actor, action, subject_id, details) values ($1, $2, $3, $4, $5, $6, $7)`),
  // Whoever sends the same key meanwhile waits here until it is known what became of the first.
  claim: statement(
    `insert into ${slug}.idempotency_keys (tenant_id, caller, what, key, hash, made_id, at) values ($1, $2, $3, $4, $5, $6, $7)
     on conflict do nothing returning key`,
  ),
  claimed: statement(
    `select tenant_id as "tenantId", hash, made_id as "madeId" from ${slug}.idempotency_keys
      where ${keysOf === 'organization' ? 'tenant_id' : 'caller'} = $1 and what = $2 and key = $3`,
  ),
  keysOf,
})

/** It is remembered for a week what a key has made: clients that repeat what they sent do so within minutes. */
export const agingOfKeys = (slug: string): Aging => ({
  table: `${slug}.idempotency_keys`,
  key: 'tenant_id, caller, what, key',
  days: 7,
  old: 'o.at < $1',
  order: 'o.at',
})

/** Writes one line of the record; for whoever changes several things in one transaction. */
export async function record(context: Writing, { tenantId, action, subjectId, actor, details = {} }: AuditLine, { transaction, now }: Unit): Promise<void> {
  const { sequelize, books, actor: writer } = context[writing]
  await rows(sequelize, books.record, [tenantId, newId(now), now, actor ?? writer, action, subjectId, JSON.stringify(details)], transaction)
}

/** Writes facts for other subgraphs; for whoever changes several things in one transaction. */
export const tell = (context: Writing, told: readonly Told[], { transaction, now }: Unit): Promise<void> => writeTold(context[writing], told, now, transaction)

interface Claim {
  readonly tenantId: string
  readonly id: string
  readonly key: string
  readonly hash: string
}

/** The row that the same key has made before; null when there is none, and the key is this row's from now on. */
async function findMade<T extends Table>(writer: Writer, of: Rows<T, never, never>, claim: Claim, unit: Unit): Promise<Row<T> | null> {
  const { sequelize, books, actor } = writer
  const { tenantId, id, key, hash } = claim
  const { transaction, now } = unit
  const [taken] = await rows(sequelize, books.claim, [tenantId, actor, of.what, key, hash, id, now], transaction)
  if (taken) return null
  const owner = books.keysOf === 'organization' ? tenantId : actor
  const [known] = await rows<{ tenantId: string; hash: string; madeId: string }>(sequelize, books.claimed, [owner, of.what, key], transaction)
  // Its days were over at this very moment.
  if (!known) return findMade(writer, of, claim, unit)
  checkSameContent(known.tenantId === tenantId ? known.hash : null, { key, hash }, of.what)
  const made = await of.lock(known.madeId, transaction)
  if (made) return made
  throw new Refusal('NOT_FOUND', `The ${of.what} that this idempotencyKey has made is not there any more: choose a new key to make another.`, {
    field: 'idempotencyKey',
  })
}
