import { type ChildProcess, fork } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { getCompileCacheDir } from 'node:module'
import type { Socket } from 'node:net'
import { dirname, join } from 'node:path'
import { type ErrorCode, Refusal } from '../../../../platform/errors.ts'
import type { Planned } from '../plan-text.ts'

/** What the process is told: the supergraph first, then what to plan, one operation at a time. */
export type Question = { readonly sdl: string } | { readonly texts: readonly string[] }

/** What it answers. */
export type Reply =
  | { readonly ready: true }
  | { readonly unreadable: string }
  /** @param bytes of memory that it has taken by then */
  | { readonly made: readonly Planned[]; readonly bytes: number }
  | { readonly refused: { readonly code: ErrorCode; readonly message: string } }
  /** It takes more memory than it may, while it plans. */
  | { readonly swollen: true }

/** Which planner a process has, and what it may take. */
export interface PlannerKind {
  readonly name: 'first' | 'second'
  /** Megabytes while it plans; one that keeps half of it afterwards is ended as well. */
  readonly megabytes: number
}

/** A process that plans operations of one supergraph, one at a time. */
export interface PlannerProcess {
  /** Resolves when it can plan. @throws Error when it cannot read the supergraph, or ended before */
  readonly ready: Promise<void>
  /** Whether it is about to end, or has. */
  readonly isOver: boolean
  readonly pid: number | undefined
  /**
   * Plans the texts of one operation; it is ended when that takes too much.
   * @throws Stopped when it took more than it may, Died when the process ended by itself, Refusal for what the client is to change
   */
  plan(texts: readonly string[], withinMs: number): Promise<readonly Planned[]>
  /** Ends it at once. @returns when it is gone */
  end(): Promise<void>
}

/** The operation took more than it may to be planned. */
export class Stopped extends Error {
  override readonly name = 'Stopped'
}

/** The process ended by itself, could not be started, or stands still: the planner fell over, somebody ended or stopped it. */
export class Died extends Error {
  override readonly name = 'Died'
}

/** How long it may take from the start of a process until it can plan, in ms. */
const startMs = 30_000
/** Megabytes of what Node itself manages there; the first planner keeps its own memory. */
const heapMegabytes = 192
/** Characters of what a planner that falls over says last. */
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
  /** Takes the next reply: there is one question at a time. */
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
    // The caller that ends it waits until it is gone.
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
    async plan(texts, withinMs) {
      await ready
      const before = workOf(child.pid)
      try {
        const words = await ask({ texts }, withinMs)
        if ('refused' in words) throw new Refusal(words.refused.code, words.refused.message)
        if (!('made' in words)) throw new Stopped(`${megabytes} MB`)
        // Memory that it did not release would be missing for the next one.
        if (words.bytes > (megabytes / 2) * 1024 * 1024) void end()
        return words.made
      } catch (cause) {
        if (!(cause instanceof Stopped)) throw cause
        const stoodStill = before !== null && workOf(child.pid) === before
        void end()
        throw stoodStill ? new Died(`The planner stood still for ${withinMs} ms`) : cause
      }
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

/** Hundredths of a second of processor time that a process has had, where the system tells (Linux); null elsewhere. */
function workOf(pid: number | undefined): number | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    // Behind the name in parentheses, which may hold anything: the time of the program and of the system for it are the 12th and 13th.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return Number(fields[11]) + Number(fields[12])
  } catch {
    return null
  }
}

/**
 * The process receives none of this one's environment: it parses untrusted input and must not have secrets. One thread plans,
 * so one is enough, and one place to take memory from: a fifth less of it. What was compiled before it need not compile: half of its start.
 */
function environment(): NodeJS.ProcessEnv {
  const compiled = getCompileCacheDir()
  return { UV_THREADPOOL_SIZE: '1', MALLOC_ARENA_MAX: '1', ...(compiled !== undefined && { NODE_COMPILE_CACHE: dirname(compiled) }) }
}

/** In how many parts a time is measured. */
const parts = 20

/**
 * Calls back after a time, of which only that counts in which this process has turns: a machine that stood still, or hardly gets on, is
 * not taken for an operation that takes long. Output that has arrived by then is read first.
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

/** Whether this process stays for its sake: only while it is waited for. */
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
