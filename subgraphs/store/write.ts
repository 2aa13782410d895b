import { isDeepStrictEqual } from 'node:util'
import type { Transaction } from 'sequelize'
import { organizationNow } from '../../platform/caller/cause.ts'
import { noParty } from '../../platform/caller/places.ts'
import { DomainError } from '../../platform/errors.ts'
import { readIdempotency } from '../../platform/idempotency.ts'
import { newId, requireId } from '../../platform/ids.ts'
import { sharesOf } from '../../platform/sql/shares.ts'
import type { NewRow, Row, Table } from '../../platform/sql/table.ts'
import { type AuditLine, findKnown, findMade, record, type WriteTransaction, type Writing, writeFacts, writing } from './books.ts'
import type { NewFact } from './fact-kinds.ts'
import { notFound, type Rows } from './store.ts'

/** Consequences of a change: audit entries, facts and wake-ups within its transaction, events after it. */
export interface Following<News> {
  audit?(news: News): AuditLine | null
  /** Facts about the change for other subgraphs (`subgraphs/store/fact-kinds.ts`). */
  facts?(news: News): readonly NewFact[]
  wake?(news: News, unit: WriteTransaction): Promise<void> | undefined
  announce?(news: News): Promise<void> | void
}

/** A unit whose time is read after the row was locked, which may have taken a while. */
interface OpenUnit {
  readonly transaction: Transaction
  now: Date
}

/**
 * The one way in which state changes: in a transaction, together with its audit entries and wake-ups, and with events
 * after the commit. An error before the commit leaves nothing behind.
 * @param run returns the result, and the news for the consequences; null when nothing happened, so that nothing follows
 */
async function follow<Result, News>(
  context: Writing,
  { audit, facts: factsOf, wake, announce }: Following<News>,
  run: (unit: OpenUnit) => Promise<readonly [Result, News | null]>,
): Promise<Result> {
  const { sequelize, clock } = context[writing]
  const transact = () =>
    sequelize.transaction(async transaction => {
      const unit = { transaction, now: clock.now() }
      const done = await run(unit)
      if (done[1] === null) return done
      const line = audit?.(done[1])
      if (line) await record(context, line, unit)
      if (factsOf) await writeFacts(context, factsOf(done[1]), unit)
      await wake?.(done[1], unit)
      return done
    })
  const [result, news] = await sharesOf(sequelize).transactions.run(organizationNow() ?? noParty, transact)
  if (news !== null) await announce?.(news)
  return result
}

/** Writes several records in one transaction, with its consequences; none follow when `run` returns null. */
export const write = <Result>(
  context: Writing,
  { run, ...following }: Following<NonNullable<Result>> & { run(unit: WriteTransaction): Promise<Result> },
): Promise<Result> =>
  follow(context, following, async unit => {
    const result = await run(unit)
    return [result, result ?? null]
  })

/** Runs several reads and writes in one transaction without consequences. */
export const inTransaction = <Result>(context: Writing, run: (unit: WriteTransaction) => Promise<Result>): Promise<Result> =>
  follow(context, {}, async unit => [await run(unit), null])

/** A row that was created now, or earlier with the same key. */
export interface Made<R> {
  readonly row: R
  readonly repeated: boolean
}

interface Creation<T extends Table> extends Following<Row<T>> {
  readonly of: Rows<T, never, never>
  /** The input: its `idempotencyKey` identifies repetitions. */
  readonly once: { readonly idempotencyKey?: string | null | undefined }
  /** Organization in which the row is created. */
  readonly tenantId: string
  /** Id of the row, where it had to be known before. @default a new id */
  readonly id?: string | undefined
  /** Returns the row to write. @param id of the row */
  run(unit: WriteTransaction, id: string): NewRow<T> | Promise<NewRow<T>>
}

/**
 * Creates a row. A repetition with the same key and content returns the first row in its present state, without
 * consequences; it waits while the first request is in progress.
 * @throws BAD_USER_INPUT for an invalid key; CONFLICT, reason KEY_REUSED, for one that was used with other content or
 * for another
 *   organization; NOT_FOUND when the first row is gone, or invisible to this viewer
 */
export async function create<T extends Table>(context: Writing, { of, once, tenantId, id: given, run, ...following }: Creation<T>): Promise<Made<Row<T>>> {
  const idempotency = readIdempotency(once)
  return follow<Made<Row<T>>, Row<T>>(context, following, async unit => {
    const id = given ?? newId(unit.now)
    const earlier = idempotency && (await findMade(context[writing], of, { tenantId, id, ...idempotency }, unit))
    if (earlier) return [{ row: earlier, repeated: true }, null]
    const row = await of.insert(await run(unit, id), unit.transaction)
    return [{ row, repeated: false }, row]
  })
}

/**
 * Returns the row that the same key created before; null when there is none, or no key. It saves expensive preparation;
 * `create` alone decides which request creates the row.
 * @throws CONFLICT, reason KEY_REUSED; NOT_FOUND when the first row is gone
 */
export async function findEarlier<T extends Table>(
  context: Writing,
  { of, once, tenantId }: Pick<Creation<T>, 'of' | 'once' | 'tenantId'>,
): Promise<Row<T> | null> {
  const idempotency = readIdempotency(once)
  return idempotency && inTransaction(context, unit => findKnown(context[writing], of, { tenantId, ...idempotency }, unit))
}

/** A row before and after a change. */
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
  /** Checks, or locks, other records before the row itself. */
  before?(unit: WriteTransaction): Promise<void>
  /** Returns the changes to the locked row: rules are called here. */
  decide(row: Row<T>, unit: WriteTransaction): Partial<Row<T>> | Promise<Partial<Row<T>>>
  /** Values that every change sets in addition, and that are no change by themselves. */
  readonly also?: Partial<Row<T>>
  /** Makes the change once for each key. @default a repetition changes the row again */
  readonly once?: Repetition | undefined
}

/** Identifies a repeated change. */
export interface Repetition {
  /** Name of the mutation: `updateMerchant`. No rows are created under the same name. */
  readonly what: string
  /** Organization of the change. */
  readonly tenantId: string
  /** The input: its `idempotencyKey` identifies repetitions. */
  readonly input: { readonly idempotencyKey?: string | null | undefined }
}

/**
 * Changes a row under its lock and increments its version. A change without effect is not written and has no
 * consequences. A repetition with the same key and input returns the row in its present state.
 * @throws BAD_USER_INPUT for an invalid id or key; NOT_FOUND; CONFLICT, reason STALE_VERSION or KEY_REUSED
 */
export async function change<T extends Table>(
  context: Writing,
  { of, id, expectedVersion, before: first, decide, also, once, ...following }: Changing<T>,
): Promise<Row<T>> {
  const key = requireId(id, 'id')
  const idempotency = once && readIdempotency(once.input)
  return follow<Row<T>, Changed<Row<T>>>(context, following, async unit => {
    if (once && idempotency) {
      const { what, tenantId } = once
      const earlier = await findMade(context[writing], of, { tenantId, what, id: key, ...idempotency }, unit)
      if (earlier) return [earlier, null]
    }
    await first?.(unit)
    const before = await lockVersion(context, { of, id: key, expectedVersion }, unit)
    const changes = await decide(before, unit)
    if (changesNothing(before, changes)) return [before, null]
    const after = await of.update(before, { ...changes, ...also, ...stampsOf(before, unit) }, unit.transaction)
    return [after, { before, after }]
  })
}

/**
 * Removes a row under its lock.
 * @param options.decide throws if the row must not be removed, and removes dependent rows
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
  }: Following<Row<T>> & Aim<T> & { before?(unit: WriteTransaction): Promise<void>; decide?(row: Row<T>, unit: WriteTransaction): void | Promise<void> },
): Promise<Row<T>> {
  const key = requireId(id, 'id')
  return follow<Row<T>, Row<T>>(context, following, async unit => {
    await before?.(unit)
    const row = await lockVersion(context, { of, id: key, expectedVersion }, unit)
    await decide?.(row, unit)
    await of.remove(row, unit.transaction)
    return [row, row]
  })
}

type Stamped = { readonly version: number }

/** Returns the columns that every visible change sets. */
const stampsOf = <T extends Table>(row: Row<T>, { now }: WriteTransaction): Partial<Row<T>> =>
  ({ updatedAt: now, version: (row as Stamped).version + 1 }) as unknown as Partial<Row<T>>

async function lockVersion<T extends Table>(context: Writing, { of, id, expectedVersion }: Aim<T>, unit: OpenUnit): Promise<Row<T>> {
  const row = await of.lock(id, unit.transaction)
  if (!row) throw notFound(of.what, id)
  checkVersion((row as unknown as Stamped).version, expectedVersion, of.what)
  unit.now = context[writing].clock.now()
  return row
}

/** Result of a step's rule. */
export interface Outcome<T extends Table, Along> {
  /** Changes of the row; they may depend on the related row. */
  readonly changes: Partial<Row<T>> | ((along: Along) => Partial<Row<T>>)
  /** Whether the change is visible to people, and so gets a new version. @default false */
  readonly isNews?: boolean
  /** Writes the related row: it is only written while the first is locked, so it takes no lock of its own. */
  readonly along?: ((unit: WriteTransaction) => Promise<Along>) | null | undefined
}

/** Result of a step. */
export interface Stepped<R, Along> extends Changed<R> {
  /** The related row; undefined when it was not written. */
  readonly along: Along | undefined
}

/** Parameters of a step. */
export interface Stepping<T extends Table, Held extends Row<T>, Along> extends Following<Stepped<Row<T>, Along>> {
  readonly of: Rows<T, never, never>
  /** Id of the row, or a function that locks it; the function may return null instead of waiting for a lock. */
  readonly hold: string | ((transaction: Transaction) => Promise<Held | null>)
  /** Returns the changes to the row in its present state; null for none. */
  decide(row: Held, unit: WriteTransaction): Outcome<T, Along> | null | Promise<Outcome<T, Along> | null>
}

/**
 * Runs one step of a job on a row and a related one: a rule sees the locked row and returns the changes of both.
 * @returns null when the row is gone, is locked elsewhere, or the rule declined: nothing is written, and there are no
 * consequences
 */
export function step<T extends Table, Held extends Row<T> = Row<T>, Along = undefined>(
  context: Writing,
  { of, hold, decide, ...following }: Stepping<T, Held, Along>,
): Promise<Stepped<Row<T>, Along> | null> {
  return follow<Stepped<Row<T>, Along> | null, Stepped<Row<T>, Along>>(context, following, async unit => {
    const before = typeof hold === 'string' ? ((await of.lock(hold, unit.transaction)) as Held | null) : await hold(unit.transaction)
    if (!before) return [null, null]
    unit.now = context[writing].clock.now()
    const outcome = await decide(before, unit)
    if (!outcome) return [null, null]
    const { changes, isNews, along: writeAlong } = outcome
    const along = await writeAlong?.(unit)
    const changed = { ...(typeof changes === 'function' ? changes(along!) : changes), ...(isNews && stampsOf<T>(before, unit)) }
    const after = Object.keys(changed).length > 0 ? await of.update(before, changed, unit.transaction) : before
    const stepped = { before, after, along }
    return [stepped, stepped]
  })
}

/** Writes the changes of the related row of a step. */
export const alter =
  <T extends Table>(of: Rows<T, never, never>, row: Row<T>, changes: Partial<Row<T>>) =>
  ({ now, transaction }: WriteTransaction): Promise<Row<T>> =>
    of.update(row, { ...changes, updatedAt: now } as Partial<Row<T>>, transaction)

/**
 * Checks that a change was made against the present version.
 * @param expected the version that the client saw; null or undefined: the last write wins
 * @param what     kind of the record: `brand`
 * @throws CONFLICT, reason STALE_VERSION, with the present version
 */
export function checkVersion(present: number, expected: number | null | undefined, what: string): void {
  if (expected === null || expected === undefined || expected === present) return
  throw new DomainError('CONFLICT', `The ${what} is at version ${present}, not ${expected}: it has changed since. Read it again, then repeat your change.`, {
    reason: 'STALE_VERSION',
    version: present,
  })
}

/** Whether a row has the values of a change already. */
export const changesNothing = (row: object, changes: object): boolean =>
  Object.entries(changes).every(([name, value]) => isDeepStrictEqual((row as Record<string, unknown>)[name], value))
