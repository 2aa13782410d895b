import type { ExecutionResult } from 'graphql'
import type { ResultStream } from '../engine.ts'

/** Results that come of themselves, and wait for who takes them. */
export interface WaitingResults {
  /** What they are taken from; `return()` and `throw()` drop what waits. */
  readonly stream: ResultStream
  /** False when no more may wait: then this one does not. */
  push(result: ExecutionResult, bytes: number): boolean
  /** Nothing comes any more; what waits is taken yet, and `last` after it. */
  end(last?: ExecutionResult): void
}

export interface WaitingLimits {
  readonly results: number
  readonly bytes: number
}

/** @param stopped called when whoever takes them stops */
export function createWaitingResults(limits: WaitingLimits, stopped: () => void): WaitingResults {
  const waiting: { readonly result: ExecutionResult; readonly bytes: number }[] = []
  const takers: ((result: IteratorResult<ExecutionResult>) => void)[] = []
  let bytes = 0
  let over = false
  const wait = (result: ExecutionResult, size: number) => {
    waiting.push({ result, bytes: size })
    bytes += size
  }
  const stop = () => {
    waiting.length = 0
    stopped()
  }
  const stream: ResultStream = {
    next() {
      const first = waiting.shift()
      if (first) {
        bytes -= first.bytes
        return Promise.resolve({ value: first.result, done: false })
      }
      if (over) return Promise.resolve({ value: undefined, done: true })
      return new Promise(take => takers.push(take))
    },
    return() {
      stop()
      return Promise.resolve({ value: undefined, done: true })
    },
    throw(cause: unknown) {
      stop()
      return Promise.reject(cause)
    },
    [Symbol.asyncIterator]: () => stream,
  }
  return {
    stream,
    push(result, size) {
      const take = takers.shift()
      if (take) take({ value: result, done: false })
      else if (waiting.length >= limits.results || bytes + size > limits.bytes) return false
      else wait(result, size)
      return true
    },
    end(last) {
      over = true
      const take = last && takers.shift()
      if (take) take({ value: last, done: false })
      else if (last) wait(last, 0)
      for (const take of takers.splice(0)) take({ value: undefined, done: true })
    },
  }
}
