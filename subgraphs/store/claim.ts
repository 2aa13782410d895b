import { setTimeout as pause } from 'node:timers/promises'
import { crash } from '../../platform/crash.ts'
import { Refusal } from '../../platform/errors.ts'
import { checkSameContent, type Idempotency, readIdempotency } from '../../platform/idempotency.ts'
import { newId } from '../../platform/ids.ts'
import { rows } from '../../platform/sql/statement.ts'
import { notThere, type Unit, type Writer, type Writing, writing } from './books.ts'
import { inTransaction, type Made } from './write.ts'

/** What is done once for a key although nothing of it is kept that could be answered again. */
export interface Claiming {
  /** What is made: `completion`. */
  readonly what: string
  /** The input: its `idempotencyKey` has it made once. */
  readonly once: { readonly idempotencyKey?: string | null | undefined }
  /** The organization for which it is made. */
  readonly tenantId: string
}

/**
 * Does something outside of the database at most once for a key. The key is taken before, and given back when it fails; after that, and while it is under
 * way, the same key is refused: its answer was the first one's alone. Without a key it is simply done.
 * @throws BAD_USER_INPUT for a key that is none; CONFLICT, reason `ALREADY_MADE`, or KEY_REUSED for one that was used with another content
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
    throw new Refusal('CONFLICT', `This idempotencyKey has made a ${what}, or is about to: its answer is kept nowhere. Choose a new key to make another.`, {
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

/** A key while its work is under way. */
export interface Hold {
  /** What the work is known by: the same for every try of a key, so that others who are asked know a second try by it. */
  readonly id: string
  /** Whether an earlier process held the key and did not end: the work looks first at what that one left behind. */
  readonly isResumed: boolean
  /** Aborts before the key may be taken by somebody else. */
  readonly signal: AbortSignal
  /**
   * Records that the work is done, in the transaction that writes what came of it. Without it that is recorded once `make` has returned.
   * @throws CONFLICT, reason IN_PROGRESS, when somebody else has taken the key meanwhile: the transaction writes nothing then
   */
  end(unit: Unit): Promise<void>
}

/** Work that takes longer than a transaction may, and is done once for a key. */
export interface Holding<Result> {
  /** The mutation: `payOrder`. No rows are created under the same name. */
  readonly what: string
  /** The input: its `idempotencyKey` has it done once, however often it is sent. */
  readonly once: { readonly idempotencyKey?: string | null | undefined }
  /** The organization for which it is done. */
  readonly tenantId: string
  /** For how long the key is held, in ms: longer than the work takes. @default one minute */
  readonly holdMs?: number
  /** For how long a repetition waits for the first, in ms. @default ten seconds */
  readonly waitMs?: number
  /** Returns the present state of what the work created; null if it was deleted. */
  find(id: string): Promise<Result | null>
  /**
   * Does the work. It throws only when nothing was done: the key is free then. An outcome that nobody knows is a result.
   * @throws whatever is to be answered
   */
  make(hold: Hold): Promise<Result>
}

/** How much earlier than the hold its signal ends the work: enough to write what came of it. */
const marginShare = 0.1
/** How often a repetition looks whether the first has ended, in ms: at first, and at most. */
const [firstLookMs, maxLookMs] = [25, 500]

/** A key of the caller, as the statements know it. */
interface Key extends Idempotency {
  readonly writer: Writer
  readonly what: string
  readonly tenantId: string
  /** Who holds it: this call alone. */
  readonly holder: string
}

const ownerOf = ({ writer: { books, actor }, tenantId }: Key): string => (books.keysOf === 'organization' ? tenantId : actor)

/**
 * Does something that takes longer than a transaction may, at most once for a key. The key is held while the work is under way, outside of any
 * transaction, and by one process of all. Repetitions wait for the first, then answer what it has made. A process that dies leaves the key
 * held until its time is over; whoever sends the key then goes on with the work, under the same id. A refusal gives the key back.
 * @throws BAD_USER_INPUT for a key that is none; CONFLICT, reason IN_PROGRESS with `retryAfter`, while the first is under way for longer than a
 *   repetition waits; CONFLICT, reason KEY_REUSED, for one that was used with another content; NOT_FOUND when what it has made is gone
 */
export async function makeHeld<Result>(context: Writing, holding: Holding<Result>): Promise<Made<Result>> {
  const { once, what, tenantId, holdMs = 60_000, waitMs = 10_000, find } = holding
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

/** Takes the key, or finds what it has made; null while somebody else holds it. */
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
  /** null once the work is done. */
  readonly heldUntil: Date | null
}

const end = (key: Key, unit?: Unit) => rows(key.writer.sequelize, key.writer.books.endHold, [ownerOf(key), key.what, key.key, key.holder], unit?.transaction)

async function endIn(key: Key, unit: Unit): Promise<void> {
  const ended = await end(key, unit)
  if (ended.length === 0) throw inProgress(key.what)
}

const release = (key: Key) => rows(key.writer.sequelize, key.writer.books.releaseHeld, [ownerOf(key), key.what, key.key, key.holder])

const inProgress = (what: string) =>
  new Refusal('CONFLICT', `The first ${what} with this idempotencyKey is still under way: send the same again in a moment.`, {
    reason: 'IN_PROGRESS',
    field: 'idempotencyKey',
    retryAfter: 2,
  })
