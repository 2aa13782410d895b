import { type ChildProcess, fork } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { getCompileCacheDir } from 'node:module'
import type { Socket } from 'node:net'
import { dirname, join } from 'node:path'
import { DomainError, type ErrorCode } from '../../../../platform/errors.ts'
import type { Planned } from '../plan-text.ts'

/** A message to the process: the supergraph first, then texts to plan under active labels, one operation at a time. */
export type Question = { readonly sdl: string } | { readonly texts: readonly string[]; readonly active: readonly string[] }

/** A message from the process. */
export type Reply =
  | { readonly ready: true }
  | { readonly unreadable: string }
  /** @param bytes of memory that the process has taken so far */
  | { readonly made: readonly Planned[]; readonly bytes: number }
  | { readonly refused: { readonly code: ErrorCode; readonly message: string } }
  /** The process exceeds its memory limit while it plans. */
  | { readonly swollen: true }

/** Which planner a process runs, and its limits. */
export interface PlannerKind {
  readonly name: 'first' | 'second'
  /** Maximum megabytes while planning; a process that keeps half of them afterwards is ended as well. */
  readonly megabytes: number
}

/** A process that plans operations of one supergraph, one at a time. */
export interface PlannerProcess {
  /** Resolves when the process can plan. @throws Error when it cannot read the supergraph, or ended before */
  readonly ready: Promise<void>
  /** Whether the process is ending or has ended. */
  readonly isOver: boolean
  readonly pid: number | undefined
  /**
   * Plans the texts of one operation; the process is ended when they exceed a limit.
   * @throws Stopped when they exceeded a limit, Died when the process ended by itself, DomainError for a mistake of the
   * client
   */
  plan(texts: readonly string[], withinMs: number, active?: readonly string[]): Promise<readonly Planned[]>
  /** Ends the process at once. @returns when it has ended */
  end(): Promise<void>
}

/** Planning the operation exceeded a limit. */
export class Stopped extends Error {
  override readonly name = 'Stopped'
}

/**
 * The process ended by itself, could not be started, or does not respond: the planner crashed, or the process was
 * killed or stopped from outside.
 */
export class Died extends Error {
  override readonly name = 'Died'
}

/** Time limit in ms from the start of a process until it can plan. */
const startMs = 30_000
/** Megabytes of the process's JavaScript heap; the first planner manages its own memory outside it. */
const heapMegabytes = 192
/** Maximum characters of a crashing planner's last output. */
const lastWords = 500

export function startPlanner(sdl: string, { name, megabytes }: PlannerKind): PlannerProcess {
  let child: ChildProcess
  try {
    child = fork(join(import.meta.dirname, 'main.ts'), [name, String(megabytes)], {
      env: environment(),
      execArgv: [`--max-old-space-size=${heapMegabytes}`, '--max-semi-space-size=1'],
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    })
  } catch (cause) {
    return neverStarted(Promise.resolve(cause as Error))
  }
  // If no file handles or processes are left, Node returns a child without streams and reports the reason later.
  if (child.pid === undefined) return neverStarted(new Promise(resolve => child.once('error', resolve)))
  let over = false
  let said = ''
  /** Receives the next reply: there is one request at a time. */
  let hear: { reply(words: Reply): void; fail(cause: Error): void } | null = null
  child.on('message', words => hear?.reply(words as Reply))
  child.stderr!.setEncoding('utf8').on('data', text => {
    said = (said + text).slice(-lastWords)
  })
  const fall = (why: string) => {
    over = true
    hear?.fail(new Died(`The planner ended by ${why}${said && `: ${said.trim()}`}`))
  }
  const gone = new Promise<void>(resolve => {
    child.once('exit', (code, signal) => {
      fall(signal ?? `status ${code}`)
      resolve()
    })
    child.once('error', error => fall(error.message))
  })
  const ask = (question: Question, withinMs: number) =>
    new Promise<Reply>((resolve, reject) => {
      if (over) throw new Died('The planner has ended')
      const settle = () => {
        late.stop()
        hear = null
        hold(child, false)
      }
      const mine = {
        reply(words: Reply) {
          settle()
          resolve(words)
        },
        fail(cause: Error) {
          settle()
          reject(cause)
        },
      }
      const late = afterTurns(withinMs, () => hear === mine && mine.fail(new Stopped(`${withinMs} ms`)))
      hear = mine
      hold(child, true)
      // A failed write is noticed by the end of the process.
      child.send(question, () => {})
    })
  const end = () => {
    over = true
    // The caller that ends the process waits until it has ended.
    child.ref()
    child.kill('SIGKILL')
    return gone
  }
  const ready = ask({ sdl }, startMs).then(
    words => {
      if ('ready' in words) return
      void end()
      throw new Error('unreadable' in words ? words.unreadable : 'The planner gave no sense')
    },
    cause => {
      void end()
      throw cause
    },
  )
  ready.catch(() => {})
  return {
    ready,
    get isOver() {
      return over
    },
    pid: child.pid,
    async plan(texts, withinMs, active = []) {
      await ready
      const before = workOf(child.pid)
      let words: Reply
      try {
        words = await ask({ texts, active }, withinMs)
      } catch (cause) {
        if (!(cause instanceof Stopped)) throw cause
        const stoodStill = before !== null && workOf(child.pid) === before
        void end()
        throw stoodStill ? new Died(`The planner stood still for ${withinMs} ms`) : cause
      }
      if ('refused' in words) throw new DomainError(words.refused.code, words.refused.message)
      if (!('made' in words)) {
        void end()
        throw new Stopped(`${megabytes} MB`)
      }
      // Memory that it did not release would be missing for the next one.
      if (words.bytes > (megabytes / 2) * 1024 * 1024) void end()
      return words.made
    },
    end,
  }
}

/** A process that could not be started. @param cause why */
function neverStarted(cause: Promise<Error>): PlannerProcess {
  const ready = cause.then(({ message }) => {
    throw new Died(`No planner can be started: ${message}`)
  })
  ready.catch(() => {})
  return { ready, isOver: true, pid: undefined, plan: () => ready, end: async () => {} }
}

/**
 * Returns the processor time of a process in hundredths of a second where the system reports it (Linux); null
 * elsewhere.
 */
function workOf(pid: number | undefined): number | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    // The name in parentheses may contain anything, so fields are counted after it: user and system time are the 12th
    // and 13th.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return Number(fields[11]) + Number(fields[12])
  } catch {
    return null
  }
}

/**
 * Environment of a planner process. It receives none of this process's variables: it parses untrusted input and must
 * not have secrets. One worker thread suffices, because one thread plans; one memory arena takes a fifth less memory;
 * the compile cache halves its start.
 */
function environment(): NodeJS.ProcessEnv {
  const compiled = getCompileCacheDir()
  return { UV_THREADPOOL_SIZE: '1', MALLOC_ARENA_MAX: '1', ...(compiled !== undefined && { NODE_COMPILE_CACHE: dirname(compiled) }) }
}

/** Number of parts in which a time is measured. */
const parts = 20

/**
 * Calls back after a time in which this process had turns of the event loop: a machine that was suspended or overloaded
 * does not count against an operation. Output that has arrived by then is read first.
 * @param ms milliseconds in which the process had turns
 */
function afterTurns(ms: number, done: () => unknown): { stop(): void } {
  let turns = 0
  const timer = setInterval(() => {
    turns += 1
    if (turns < parts) return
    clearInterval(timer)
    setImmediate(done)
  }, ms / parts)
  return { stop: () => clearInterval(timer) }
}

/** Keeps this process alive for a child only while its result is waited for. */
function hold(child: ChildProcess, isWaitedFor: boolean): void {
  if (isWaitedFor) {
    child.ref()
    child.channel?.ref()
  } else {
    child.unref()
    child.channel?.unref()
    ;(child.stderr as Socket | null)?.unref()
  }
}
