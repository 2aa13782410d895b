import { Refusal } from '../../platform/errors.ts'
import type { Browser } from '../../subgraphs/http/browser.ts'
import type { Operation } from '../../subgraphs/subgraph.ts'
import { TooMuch } from './errors.ts'

/** What one operation, or one event of a stream, may take while subgraphs work on it in this process. */
export const workLimits = {
  /** Values that lists of objects lead to: elements times the fields that are selected below them. A resolver's time goes into these. */
  values: 400_000,
  /** Values after which everybody else has a turn of the event loop. */
  turn: 4000,
  /** Characters of text that are read for it, from a database or from answers of subgraphs: they are held until it is answered. */
  characters: 32 * 1024 * 1024,
  /** Statements that it sends to databases, as loaders count them. A page of posts and its total are two, however often they are asked for. */
  statements: 200,
  /**
   * Statements of it at the database at the same time: the rest waits here, so that others get connections between. As many as go over
   * one connection together.
   */
  statementsAtOnce: 4,
} as const

/**
 * One operation, or one event of a stream, while it is worked on: whether anybody waits for it, and what it has cost. It is what
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
  inTurn = 0
  turn: Promise<void> | null = null
  characters = 0
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
   */
  constructor(requestId: string, leaving: AbortSignal | undefined, deadline: number | undefined, now: () => number) {
    this.requestId = requestId
    this.leaving = leaving
    this.deadline = deadline
    this.now = now
  }

  /** Made when somebody asks for it: most operations that read nothing never do. */
  get signal(): AbortSignal {
    return (this.controller ?? listen(this)).signal
  }

  read(characters: number): void {
    takeCharacters(this, characters)
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

/** Says that it is done: its signal never aborts any more. */
export function finish(work: Work): void {
  work.release?.()
  work.release = null
}

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
  work.inTurn += values
  if (work.inTurn > workLimits.turn) {
    work.inTurn = values
    const turn = (work.turn ?? Promise.resolve()).then(nextTurn)
    work.turn = turn
    turn.then(() => {
      if (work.turn === turn) work.turn = null
    })
  }
  return work.turn
}

/** Counts text that was read. @throws TooMuch once it is more than one operation may hold */
function takeCharacters(work: Work, characters: number): void {
  work.characters += characters
  if (work.characters <= workLimits.characters) return
  const refusal = new TooMuch(
    `The operation reads more than ${workLimits.characters / 1024 / 1024} Mi characters of text; ask for fewer entries at once, or for fewer long fields.`,
  )
  abandon(work, refusal)
  throw refusal
}

/** Runs a statement when fewer than a few of the operation run. @throws TooMuch once they are more than one operation may send */
async function runStatement<Result>(work: Work, run: () => Promise<Result>): Promise<Result> {
  work.statements += 1
  if (work.statements > workLimits.statements) {
    const refusal = new TooMuch(
      `The operation asks the databases more than ${workLimits.statements} times; ask for fewer differing lists and totals at once, or split it.`,
    )
    abandon(work, refusal)
    throw refusal
  }
  if (work.atPool < workLimits.statementsAtOnce) work.atPool += 1
  // Whoever is done hands its place over.
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
    `The operation asks for more than ${workLimits.values} values of lists within lists; ask for fewer levels of lists, for shorter ones, or for fewer fields of them.`,
  )

const nextTurn = () => new Promise<void>(resolve => setImmediate(resolve))

// Made once: nobody looks at where they were thrown, and one is needed each time that somebody leaves.
const nobodyWaits = new Refusal('UPSTREAM_FAILED', 'The operation was ended before it was answered.')
const timeIsUp = new Refusal('UPSTREAM_FAILED', 'The time of the operation is up.')
