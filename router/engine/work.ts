import { DomainError } from '../../platform/errors.ts'
import type { Browser } from '../../subgraphs/http/browser.ts'
import type { Operation } from '../../subgraphs/subgraph.ts'
import type { Claim } from '../access/callers/claim.ts'
import { mebibytes } from './data/bytes.ts'
import type { Caching } from './data/caching.ts'
import type { BytesInFlight, Full } from './data/in-flight.ts'
import { createSlices } from './data/slices.ts'
import { TooMuch } from './errors.ts'

/** Limits of one operation, or of one event of a stream, while subgraphs work on it in this process. */
export const workLimits = {
  /**
   * Maximum number of values below lists of objects: elements times the fields selected below them. Resolvers spend
   * most of their time on these.
   */
  values: 400_000,
  /** Number of values of one organization's operations after which all others have a turn of the event loop. */
  turn: 4000,
  /**
   * Maximum bytes read for an operation, from a database or from subgraphs' answers: they are held until it is
   * answered.
   */
  bytes: 40 * 1024 * 1024,
  /**
   * Bytes that are counted at a time, and that every operation may hold uncounted: most operations read less, and
   * counting costs nothing then.
   */
  step: 64 * 1024,
  /**
   * Bytes that a mutation may hold whatever else its caller has in progress, because it must report what it has done.
   */
  mutationBytes: 2 * 1024 * 1024,
  /**
   * Maximum number of database statements of an operation, as loaders count them. A page of posts and its total are
   * two, however often they are selected.
   */
  statements: 200,
  /**
   * Maximum number of an operation's statements at the database at the same time: the rest waits here, so that other
   * operations get connections meanwhile. As many as one connection carries together.
   */
  statementsAtOnce: 4,
} as const

/**
 * The work on one operation or one event of a stream: whether a client still waits for it, and what it has used.
 * Subgraphs see it as their operation, too. It is a class because one is created for every event, and methods in a
 * closure would cost a tenth more for each.
 */
export class Work implements Operation {
  readonly requestId: string
  readonly leaving: AbortSignal | undefined
  readonly deadline: number | undefined
  readonly now: () => number
  /** Browser that sent a mutation; undefined for reads, which are the same in every browser. */
  browser: Browser | undefined = undefined
  isReplay = false
  replayed: string[] | null = null
  values = 0
  /** Maximum of `values`. */
  mostValues: number = workLimits.values
  /** Bytes held for the operation. */
  bytes = 0
  /** Number of bytes that may be held without taking more; negative once the operation is over. */
  covered: number = workLimits.step
  /** Bytes that the operation has taken of those in flight. */
  taken = 0
  /**
   * Bytes that the operation may hold whatever else its caller has in progress. Positive for mutations: data that
   * exceeds the limit fails only its own field, and the rest of the answer reports what was done.
   */
  guaranteedBytes = 0
  readonly inFlight: BytesInFlight | null
  readonly claim: Claim | null
  statements = 0
  atPool = 0
  /** Statements that wait for another one of the same operation to finish. */
  queue: (() => void)[] | null = null
  /** Why the operation ended early: its caller left, or it exceeded a limit. */
  ended: Error | null = null
  /** Contexts of the operation's resolvers, by subgraph: they hold the loaders. */
  contexts: Map<string, object> | null = null
  /** For queries whose answer may be kept, or may come from the response cache. */
  caching: Caching | null = null
  controller: AbortController | null = null
  release: (() => void) | null = null

  /**
   * @param leaving  aborts when the client leaves
   * @param deadline when the operation's time ends, by the clock `now`
   * @param inFlight counts the held bytes @default only the bytes of each single operation are limited
   * @param claim    identity under which they count
   */
  constructor(
    requestId: string,
    leaving: AbortSignal | undefined,
    deadline: number | undefined,
    now: () => number,
    inFlight: BytesInFlight | null = null,
    claim: Claim | null = null,
  ) {
    this.requestId = requestId
    this.leaving = leaving
    this.deadline = deadline
    this.now = now
    this.inFlight = inFlight
    this.claim = claim
  }

  /** Signal that aborts when the operation ends early; created on demand, because most operations never use it. */
  get signal(): AbortSignal {
    return (this.controller ?? listen(this)).signal
  }

  get party(): string | undefined {
    return this.claim?.organization
  }

  /** A character of a text takes two bytes at most. */
  read(characters: number): void {
    this.holds(2 * characters)
  }

  /**
   * Counts bytes held for the operation until it ends; a negative number releases bytes.
   * @throws TooMuch, or for a mutation a plain refusal, once they exceed what the operation or its caller may hold
   */
  holds(bytes: number): void {
    this.bytes += bytes
    if (this.bytes > this.covered && bytes > 0) cover(this, bytes)
  }

  statement<Result>(run: () => Promise<Result>): Promise<Result> {
    return runStatement(this, run)
  }
}

/** Abandons an operation because its caller left or it exceeded a limit: work that still runs starts nothing new. */
export function abandon(work: Work, reason: Error = nobodyWaits): void {
  work.ended ??= reason
  finish(work)
  work.controller?.abort(work.ended)
}

/** Marks an operation as finished: its signal never aborts any more, and its bytes are released. */
export function finish(work: Work): void {
  work.release?.()
  work.release = null
  releaseWork(work)
  // After the client has left, a query's further reads are discarded; a mutation continues with little that is not counted.
  work.covered = work.guaranteedBytes > 0 ? Number.POSITIVE_INFINITY : Number.NEGATIVE_INFINITY
}

/** Releases the bytes held so far; the work continues. */
export function releaseWork(work: Work): void {
  if (work.taken > 0) work.inFlight!.release(work.claim!, work.taken)
  work.taken = 0
  work.bytes = 0
  if (Number.isFinite(work.covered)) work.covered = workLimits.step
}

/** Transfers the bytes of a finished part to its operation. */
export function takeOver(work: Work, part: Work): void {
  const { bytes, taken } = part
  part.taken = 0
  finish(part)
  if (!Number.isFinite(work.covered)) {
    if (taken > 0) part.inFlight!.release(part.claim!, taken)
    return
  }
  work.bytes += bytes
  work.taken += taken
  work.covered += taken
}

/** Creates a part of an operation that counts under the same claim and ends separately. */
export const partOf = ({ requestId, now, inFlight, claim }: Work, leaving: AbortSignal | undefined, deadline: number | undefined): Work =>
  new Work(requestId, leaving, deadline, now, inFlight, claim)

/** Whether the operation has ended early, so that nothing new should start. */
export const isOver = (work: Work): boolean => whyOver(work) !== null

export function whyOver(work: Work): Error | null {
  if (work.ended) return work.ended
  if (work.leaving?.aborted) work.ended = nobodyWaits
  else if (work.deadline !== undefined && work.now() >= work.deadline) work.ended = timeIsUp
  return work.ended
}

function listen(work: Work): AbortController {
  const controller = new AbortController()
  work.controller = controller
  const reason = whyOver(work)
  if (reason) {
    controller.abort(reason)
    return controller
  }
  const leave = () => abandon(work)
  work.leaving?.addEventListener('abort', leave)
  const late = work.deadline === undefined ? undefined : setTimeout(() => abandon(work, timeIsUp), Math.max(0, work.deadline - work.now()))
  work.release = () => {
    clearTimeout(late)
    work.leaving?.removeEventListener('abort', leave)
  }
  return controller
}

/**
 * Counts values before they are resolved. Returns a promise when others have their turn first. Above the limit, the
 * work is abandoned.
 */
export function takeValues(work: Work, values: number): Promise<void> | null {
  work.values += values
  if (work.values > work.mostValues) {
    abandon(work, tooManyValues(work.mostValues))
    return null
  }
  return slices.take(work.claim?.organization ?? work.requestId, values)
}

const slices = createSlices(workLimits.turn)

/** Takes the bytes that are held beyond those taken before, `latest` of them just now. @throws TooMuch, see `holds` */
function cover(work: Work, latest: number): void {
  const { inFlight, claim } = work
  // Work that continues after the end reads for nobody.
  if (work.covered < 0) throw work.ended ?? nobodyWaits
  const most = Math.min(workLimits.bytes, inFlight?.largest ?? workLimits.bytes)
  if (work.bytes > most)
    throw ending(
      work,
      latest,
      'OPERATION_TOO_EXPENSIVE',
      `The operation reads more than ${mebibytes(most)} of text; ask for fewer entries at once, or for fewer long fields.`,
    )
  const more = Math.ceil((work.bytes - work.covered) / workLimits.step) * workLimits.step
  if (inFlight && claim) {
    const full = work.bytes <= work.guaranteedBytes ? inFlight.hold(claim, more) : inFlight.take(claim, more)
    if (full) throw limited(work, full, latest)
    work.taken += more
  }
  work.covered += more
}

const whoseBytes: Readonly<Record<Full, string>> = {
  caller:
    'Your operations under way hold as much text as those of one caller may: wait for their answers, then ask again, or ask for fewer long fields at once.',
  organization: 'Operations of your organization hold as much text as those of one may: wait for their answers, then ask again.',
  process: 'Operations of others hold as much text as there is room for: ask again in a moment.',
}

const limited = (work: Work, full: Full, latest: number): DomainError => ending(work, latest, 'RATE_LIMITED', whoseBytes[full], { retryAfter: 1 })

/** The two reasons for which an operation reads no further. */
type Ending = 'OPERATION_TOO_EXPENSIVE' | 'RATE_LIMITED'

/**
 * Ends an operation that read too much. A mutation continues without the latest bytes, which are dropped: the error
 * replaces their field.
 */
function ending(work: Work, latest: number, code: Ending, sentence: string, details: Record<string, unknown> = {}): DomainError {
  if (work.guaranteedBytes > 0) {
    work.bytes -= latest
    return new DomainError(code, sentence, details)
  }
  const refusal = new TooMuch(code, sentence, details)
  abandon(work, refusal)
  return refusal
}

/**
 * Runs a statement when fewer than the maximum run for the operation. @throws TooMuch above the number of statements
 * that one operation may send
 */
async function runStatement<Result>(work: Work, run: () => Promise<Result>): Promise<Result> {
  work.statements += 1
  if (work.statements > workLimits.statements) {
    const refusal = new TooMuch(
      'BAD_USER_INPUT',
      `The operation asks the databases more than ${workLimits.statements} times; ask for fewer differing lists and totals at once, or split it.`,
    )
    abandon(work, refusal)
    throw refusal
  }
  if (work.guaranteedBytes === 0 && work.inFlight && work.claim && work.inFlight.isFull(work.claim)) throw limited(work, 'caller', 0)
  if (work.atPool < workLimits.statementsAtOnce) work.atPool += 1
  // A finished operation hands its place to the next.
  else
    await new Promise<void>(resolve => {
      work.queue ??= []
      work.queue.push(resolve)
    })
  try {
    const over = whyOver(work)
    if (over) throw over
    return await run()
  } finally {
    const next = work.queue?.shift()
    if (next) next()
    else work.atPool -= 1
  }
}

const tooManyValues = (most: number) =>
  new TooMuch(
    'BAD_USER_INPUT',
    `The operation asks for more than ${most} values of lists within lists; ask for fewer levels of lists, for shorter ones, or for fewer fields of them.`,
  )

// Made once: nobody looks at where they were thrown, and one is needed each time that somebody leaves.
const nobodyWaits = new DomainError('UPSTREAM_FAILED', 'The operation was ended before it was answered.')
const timeIsUp = new DomainError('UPSTREAM_FAILED', 'The time of the operation is up.')
