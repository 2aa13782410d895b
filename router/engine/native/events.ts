import type { ExecutionResult } from 'graphql'
import type { EngineOptions, LiveEvent } from '../engine.ts'
import { takeAnswer } from '../execute/execute.ts'
import { latestOf } from '../execute/latest.ts'
import type { FetchStep } from '../execute/step.ts'
import { mapStream, type PromptStream } from '../transport/streams/map.ts'
import { beginIncrementally, type Running } from './incremental.ts'
import type { Ready } from './prepare.ts'

/** A subscription whose source has begun. */
interface Streaming extends Pick<Running, 'runOf' | 'answer'> {
  readonly ready: Ready
  /** The fetch that brings the events. */
  readonly primary: FetchStep
  readonly options: EngineOptions
  /** Answers an event in one piece. */
  whole(event: ExecutionResult): Promise<ExecutionResult>
  /** Makes the last event of a stream whose source failed. */
  failedBy(cause: unknown): LiveEvent
  /** Called once, however the stream ends. */
  ended(): void
}

/** Answers the events of a source. `return()` settles every pending `next()`, and ends what is under way at once. */
export function streamEvents(source: AsyncIterator<ExecutionResult>, streaming: Streaming): PromptStream<LiveEvent> {
  const { ready, whole, failedBy, ended } = streaming
  if (ready.variant.incremental) return streamPayloads(source, streaming)
  const { inTurn } = ready.request
  const answered = async (event: ExecutionResult): Promise<LiveEvent> => {
    const work = () => whole(event)
    return { answer: await (inTurn ? inTurn(work) : work()), about: latestOf(event) }
  }
  return mapStream(source, answered, failedBy, ended)
}

/**
 * Answers each event of a source with its payloads: the next event is taken from the source after the last payload of
 * the one before. An event's work keeps its caller's slot until then, and each payload is made when it is asked for.
 */
function streamPayloads(source: AsyncIterator<ExecutionResult>, streaming: Streaming): PromptStream<LiveEvent> {
  const { ready, primary, options, runOf, answer, failedBy, ended } = streaming
  const { inTurn } = ready.request
  const pending: ((result: IteratorResult<LiveEvent>) => void)[] = []
  let asked = () => {}
  let current: AbortController | null = null
  let hasBegun = false
  let isOver = false

  const give = (value: LiveEvent) => pending.shift()?.({ value, done: false })
  /** Resolves when a payload is asked for, or the stream has ended. */
  const wanted = (): Promise<void> =>
    isOver || pending.length > 0
      ? Promise.resolve()
      : new Promise(resolve => {
          asked = resolve
        })
  const end = () => {
    if (isOver) return
    isOver = true
    for (const settle of pending.splice(0)) settle({ value: undefined, done: true })
    current?.abort()
    asked()
    ended()
  }
  const stop = () => {
    if (isOver) return
    end()
    // The source's remaining output is ignored, and it may take its time.
    Promise.resolve(source.return?.()).catch(() => {})
  }

  async function answerEvent(event: ExecutionResult): Promise<void> {
    if (isOver) return
    const ending = new AbortController()
    current = ending
    const about = latestOf(event)
    const result = await beginIncrementally(ready, options, { runOf, answer, over() {}, ending, begin: run => takeAnswer(run, primary, event) })
    if (!('next' in result)) return void give({ answer: { ...result, hasNext: false }, about })
    for (let each = await result.next(); !each.done; each = await result.next()) {
      const { hasNext } = each.value
      give({ answer: each.value, about, ...(hasNext && { cut: result.ending() }) })
      if (!hasNext) return
      await wanted()
    }
  }

  async function run(): Promise<void> {
    try {
      for (;;) {
        await wanted()
        if (isOver) return
        const { value, done } = await source.next()
        if (isOver) return
        if (done) return end()
        const work = () => answerEvent(value)
        await (inTurn ? inTurn(work) : work())
        current = null
      }
    } catch (cause) {
      await wanted()
      if (!isOver) give(failedBy(cause))
      stop()
    }
  }

  return {
    next() {
      if (isOver) return Promise.resolve({ value: undefined, done: true })
      return new Promise(settle => {
        pending.push(settle)
        asked()
        if (!hasBegun) void run()
        hasBegun = true
      })
    },
    return() {
      stop()
      return Promise.resolve({ value: undefined, done: true })
    },
    throw(cause: unknown) {
      stop()
      return Promise.reject(cause)
    },
    [Symbol.asyncIterator]() {
      return this
    },
  }
}
