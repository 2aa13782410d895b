import { Refusal } from '../../platform/errors.ts'
import type { Browser } from '../../subgraphs/http/browser.ts'
import type { Operation } from '../../subgraphs/subgraph.ts'
import type { Claim } from '../access/callers/claim.ts'
import { mebibytes } from './data/bytes.ts'
import type { BytesInFlight, Full } from './data/in-flight.ts'
import { createSlices } from './data/slices.ts'
import { TooMuch } from './errors.ts'

/** What one operation, or one event of a stream, may take while subgraphs work on it in this process. */
export const workLimits = {
  /** Values that lists of objects lead to: elements times the fields that are selected below them. A resolver's time goes into these. */
  values: 400_000,
  /** Values of one organization's operations after which everybody else has a turn of the event loop. */
  turn: 4000,
  /** Bytes that are read for it, from a database or from answers of subgraphs: they are held until it is answered. */
  bytes: 40 * 1024 * 1024,
  /** Bytes that are counted together, and that anything may hold without being counted: most operations read less, and cost nothing here. */
  step: 64 * 1024,
  /** Bytes that a mutation may hold whatever else its caller has under way: what it has done it is to tell. */
  mutationBytes: 2 * 1024 * 1024,
  /** Statements that it sends to databases, as loaders count them. A page of posts and its total are two, however often they are asked for. */
  statements: 200,
  /**
   * Statements of it at the database at the same time: the rest waits here, so that others get connections between. As many as go over
   * one connection together.
   */
  statementsAtOnce: 4,
} as const

/**
 * The work on one operation or one event of a stream: whether a client waits for it, and what it has cost. It is what
 * subgraphs are told of the operation, too; a class, because one is made for every event, and methods of its own would cost each a tenth.
 */
export class Work implements Operation {
  readonly requestId: string
  readonly leaving: AbortSignal | undefined
  readonly deadline: number | undefined
  readonly now: () => number
  /** Set for mutations: what is read tells every browser the same. */
  browser: Browser | undefined = undefined
  isReplay = false
  replayed: string[] | null = null
  values = 0
  /** What is held for it. */
  bytes = 0
  /** Up to how many bytes need not be asked for; less than none once it is over. */
  covered: number = workLimits.step
  /** Bytes that it has taken of what may be in flight. */
  taken = 0
  /**
   * Bytes that it may hold whatever else its caller has under way. More than none where something is changed: then what is too much costs
   * its place in the answer, and the rest of the answer tells what was done.
   */
  guaranteedBytes = 0
  readonly inFlight: BytesInFlight | null
  readonly claim: Claim | null
  statements = 0
  atPool = 0
  /** Statements that wait for one of the same operation to be answered. */
  queue: (() => void)[] | null = null
  /** Why it is over before it is done: nobody waits any more, or it was too much. */
  ended: Error | null = null
  /** Contexts of the resolvers that work on it, by subgraph: they hold the loaders. */
  contexts: Map<string, object> | null = null
  controller: AbortController | null = null
  release: (() => void) | null = null

  /**
   * @param leaving  aborts when the client leaves
   * @param deadline when its time is up, by the clock `now`
   * @param inFlight where bytes are counted that it holds @default only those of one operation are bounded
   * @param claim    under what they are
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

  /** Made when somebody asks for it: most operations that read nothing never do. */
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
   * @throws TooMuch, or of what changes something a plain refusal, once they are more than it or its caller may hold
   */
  holds(bytes: number): void {
    this.bytes += bytes
    if (this.bytes > this.covered && bytes > 0) cover(this, bytes)
  }

  statement<Result>(run: () => Promise<Result>): Promise<Result> {
    return runStatement(this, run)
  }
}

/** Says that nobody waits for it any more, or that it was too much: what still runs of it begins nothing new. */
export function abandon(work: Work, reason: Error = nobodyWaits): void {
  work.ended ??= reason
  finish(work)
  work.controller?.abort(work.ended)
}

/** Says that it is done: its signal never aborts any more, and what it held is free. */
export function finish(work: Work): void {
  work.release?.()
  work.release = null
  releaseWork(work)
  // After the client has left, a query's further reads are discarded; a mutation continues with little that is not counted.
  work.covered = work.guaranteedBytes > 0 ? Number.POSITIVE_INFINITY : Number.NEGATIVE_INFINITY
}

/** Says that what is held so far is held no longer, and goes on. */
export function releaseWork(work: Work): void {
  if (work.taken > 0) work.inFlight!.release(work.claim!, work.taken)
  work.taken = 0
  work.bytes = 0
  if (Number.isFinite(work.covered)) work.covered = workLimits.step
}

/** Makes what a part of it holds its own: the part is done. */
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

/** A part of it that is counted under the same, with an end of its own. */
export const partOf = ({ requestId, now, inFlight, claim }: Work, leaving: AbortSignal | undefined, deadline: number | undefined): Work =>
  new Work(requestId, leaving, deadline, now, inFlight, claim)

/** Whether what is begun now would be begun for nobody. */
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
 * Counts values that are about to be resolved. A promise comes back when others have their turn first. Once they are too many, the
 * work is abandoned.
 */
export function takeValues(work: Work, values: number): Promise<void> | null {
  work.values += values
  if (work.values > workLimits.values) {
    abandon(work, tooManyValues())
    return null
  }
  return slices.take(work.claim?.organization ?? work.requestId, values)
}

const slices = createSlices(workLimits.turn)

/** Takes as many bytes more as are held beyond those that were taken, `latest` of them now. @throws TooMuch, see `holds` */
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

const limited = (work: Work, full: Full, latest: number): Refusal => ending(work, latest, 'RATE_LIMITED', whoseBytes[full], { retryAfter: 1 })

/** The two reasons for which an operation reads no further. */
type Ending = 'OPERATION_TOO_EXPENSIVE' | 'RATE_LIMITED'

/**
 * Ends an operation that read too much. One that changes something goes on without the latest bytes, which are dropped: the error stands
 * in the place of their field.
 */
function ending(work: Work, latest: number, code: Ending, sentence: string, details: Record<string, unknown> = {}): Refusal {
  if (work.guaranteedBytes > 0) {
    work.bytes -= latest
    return new Refusal(code, sentence, details)
  }
  const refusal = new TooMuch(code, sentence, details)
  abandon(work, refusal)
  return refusal
}

/** Runs a statement when fewer than a few of the operation run. @throws TooMuch once they are more than one operation may send */
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

const tooManyValues = () =>
  new TooMuch(
    'BAD_USER_INPUT',
    `The operation asks for more than ${workLimits.values} values of lists within lists; ask for fewer levels of lists, for shorter ones, or for fewer fields of them.`,
  )

// Made once: nobody looks at where they were thrown, and one is needed each time that somebody leaves.
const nobodyWaits = new Refusal('UPSTREAM_FAILED', 'The operation was ended before it was answered.')
const timeIsUp = new Refusal('UPSTREAM_FAILED', 'The time of the operation is up.')
