import { setTimeout as pause } from 'node:timers/promises'
import { crash } from '../../platform/crash.ts'
import { DomainError } from '../../platform/errors.ts'
import { checkSameContent, type Idempotency, readIdempotency } from '../../platform/idempotency.ts'
import { newId } from '../../platform/ids.ts'
import { rows } from '../../platform/sql/statement.ts'
import { notThere, type Writer, type WriteTransaction, type Writing, writing } from './books.ts'
import { inTransaction, type Made } from './write.ts'

/** Work that is done once for a key, but leaves no record that could be returned again. */
export interface Claiming {
  /** Noun of the work: `completion`. */
  readonly what: string
  /** The input: its `idempotencyKey` identifies repetitions. */
  readonly once: { readonly idempotencyKey?: string | null | undefined }
  /** Organization for which the work is done. */
  readonly tenantId: string
}

/**
 * Runs work outside of the database at most once for a key. The key is taken before, and released when the work fails;
 * afterwards, and while the work runs, the same key is rejected, because the result belonged to the first request only.
 * Without a key the work simply runs.
 * @throws BAD_USER_INPUT for an invalid key; CONFLICT, reason `ALREADY_MADE`, or KEY_REUSED for one that was used with
 * other content
 */
export async function claimed<Result>(context: Writing, { what, once, tenantId }: Claiming, make: () => Promise<Result>): Promise<Result> {
  const idempotency = readIdempotency(once)
  if (!idempotency) return make()
  const { key, hash } = idempotency
  const { sequelize, books, actor } = context[writing]
  const made = await inTransaction(context, async ({ transaction, now }) => {
    const [taken] = await rows(sequelize, books.claim, [tenantId, actor, what, key, hash, newId(now), now], transaction)
    if (taken) return null
    const [known] = await rows<{ hash: string }>(sequelize, books.claimed, [books.keysOf === 'organization' ? tenantId : actor, what, key], transaction)
    return known ?? { hash }
  })
  if (made) {
    checkSameContent(made.hash, idempotency, what)
    throw new DomainError('CONFLICT', `This idempotencyKey has made a ${what}, or is about to: its answer is not stored. Choose a new key to create another.`, {
      reason: 'ALREADY_MADE',
      field: 'idempotencyKey',
    })
  }
  try {
    return await make()
  } catch (error) {
    await rows(sequelize, books.release, [tenantId, what, key])
    throw error
  }
}

/** A key that is held while its work runs. */
export interface Hold {
  /** Id of the work: the same for every attempt of a key, so that other services recognize a second attempt by it. */
  readonly id: string
  /** Whether an earlier process held the key and did not finish: the work first checks what that process left. */
  readonly isResumed: boolean
  /** Aborts before another process may take the key. */
  readonly signal: AbortSignal
  /**
   * Records that the work is done, in the transaction that writes its result. Without it that is recorded once `make`
   * has returned.
   * @throws CONFLICT, reason IN_PROGRESS, when another process has taken the key meanwhile: the transaction is rolled
   * back then
   */
  end(unit: WriteTransaction): Promise<void>
}

/** Work that takes longer than a transaction may, done once for a key. */
export interface Holding<Result> {
  /** Name of the mutation: `payOrder`. No rows are created under the same name. */
  readonly what: string
  /** The input: its `idempotencyKey` identifies repetitions. */
  readonly once: { readonly idempotencyKey?: string | null | undefined }
  /** Organization for which the work is done. */
  readonly tenantId: string
  /** Time in ms for which the key is held: longer than the work takes. @default one minute */
  readonly holdMs?: number
  /** Time in ms for which a repetition waits for the first request. @default eight seconds, less than a router waits for a subgraph */
  readonly waitMs?: number
  /** Returns the present state of the record that the work created; null if it was deleted. */
  find(id: string): Promise<Result | null>
  /**
   * Does the work. It throws only when nothing was done: the key is released then. An unknown outcome is a result.
   * @throws the error to be answered
   */
  make(hold: Hold): Promise<Result>
}

/** Share of the hold's time by which its signal aborts earlier: enough to write the result. */
const marginShare = 0.1
/** Initial and maximum interval in ms at which a repetition checks whether the first request has ended. */
const [firstLookMs, maxLookMs] = [25, 500]

/** A caller's key, in the form for statements. */
interface Key extends Idempotency {
  readonly writer: Writer
  readonly what: string
  readonly tenantId: string
  /** Id of the call that holds the key. */
  readonly holder: string
}

const ownerOf = ({ writer: { books, actor }, tenantId }: Key): string => (books.keysOf === 'organization' ? tenantId : actor)

/**
 * Runs work that takes longer than a transaction may, at most once for a key. The key is held by one process, outside
 * of any transaction, while the work runs. Repetitions wait for the first request, then return its record. When a
 * process dies, the key stays held until its time is over; the next request with the key continues the work under the
 * same id. An error releases the key.
 * @throws BAD_USER_INPUT for an invalid key; CONFLICT, reason IN_PROGRESS with `retryAfter`, while the first request
 * runs for longer than a
 *   repetition waits; CONFLICT, reason KEY_REUSED, for one that was used with other content; NOT_FOUND when its record is gone
 */
export async function makeHeld<Result>(context: Writing, holding: Holding<Result>): Promise<Made<Result>> {
  const { once, what, tenantId, holdMs = 60_000, waitMs = 8_000, find } = holding
  const idempotency = readIdempotency(once)
  const signal = () => AbortSignal.timeout(holdMs * (1 - marginShare))
  if (!idempotency) return { row: await holding.make({ id: newId(), isResumed: false, signal: signal(), end: async () => {} }), repeated: false }
  const key = { ...idempotency, writer: context[writing], what, tenantId, holder: newId() }
  const taken = await takeOrWait(key, holdMs, waitMs)
  if (taken.isDone) {
    const row = await find(taken.id)
    if (row === null) throw notThere(what)
    key.writer.replay?.()
    return { row, repeated: true }
  }
  crash('key-held')
  const row = await work(key, holding, { ...taken, signal: signal(), end: unit => endIn(key, unit) })
  crash('key-work-done')
  await end(key)
  return { row, repeated: false }
}

async function work<Result>(key: Key, { make }: Holding<Result>, hold: Hold): Promise<Result> {
  try {
    return await make(hold)
  } catch (error) {
    // The original error is more useful than a database error here: the key expires by itself.
    await release(key).catch(() => {})
    throw error
  }
}

type Taken = { readonly isDone: true; readonly id: string } | { readonly isDone: false; readonly id: string; readonly isResumed: boolean }

async function takeOrWait(key: Key, holdMs: number, waitMs: number): Promise<Taken> {
  const giveUpAt = performance.now() + waitMs
  for (let lookMs = firstLookMs; ; lookMs = Math.min(lookMs * 1.5, maxLookMs)) {
    const taken = await take(key, holdMs)
    if (taken) return taken
    const left = giveUpAt - performance.now()
    if (left <= 0) throw inProgress(key.what)
    await pause(Math.min(lookMs, left))
  }
}

/** Takes the key, or finds its record; null while another process holds it. */
async function take(key: Key, holdMs: number): Promise<Taken | null> {
  const { writer, what, tenantId, key: name, hash, holder } = key
  const { sequelize, books, actor, clock } = writer
  const now = clock.now()
  const until = new Date(now.getTime() + holdMs)
  const [made] = await rows<{ id: string }>(sequelize, books.hold, [tenantId, actor, what, name, hash, newId(now), now, holder, until])
  if (made) return { ...made, isDone: false, isResumed: false }
  const [known] = await rows<Known>(sequelize, books.held, [ownerOf(key), what, name])
  // The key was released at this very moment.
  if (!known) return null
  checkSameContent(known.tenantId === tenantId ? known.hash : null, key, what)
  if (known.heldUntil === null) return { isDone: true, id: known.id }
  if (known.heldUntil >= now) return null
  const [resumed] = await rows<{ id: string }>(sequelize, books.resume, [ownerOf(key), what, name, holder, until, now])
  return resumed ? { ...resumed, isDone: false, isResumed: true } : null
}

interface Known {
  readonly tenantId: string
  readonly hash: string
  readonly id: string
  /** Until when the key is held; null once the work is done. */
  readonly heldUntil: Date | null
}

const end = (key: Key, unit?: WriteTransaction) =>
  rows(key.writer.sequelize, key.writer.books.endHold, [ownerOf(key), key.what, key.key, key.holder], unit?.transaction)

async function endIn(key: Key, unit: WriteTransaction): Promise<void> {
  const ended = await end(key, unit)
  if (ended.length === 0) throw inProgress(key.what)
}

const release = (key: Key) => rows(key.writer.sequelize, key.writer.books.releaseHeld, [ownerOf(key), key.what, key.key, key.holder])

const inProgress = (what: string) =>
  new DomainError('CONFLICT', `The first ${what} with this idempotencyKey is still under way: send the same again in a moment.`, {
    reason: 'IN_PROGRESS',
    field: 'idempotencyKey',
    retryAfter: 2,
  })
